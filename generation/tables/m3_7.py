"""M3's Table 7: does a system find the true target likelier than counterfactuals of it, kind by kind?"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from measures.clustered import FEW
from measures.probe import RULE, SD_METHOD, Figure, ProbeResult
from projects.tables import Cell, Column, Missing, Table

from .. import backends
from ..models import Run
from . import outdated
from .building import ScoresTable
from .probed import Probed
from .scored import Scores, by_version, few_reviews, listed, versions

NOTE = (
    "Delta: mean nll of the counterfactual less that of the target, nats a token over all tokens, \u00b1 its standard "
    f"deviation ({SD_METHOD}); above 0 is good. Accuracy: share of pairs with a delta strictly above 0; a tie is "
    f"wrong. In brackets 95 % intervals that know that pairs of one review are alike ({RULE}). n: pairs."
)
BESIDE = (
    "Content: the same without special tokens such as <s> and </s>. Delta of sums: nats, over all tokens together: "
    "counterfactuals are often longer than their targets. Delta of changed tokens: nats a token, over the content "
    "tokens that only one of the two texts has; of n pairs where fewer have some on both sides."
)


class ProbeTable(ScoresTable):
    key = "m3-7"
    title = "Counterfactual probe (M3, Table 7)"

    def build(self, scores: Scores) -> Table:
        found = scores.probed
        return Table(
            self.key,
            self.title,
            f"Whether a system finds the true target likelier than a counterfactual of it given the same inputs, "
            f"{scores.project.name}: a row for every system and kind; n counts pairs.",
            self.columns(),
            self.rows(found),
            [
                NOTE, BESIDE, *flagged(found), *lost(found), *few(found),
                *versions((probed.name, probed.run) for probed in found), *scores.hidden(),
            ],
            missing(scores, found),
        )  # fmt: skip

    def columns(self) -> list[Column]:
        return [
            Column("System", False), Column("Level", False), Column("Counterfactual", False), Column("n"),
            Column("Reviews"), Column("Delta"), Column("Accuracy"), Column("Ties"), Column("Delta, content"),
            Column("Accuracy, content"), Column("Delta of sums"), Column("Delta of changed tokens"),
        ]  # fmt: skip

    def rows(self, found: Sequence[Probed]) -> list[list[Cell]]:
        return [
            self._row(probed, *both) for probed in found for both in zip(probed.results, probed.content, strict=True)
        ]

    def _row(self, probed: Probed, result: ProbeResult, content: ProbeResult) -> list[Cell]:
        changed = figure_cell(result.delta_changed, 3)
        if result.n_changed not in (0, result.n):
            changed = replace(changed, n=result.n_changed)
        return [
            Cell(probed.name), Cell(probed.run.version.level), Cell(result.kind), Cell(result.n), Cell(result.reviews),
            delta_of(result), figure_cell(result.accuracy, 2), Cell(result.ties),
            delta_of(content), figure_cell(content.accuracy, 2), figure_cell(result.delta_sum, 3), changed,
        ]  # fmt: skip


def few(found: Sequence[Probed]) -> list[str]:
    """A note where a probe has few reviews."""
    reviews = {probed.called: probed.results[-1].reviews for probed in found if probed.results}
    return few_reviews({name: number for name, number in reviews.items() if 0 < number < FEW})


def lost(found: Sequence[Probed]) -> list[str]:
    """Of how many units each probe is, where it did not judge them all."""
    return [
        f"{probed.called} was judged on {probed.units - probed.lost} of {probed.units} units; "
        "the others are in no figure."
        for probed in found
        if probed.lost > 0
    ]


def flagged(found: Sequence[Probed]) -> list[str]:
    """What one has to know of single figures, each once with the rows it is of."""
    rows: dict[str, dict[str, None]] = defaultdict(dict)
    for probed in found:
        for result in (*probed.results, *probed.content):
            for figure in (result.delta, result.accuracy, result.delta_sum, result.delta_changed):
                for flag in figure.flags:
                    rows[flag][f"{result.kind} of {probed.called}"] = None
    return [f"{flag[:1].upper()}{flag[1:]}: {listed(where)}." for flag, where in rows.items()]


def missing(scores: Scores, found: Sequence[Probed]) -> list[Missing]:
    """What has to be done before the table is whole and of today. What gives no likelihoods is not missed."""
    done = {probed.run.version_id for probed in found}
    page = f"/projects/{scores.project.slug}/systems"
    never = [
        at for at in scores.runs
        if at.run.version_id not in done and not backends.get(at.run.version.backend).no_probe
    ]  # fmt: skip
    steps = [*_not_probed([(at.run, at.called) for at in never], page), *_not_reckoned(found, page)]
    if not steps and not found:
        words = "a probe of a system that gives likelihoods (extractive and imported ones give none)"
        return [Missing(words, f"manage.py probe --project {scores.project.slug} --system NAME", page)]
    return [*steps, *_outdated(scores, found, page)]


def _not_probed(never: Sequence[tuple[Run, str]], page: str) -> list[Missing]:
    if not never:
        return []
    return [
        Missing(
            f"the probe of {listed(called for _, called in never)}",
            by_version("probe", [run for run, _ in never]),
            page,
        )
    ]


def _not_reckoned(found: Sequence[Probed], page: str) -> list[Missing]:
    """A run that is under way is reckoned when it ends."""
    lacking = [probed for probed in found if probed.items < probed.done]
    if not lacking:
        return []
    words = listed(f"{p.done - p.items} of the {p.done} items that are done of {p.called}" for p in lacking)
    return [Missing(f"the figures of {words}", by_version("probe", [probed.run for probed in lacking]), page)]


def _outdated(scores: Scores, found: Sequence[Probed], page: str) -> list[Missing]:
    runs = [probed.run for probed in found]
    of_targets, of_inputs = outdated.targets(scores.project, runs), outdated.inputs(runs)
    old = [probed for probed in found if of_targets.get(probed.run.pk) or of_inputs.get(probed.run.pk)]
    if not old:
        return []
    words = listed(
        f"{probed.called}, {of_targets.get(probed.run.pk, 0)} of {probed.done} units by their targets and "
        f"{of_inputs.get(probed.run.pk, 0)} by their inputs"
        for probed in old
    )
    why = "these were corrected since"
    return [Missing(f"the probe of {words}", by_version("probe", [probed.run for probed in old], "--again"), page, why)]


def delta_of(result: ProbeResult) -> Cell:
    """With its standard deviation over pairs."""
    return figure_cell(result.delta, 3, result.sd.value)


def figure_cell(figure: Figure, decimals: int, sd: float | None = None) -> Cell:
    if figure.value is None:
        return Cell(None, undefined=figure.undefined or "")
    return Cell(figure.value, decimals, figure.ci, sd=sd)
