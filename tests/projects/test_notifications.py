"""Notifications are created with the act, for the people concerned, as long as they may see it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from projects.adjudication.actions import adjudicate_bulk, candidates
from projects.inbox.actions import remark
from projects.jobs import jobs
from projects.jobs.queries import claim_next
from projects.jobs.running import RunningJob, run_job
from projects.models import Member, Notification, Project, Round
from projects.notifications.queries import READ_RETENTION, RETENTION, sweep
from projects.queue.actions import next_assignments
from projects.rounds.actions import add_person, close_round
from tests.builders import answer, build_cluster, build_round
from tests.projects.adjudication import AGREED, APART, API, answer_by, closed_round, take, unit_of

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


@pytest.fixture
def three(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    Member.objects.filter(user=evaluator).update(role="annotator")
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]


@pytest.fixture
def small(project: Project, three: list[Member]) -> Round:
    build_cluster(project, inputs=2)
    return build_round(project, three[:2])


def new(client: APIClient) -> list[dict[str, Any]]:
    reply = client.get(f"{API}/notifications/")
    assert reply.status_code == 200, reply.json()
    found: list[dict[str, Any]] = reply.json()
    return found


def texts(client: APIClient) -> list[str]:
    return [entry["text"] for entry in new(client) if entry["unread"]]


def test_an_opened_round_notifies_its_participants_only(
    small: Round, three: list[Member], client_of: ClientOf, lead: User
) -> None:
    [entry] = new(client_of(three[0].user))
    assert (entry["text"], entry["path"], entry["project"]) == ("Round opened: round", f"/work/{small.pk}", "Eye")
    assert new(client_of(three[2].user)) == new(client_of(lead)) == []
    add_person(round=small, member=three[2], by=lead)
    assert texts(client_of(three[2].user)) == ["Round opened: round"]
    # Nobody can work in a closed round.
    close_round(round=small, by=None)
    assert new(client_of(three[0].user)) == []


def test_a_reply_reaches_who_gave_the_answer_unless_it_is_their_own_or_says_nothing(
    small: Round, three: list[Member], client_of: ClientOf, lead: User, project: Project
) -> None:
    mine, by = three[0].user, project.members.get(user=lead)
    flagged = answer(mine, next_assignments(user=mine, round=small)[0], flag=True).answer
    remark(answer=flagged, act="reply", text="The second arm.", by=by)
    remark(answer=flagged, act="settled", text="", by=by)
    remark(answer=flagged, act="reply", text="Thanks.", by=three[0])
    assert texts(client_of(mine)) == ["1 reply to you in round", "Round opened: round"]
    remark(answer=flagged, act="reply", text="Welcome.", by=by)
    assert texts(client_of(mine))[0] == "2 replies to you in round"
    assert texts(client_of(three[1].user)) == ["Round opened: round"]
    # Former members are not notified.
    Member.objects.filter(pk=three[0].pk).update(left_at=timezone.now())
    assert new(client_of(mine)) == []


def test_raters_are_notified_of_decisions_only_if_the_project_shows_them(
    project: Project, three: list[Member], client_of: ClientOf, lead: User
) -> None:
    round = closed_round(project, three, [APART, AGREED, APART])
    take(client_of(lead), round, unit_of(round), answer_by(round, unit_of(round), three[1]))
    person = client_of(three[0].user)
    assert texts(person) == ["Your answers in first labels were adjudicated"]
    Project.objects.filter(pk=project.pk).update(show_adjudication=False)
    assert new(person) == []
    # Decisions during that time create no notification.
    before = Notification.objects.count()
    round = Round.objects.get(pk=round.pk)
    adjudicate_bulk(
        round=round,
        eligible=candidates(round),
        agreement=0.0,
        tied=True,
        expected=1,
        reason="Near.",
        by=project.members.get(user=lead),
    )
    assert Notification.objects.count() == before


def test_work_that_ends_is_new_for_who_asked_for_it_with_its_round_and_no_other_name(
    small: Round,
    project: Project,
    lead: User,
    three: list[Member],
    client_of: ClientOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    close_round(round=small, by=lead)
    while (pk := claim_next(["default"])) is not None:
        run_job(pk)
    [entry] = new(client_of(lead))
    assert (entry["text"], entry["path"]) == (f"{small.name}: closing finished", f"/projects/eye/rounds/{small.pk}")

    def refuse(running: RunningJob) -> None:
        raise Refused("No.")

    monkeypatch.setitem(jobs.handlers, "release", refuse)
    asked, _ = jobs.request_job(project=project, kind="release", params={"version": "secret"}, by=lead)
    run_job(asked.pk)
    assert texts(client_of(lead)) == ["Release: failed", f"{small.name}: closing finished"]
    cancelled, _ = jobs.request_job(project=project, kind="release", params={"version": "other"}, by=lead)
    jobs.cancel(cancelled)
    assert len(new(client_of(lead))) == 2
    assert new(client_of(three[0].user)) == []


def test_read_notifications_stay_listed_and_later_ones_are_unread(
    small: Round, three: list[Member], client_of: ClientOf, lead: User, project: Project
) -> None:
    mine, by = three[0].user, project.members.get(user=lead)
    flagged = answer(mine, next_assignments(user=mine, round=small)[0], flag=True).answer
    remark(answer=flagged, act="reply", text="One.", by=by)
    person = client_of(mine)
    reply_to_me = new(person)[0]["id"]
    remark(answer=flagged, act="reply", text="Two.", by=by)
    read = person.post(f"{API}/notifications/read/", {"ids": [reply_to_me]}, format="json").json()
    assert [(e["text"], e["unread"]) for e in read] == [
        ("1 reply to you in round", True),
        ("Round opened: round", True),
        ("1 reply to you in round", False),
    ]
    # Other people's notifications do not exist for the person.
    other = client_of(three[1].user)
    other.post(f"{API}/notifications/read/", {"ids": [e["id"] for e in read]}, format="json")
    assert Notification.objects.filter(user=mine).unread().count() == 2
    assert texts(other) == ["Round opened: round"]


def test_notifications_take_fixed_queries_and_old_ones_are_deleted(
    small: Round, three: list[Member], client_of: ClientOf, project: Project
) -> None:
    person = client_of(three[0].user)

    def cost() -> int:
        with CaptureQueriesContext(connection) as seen:
            new(person)
        return len(seen)

    before = cost()
    for n in range(4):
        build_round(project, three[:1], name=f"round {n}")
    assert (len(new(person)), cost()) == (5, before)
    now = timezone.now()
    ids = list(Notification.objects.filter(user=three[0].user).values_list("pk", flat=True))
    Notification.objects.filter(pk=ids[0]).update(read_at=now - READ_RETENTION - timedelta(days=1))
    Notification.objects.filter(pk=ids[1]).update(at=now - RETENTION - timedelta(days=1))
    Notification.objects.filter(pk=ids[2]).update(read_at=now)
    assert sweep(now) == 2
