"""Flags, comments and skips reach leads and curators and are answered and settled; annotators read the replies."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects import permissions
from projects.jobs.running import run_job
from projects.models import Answer, Assignment, Job, JobStatus, Member, Project, Remark, Round
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import TEXT, answer, build_cluster, build_round, label_value, skip

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def round(project: Project, ann1: User, ann2: User) -> Round:
    build_cluster(project, inputs=5)
    return build_round(project, list(Member.objects.filter(user__in=[ann1, ann2])), overlap=2)


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def said(user: User, round: Round, **fields: Any) -> Answer:
    return answer(user, next_assignments(user=user, round=round)[0], **fields).answer


def listed(client: APIClient, **query: Any) -> list[dict[str, Any]]:
    reply = client.get(f"{API}/projects/eye/inbox/", query)
    assert reply.status_code == 200, reply.json()
    found: list[dict[str, Any]] = reply.json()["results"]
    return found


def say(client: APIClient, answer: Answer, act: str, text: str = "") -> int:
    reply = client.post(f"{API}/answers/{answer.pk}/remarks/", {"act": act, "text": text}, format="json")
    return int(reply.status_code)


def fail(project: Project, kind: str, status: str = JobStatus.FAILED, **params: Any) -> Job:
    ended = timezone.now()
    return Job.objects.create(
        project=project, kind=kind, params=params, status=status, error="Out of memory.", finished_at=ended
    )


def test_the_inbox_lists_what_was_raised_and_nothing_else(round: Round, ann1: User, client: APIClient) -> None:
    said(ann1, round)
    said(ann1, round, flag=True)
    said(ann1, round, comment="Which arm?")
    skip(ann1, next_assignments(user=ann1, round=round)[0])
    rows = listed(client)
    assert [(r["flag"], r["comment"], r["outcome"]) for r in rows] == [
        (False, "", "skipped"),
        (False, "Which arm?", "answered"),
        (True, "", "answered"),
    ]
    assert (rows[1]["text"], rows[1]["name"], rows[1]["said"][0]) == (
        TEXT,
        "Ann1",
        {"field": "polarity", "value": "no effect"},
    )
    assert [r["comment"] for r in listed(client, what="commented")] == ["Which arm?"]
    assert client.get(f"{API}/projects/eye/inbox/totals/").json() == {
        "flagged": 1,
        "commented": 1,
        "skipped": 1,
        "open": 3,
        "settled": 0,
    }


def test_settling_closes_a_matter_and_reopening_lists_it_again(round: Round, ann1: User, client: APIClient) -> None:
    mine = said(ann1, round, comment="Which arm?")
    assert say(client, mine, "reply", "The second one.") == 201
    assert say(client, mine, "settled", "Guideline 4.") == 201
    assert say(client, mine, "settled") == 409
    assert listed(client, state="open") == []
    row = listed(client, state="settled")[0]
    assert [(r["act"], r["text"]) for r in row["remarks"]] == [
        ("reply", "The second one."),
        ("settled", "Guideline 4."),
    ]
    assert say(client, mine, "reopened") == 201
    assert say(client, mine, "reopened") == 409
    assert len(listed(client, state="open")) == 1
    assert say(client, mine, "reply", "  ") == 422
    verbs = Entry.objects.filter(object_type="unit", object_id=str(mine.assignment.unit_id)).values_list("verb")
    assert [v for (v,) in verbs] == ["reply on answer", "settled on answer", "reopened on answer"]


def test_a_newer_flag_reopens_a_settled_matter(round: Round, ann1: User, client: APIClient) -> None:
    mine = said(ann1, round, flag=True)
    say(client, mine, "settled")
    again = answer(ann1, Assignment.objects.get(pk=mine.assignment_id), label_value("positive"), flag=True).answer
    assert [r["answer"] for r in listed(client, state="open")] == [str(again.pk)]
    assert listed(client, state="settled") == []


def test_annotators_read_replies_to_their_own_answers_without_names(
    round: Round, ann1: User, ann2: User, client: APIClient, client_of: Callable[[User], APIClient]
) -> None:
    say(client, said(ann1, round, comment="Which arm?"), "reply", "The second one.")
    mine = client_of(ann1)
    assert mine.get(f"{API}/my-work/").json()[0]["replies"] == 1
    replies = mine.get(f"{API}/rounds/{round.pk}/replies/").json()
    assert [(r["comment"], r["remarks"][0]["text"], r["remarks"][0]["author"]) for r in replies] == [
        ("Which arm?", "The second one.", "")
    ]
    others = client_of(ann2)
    assert others.get(f"{API}/my-work/").json()[0]["replies"] == 0
    assert others.get(f"{API}/rounds/{round.pk}/replies/").json() == []


def test_a_search_matches_comment_unit_round_and_person(
    round: Round, ann1: User, ann2: User, client: APIClient
) -> None:
    arm, other = said(ann1, round, comment="Which arm?"), said(ann2, round, flag=True)
    for words in ("which ARM", "ann1 arm"):
        assert [r["answer"] for r in listed(client, search=words)] == [str(arm.pk)], words
    for words in (round.name, other.assignment.unit.key):
        assert str(other.pk) in {r["answer"] for r in listed(client, search=words)}, words
    assert listed(client, search="which dose") == []


def test_remarks_are_never_changed(round: Round, ann1: User, client: APIClient) -> None:
    say(client, said(ann1, round, flag=True), "settled")
    with pytest.raises(DatabaseError), transaction.atomic():
        Remark.objects.update(text="other")


def test_inbox_and_overview_take_a_fixed_number_of_queries(
    round: Round, ann1: User, ann2: User, client: APIClient, project: Project
) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(f"{API}/projects/eye/{path}").status_code == 200
        return len(asked)

    say(client, said(ann1, round, flag=True), "reply", "Yes.")
    fail(project, "release")
    before = {path: queries(path) for path in ("inbox/", "overview/")}
    for n in range(3):
        fail(project, "import_m3", token=str(n))
        fail(project, "finish_round", round=n)
        build_round(project, list(Member.objects.filter(user__in=[ann1, ann2])), name=f"more {n}")
        say(client, said(ann2, round, comment="So?"), "settled")
    assert {path: queries(path) for path in before} == before


def test_the_overview_counts_what_needs_attention_round_by_round(
    round: Round, ann1: User, ann2: User, client: APIClient
) -> None:
    said(ann1, round, flag=True)
    settled = said(ann2, round, comment="So?")
    say(client, settled, "settled")
    skip(ann2, next_assignments(user=ann2, round=round)[0])
    found = client.get(f"{API}/projects/eye/overview/").json()
    row = found["rounds"][0]
    assert (row["answered"], row["raised"], row["skipped"]) == (2, 1, 1)
    assert found["unsettled"] == {"flagged": 1, "commented": 0, "skipped": 1, "open": 2}
    assert (found["contested"], found["failed_jobs"]) == ([], [])
    assert [(p["name"], p["answered"], p["skipped"]) for p in row["at_work"]] == [("Ann1", 1, 0), ("Ann2", 1, 1)]
    assert [day["answers"] for day in found["days"]] == [0] * 13 + [2]


def test_the_overview_lists_failed_jobs_until_the_work_is_done_again(
    round: Round, project: Project, lead: User, ann1: User, client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed_jobs() -> list[tuple[str, str, str]]:
        found = client.get(f"{API}/projects/eye/overview/").json()["failed_jobs"]
        return [(job["what"], job["page"], job["error"]) for job in found]

    fail(project, "release", version="1.0.0")
    fail(project, "score_run", run=4, metric="rouge")
    fail(project, "score_run", run=5, metric="rouge")
    fail(project, "check_without_a_page")
    old = fail(project, "finish_round", round=round.pk)
    assert listed_jobs() == [
        ("Closing", f"rounds/{round.pk}", "Out of memory."),
        ("Scores (rouge)", "systems/runs/5", "Out of memory."),
        ("Scores (rouge)", "systems/runs/4", "Out of memory."),
        ("Release", "releases", "Out of memory."),
    ]
    Job.objects.filter(pk=old.pk).update(finished_at=timezone.now() - timedelta(days=31))
    fail(project, "score_run", JobStatus.DONE, run=4, metric="rouge")
    fail(project, "score_run", JobStatus.DONE, run=5, metric="bertscore")
    fail(project, "release", version="1.0.1")
    assert [(what, page) for what, page, _ in listed_jobs()] == [
        ("Release", "releases"),
        ("Scores (rouge)", "systems/runs/5"),
    ], "the newest of two failures, and not what was done again"
    Member.objects.filter(user=lead).update(role="viewer")
    assert listed_jobs() == []
    Member.objects.filter(user=lead).update(role="lead")
    monkeypatch.setitem(permissions._rules, "run", lambda member: {5})
    assert [what for what, _, _ in listed_jobs()] == ["Release"]
    release = Job.objects.get(project=project, params={"version": "1.0.1"})
    assert [client.post(f"{API}/jobs/{release.pk}/dismissal/").status_code for _ in range(2)] == [204, 204]
    assert listed_jobs() == []
    assert Entry.objects.filter(verb="dismiss failed job", object_id=str(release.pk)).count() == 1
    done = Job.objects.filter(status=JobStatus.DONE).earliest("pk")
    assert client.post(f"{API}/jobs/{done.pk}/dismissal/").status_code == 409


def test_contested_fields_are_listed_however_many_rounds_are_open(
    project: Project, lead: User, ann1: User, ann2: User, client: APIClient, client_of: Any
) -> None:
    people = [project.members.get(user=user) for user in (ann1, ann2)]
    build_cluster(project)
    contested = build_round(project, people, name="contested", overlap=2)
    for user, polarity in ((ann1, "positive"), (ann2, "negative")):
        answer(user, next_assignments(user=user, round=contested)[0], label_value(polarity))
    assert run_job(close_round(round=contested, by=lead).pk)
    for n in range(25):
        build_round(project, people, name=f"open {n}")
    [found] = client.get(f"{API}/projects/eye/overview/").json()["contested"]
    assert (found["name"], found["count"] > 0) == ("contested", True)
    [mine] = client_of(lead).get(f"{API}/my-work/adjudication/").json()
    assert (mine["round"], mine["units"]) == (contested.pk, 1)
    assert client_of(ann1).get(f"{API}/my-work/adjudication/").json() == []
    unit = contested.decisions.contested()[0].unit
    unit.superseded_by = build_cluster(project, number=7).unit
    unit.save()
    assert client.get(f"{API}/projects/eye/overview/").json()["contested"] == [], "nobody decides a replaced unit"
