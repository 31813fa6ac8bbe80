"""A run that is sealed from somebody tells them nothing by which its texts could be known: not by any address."""

import copy
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.models import User
from audit.log import record
from generation.models import ItemStatus, Run, RunItem, RunStatus, Seal
from projects.jobs import jobs
from projects.models import Job, JobProblem, JobStatus, Member
from tests.builders import build_cluster
from tests.config.routes import CASES, api_routes, client_of, no_ids
from tests.config.world import World, make_world

pytestmark = pytest.mark.django_db
#: Times and numbers that stand nowhere else.
ENDED, CUT, TOKENS, OUT = datetime(2031, 7, 9, 5, 4, 3, tzinfo=UTC), 1_713_117_131, 1_713_117_132, 1_713_117_133
PLANTED = (str(CUT), str(TOKENS), str(OUT), "2031-07-09", "LEAK")
TABLES = [("m3-4", form) for form in ("csv", "markdown", "latex")]


@pytest.fixture(scope="module")
def made(shared_rows: None) -> World:
    """A world whose run is full of figures, with a chunk, a score job and entries in the log about it."""
    world = make_world()
    run, project = world.run, world.project
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
        job = jobs.enqueue(project=project, kind=kind, params={"run": run.pk, "metric": "rouge"}, by=world.owner)
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
        record(actor=world.owner, verb=verb, obj=run, project_id=project.pk, after={"waiting": CUT})
    return world


@pytest.fixture
def world(made: World, db: None) -> World:
    return copy.deepcopy(made)


def hide(world: World, member: Member) -> Seal:
    return Seal.objects.create(run=world.run, member=member)


def addresses(world: World) -> Iterator[str]:
    for route in api_routes():
        if "get" not in route.methods:
            continue
        ids: dict[str, Any] = {"slug": world.project.slug} | CASES.get(route.pattern, no_ids)(world)
        yield route.address(ids)
        if "<slug:form>" in route.pattern:
            yield from (route.address(ids | {"table": table, "form": form}) for table, form in TABLES)
    yield from (f"/api/v1/jobs/{pk}/" for pk in world.project.jobs.values_list("pk", flat=True))
    yield f"/api/v1/runs/{world.run.pk}/items/?status=failed"
    yield f"/api/v1/projects/{world.project.slug}/audit/?object_type=run&object_id={world.run.pk}"


def leaks(user: User, world: World) -> dict[str, list[str]]:
    """What was planted and is told, by address."""
    client, found = client_of(user), {}
    for address in addresses(world):
        reply: Any = client.get(address)
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        if told := [word for word in PLANTED if word in body.decode(errors="replace")]:
            found[address] = told
    return found


@pytest.mark.row(37)
@pytest.mark.parametrize(
    "role", ["viewer", *(pytest.param(role, marks=pytest.mark.long) for role in ("lead", "curator"))]
)
def test_no_address_tells_a_figure_of_a_run_to_whom_it_is_sealed_from(world: World, role: str) -> None:
    member = world.project.members.get(user=world.owner)
    Member.objects.filter(pk=member.pk).update(role=role)
    shown = leaks(world.owner, world)
    assert {word for words in shown.values() for word in words} == set(PLANTED), "else nothing was planted"
    seal = hide(world, member)
    assert leaks(world.owner, world) == {}
    Seal.objects.filter(pk=seal.pk).delete()
    assert leaks(world.owner, world) == shown


@pytest.mark.row(37)
@pytest.mark.parametrize("role", ["annotator", "evaluator"])
def test_raters_reach_none_of_it_sealed_or_not(world: World, role: str) -> None:
    Member.objects.filter(pk=world.worker.pk).update(role=role)
    Seal.objects.all().delete()
    assert leaks(world.worker.user, world) == {}


@pytest.mark.row(38)
@pytest.mark.parametrize("status", ["running", "stopped", "done"])
def test_a_sealed_run_has_a_state_and_nothing_by_which_to_know_it(world: World, status: str) -> None:
    """While it runs too: whoever asks again and again must not see how fast it goes."""
    Run.objects.filter(pk=world.run.pk).update(status=status)
    hide(world, world.project.members.get(user=world.owner))
    row = client_of(world.owner).get(f"/api/v1/runs/{world.run.pk}/").json()
    assert row["hidden"] is True
    assert row["status"] == status
    assert row["finished_at"] is None
    kept = {"state", "total", "command"}
    assert {name: value for name, value in row["progress"].items() if value not in (None, "")}.keys() <= kept
    before = row
    RunItem.objects.filter(run=world.run).update(status=ItemStatus.DONE)
    Run.objects.filter(pk=world.run.pk).update(items_cut=CUT + 1)
    assert client_of(world.owner).get(f"/api/v1/runs/{world.run.pk}/").json() == before


def test_what_is_done_with_a_sealed_run_tells_nothing_either(world: World) -> None:
    hide(world, world.project.members.get(user=world.owner))
    client, run = client_of(world.owner), f"/api/v1/runs/{world.run.pk}"
    refused = [client.post(f"{run}/retry/"), client.post(f"{run}/scores/", {"metric": "rouge"}, format="json")]
    for job in Job.objects.filter(params__run=world.run.pk):
        refused += [client.post(f"/api/v1/jobs/{job.pk}/cancel/"), client.get(f"/api/v1/jobs/{job.pk}/")]
    RunItem.objects.filter(run=world.run, status=ItemStatus.FAILED).delete()
    refused.append(client.post(f"{run}/retry/"))
    assert {
        (reply.status_code, any(word in reply.json()["detail"] for word in ("embargoed for you", "hidden from you")))
        for reply in refused
    } == {(403, True)}
    resumed = client.post(f"{run}/resume/")
    assert resumed.status_code == 200
    assert not [word for word in PLANTED if word in resumed.content.decode()]
    assert resumed.json()["progress"]["done"] is None
