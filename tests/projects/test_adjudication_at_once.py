"""Adjudicating many units at once: near-agreements are decided by the answer nearest to the others, in one act."""

import uuid as uuids
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from audit.verify import findings
from projects import kinds
from projects.adjudication.queries import compute_nearness
from projects.gold.queries import current_values
from projects.models import Decision, Member, Project, Round
from tests.builders import label_value
from tests.projects.adjudication import AGREED, APART, API, answer_by, closed_round, queue, send, take, unit_of

pytestmark = pytest.mark.django_db
#: Three cues that overlap with one other at most; the second shares most with the others.
SHIFTED = [label_value(polarity_cue=[cue]) for cue in ((0, 7), (0, 16), (8, 20))]
POLICY = {"cues": "exact"}


@pytest.fixture
def three(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    Member.objects.filter(user=evaluator).update(role="annotator")
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]


@pytest.fixture
def round(project: Project, three: list[Member]) -> Round:
    """Two units that differ in the cue only (one of them flagged), one on which all differ, one unanimous."""
    return closed_round(project, three, [SHIFTED, SHIFTED, APART, AGREED, SHIFTED], flag=[1], policy=POLICY)


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def preview(client: APIClient, round: Round) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{API}/rounds/{round.pk}/adjudication/at-once/").json()
    return found


def at_share(found: dict[str, Any], share: float) -> int:
    return next(int(step["units"]) for step in found["steps"] if step["agreement"] == share)


def test_the_preview_counts_and_decides_nothing(round: Round, client: APIClient) -> None:
    found = preview(client, round)
    assert (found["contested"], found["flagged"]) == (4, 1)
    assert (at_share(found, 0.5), at_share(found, 0.95)) == (2, 0)
    # One unit has no nearest answer: three different values can only be drawn.
    assert [s["tied"] for s in found["steps"] if s["agreement"] in (0.75, 0.8)] == [1, 0]
    assert not Decision.objects.filter(origin="decided by a curator").exists()


def test_bulk_decisions_adopt_the_nearest_answer_and_one_undo_reverts_all(
    round: Round, client: APIClient, three: list[Member]
) -> None:
    act = str(uuids.uuid4())
    reply = send(client, round, "at-once/", uuid=act, agreement=0.8, units=2, reason="Nearly agreed.")
    assert (reply.status_code, reply.json()) == (201, {"units": 2})
    for row in (0, 4):
        unit = unit_of(round, row)
        made = Decision.objects.filter(unit=unit, origin="decided by a curator")
        assert {d.answer_id for d in made} == {answer_by(round, unit, three[1]).pk}
        assert current_values([unit], "label")[unit.pk]["polarity_cue"][0]["end"] == 16
    assert queue(client, round)["counts"] == {"waiting": 2, "contested": 2, "flagged": 1, "decided": 2}
    assert send(client, round, "undo/", act=act).json() == {"units": 2, "kept": 0}
    assert queue(client, round)["counts"] == {"waiting": 4, "contested": 4, "flagged": 1, "decided": 0}
    assert "polarity_cue" not in current_values([unit_of(round)], "label")[unit_of(round).pk]
    assert list(findings()) == []


def test_undo_keeps_later_decisions(round: Round, client: APIClient, three: list[Member]) -> None:
    act, again = str(uuids.uuid4()), unit_of(round, 4)
    send(client, round, "at-once/", uuid=act, agreement=0.8, units=2, reason="Nearly agreed.")
    take(client, round, again, answer_by(round, again, three[0]))
    assert send(client, round, "undo/", act=act).json() == {"units": 1, "kept": 1}
    assert current_values([again], "label")[again.pk]["polarity_cue"][0]["end"] == 7


def test_bulk_decisions_are_refused_if_the_units_changed(round: Round, client: APIClient, three: list[Member]) -> None:
    take(client, round, unit_of(round), answer_by(round, unit_of(round), three[0]))
    reply = send(client, round, "at-once/", agreement=0.8, units=2, reason="Nearly agreed.")
    assert reply.status_code == 409
    assert Decision.objects.filter(origin="decided by a curator").values("unit").distinct().count() == 1


def test_a_repeated_request_makes_no_further_decisions(round: Round, client: APIClient) -> None:
    body = {"uuid": str(uuids.uuid4()), "agreement": 0.8, "units": 2, "reason": "Nearly agreed."}
    assert [send(client, round, "at-once/", **body).json() for _ in range(2)] == [{"units": 2}] * 2
    assert Decision.objects.filter(origin="decided by a curator").count() == 2


def test_two_answers_that_differ_are_equally_near() -> None:
    kind = kinds.get("label")
    assert compute_nearness(kind, kind.fields, APART[:2]).nearest == [0, 1]
    assert compute_nearness(kind, kind.fields, AGREED).nearest == [0]
    assert compute_nearness(kind, kind.fields, []).nearest == []
    assert compute_nearness(kind, kind.fields, APART[:1]).agreement is None
    assert compute_nearness(kind, kind.fields, APART[:2]).agreement == pytest.approx(0.75)


def test_cues_are_as_near_as_the_characters_that_they_share() -> None:
    kind = kinds.get("label")
    assert kind.distance("polarity_cue", SHIFTED[0], SHIFTED[1]) == pytest.approx(1 - 14 / 23)
    assert kind.distance("polarity_cue", SHIFTED[0], SHIFTED[2]) == 1.0
    assert kind.distance("polarity_cue", label_value(), label_value()) == 0.0
    assert compute_nearness(kind, kind.fields, SHIFTED).nearest == [1]


def test_ties_in_bulk_decisions_can_be_broken_at_random(round: Round, client: APIClient) -> None:
    reply = send(client, round, "at-once/", agreement=0.75, tied=True, units=3, reason="Drawn.")
    assert reply.json() == {"units": 3}
    assert Decision.objects.filter(unit=unit_of(round, 2), origin="decided by a curator").exists()
