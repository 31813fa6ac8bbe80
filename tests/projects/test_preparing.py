"""A large round is prepared by a job: invisible until it is open, and then the same as if prepared at once."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from api.problems import Conflict, Refused
from audit.actions import create_checkpoints
from audit.models import Entry, RowDigest
from audit.verify import findings
from projects.answers.assignments import PlannedAssignment
from projects.jobs import jobs
from projects.jobs.running import RunningJob, run_job
from projects.models import Assignment, Job, Member, Participant, Project, Round
from projects.people.actions import change_role, remove_member
from projects.queue.actions import next_assignments
from projects.rounds import choosing, preparing
from projects.rounds.actions import open_round
from projects.rounds.planning import RoundPlan, plan_of, validated_plan
from releases.formats import rounds as released
from releases.formats.notes import Notes
from tests.builders import TEXT, answer, build_cluster
from tests.concurrency import outside_the_job

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


@pytest.fixture(autouse=True)
def corpus(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """15 propositions; a round of more than four assignments is large, and four are stored at a time."""
    for number in range(5):
        build_cluster(project, number)
    monkeypatch.setattr(preparing, "AT_ONCE", 4)
    monkeypatch.setattr(preparing, "BATCH", 4)


def workers(project: Project) -> list[int]:
    return list(project.members.filter(role__in=("annotator", "lead")).order_by("pk").values_list("pk", flat=True))


def plan(project: Project, name: str = "large", **fields: Any) -> RoundPlan:
    defaults: dict[str, Any] = {"kind": "label", "purpose": "gold", "overlap": 2, "people": workers(project)}
    return RoundPlan(name=name, **defaults | fields)


def prepared(project: Project, by: User, **fields: Any) -> tuple[Round, Job]:
    round = preparing.begin_round(project=project, plan=plan(project, **fields), by=by)
    job = preparing.job_of(round)
    assert job
    return round, job


def slots(round: Round) -> list[tuple[Any, ...]]:
    rows = Assignment.objects.filter(round=round).order_by("position", "number")
    return list(rows.values_list("unit", "position", "number", "person"))


def ids(round: Round) -> list[int]:
    return list(Assignment.objects.filter(round=round).order_by("pk").values_list("pk", flat=True))


def status(round: Round) -> str:
    return Round.objects.get(pk=round.pk).status


@pytest.fixture
def broken_off(project: Project, lead: User, monkeypatch: pytest.MonkeyPatch) -> tuple[Round, Job]:
    """A round whose preparation was interrupted."""
    round, job = prepared(project, lead)
    real, stored = preparing._parts, list[Any]()

    def stop(rows: Any, size: int, **more: Any) -> Iterator[list[Any]]:
        for part in real(rows, size, **more):
            if len(stored) == 2:
                with outside_the_job():
                    jobs.cancel(job)
            stored.append(part)
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_parts", stop)
        run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "cancelled"
    assert 0 < len(ids(round)) < 30
    return round, job


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"allocation": "dealt", "overlap": 2, "seed": 5},
        {"allocation": "dealt", "overlap": 3, "order": "shuffled"},
        {"sample": 7, "seed": 3},
        {
            "sample": 7,
            "seed": 3,
            "strata": ["polarity"],
            "options": {"suggestions": True},
            "policy": {"cues": "exact"},
            "lease_seconds": 60,
        },
        {"filters": {"unasked": True}, "purpose": "measure only"},
    ],
)
def test_a_round_prepared_in_chunks_equals_one_prepared_at_once(
    project: Project, lead: User, fields: dict[str, Any]
) -> None:
    expected_plan = plan(project, "at once", **fields)
    at_once = open_round(project=project, plan=expected_plan, by=lead)
    expected, people = (
        slots(at_once),
        list(at_once.participants.order_by("pk").values_list("member", "start", "cursor")),
    )
    entry = Entry.objects.get(verb="open round", object_id=str(at_once.pk))
    if fields.get("filters"):  # its units are in use by now
        Participant.objects.filter(round=at_once).delete()
        Assignment.objects.filter(round=at_once).delete()
    round, job = prepared(project, lead, **fields)
    assert status(round) == "preparing"
    assert plan_of(round, expected_plan.people) == validated_plan(
        project, plan(project, "large", guideline=round.guideline_id, **{"filters": {}, "strata": []} | fields)
    )
    assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.total) == ("done", len(expected), len(expected))
    assert slots(round) == expected
    assert list(round.participants.order_by("pk").values_list("member", "start", "cursor")) == people
    round.refresh_from_db()
    for name in (
        "kind",
        "purpose",
        "overlap",
        "seed",
        "allocation",
        "guideline_id",
        "sampling",
        "policy",
        "options",
        "lease_seconds",
        "units_count",
        "created_by_id",
    ):
        assert getattr(round, name) == getattr(at_once, name), name
    assert (round.status, round.opened_at > at_once.opened_at) == ("open", True)
    logged = Entry.objects.get(verb="open round", object_id=str(round.pk))
    assert (logged.actor, logged.after) == (entry.actor, entry.after | {"name": "large"})  # type: ignore[operator]


def test_a_small_round_opens_in_the_request(project: Project, lead: User, client_of: ClientOf) -> None:
    body = {"name": "small", "kind": "label", "purpose": "gold", "overlap": 2, "sample": 2, "people": workers(project)}
    made = client_of(lead).post("/api/v1/projects/eye/rounds/", body, format="json").json()
    assert (made["status"], made["job"]) == ("open", None)
    assert not Job.objects.exists()


def test_a_round_is_invisible_to_people_before_it_opens(
    project: Project, lead: User, ann1: User, client_of: ClientOf
) -> None:
    body = {"name": "large", "kind": "label", "purpose": "gold", "overlap": 2, "people": workers(project)}
    made = client_of(lead).post("/api/v1/projects/eye/rounds/", body, format="json").json()
    assert (made["status"], made["units"]) == ("preparing", 15)
    round, job = Round.objects.get(pk=made["id"]), Job.objects.get(pk=made["job"])
    seen: list[Any] = []
    progress = RunningJob.progress

    def looked(self: RunningJob, done: int, total: int | None = None, note: str = "") -> None:
        progress(self, done, total, note)
        at = f"/api/v1/rounds/{round.pk}/"
        with outside_the_job():
            client = client_of(ann1)
            codes = [client.get(path).status_code for path in (at, f"{at}next/")]
            seen.append((client.get("/api/v1/my-work/").json(), *codes, round.participants.count()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningJob, "progress", looked)
        assert run_job(job.pk)
    assert len(seen) > 5
    assert {str(one) for one in seen} == {str(([], 403, 404, 0))}
    client = client_of(ann1)
    assert [row["name"] for row in client.get("/api/v1/my-work/").json()] == ["large"]
    assert client.get(f"/api/v1/rounds/{round.pk}/next/").json()["held"]
    assert client_of(lead).get(f"/api/v1/rounds/{round.pk}/").json()["job"] is None


def test_no_transaction_stores_more_than_a_batch(project: Project, lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    round, job = prepared(project, lead)
    stored: list[int] = []
    hold = RunningJob.hold

    def counted(self: RunningJob, *far: Any) -> None:
        stored.append(len(ids(round)) - sum(stored))
        hold(self, *far)

    monkeypatch.setattr(RunningJob, "hold", counted)
    assert run_job(job.pk)
    assert (max(stored), sum(stored)) == (4, 30)


def test_a_stopped_preparation_continues_where_it_stopped(
    broken_off: tuple[Round, Job], project: Project, lead: User, client_of: ClientOf
) -> None:
    round, stopped = broken_off
    before = ids(round)
    reply = client_of(lead).post(f"/api/v1/rounds/{round.pk}/preparation/")
    assert reply.status_code == 202
    assert reply.json()["id"] != stopped.pk
    assert run_job(reply.json()["id"])
    assert status(round) == "open"
    assert ids(round)[: len(before)] == before
    at_once = open_round(project=project, plan=plan(project, "at once"), by=lead)
    assert slots(round) == slots(at_once)


def test_changed_selections_are_prepared_again(broken_off: tuple[Round, Job], project: Project, lead: User) -> None:
    round, _ = broken_off
    by = Member.objects.get(project=project, user=lead)
    second = Proposition.objects.select_related("unit", "cluster__unit").order_by("pk")[1]
    new = supersede_text(proposition=second, text=TEXT + " More.", reason="It was cut off.", by=by)
    assert run_job(preparing.resume(round=round, by=lead).pk)
    assert status(round) == "open"
    asked = {unit for unit, *_ in slots(round)}
    assert new.unit_id in asked
    assert second.unit_id not in asked
    assert slots(round) == slots(open_round(project=project, plan=plan(project, "at once"), by=lead))


def test_a_round_of_unasked_units_does_not_exclude_its_own_units(project: Project, lead: User) -> None:
    round, job = prepared(project, lead, filters={"unasked": True})
    preparing._lay_out(
        round, iter([PlannedAssignment(unit, n, 1) for n, unit in enumerate(_units(project))]), 15, silent
    )
    assert choosing.units(project, "label", {"unasked": True}).count() == 15
    assert run_job(job.pk)
    assert len(slots(round)) == 30
    assert choosing.units(project, "label", {"unasked": True}).count() == 0


def _units(project: Project) -> list[int]:
    return list(choosing.units(project, "label", {}).values_list("pk", flat=True))


def silent(done: int, total: int | None, note: str) -> None:
    """Progress without a job."""


def test_people_who_left_during_preparation_are_not_in_the_round(
    project: Project, lead: User, ann1: User, ann2: User
) -> None:
    round, job = prepared(project, lead, allocation="dealt")
    gone, viewer = (Member.objects.get(project=project, user=user) for user in (ann1, ann2))
    remove_member(member=gone, by=lead)
    change_role(member=viewer, role="viewer", by=lead)
    assert run_job(job.pk)
    assert set(round.participants.filter(left_at=None).values_list("member__user", flat=True)) == {lead.pk}
    held = Assignment.objects.filter(round=round).counted()
    assert not held.filter(person__in=[gone, viewer]).exists()
    assert held.count() == 30
    verbs = list(Entry.objects.filter(object_type="round", object_id=str(round.pk)).values_list("verb", flat=True))
    assert sorted(verbs) == ["leave round", "leave round", "open round"]


def test_a_text_corrected_during_preparation_is_asked_in_its_newest_form(
    project: Project, lead: User, ann1: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    round, job = prepared(project, lead)
    by = Member.objects.get(project=project, user=lead)
    old = Proposition.objects.select_related("unit", "cluster__unit").order_by("pk")[3]
    real = preparing._open

    def corrected_first(*args: Any) -> None:
        middle = supersede_text(proposition=old, text=TEXT + " More.", reason="It was cut off.", by=by)
        supersede_text(proposition=middle, text=TEXT + " All.", reason="It was still cut off.", by=by)
        real(*args)

    monkeypatch.setattr(preparing, "_open", corrected_first)
    assert run_job(job.pk)
    asked = Assignment.objects.filter(round=round).counted()
    assert not asked.filter(unit=old.unit).exists()
    assert asked.filter(unit__proposition__text=TEXT + " All.").count() == 2
    assert asked.count() == 30


def test_a_discarded_round_leaves_only_its_log_entry(
    broken_off: tuple[Round, Job], project: Project, lead: User, client_of: ClientOf
) -> None:
    round, _ = broken_off
    create_checkpoints()
    reply = client_of(lead).delete(f"/api/v1/rounds/{round.pk}/preparation/")
    assert reply.status_code == 202
    assert run_job(reply.json()["id"])
    assert not Round.objects.exists()
    assert not Assignment.objects.exists()
    assert Entry.objects.get(verb="remove", object_type="round", object_id=str(round.pk)).actor == lead
    create_checkpoints()
    assert [str(finding) for finding in findings()] == []
    assert prepared(project, lead)[0].name == round.name  # the name is free
    Job.objects.filter(pk=reply.json()["id"]).update(status="queued")
    assert run_job(reply.json()["id"])  # a worker died before it reported the end
    assert Job.objects.get(pk=reply.json()["id"]).status == "done"


def test_another_worker_continues_discarding_after_a_worker_dies(
    broken_off: tuple[Round, Job], lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    round, _ = broken_off
    job = preparing.discard(round=round, by=lead)
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "record", lambda **_: 1 / 0)
        run_job(job.pk)
    assert (status(round), ids(round)) == ("preparing", [])
    Job.objects.filter(pk=job.pk).update(not_before=None)
    assert run_job(job.pk)
    assert not Round.objects.exists()


def test_preparing_and_discarding_come_one_after_the_other(project: Project, lead: User) -> None:
    round, job = prepared(project, lead)
    assert preparing.resume(round=round, by=lead) == job
    with pytest.raises(Conflict, match="Stop the preparation first"):
        preparing.discard(round=round, by=lead)
    Job.objects.filter(pk=job.pk).update(cancel_requested=True)
    for act in (preparing.resume, preparing.discard):
        with pytest.raises(Conflict, match="being cancelled"):
            act(round=round, by=lead)
    Job.objects.filter(pk=job.pk).update(status="cancelled")
    preparing.discard(round=round, by=lead)
    with pytest.raises(Conflict, match="being discarded"):
        preparing.resume(round=round, by=lead)


def test_an_open_round_is_neither_prepared_nor_discarded(project: Project, lead: User, client_of: ClientOf) -> None:
    round, job = prepared(project, lead)
    assert run_job(job.pk)
    for method in ("post", "delete"):
        assert getattr(client_of(lead), method)(f"/api/v1/rounds/{round.pk}/preparation/").status_code == 409
    before = slots(round)
    round.refresh_from_db()
    assert (
        preparing.lay_out_and_open(round=round, people=workers(project), by=lead, progress=silent)["assignments"] == 30
    )
    with pytest.raises(Conflict, match="opened in the meantime"):
        preparing.remove(round=round, by=lead, progress=silent)
    assert slots(round) == before


def test_a_round_in_preparation_cannot_be_closed_or_joined(project: Project, lead: User, client_of: ClientOf) -> None:
    round, _ = prepared(project, lead)
    client, at = client_of(lead), f"/api/v1/rounds/{round.pk}/"
    for path, body in (("close/", {}), ("people/", {"member": workers(project)[0]})):
        reply = client.post(at + path, body, format="json")
        assert (reply.status_code, reply.json()["detail"]) == (409, "The round is not open yet.")
    assert client.post(at + "participant-links/", {"labels": ["A"]}, format="json").status_code in (400, 409)
    assert list(released.files(project, Notes())) == []


def test_unopenable_rounds_are_refused_before_anything_is_created(project: Project, lead: User) -> None:
    open_round(project=project, plan=plan(project, "taken"), by=lead)
    for field, fields in (
        ("name", {"name": "taken"}),
        ("sample", {"sample": 16}),
        ("strata", {"strata": ["length"]}),
        ("people", {"people": [0]}),
        ("guideline", {"guideline": 0}),
        ("policy.cues", {"policy": {"cues": "alike"}}),
    ):
        with pytest.raises(Refused) as refused:
            preparing.begin_round(project=project, plan=plan(project, **fields), by=lead)
        assert [error["field"] for error in refused.value.errors] == [field]
    assert Round.objects.count() == 1
    assert not Job.objects.exists()


@pytest.mark.parametrize("days", [0, 3])
def test_prepared_pages_are_in_a_checkpoint_once_the_round_is_open(
    broken_off: tuple[Round, Job], project: Project, lead: User, days: int
) -> None:
    round, _ = broken_off
    other = open_round(project=project, plan=plan(project, "other"), by=lead)
    long_ago = timezone.now() - timedelta(days=days)
    create_checkpoints(now=long_ago) if days else create_checkpoints()
    assert not _witnessed("projects.round") & {round.pk}
    assert not _witnessed("projects.assignment") & set(ids(round))
    assert _witnessed("projects.assignment") == set(ids(other))
    assert run_job(preparing.resume(round=round, by=lead).pk)
    assert _witnessed("projects.round") >= {round.pk}
    assert _witnessed("projects.assignment") == set(ids(other)) | set(ids(round))
    create_checkpoints()
    assert [str(finding) for finding in findings()] == []


def _witnessed(label: str) -> set[int]:
    rows = RowDigest.objects.filter(label=label).values_list("digests", flat=True)
    return {int(pk) for digests in rows for pk in digests}


def test_people_work_in_a_round_that_was_prepared(project: Project, lead: User, ann1: User) -> None:
    round, job = prepared(project, lead)
    assert run_job(job.pk)
    round.refresh_from_db()
    assert answer(ann1, next_assignments(user=ann1, round=round)[0]).answer


def test_a_transaction_of_the_job_leaves_others_as_long_to_write_on_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(preparing, "sleep", slept.append)
    monkeypatch.setattr(preparing, "monotonic", iter([1.0, 1.25]).__next__)
    with preparing._short_batch():
        pass
    assert slept == ([0.25] if connection.vendor == "sqlite" else [])
