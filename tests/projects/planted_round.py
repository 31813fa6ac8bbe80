"""A round of three people over imported propositions, with a disagreement in every third."""

from typing import Any

from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Assignment, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_round

POLARITIES = ("positive", "no effect", "negative")
FIELDS = ("polarity", "polarity_cue", "modality", "modality_cue")
EVERY = 3


def planted_round(project: Project, people: list[Member], units: int = 60) -> tuple[Round, list[int]]:
    """Return the closed round, and the units on whose polarity all three differ, in the order of the queue."""
    round = build_round(project, people, name="planted", overlap=len(people), sample=units, seed=11)
    slots = Assignment.objects.filter(round=round).values_list("unit", flat=True)
    order = list(Unit.objects.filter(pk__in=slots).order_by("context", "position", "pk"))
    published = current_values(order, "label")
    contested = {unit.pk for unit in order[::EVERY]}
    for n, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            unit = held[0].unit_id
            answer(person.user, held[0], said(published[unit], n if unit in contested else None))
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    return round, [unit.pk for unit in order if unit.pk in contested]


def said(published: dict[str, Any], other: int | None) -> dict[str, Any]:
    """Return the published value, or another polarity for each person."""
    value = {name: published[name] for name in FIELDS}
    if other is None:
        return value
    modality = "moderate" if value["modality"] == "no evidence" else value["modality"]
    return value | {"polarity": POLARITIES[other], "polarity_cue": [], "modality": modality}
