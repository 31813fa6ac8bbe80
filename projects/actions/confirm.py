"""A curator looks again at what became stale and finds that it still holds."""

from django.db import transaction
from django.utils import timezone

from api.problems import Conflict, Refused
from audit.log import record

from .. import kinds
from ..models import Decision, Member, Origin, Unit
from ..values.in_force import decisions_in_force, earlier_values, values_in_force
from .corrections import correct
from .curation import hold
from .decisions import insert_decisions
from .staleness import stale_units


def confirm(*, unit: Unit, kind: str, reason: str, by: Member) -> list[Decision]:
    """Decide anew what was in force of a unit before something above it changed, value for value.

    Of a corrected text, what was said of the text before it is carried over; what cannot be is `Refused` by field.
    `Conflict` where nothing waits to be confirmed (any more).
    """
    with transaction.atomic():
        hold([unit])
        if not stale_units([unit.pk], kind=kind):
            raise Conflict("Nothing of this waits to be confirmed: it was redone or confirmed already.")
        standing = decisions_in_force([unit.pk], kind)
        made = _again(list(standing.values()), reason, by) if standing else _carry_over(unit, kind, reason, by)
        record(
            actor=by.user, verb="confirm", obj=unit, project_id=unit.project_id, reason=reason,
            after=values_in_force([unit], kind)[unit.pk],
        )  # fmt: skip
    return made


def _again(decisions: list[Decision], reason: str, by: Member) -> list[Decision]:
    """The same values from the same sources, as decided now: by a curator, unless an import brought them."""
    now = timezone.now()
    rows = [
        Decision(
            unit_id=d.unit_id, kind=d.kind, field=d.field, answer_id=d.answer_id, imported_id=d.imported_id,
            origin=Origin.IMPORTED if d.imported_id else Origin.CURATED, round_id=d.round_id, decided_by=by.user,
            reason=reason, decided_at=now,
        )
        for d in decisions
    ]  # fmt: skip
    insert_decisions(rows)
    return rows


def _carry_over(unit: Unit, kind: str, reason: str, by: Member) -> list[Decision]:
    before = earlier_values([unit], kind).get(unit.pk, {})
    how = kinds.get(kind)
    missing = [field for field in how.fields if field not in before]
    if missing:
        raise Refused.field(missing[0], "This was never decided of the earlier text. It is to be done anew.")
    return correct(
        unit=unit, kind=kind, value=how.carry(before, unit), reason=reason or "Confirmed on the corrected text.", by=by
    )
