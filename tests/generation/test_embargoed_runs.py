"""No address reveals the texts of a run under embargo to the people that it is hidden from."""

import copy
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.models import User
from audit.log import record
from generation.models import Embargo, ItemStatus, Run, RunItem, RunStatus
from projects.jobs import jobs
from projects.models import Job, JobProblem, JobStatus, Member
from tests.builders import build_cluster
from tests.config.other_project import OtherProject, make_other_project
from tests.config.routes import CASES, api_routes, client_of, no_ids

pytestmark = pytest.mark.django_db
#: Unique times and numbers.
ENDED, CUT, TOKENS, OUT = datetime(2031, 7, 9, 5, 4, 3, tzinfo=UTC), 1_713_117_131, 1_713_117_132, 1_713_117_133
PLANTED = (str(CUT), str(TOKENS), str(OUT), "2031-07-09", "LEAK")
TABLES = [("m3-4", form) for form in ("csv", "markdown", "latex")]


@pytest.fixture(scope="module")
def made(shared_rows: None) -> OtherProject:
    """A project whose run has many figures, a chunk, a score job, and log entries."""
    other = make_other_project()
    run, project = other.run, other.project
    failed = build_cluster(project, number=900)
    RunItem.objects.create(
        run=run, unit=failed.unit, size=1, status=ItemStatus.FAILED, attempts=3, error="LEAK item", finished_at=ENDED
    )
    RunItem.objects.filter(run=run).update(finished_at=ENDED)
    Run.objects.filter(pk=run.pk).update(
        items_cut=CUT,
        tokens_cut=TOKENS,
        tokens_out=OUT,
        error="LEAK error",
        finished_at=ENDED,
        status=RunStatus.STOPPED,
    )
    for kind in ("run_chunk", "score_run", "reckon_probe"):
        job = jobs.enqueue(project=project, kind=kind, params={"run": run.pk, "metric": "rouge"}, by=other.owner)
        Job.objects.filter(pk=job.pk).update(
            status=JobStatus.FAILED,
            done=CUT,
            total=TOKENS,
            note="LEAK note",
            error="LEAK job",
            finished_at=ENDED,
            result={"LEAK": 1},
        )
        JobProblem.objects.create(job=job, item="LEAK", message="LEAK")
    for verb in ("resume run", "retry failed items"):
        record(actor=other.owner, verb=verb, obj=run, project_id=project.pk, after={"waiting": CUT})
    return other


@pytest.fixture
def other(made: OtherProject, db: None) -> OtherProject:
    return copy.deepcopy(made)


def hide(other: OtherProject, member: Member) -> Embargo:
    return Embargo.objects.create(run=other.run, member=member)


def addresses(other: OtherProject) -> Iterator[str]:
    for route in api_routes():
        if "get" not in route.methods:
            continue
        ids: dict[str, Any] = {"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other)
        yield route.address(ids)
        if "<slug:form>" in route.pattern:
            yield from (route.address(ids | {"table": table, "form": form}) for table, form in TABLES)
    yield from (f"/api/v1/jobs/{pk}/" for pk in other.project.jobs.values_list("pk", flat=True))
    yield f"/api/v1/runs/{other.run.pk}/items/?status=failed"
    yield f"/api/v1/projects/{other.project.slug}/audit/?object_type=run&object_id={other.run.pk}"


def leaks(user: User, other: OtherProject) -> dict[str, list[str]]:
    """Return the planted values that a person can read, by address."""
    client, found = client_of(user), {}
    for address in addresses(other):
        reply: Any = client.get(address)
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        if told := [word for word in PLANTED if word in body.decode(errors="replace")]:
            found[address] = told
    return found


@pytest.mark.row(37)
@pytest.mark.parametrize(
    "role", ["viewer", *(pytest.param(role, marks=pytest.mark.long) for role in ("lead", "curator"))]
)
def test_no_address_shows_figures_of_an_embargoed_run_to_its_rater(other: OtherProject, role: str) -> None:
    member = other.project.members.get(user=other.owner)
    Member.objects.filter(pk=member.pk).update(role=role)
    shown = leaks(other.owner, other)
    assert {word for words in shown.values() for word in words} == set(PLANTED), "else nothing was planted"
    embargo = hide(other, member)
    assert leaks(other.owner, other) == {}
    Embargo.objects.filter(pk=embargo.pk).delete()
    assert leaks(other.owner, other) == shown


@pytest.mark.row(37)
@pytest.mark.parametrize("role", ["annotator", "evaluator"])
def test_raters_reach_no_run_whether_embargoed_or_not(other: OtherProject, role: str) -> None:
    Member.objects.filter(pk=other.worker.pk).update(role=role)
    Embargo.objects.all().delete()
    assert leaks(other.worker.user, other) == {}


@pytest.mark.row(38)
@pytest.mark.parametrize("status", ["running", "stopped", "done"])
def test_an_embargoed_run_shows_its_state_and_nothing_that_identifies_it(other: OtherProject, status: str) -> None:
    """Also while it runs: repeated requests must not reveal its pace."""
    Run.objects.filter(pk=other.run.pk).update(status=status)
    hide(other, other.project.members.get(user=other.owner))
    row = client_of(other.owner).get(f"/api/v1/runs/{other.run.pk}/").json()
    assert row["hidden"] is True
    assert row["status"] == status
    assert row["finished_at"] is None
    kept = {"state", "total", "command"}
    assert {name: value for name, value in row["progress"].items() if value not in (None, "")}.keys() <= kept
    before = row
    RunItem.objects.filter(run=other.run).update(status=ItemStatus.DONE)
    Run.objects.filter(pk=other.run.pk).update(items_cut=CUT + 1)
    assert client_of(other.owner).get(f"/api/v1/runs/{other.run.pk}/").json() == before


def test_actions_on_a_run_under_embargo_reveal_nothing(other: OtherProject) -> None:
    hide(other, other.project.members.get(user=other.owner))
    client, run = client_of(other.owner), f"/api/v1/runs/{other.run.pk}"
    refused = [client.post(f"{run}/retry/"), client.post(f"{run}/scores/", {"metric": "rouge"}, format="json")]
    for job in Job.objects.filter(params__run=other.run.pk):
        refused += [client.post(f"/api/v1/jobs/{job.pk}/cancel/"), client.get(f"/api/v1/jobs/{job.pk}/")]
    RunItem.objects.filter(run=other.run, status=ItemStatus.FAILED).delete()
    refused.append(client.post(f"{run}/retry/"))
    assert {
        (reply.status_code, any(word in reply.json()["detail"] for word in ("embargoed for you", "hidden from you")))
        for reply in refused
    } == {(403, True)}
    resumed = client.post(f"{run}/resume/")
    assert resumed.status_code == 200
    assert not [word for word in PLANTED if word in resumed.content.decode()]
    assert resumed.json()["progress"]["done"] is None
