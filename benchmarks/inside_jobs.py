"""Create a second, large project for `benchmarks.large`."""

import random
from typing import Any

from benchmarks.inside_rounds import BATCH, grow
from benchmarks.load import said

SLUG = "elsewhere"


def neighbours(texts: list[str], units: int, raters: int) -> dict[str, Any]:
    """Create a project with ``units`` propositions. Return the API token of its lead and its annotators' ids."""
    from django.contrib.auth import get_user_model

    from benchmarks.inside_loads import lead
    from projects.models import Member, Project

    grow(units=units, texts=texts, rounds=0, answered=0, slug=SLUG)
    project = Project.objects.get(slug=SLUG)
    people = []
    for n in range(raters):
        user = get_user_model().objects.create_user(email=f"e{n}@example.org", name=f"Rater {n}")
        people.append(Member.objects.create(project=project, user=user, role="annotator", pseudonym=f"E{n}").pk)
    return {"token": lead(SLUG), "slug": SLUG, "people": people}


def answered(answers: int, status: str, slug: str = SLUG) -> int:
    """Create a round, open or closed, that all annotators of the project have answered, with cues."""
    from django.utils import timezone

    from annotation.models import Proposition
    from projects import kinds
    from projects.models import Answer, Assignment, Participant, Project, Round, Unit

    project, kind, rng = Project.objects.get(slug=slug), kinds.get("label"), random.Random(1)
    people = list(project.members.filter(role="annotator").order_by("pk"))
    now, guideline = timezone.now(), project.guidelines.get()
    round = Round.objects.create(
        project=project,
        name=f"{answers} answers, {status}",
        kind="label",
        purpose="measure only",
        seed=1,
        overlap=len(people),
        allocation="pool",
        guideline=guideline,
        sampling={},
        policy={"cues": "overlap"},
        status=status,
        units_count=answers // len(people),
        opened_at=now,
        closed_at=now if status == "closed" else None,
    )
    Participant.objects.bulk_create(Participant(round=round, member=one) for one in people)
    units = list(Unit.objects.filter(project=project, type="proposition").order_by("pk")[: answers // len(people)])
    for first in range(0, len(units), BATCH // len(people)):
        some = units[first : first + BATCH // len(people)]
        texts = dict(Proposition.objects.filter(unit__in=some).values_list("unit", "text"))
        slots = Assignment.objects.bulk_create(
            Assignment(round=round, unit=unit, number=k, position=first + n, person=one, revision=1)
            for n, unit in enumerate(some)
            for k, one in enumerate(people, start=1)
        )
        given = Answer.objects.bulk_create(
            Answer(
                assignment=slot,
                author=slot.person,
                revision=1,
                outcome="answered",
                guideline=guideline,
                body_digest="",
                digest="",
                shown=1,
                received_at=now,
            )
            for slot in slots
        )
        kind.store([(answer, said(texts[answer.assignment.unit_id], rng)) for answer in given])
        for slot, answer in zip(slots, given, strict=True):
            slot.current_answer = answer
        Assignment.objects.bulk_update(slots, ["current_answer"], batch_size=400)
    return int(round.pk)
