"""M3's Table 7: whether a system assigns the target a higher likelihood than its counterfactuals, by kind."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from generation import backends
from generation.models import Run
from generation.results.tables import building
from generation.results.tables.building import ScoresTable
from generation.results.tables.probed import Probed
from generation.results.tables.scored import Scores
from generation.results.tables.wording import few_reviews, join_words, version_commands, versions
from generation.scoring.computing import KINDS
from measures.clustered import FEW
from measures.probe import OVERALL, RULE, SD_METHOD, Figure, ProbeResult
from projects.reports.table import Cell, Column, Missing, Table

NOTE = (
    "Delta: mean nll of the counterfactual minus that of the target, nats per token over all tokens, \u00b1 its "
    f"standard deviation ({SD_METHOD}); above 0 is good. Accuracy: share of pairs with a delta strictly above 0; a tie "
    f"counts as wrong. In brackets: 95% intervals, clustered by review ({RULE}). n: pairs."
)
BESIDE = (
    "Content: the same without special tokens such as <s> and </s>. Delta of sums: nats, over all tokens together; "
    "counterfactuals are often longer than their targets. Delta of changed tokens: nats per token, over the content "
    "tokens that only one of the two texts has; n is given if fewer pairs have such tokens on both sides."
)


class ProbeTable(ScoresTable):
    key = "m3-7"
    title = "Counterfactual probe (M3, Table 7)"

    def build(self, scores: Scores) -> Table:
        probes = scores.probed
        return Table(
            self.key,
            self.title,
            "Whether a system assigns the true target a higher likelihood than its counterfactual, given the same "
            f"inputs, {scores.project.name}: one row per system and kind. n: pairs.",
            self.columns(),
            self.rows(probes),
            [
                NOTE,
                BESIDE,
                *flagged(probes),
                *unjudged(probes),
                *few(probes),
                *versions((probed.name, probed.run) for probed in probes),
                *scores.hidden(),
            ],
            missing(scores, probes),
        )

    def columns(self) -> list[Column]:
        return [
            Column("System", False),
            Column("Level", False),
            Column("Counterfactual", False),
            Column("n"),
            Column("Reviews"),
            Column("Delta"),
            Column("Accuracy"),
            Column("Ties"),
            Column("Delta, content"),
            Column("Accuracy, content"),
            Column("Delta of sums"),
            Column("Delta of changed tokens"),
        ]

    def rows(self, probes: Sequence[Probed]) -> list[list[Cell]]:
        return [
            self._row(probed, *results)
            for probed in probes
            for results in zip(probed.results, probed.content, strict=True)
        ]

    def _row(self, probed: Probed, result: ProbeResult, content: ProbeResult) -> list[Cell]:
        changed = figure_cell(result.delta_changed, 3)
        if result.n_changed not in (0, result.n):
            changed = replace(changed, n=result.n_changed)
        return [
            probed.name_cell,
            Cell(probed.run.version.level),
            Cell(result.kind),
            Cell(result.n),
            Cell(result.reviews),
            delta_cell(result),
            figure_cell(result.accuracy, 2),
            Cell(result.ties),
            delta_cell(content),
            figure_cell(content.accuracy, 2),
            figure_cell(result.delta_sum, 3),
            changed,
        ]


def few(probes: Sequence[Probed]) -> list[str]:
    """Return a note about probes with few reviews."""
    reviews = {probed.label: probed.results[-1].reviews for probed in probes if probed.results}
    return few_reviews({name: number for name, number in reviews.items() if 0 < number < FEW})


def unjudged(probes: Sequence[Probed]) -> list[str]:
    """Return a note for each probe that did not judge all its units."""
    return [
        f"{probed.label} was judged on {probed.units - probed.unjudged} of {probed.units} units; "
        "the figures exclude the others."
        for probed in probes
        if probed.unjudged > 0
    ]


def flagged(probes: Sequence[Probed]) -> list[str]:
    """Return the flags of single figures, each with the rows it applies to."""
    rows: dict[str, dict[str, None]] = defaultdict(dict)
    for probed in probes:
        for result in (*probed.results, *probed.content):
            for figure in (result.delta, result.accuracy, result.delta_sum, result.delta_changed):
                for flag in figure.flags:
                    rows[flag][f"{result.kind} of {probed.label}"] = None
    return [f"{flag[:1].upper()}{flag[1:]}: {join_words(row_names)}." for flag, row_names in rows.items()]


def missing(scores: Scores, probes: Sequence[Probed]) -> list[Missing]:
    """Return the steps that make the table complete and current. Backends without likelihoods need no probe."""
    probed_versions = {probed.run.version_id for probed in probes}
    page = f"/projects/{scores.project.slug}/systems"
    unprobed = [
        scored_run
        for scored_run in scores.runs
        if scored_run.run.version_id not in probed_versions
        and not backends.get(scored_run.run.version.backend).no_probe
    ]
    steps = [
        *_not_probed([(scored_run.run, scored_run.label) for scored_run in unprobed], page),
        *_uncomputed(probes, page),
    ]
    if not steps and not probes:
        words = "a probe of a system that gives likelihoods (extractive and imported systems give none)"
        return [Missing(words, f"manage.py probe --project {scores.project.slug} --system NAME", page)]
    return [*steps, *_outdated(scores, probes, page)]


def _not_probed(unprobed: Sequence[tuple[Run, str]], page: str) -> list[Missing]:
    if not unprobed:
        return []
    return [
        Missing(
            f"the probe of {join_words(label for _, label in unprobed)}",
            version_commands("probe", [run for run, _ in unprobed]),
            page,
        )
    ]


def _uncomputed(probes: Sequence[Probed], page: str) -> list[Missing]:
    """Return the step for incomplete figures. Figures of a running run are computed when it ends."""
    incomplete = [probed for probed in probes if probed.items < probed.done]
    if not incomplete:
        return []
    words = join_words(f"{p.done - p.items} of the {p.done} finished items of {p.label}" for p in incomplete)
    return [Missing(f"the figures of {words}", version_commands("probe", [probed.run for probed in incomplete]), page)]


def _outdated(scores: Scores, probes: Sequence[Probed], page: str) -> list[Missing]:
    runs = [probed.run for probed in probes]
    outdated_targets, outdated_inputs = building.targets(scores.project, runs), building.inputs(runs)
    outdated_probes = [
        probed for probed in probes if outdated_targets.get(probed.run.pk) or outdated_inputs.get(probed.run.pk)
    ]
    if not outdated_probes:
        return []
    words = join_words(
        f"{probed.label}, {outdated_targets.get(probed.run.pk, 0)} of {probed.done} units by their targets and "
        f"{outdated_inputs.get(probed.run.pk, 0)} by their inputs"
        for probed in outdated_probes
    )
    reason = "these were corrected since"
    return [
        Missing(
            f"the probe of {words}",
            version_commands("probe", [probed.run for probed in outdated_probes], "--again"),
            page,
            reason,
        )
    ]


def delta_cell(result: ProbeResult) -> Cell:
    """Return the delta with its standard deviation over pairs."""
    return figure_cell(result.delta, 3, result.sd.value)


def figure_cell(figure: Figure, decimals: int, sd: float | None = None) -> Cell:
    if figure.value is None:
        return Cell(None, undefined=figure.undefined or "")
    return Cell(figure.value, decimals, figure.ci, sd=sd, ci_reason=figure.ci_reason)


class WideProbeTable(ScoresTable):
    key = "m3-7-wide"
    beside = "m3-7"
    title = "By system: counterfactual probe (M3, Table 7)"

    def build(self, scores: Scores) -> Table:
        probes = scores.probed
        columns = [Column("System", False), Column("Level", False)]
        for kind in (*KINDS, OVERALL):
            name = kind[:1].upper() + kind[1:]
            columns += [Column(f"{name}: delta"), Column(f"{name}: accuracy")]
        return Table(
            self.key,
            self.title,
            f"Delta and accuracy of the probe by kind of counterfactual, {scores.project.name}: one row per "
            "system. n: pairs, the same for accuracy and delta.",
            columns,
            [self._row(probed) for probed in probes if probed.results],
            [
                NOTE,
                *flagged(probes),
                *unjudged(probes),
                *few(probes),
                *versions((p.name, p.run) for p in probes),
                *scores.hidden(),
            ],
            missing(scores, probes),
            self.beside,
        )

    def _row(self, probed: Probed) -> list[Cell]:
        cells = [probed.name_cell, Cell(probed.level)]
        for result in probed.results:
            cells += [_with_n(delta_cell(result), result), figure_cell(result.accuracy, 2)]
        return cells


class CommonProbeTable(ProbeTable):
    key = "m3-7-common"
    beside = "m3-7"
    title = "On common pairs: counterfactual probe (M3, Table 7)"

    def build(self, scores: Scores) -> Table:
        probes = [restricted for restricted in scores.common if restricted.results]
        pair_counts = {probed.run.pk: probed.results[-1].n for probed in scores.probed if probed.results}
        return Table(
            self.key,
            self.title,
            "Whether a system assigns the true target a higher likelihood than its counterfactual, on the pairs that "
            f"all systems of a level judged, {scores.project.name}: one row per system and kind. n: pairs.",
            self.columns(),
            self.rows(probes),
            [
                NOTE,
                *(f"{p.label}: {p.results[-1].n} of {pair_counts[p.run.pk]} pairs are included." for p in probes),
                *flagged(probes),
                *few(probes),
                *versions((p.name, p.run) for p in probes),
                *scores.hidden(),
            ],
            [*missing(scores, scores.probed), *self._missing(scores)],
            self.beside,
        )

    def _missing(self, scores: Scores) -> list[Missing]:
        """Return the steps for missing common results.

        Computing the figures of one probe restricts all probes of its level.
        """
        incomplete = [restricted for restricted in scores.common if not restricted.results]
        if not incomplete:
            return []
        page = f"/projects/{scores.project.slug}/systems"
        last = list({probed.level: probed for probed in incomplete}.values())
        words = f"the pairs that {join_words(probed.label for probed in incomplete)} have in common"
        return [Missing(words, version_commands("probe", [probed.run for probed in last]), page)]


def _with_n(cell: Cell, result: ProbeResult) -> Cell:
    return cell if cell.undefined else replace(cell, n=result.n)
