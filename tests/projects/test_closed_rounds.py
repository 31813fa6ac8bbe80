"""A closed round is locked: writes are refused, answers stay, and nothing reopens it (rows 21 and 22).

A curator corrects values instead: by a new decision with name and reason in the audit log.
"""

import uuid

import pytest
from django.urls import get_resolver
from rest_framework.test import APIClient

from accounts.models import User
from audit.actions import create_checkpoints
from audit.models import Entry
from audit.verify import findings
from projects.jobs.running import run_job
from projects.models import Answer, Decision, Member, Project, Round
from projects.rounds.actions import close_round
from tests.builders import build_cluster, build_round, label_value
from tests.config.routes import walk
from tests.projects.test_loop_api import body_of, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def round(project: Project, ann1: User) -> Round:
    build_cluster(project)
    return build_round(project, [Member.objects.get(project=project, user=ann1)])


def signed_in(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


@pytest.mark.row(21)
def test_an_answer_sent_after_closing_is_refused_and_earlier_ones_stay(round: Round, lead: User, ann1: User) -> None:
    client = signed_in(ann1)
    cards = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"]
    assert put(client, body_of(cards[0])).status_code == 201
    close_round(round=round, by=lead)
    late = put(client, body_of(cards[1], comment="Long thought."))
    assert (late.status_code, late.json()["type"]) == (409, "/problems/round-closed")
    assert late["Content-Type"] == "application/problem+json"
    changed = put(client, body_of(cards[0], revision=1, value=label_value("negative")))
    assert changed.json()["type"] == "/problems/round-closed"
    assert Answer.objects.count() == 1


@pytest.mark.row(22)
def test_no_route_reopens_a_closed_round(round: Round, lead: User) -> None:
    close_round(round=round, by=lead)
    client = signed_in(lead)
    opening = [p for p, _ in walk(get_resolver()) if "open" in p or "unlock" in p]
    # Undoing a decision about a unit does not reopen the round.
    assert opening == ["api/v1/rounds/<int:round_id>/adjudication/<int:unit_id>/reopen/"]
    unit = round.assignments.values_list("unit", flat=True)[0]
    for method in ("post", "put", "patch"):
        for address in ("", "close/", f"adjudication/{unit}/reopen/"):
            for status in ("open", "OPEN"):
                reply = getattr(client, method)(
                    f"/api/v1/rounds/{round.pk}/{address}", {"status": status, "closed_at": None}, format="json"
                )
                assert reply.status_code in (404, 405, 409, 422), (method, address)
    round.refresh_from_db()
    assert round.status == Round.Status.CLOSED


@pytest.mark.row(22)
def test_corrections_after_closing_are_logged_with_name_reason_and_old_value(
    round: Round, lead: User, ann1: User
) -> None:
    client = signed_in(ann1)
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    key = uuid.uuid4()
    assert put(client, body_of(card), key).status_code == 201
    run_job(close_round(round=round, by=lead).pk)
    unit = Answer.objects.get(pk=key).assignment.unit
    before = Decision.objects.filter(unit=unit).count()
    assert before > 0
    body = {"kind": "label", "value": label_value("negative", "weak"), "reason": "Read again."}
    assert signed_in(lead).post(f"/api/v1/units/{unit.pk}/corrections/", body, format="json").status_code in (200, 201)
    assert Decision.objects.filter(unit=unit).count() > before, "the old decisions stay"
    newest = Decision.objects.filter(unit=unit).order_by("-pk")[0]
    assert newest.reason == "Read again."
    assert newest.decided_by == lead
    assert Answer.objects.get(pk=key).label.polarity == "no effect"
    create_checkpoints()
    assert list(findings()) == []
    assert Entry.objects.filter(verb="close round", object_id=str(round.pk)).count() == 1
