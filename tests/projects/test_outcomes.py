"""After a round people see what a curator decided about their answers and why; the lead can switch this off."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from projects.models import Member, Project, Round
from tests.projects.adjudication import (
    AGREED,
    APART,
    API,
    adjudication_detail,
    answer_by,
    closed_round,
    send,
    take,
    unit_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    Member.objects.filter(user=evaluator).update(role="annotator")
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]


@pytest.fixture
def round(project: Project, three: list[Member]) -> Round:
    return closed_round(project, three, [APART, AGREED, APART])


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def outcomes(client: APIClient, round: Round) -> list[dict[str, Any]]:
    reply = client.get(f"{API}/rounds/{round.pk}/outcomes/")
    assert reply.status_code == 200, reply.json()
    found: list[dict[str, Any]] = reply.json()["results"]
    return found


def test_raters_see_their_value_the_decision_and_its_reason_without_names(
    round: Round, client: APIClient, client_of: Callable[[User], APIClient], three: list[Member]
) -> None:
    take(client, round, unit_of(round), answer_by(round, unit_of(round), three[1]))
    mine, theirs = (outcomes(client_of(m.user), round) for m in three[:2])
    assert len(mine) == 1
    assert mine[0]["reason"] == "The cue decides."
    assert mine[0]["said"][0] == {"field": "polarity", "yours": "positive", "decided": "no effect", "same": False}
    assert theirs[0]["said"][0] == {"field": "polarity", "yours": "no effect", "decided": "no effect", "same": True}
    assert [s["field"] for s in mine[0]["said"]] == ["polarity", "polarity_cue"]
    assert not any(name in str(mine) for name in ("Lead", "Ann2", "Evaluator"))
    assert outcomes(client, round) == []


def test_undone_values_are_not_shown(
    round: Round, client: APIClient, client_of: Callable[[User], APIClient], three: list[Member]
) -> None:
    unit = unit_of(round)
    take(client, round, unit, answer_by(round, unit, three[1]))
    send(client, round, f"{unit.pk}/reopen/", seen=adjudication_detail(client, round, unit)["seen"], reason="Anew.")
    assert outcomes(client_of(three[0].user), round) == []


def test_the_lead_switches_it_off_and_it_is_never_shown_of_an_open_round(
    round: Round, client: APIClient, client_of: Callable[[User], APIClient], three: list[Member], project: Project
) -> None:
    take(client, round, unit_of(round), answer_by(round, unit_of(round), three[1]))
    person = client_of(three[0].user)
    assert person.get(f"{API}/my-work/").json()[0]["outcomes"] is True
    assert client.patch(f"{API}/projects/eye/", {"show_adjudication": False}, format="json").status_code == 200
    assert outcomes(person, round) == []
    assert person.get(f"{API}/my-work/").json()[0]["outcomes"] is False
    Project.objects.filter(pk=project.pk).update(show_adjudication=True)
    Round.objects.filter(pk=round.pk).update(status="open")
    assert outcomes(person, round) == []


def test_outcomes_are_read_in_a_fixed_number_of_queries(
    round: Round, client: APIClient, client_of: Callable[[User], APIClient], three: list[Member]
) -> None:
    person = client_of(three[0].user)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            outcomes(person, round)
        return len(asked)

    take(client, round, unit_of(round), answer_by(round, unit_of(round), three[1]))
    one = queries()
    take(client, round, unit_of(round, 2), answer_by(round, unit_of(round, 2), three[0]))
    assert queries() == one <= 16
