"""Figures that the papers' tables use, and integrity checks of stored counters, embargoes and means."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Count, Q, Sum

from audit.models import Entry
from measures.recompute.files import Findings
from measures.references import WRITTEN_LEVELS

from ..models import Embargo, Run, RunPurpose, Scoring
from .computing import has_current_means, means_of

ROUGE: Sequence[str] = ("rouge1_f1", "rouge2_f1", "rougeL_f1")
BERTSCORE = "bertscore_f1"
#: ROUGE variants. Each is printed against the inputs and, in brackets, as the difference from ROUGE against the target.
KINDS: Mapping[str, str] = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
OTHERS: Sequence[str] = ("coverage", "density", "compression", "longest")
COPYING: Sequence[str] = (*(f"{part}_{kind}_f1" for kind in KINDS for part in ("inputs", "difference")), *OTHERS)

#: The figures by which two systems are compared.
COMPARED: Mapping[str, Sequence[str]] = {"rouge": ROUGE, "bertscore": (BERTSCORE,), "copying": COPYING}
#: The figures of MEDIQA-AnS's Tables 5 to 7. Its column "ROUGE-L" is ROUGE-3 recall (docs/metrics.md).
PUBLISHED: Sequence[str] = ("rouge1_recall", "rouge2_recall", "rouge3_recall")
_COMPARED_WRITTEN: Mapping[str, Sequence[str]] = {**COMPARED, "rouge": (*ROUGE, *PUBLISHED), "bleu": ("bleu",)}
#: Metrics by which systems of some level are compared.
COMPARED_METRICS = tuple(_COMPARED_WRITTEN)


def every_compared_figure(metric: str) -> Sequence[str]:
    """Return the figures of a metric by which two systems of any level are compared."""
    return _COMPARED_WRITTEN[metric]


def compared_figures(metric: str, level: str) -> Sequence[str]:
    """Return the figures of a metric by which two systems of a level are compared."""
    return (_COMPARED_WRITTEN if level in WRITTEN_LEVELS else COMPARED).get(metric, ())


#: Log entries that lift embargoes: of one member (formerly "lift seal"), and of all members of the runs of a rating
#: round.
LIFT, UNBLIND = ("lift embargo", "lift seal"), "unblind round"


def broken_counters() -> Iterator[tuple[str, str]]:
    """Yield the runs whose counters differ from the sums over their summaries."""
    was_cut = Q(items__summary__tokens_cut__gt=0) | Q(
        items__summary__tokens_cut=None, items__summary__record__has_key="cut"
    )
    runs = Run.objects.filter(purpose=RunPurpose.SUMMARIES).order_by()
    counted = runs.annotate(
        cut=Count("items__summary", filter=was_cut),
        tokens_left_out=Sum("items__summary__tokens_cut"),
        tokens_written=Sum("items__summary__tokens_out"),
    )
    columns = ("pk", "items_cut", "tokens_cut", "tokens_out", "cut", "tokens_left_out", "tokens_written")
    for pk, *figures in counted.values_list(*columns).iterator():
        if figures[:3] != figures[3:]:
            yield f"generation.run {pk}", "its counters differ from the sums over its summaries"


def lifted_without_entry() -> Iterator[tuple[str, str]]:
    """Yield the embargoes that were lifted without a log entry."""
    people: dict[str, set[str]] = defaultdict(set)
    unblinded: set[int] = set()
    for entry in Entry.objects.filter(verb__in=(*LIFT, UNBLIND)).only("verb", "object_id", "after"):
        after = entry.after or {}
        if entry.verb in LIFT:
            people[entry.object_id].update(after["people"])
        else:
            unblinded.update(after["runs"])
    lifted = Embargo.objects.exclude(lifted_at=None).order_by().values_list("pk", "run", "member__pseudonym")
    for pk, run, pseudonym in lifted.iterator():
        if run not in unblinded and pseudonym not in people[str(run)]:
            yield f"generation.embargo {pk}", "it was lifted without a log entry"


def wrong_means() -> Iterator[tuple[str, str]]:
    """Yield the scorings whose stored means differ from the means of their scores."""
    for scoring in Scoring.objects.complete().order_by("pk").select_related("run__version__system"):
        if has_current_means(scoring):
            findings = Findings()
            findings.compare("means", "", scoring.means, means_of(scoring))
            if findings.count:
                yield f"generation.scoring {scoring.pk}", "its stored means differ from the means of its scores"
