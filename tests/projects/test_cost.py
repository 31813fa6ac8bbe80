"""The cost of agreement in a large round (reliability row 45).

``AGREEMENT_ANSWERS`` sets the number of answers.
"""

import os
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Label, Proposition, Study
from projects.models import Answer, Assignment, Member, Participant, Project, Round, Unit
from tests.builders import TEXT, build_cluster, build_round

pytestmark = [pytest.mark.django_db, pytest.mark.row(45)]
ANSWERS = int(os.environ.get("AGREEMENT_ANSWERS", "4000"))
RATERS = 5
BATCH = 5_000
VALUES = ("positive", "no effect", "negative")


def answered(project: Project, lead: User, answers: int) -> Round:
    """A round answered by five people, the third of whom differs in every seventh unit."""
    cluster = build_cluster(project)
    study = Study.objects.filter(project=project)[0]
    people = [project.members.get(user=lead)]
    for n in range(RATERS - 1):
        user = User.objects.create_user(email=f"rater{n}@example.org", name=f"Rater {n}")
        people.append(Member.objects.create(project=project, user=user, role="annotator", pseudonym=f"Q{n}"))
    round = build_round(project, people, overlap=RATERS)
    Assignment.objects.filter(round=round).delete()
    now = timezone.now()
    for start in range(0, answers // RATERS, BATCH // RATERS):
        units = Unit.objects.bulk_create(
            Unit(project=project, type="proposition", key=f"r{n}", context=n // 5, position=n % 5)
            for n in range(start, min(start + BATCH // RATERS, answers // RATERS))
        )
        Proposition.objects.bulk_create(
            Proposition(cluster=cluster, position=100 + start + n, text=TEXT, unit=unit, study=study)
            for n, unit in enumerate(units)
        )
        slots = Assignment.objects.bulk_create(
            Assignment(
                round=round,
                unit=unit,
                number=k + 1,
                position=start + n,
                person=person,
                revision=1,
                leased_until=now + timedelta(hours=1),
            )
            for n, unit in enumerate(units)
            for k, person in enumerate(people)
        )
        given = Answer.objects.bulk_create(
            Answer(
                assignment=slot,
                author_id=slot.person_id,
                revision=1,
                outcome="answered",
                reason="",
                shown=1,
                guideline_id=round.guideline_id,
                body_digest="",
                digest="",
                received_at=now,
            )
            for slot in slots
            if slot.person_id
        )
        Label.objects.bulk_create(
            Label(unit_id=slot.unit_id, answer=answer, polarity=_polarity(slot, slot.number), modality="moderate")
            for slot, answer in zip(slots, given, strict=True)
        )
        for slot, answer in zip(slots, given, strict=True):
            slot.current_answer = answer
        Assignment.objects.bulk_update(slots, ["current_answer"], batch_size=300)
    Participant.objects.filter(round=round).update(cursor=answers)
    return round


def _polarity(slot: Assignment, number: int) -> str:
    return VALUES[(slot.unit_id + (number == 3 and slot.unit_id % 7 == 0)) % 3]


def test_the_agreement_of_a_large_round_costs_some_queries_a_thousand_answers(project: Project, lead: User) -> None:
    round = answered(project, lead, ANSWERS)
    client = APIClient()
    client.force_login(lead)
    began = time.process_time()
    with CaptureQueriesContext(connection) as seen:
        reply = client.get(f"/api/v1/rounds/{round.pk}/agreement/")
    took = time.process_time() - began
    report: dict[str, Any] = reply.json()
    assert report["answers"] == ANSWERS // RATERS * RATERS
    assert 0.7 < report["measures"][0]["coefficients"]["ac1"]["value"] < 1
    print(f"{ANSWERS} answers: {took:.2f} s of the processor, {len(seen)} queries")
    # A few queries per thousand answers, not one per answer.
    assert len(seen) < 30 + ANSWERS / 200
    # CPU time, because other tests run at the same time; the limit is a multiple of the measured time.
    assert took < max(ANSWERS / 1_000, 10)
