"""M3's Table 7: does a system find the true target likelier than counterfactuals of it, kind by kind?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from measures.clustered import FEW
from measures.probe import OVERALL, RULE, SD_METHOD, Figure, ProbeResult

from .. import backends, outdated
from ..models import ProbeFigures, Purpose, Run
from ..reckoning import is_of_today, stored_results
from ..runs_at_hand import names, newest_runs
from .scored import Scores, by_version, few_reviews, listed, versions
from .table import Cell, Column, Missing, Table

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


@dataclass(frozen=True)
class Probed:
    """A probe of a version, with a result for each kind and one over all, once they are
    reckoned: of all tokens, and of content.

    ``done``: items by now; ``items``: those that the results are of.
    """

    run: Run
    name: str
    results: Sequence[ProbeResult]
    content: Sequence[ProbeResult]
    done: int
    items: int

    @property
    def called(self) -> str:
        return f"{self.name} ({self.run.version.level})"


class ProbeTable:
    key = "m3-7"
    title = "Counterfactual probe (M3, Table 7)"
    metrics: Sequence[str] = ()

    def build(self, scores: Scores) -> Table:
        found = probes(scores)
        return Table(
            self.key,
            self.title,
            f"Whether a system finds the true target likelier than a counterfactual of it given the same inputs, "
            f"{scores.project.name}: a row for every system and kind; n counts pairs.",
            [Column("System", False), Column("Level", False), Column("Counterfactual", False), Column("n"),
             Column("Reviews"), Column("Delta"), Column("Accuracy"), Column("Ties"), Column("Delta, content"),
             Column("Accuracy, content"), Column("Delta of sums"), Column("Delta of changed tokens")],
            [self._row(probed, *both) for probed in found for both in zip(probed.results, probed.content, strict=True)],
            [NOTE, BESIDE, *few(found), *versions((probed.name, probed.run) for probed in found), *scores.hidden()],
            missing(scores, found),
        )  # fmt: skip

    def _row(self, probed: Probed, result: ProbeResult, content: ProbeResult) -> list[Cell]:
        changed = _cell(result.delta_changed, 3)
        if result.n_changed not in (0, result.n):
            changed = replace(changed, n=result.n_changed)
        return [
            Cell(probed.name), Cell(probed.run.version.level), Cell(result.kind), Cell(result.n), Cell(result.reviews),
            _cell(result.delta, 3, result.sd.value), _cell(result.accuracy, 2), Cell(result.ties),
            _cell(content.delta, 3, content.sd.value), _cell(content.accuracy, 2), _cell(result.delta_sum, 3), changed,
        ]  # fmt: skip


def few(found: Sequence[Probed]) -> list[str]:
    """A note where a probe has few reviews."""
    reviews = {probed.called: probed.results[-1].reviews for probed in found if probed.results}
    return few_reviews({name: number for name, number in reviews.items() if 0 < number < FEW})


def probes(scores: Scores) -> list[Probed]:
    """Of every version its newest probe that found something, without those that are sealed. Two queries, whatever
    they found."""
    # Any: what annotations add is not in the type.
    every = newest_runs(scores.project, Purpose.PROBE)
    runs: list[Any] = list(every.open_to(scores.member) if scores.member else every)
    called = names(runs)
    every_figures = ProbeFigures.objects.filter(run__in=runs).order_by("items")
    stored = {figures.run_id: figures for figures in every_figures if is_of_today(figures)}
    return [
        Probed(
            run, called[run.pk], stored_results(found, "all") if found else (),
            stored_results(found, "content") if found else (), run.done, found.items if found else 0,
        )
        for run in runs
        for found in [stored.get(run.pk)]
    ]  # fmt: skip


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


def accuracies(found: Sequence[Probed]) -> Mapping[str, ProbeResult]:
    """What the plot of the probe shows: a line for every system and kind."""
    return {
        f"{probed.name}: {'all kinds' if result.kind == OVERALL else result.kind}": result
        for probed in found
        for result in probed.results
    }


def _cell(figure: Figure, decimals: int, sd: float | None = None) -> Cell:
    if figure.value is None:
        return Cell(None, undefined=figure.undefined or "")
    return Cell(figure.value, decimals, figure.ci, sd=sd)
