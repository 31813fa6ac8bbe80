"""Create large projects and rounds in batches. The functions run in a process with Concord set up."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

BATCH = 5_000
#: Propositions per cluster: the target and its inputs.
CLUSTER = 5


def _some(rows: Iterable[Any]) -> Iterator[list[Any]]:
    walk = iter(rows)
    while batch := list(islice(walk, BATCH)):
        yield batch


def grow(units: int, texts: list[str], rounds: int, answered: int, slug: str = "bench") -> None:
    """Create a project of ``units`` propositions, with ``rounds`` closed rounds of ``answered`` answers each."""
    from annotation.models import Cluster, PicoElement, Proposition, Review, Study
    from projects.models import Project, Unit

    project = Project.objects.create(slug=slug, name=slug)
    review = Review.objects.create(
        project=project, pmid="1", unit=Unit.objects.create(project=project, type="review", key="1")
    )
    study = Study.objects.create(project=project, pmid="2")
    for first in _some(range(0, units, CLUSTER)):
        made = Unit.objects.bulk_create(Unit(project=project, type="cluster", key=f"1_{n}") for n in first)
        clusters = Cluster.objects.bulk_create(
            Cluster(project=project, review=review, key=unit.key, position=n, unit=unit)
            for n, unit in zip(first, made, strict=True)
        )
        PicoElement.objects.bulk_create(
            PicoElement(cluster=c, element=element, form=form, text=text)
            for c in clusters
            for element, form, text in (
                ("p", "implied", "[patients]"),
                ("i", "explicit", "treatment"),
                ("c", "blank", ""),
                ("o", "explicit", "mortality"),
            )
        )
        places = [(c, n) for c in clusters for n in range(CLUSTER)]
        claims = Unit.objects.bulk_create(
            Unit(project=project, type="proposition", key=f"{c.key}/{n}", context=c.unit_id, position=n)
            for c, n in places
        )
        Proposition.objects.bulk_create(
            Proposition(cluster=c, position=n, study=study if n else None, text=texts[unit.pk % len(texts)], unit=unit)
            for (c, n), unit in zip(places, claims, strict=True)
        )
    from projects.guidelines.actions import latest_guideline

    latest_guideline(project, "label", by=None)
    for number in range(rounds):
        _closed_round(project, number, answered)


def _closed_round(project: Any, number: int, answered: int) -> None:
    from django.utils import timezone

    from accounts.models import User
    from annotation.models import Label
    from projects.models import Answer, Assignment, Member, Round, Unit

    user, _ = User.objects.get_or_create(email="before@example.org", defaults={"name": "Before"})
    member, _ = Member.objects.get_or_create(project=project, user=user, role="annotator", pseudonym="R0")
    guideline = project.guidelines.get()
    now = timezone.now()
    round = Round.objects.create(
        project=project,
        name=f"before {number}",
        kind="label",
        purpose="measure only",
        overlap=1,
        seed=1,
        allocation="pool",
        guideline=guideline,
        sampling={},
        status="closed",
        units_count=answered,
        opened_at=now,
    )
    units = Unit.objects.filter(project=project, type="proposition").order_by("pk")[:answered]
    for batch in _some(units):
        slots = Assignment.objects.bulk_create(
            Assignment(round=round, unit=unit, number=1, position=n, person=member, revision=1)
            for n, unit in enumerate(batch)
        )
        answers = Answer.objects.bulk_create(
            Answer(
                assignment=slot,
                author=member,
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
        Label.objects.bulk_create(
            Label(unit_id=slot.unit_id, answer=answer, polarity="positive", modality="strong")
            for slot, answer in zip(slots, answers, strict=True)
        )
        for slot, answer in zip(slots, answers, strict=True):
            slot.current_answer = answer
        Assignment.objects.bulk_update(slots, ["current_answer"], batch_size=400)


def people(count: int) -> list[str]:
    """Create annotators of the project and return their session keys."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from projects.kinds.registry import all_kinds
    from projects.models import Member, Project

    keys = []
    project = Project.objects.get(slug="bench")
    for n in range(count):
        # Mark all tutorials as seen, because only the work after them is measured.
        seen = {"introduced": sorted(kind.key for kind in all_kinds())}
        user = get_user_model().objects.create_user(email=f"a{n}@example.org", name=f"Annotator {n}", preferences=seen)
        Member.objects.create(project=project, user=user, role="annotator", pseudonym=f"A{n}")
        client = Client()
        client.force_login(user, backend="accounts.sessions.Backend")
        keys.append(client.cookies["sessionid"].value)
    return keys


def open_round(number: int, units: int, people: int, **_: Any) -> int:
    """Open a shared-queue round over the first ``units`` propositions for the first ``people`` annotators.

    Each unit needs one answer.
    """
    from projects.models import Member, Project, Unit
    from projects.rounds.actions import open_round as opened
    from projects.rounds.planning import RoundPlan

    project = Project.objects.get(slug="bench")
    at_work = Member.objects.filter(project=project, pseudonym__startswith="A").order_by("pk")[:people]
    there = Unit.objects.filter(project=project, type="proposition").count()
    made = opened(
        project=project,
        by=None,
        plan=RoundPlan(
            name=f"measured {number}",
            kind="label",
            purpose="measure only",
            overlap=1,
            people=[m.pk for m in at_work],
            sample=units if units < there else None,
        ),
    )
    return made.pk


def stored(round: int) -> list[str]:
    """Return the UUIDs of the stored answers of a round."""
    from projects.models import Answer

    return [str(pk) for pk in Answer.objects.filter(assignment__round=round).values_list("pk", flat=True)]
