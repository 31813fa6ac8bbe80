"""Current ratings of passages: those that people decided, otherwise the imported ones."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from projects.gold.actions import imported_decision, insert_decisions
from projects.models import Decision, Unit

from ..models import Passage, RatedPassage

KIND, FIELD = "passage", "passage_rating"


def with_current_rating(passages: QuerySet[Passage]) -> QuerySet[Any]:
    """Add ``current_rating``: 1 to 4, or null."""
    decisions = Decision.objects.filter(unit=OuterRef("unit"), kind=KIND, field=FIELD).in_question().newest_first()
    adopted = RatedPassage.objects.filter(answer=OuterRef("adopted")).order_by().values("rating")
    return passages.alias(adopted=Subquery(decisions.values("answer")[:1])).annotate(
        current_rating=Coalesce(Subquery(adopted[:1]), "rating")
    )


def undecided(units: QuerySet[Unit]) -> QuerySet[Unit]:
    """Return the units of passages with an imported rating but without a decision."""
    decisions = Decision.objects.filter(unit=OuterRef("pk"), kind=KIND)
    return units.filter(passage__rating__isnull=False).exclude(Exists(decisions))


def decide(units: QuerySet[Unit]) -> None:
    """Write the decisions that adopt imported ratings. Idempotent."""
    rows = undecided(units).values_list("pk", "passage__imported", "passage__imported__created_at")
    insert_decisions(imported_decision(unit, KIND, FIELD, imported, created_at) for unit, imported, created_at in rows)
