"""Rounds whose texts are judged blindly: of which nothing is released that could tell what nobody is to know yet.

A seed says in which order systems, or candidates, came, the key of a page which systems are on it, an answer which
texts its rater saw: so of a round nothing but its line in ``rounds.jsonl`` is there, and that without these, until it
is closed and, where texts are systems', unblinded, and nobody is to rate the texts of any of its runs any more.
"""

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import ReliabilityStudy
from evaluation.models import Entrant, RatingDesign
from generation.models import Seal
from projects import kinds
from projects.models import Project, Round


def told(project: Project) -> QuerySet[RatingDesign]:
    """The designs of a project that are told whole, oldest first."""
    sealed = Entrant.objects.filter(design=OuterRef("pk"), run__seals__in=Seal.objects.in_force())
    found = RatingDesign.objects.filter(
        ~Exists(sealed), round__in=_counting(project).filter(status=Round.Status.CLOSED), unblinding__isnull=False
    )
    return found.order_by("round_id")


def kept_blind(project: Project) -> list[int]:
    """The rounds of a project that are not told yet, by id. The two of a reliability study have one seed: the labels
    wait for the matches."""
    designs = RatingDesign.objects.filter(round__in=_counting(project)).exclude(pk__in=told(project).values("pk"))
    blind = [kind.key for kind in kinds.all_kinds() if kind.blind]
    at_work = _counting(project).filter(status=Round.Status.OPEN, kind__in=blind)
    beside = ReliabilityStudy.objects.filter(matches__in=at_work)
    return sorted({
        *designs.values_list("round_id", flat=True),
        *at_work.values_list("pk", flat=True),
        *beside.values_list("labels_id", flat=True),
    })  # fmt: skip


def _counting(project: Project) -> QuerySet[Round]:
    return Round.objects.filter(project=project).opened().counting()
