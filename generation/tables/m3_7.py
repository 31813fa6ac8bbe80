"""M3's Table 7: does a system find the true target likelier than counterfactuals of it, kind by kind?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from shlex import quote

from django.db.models import Count, Max, QuerySet

from measures.counterfactuals import Kind
from measures.probe import OVERALL, REPLICATES, SD_METHOD, Basis, Figure, ProbeResult, probe_table

from .. import backends
from ..models import ProbeScore, Purpose, Run
from ..probing import pairs_of
from ..runs_at_hand import names
from .scored import Scores, versions
from .table import Cell, Column, Missing, Table

#: M3's figure: the mean over all tokens, special ones included.
BASIS: Basis = "all"
Results = tuple[ProbeResult, ...]
KINDS = [kind.value for kind in Kind]
NOTE = (
    "Delta: mean nll of the counterfactual less that of the target, nats a token over all tokens, \u00b1 its standard "
    f"deviation ({SD_METHOD}); above 0 is good. Accuracy: share of pairs with a delta strictly above 0; a tie is "
    f"wrong. In brackets 95 % intervals: {REPLICATES} draws of reviews, seed 0, percentiles. n: pairs."
)
BESIDE = (
    "Content: the same without special tokens such as <s> and </s>. Delta of sums: nats, over all tokens together: "
    "counterfactuals are often longer than their targets. Delta of changed tokens: nats a token, over the content "
    "tokens that only one of the two texts has; of n pairs where fewer have some on both sides."
)


@dataclass(frozen=True)
class Probed:
    """A finished probe of a version, with a result for each kind and one over all: of all tokens, and of content."""

    run: Run
    name: str
    results: Sequence[ProbeResult]
    content: Sequence[ProbeResult]


class ProbeTable:
    key = "m3-7"
    title = "Counterfactual probe (M3, Table 7)"
    metrics: Sequence[str] = ()

    def build(self, scores: Scores) -> Table:
        found = probes(scores)
        sealed = ["Runs that are sealed from you are left out."] if scores.sealed else []
        return Table(
            self.key,
            self.title,
            f"Whether a system finds the true target likelier than a counterfactual of it given the same inputs, "
            f"{scores.project.name}: a row for every system and kind; n counts pairs.",
            [Column("System", False), Column("Level", False), Column("Counterfactual", False), Column("n"),
             Column("Reviews"), Column("Delta"), Column("Accuracy"), Column("Ties"), Column("Delta, content"),
             Column("Accuracy, content"), Column("Delta of sums"), Column("Delta of changed tokens")],
            [self._row(probed, *both) for probed in found for both in zip(probed.results, probed.content, strict=True)],
            [NOTE, BESIDE, *versions((probed.name, probed.run) for probed in found), *sealed],
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


def probes(scores: Scores) -> list[Probed]:
    """Of every version its newest probe that found something, without those that are sealed."""
    runs = list(_runs(scores))
    called = names(runs)
    states = ProbeScore.objects.filter(item__run__in=runs).values("item__run").order_by()
    known = {
        row["item__run"]: (row["n"], row["last"]) for row in states.annotate(n=Count("pk"), last=Max("pk"))
    }  # fmt: skip
    return [Probed(run, called[run.pk], *_results(run.pk, *known[run.pk])) for run in runs]


@lru_cache(maxsize=100)
def _results(run: int, count: int, last: int) -> tuple[Results, Results]:
    """Of one run, of all tokens and of content; its likelihoods never change, so that it is reckoned anew only where
    there are more of them."""
    pairs = pairs_of(Run.objects.get(pk=run))
    return probe_table(pairs, KINDS, basis=BASIS), probe_table(pairs, KINDS, basis="content")


def _runs(scores: Scores) -> QuerySet[Run]:
    made = Run.objects.filter(
        version__system__project=scores.project, purpose=Purpose.PROBE, items__probe_scores__isnull=False
    )
    newest = made.values("version").annotate(newest=Max("pk")).values("newest")
    every = Run.objects.filter(pk__in=newest).select_related("version__system__project")
    runs: QuerySet[Run] = every.open_to(scores.member) if scores.member else every
    return runs.order_by("version__system_id", "version__level", "version__number")


def missing(scores: Scores, found: Sequence[Probed]) -> list[Missing]:
    """The systems with summaries that could be probed, and are not. What gives no likelihoods is not missed."""
    done = {probed.run.version_id for probed in found}
    slug = scores.project.slug
    steps = [
        Missing(
            f"the probe of {at.name} ({at.level})",
            f"manage.py probe --project {slug} --system {quote(at.run.version.system.name)}",
            f"/projects/{slug}/systems",
        )
        for at in scores.runs
        if at.run.version_id not in done and not backends.get(at.run.version.backend).no_probe
    ]
    if not steps and not found:
        words = "a probe of a system that gives likelihoods (extractive and imported ones give none)"
        steps.append(Missing(words, f"manage.py probe --project {slug} --system NAME", f"/projects/{slug}/systems"))
    return steps


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
