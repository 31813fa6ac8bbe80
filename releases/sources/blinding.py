"""Rounds whose texts are rated blindly: of which nothing is released that could tell whose a text is.

A seed says in which order systems came, the key of a page which systems are on it, an answer which texts its rater
saw: so of a round nothing but its line in ``rounds.jsonl`` is there, and that without these, until it is closed and
unblinded, and nobody is to rate the texts of any of its runs any more.
"""

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.models import Entrant, RatingDesign
from generation.models import Seal
from projects.models import Project, Round


def told(project: Project) -> QuerySet[RatingDesign]:
    """The designs of a project that are told whole, oldest first."""
    sealed = Entrant.objects.filter(design=OuterRef("pk"), run__seals__in=Seal.objects.in_force())
    found = RatingDesign.objects.filter(
        ~Exists(sealed), round__in=_counting(project).filter(status=Round.Status.CLOSED), unblinding__isnull=False
    )
    return found.order_by("round_id")


def kept_blind(project: Project) -> list[int]:
    """The rounds of a project that are not told yet, by id."""
    designs = RatingDesign.objects.filter(round__in=_counting(project)).exclude(pk__in=told(project).values("pk"))
    return list(designs.order_by("round_id").values_list("round_id", flat=True))


def _counting(project: Project) -> QuerySet[Round]:
    return Round.objects.filter(project=project).opened().counting()
