"""The standing round of a kind, which holds what is edited by hand, and its slots."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict

from ..models import Assignment, Member, Project, Purpose, Round, Unit
from .guidelines import latest_guideline


def curation_round(*, project: Project, kind: str, by: User | None) -> Round:
    """The project's standing round for what is edited by hand in one kind; made when first needed."""
    found = Round.objects.filter(project=project, kind=kind, purpose=Purpose.CURATION).first()
    guideline = latest_guideline(project, kind, by=by)
    if found:
        # It stands for as long as the project does: what is edited today is edited under today's guideline.
        if found.guideline_id != guideline.pk:
            Round.objects.filter(pk=found.pk).update(guideline=guideline)
            found.guideline = guideline
        return found
    with transaction.atomic():
        round, _ = Round.objects.get_or_create(
            project=project,
            kind=kind,
            purpose=Purpose.CURATION,
            defaults={
                "name": f"curation of {kind}", "overlap": 1, "seed": 0, "dealing": Round.Dealing.DEALT,
                "guideline": guideline, "sampling": {"units": "as edited"}, "opened_at": timezone.now(),
            },
        )  # fmt: skip
    return round


def hold(units: Sequence[Unit]) -> None:
    """Keep others from deciding these units by hand, correcting their texts or taking them out until the caller's
    transaction ends, and wait for whoever does so now. `Conflict` where a text has been replaced since it was read.

    (On SQLite a transaction that writes is alone from its beginning.)
    """
    read = {unit.pk: unit.superseded_by_id for unit in units}
    held = Unit.objects.select_for_update(no_key=True).filter(pk__in=read).order_by("pk")
    if dict(held.values_list("pk", "superseded_by")) != read:
        raise Conflict("Somebody else has corrected a text, or taken it out, a moment ago. Reload the page to see it.")


def take_slots(round: Round, units: Sequence[Unit], by: Member) -> dict[int, Assignment]:
    """Slot 0 of each unit for this curator, by unit id; another curator's is retired, so that each slot has one person.

    In the caller's transaction. The rows are written to, so that a second curator waits here until it has ended, and
    then finds what was decided.
    """
    ids = [u.pk for u in units]
    slots = Assignment.objects.filter(round=round, unit__in=ids)
    slots.filter(number=0, person=by).update(number=0)
    slots.filter(number=0).exclude(person=by).update(number=-F("pk"))
    slots.filter(person=by).update(number=0)
    there = set(slots.filter(person=by).values_list("unit", flat=True))
    try:
        with transaction.atomic():
            Assignment.objects.bulk_create(
                Assignment(round=round, unit=unit, number=0, position=0, person=by)
                for unit in units
                if unit.pk not in there
            )
    except IntegrityError:
        raise Conflict("Another curator is editing this at the same moment. Reload the page to see it.") from None
    return {slot.unit_id: slot for slot in slots.filter(person=by)}
