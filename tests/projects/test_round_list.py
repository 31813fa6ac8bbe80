"""The list of rounds: progress, who is in them, and what waits for the lead."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from projects.jobs.running import run_job
from projects.models import Member, Project, Round
from projects.people.actions import change_role
from projects.queue.actions import next_assignments
from projects.rounds import queries as rounds_queries
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    build_cluster(project)
    return [project.members.get(user=user) for user in (ann1, ann2)]


def listed(client: APIClient) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/api/v1/projects/eye/rounds/").json()["results"]
    return rows


def contested(project: Project, people: list[Member], lead: User, name: str = "contested") -> Round:
    round = build_round(project, people, name=name, overlap=2)
    for member, polarity in zip(people, ("positive", "negative"), strict=True):
        answer(member.user, next_assignments(user=member.user, round=round)[0], label_value(polarity))
    assert run_job(close_round(round=round, by=lead).pk)
    return round


def test_a_row_names_the_people_and_counts_the_units_to_adjudicate(
    project: Project, people: list[Member], lead: User, client_of: ClientOf
) -> None:
    contested(project, people, lead)
    round = build_round(project, people, name="open", overlap=2)
    given = answer(people[0].user, next_assignments(user=people[0].user, round=round)[0]).answer
    open_row, closed_row = listed(client_of(lead))
    assert (closed_row["to_adjudicate"], closed_row["last_answer_at"]) == (1, None)
    assert (open_row["to_adjudicate"], open_row["names"], open_row["people"]) == (0, ["Ann1", "Ann2"], 2)
    assert (open_row["answered"], open_row["left"], open_row["independent"]) == (1, 5, True)
    assert open_row["kept_blind"] is False, "only a designed round hides its systems"
    assert open_row["last_answer_at"] == given.received_at.isoformat().replace("+00:00", "Z")


def test_a_viewer_sees_counts_only(
    project: Project, people: list[Member], lead: User, evaluator: User, client_of: ClientOf
) -> None:
    contested(project, people, lead)
    change_role(member=project.members.get(user=evaluator), role="viewer", by=lead)
    [row] = listed(client_of(evaluator))
    assert (row["people"], row["names"], row["quiet"], row["to_adjudicate"]) == (2, [], [], 0)


def test_a_person_with_open_work_is_quiet_after_three_days(project: Project, people: list[Member]) -> None:
    round = build_round(project, people, name="open", overlap=2)
    answer(people[0].user, next_assignments(user=people[0].user, round=round)[0])
    counted = list(rounds_queries.with_counts(Round.objects.all()).select_related("guideline"))

    def quiet(days: int) -> list[tuple[str, int]]:
        now = timezone.now() + timedelta(days=days)
        [row] = rounds_queries.rows(counted, watches=True, now=now)
        progress = rounds_queries.of_round(round, now=now)["people"]
        listed = [(person["name"], person["quiet_days"]) for person in row["quiet"]]
        assert listed == [(p["name"], p["quiet_days"]) for p in progress if p["quiet_days"]]
        return listed

    assert (quiet(2), quiet(4)) == ([], [("Ann1", 4)])


def test_the_list_costs_the_same_however_many_rounds(
    project: Project, people: list[Member], lead: User, client_of: ClientOf
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            listed(client_of(lead))
        return len(seen)

    contested(project, people, lead)
    build_round(project, people, name="open", overlap=2)
    before = queries()
    for n in range(3):
        contested(project, people, lead, name=f"contested {n}")
        build_round(project, people, name=f"open {n}", overlap=2)
    assert queries() == before
