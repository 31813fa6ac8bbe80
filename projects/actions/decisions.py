"""Writing decisions: the one way in, so that every row carries its digest."""

from collections.abc import Iterable

from django.db.models import Q

from audit.digests import digest_of

from ..models import Decision
from ..values.leaves import decision_content
from . import rolling

BATCH = 2000


def with_digests(decisions: Iterable[Decision]) -> list[Decision]:
    """Decisions that are ready to be inserted. ``decided_at`` must be set."""
    rows = list(decisions)
    for row in rows:
        row.digest = digest_of(decision_content(row))
    return rows


def insert_decisions(decisions: Iterable[Decision]) -> int:
    """Insert decisions in the caller's transaction and return how many. ``decided_at`` must be set."""
    rows = with_digests(decisions)
    Decision.objects.bulk_create(rows, batch_size=BATCH)
    if rows:
        # One call decides units of one project.
        rolling.due(Q(project__units=rows[0].unit_id))
    return len(rows)
