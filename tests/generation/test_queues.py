"""Which job a worker takes: from the queues by model, first those of its loaded model."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.core.management import CommandError
from django.utils import timezone

from accounts.models import User
from config import celery
from generation.models import Run, RunStatus, Version
from generation.runs import chunks
from generation.runs.actions import start_run
from generation.runs.queries import progress_of
from projects.jobs import jobs
from projects.jobs import queries as jobs_queries
from projects.jobs.queries import claim_next
from projects.jobs.running import handle_wake_up, run_job
from projects.management.commands import work as work_command
from projects.models import Job, JobStatus, Project
from tests.builders import build_cluster
from tests.generation.staged import StagedBackend
from tests.generation.workers import staged_version, work


@pytest.fixture
def two_models(project: Project, staged: StagedBackend) -> list[Version]:
    """Two torch versions with different weights over twenty clusters."""
    for number in range(20):
        build_cluster(project, number)
    return [staged_version(project, f"System {weights}", weights=weights, torch=True) for weights in "ab"]


def test_a_queue_is_one_a_model_and_default_where_no_torch_is_needed(
    two_models: list[Version], project: Project, lead: User
) -> None:
    light = staged_version(project, "Light")
    queues = [start_run(version=v, by=lead) and Job.objects.latest("pk").queue for v in (*two_models, light)]
    assert queues == ["gpu.ca978112ca1b", "gpu.3e23e8160039", "default"]


def test_a_worker_drains_the_model_it_has_loaded_before_it_loads_another(
    two_models: list[Version], staged: StagedBackend, lead: User
) -> None:
    for version in two_models:
        start_run(version=version, by=lead)
    work()
    assert Run.objects.filter(status=RunStatus.DONE).count() == 2
    assert staged.loaded == ["a", "b"]
    assert staged.closed == ["a"]
    chunks = Job.objects.filter(kind="run_chunk").order_by("started_at").values_list("queue", flat=True)
    assert list(chunks) == sorted(chunks, key=lambda queue: queue != "gpu.ca978112ca1b")
    assert len(chunks) > 4


def test_jobs_without_a_model_do_not_wait_for_other_models(
    two_models: list[Version], project: Project, lead: User
) -> None:
    start_run(version=two_models[0], by=lead)
    work(1)
    start_run(version=two_models[1], by=lead)
    light = start_run(version=staged_version(project, "Light", weights=""), by=lead)
    taken = []
    while (pk := claim_next()) is not None:
        taken.append(Job.objects.get(pk=pk).queue)
        run_job(pk)
    assert taken.index("default") < taken.index("gpu.3e23e8160039")
    assert progress_of(light).done == 20


def test_a_backend_without_weights_does_not_unload_the_loaded_model(
    two_models: list[Version], project: Project, staged: StagedBackend, lead: User
) -> None:
    start_run(version=two_models[0], by=lead)
    start_run(version=staged_version(project, "Light", weights=""), by=lead)
    work()
    assert staged.loaded.count("a") == 1
    assert "a" not in staged.closed


@pytest.mark.parametrize(
    ("queues", "but", "takes"),
    [
        (None, [], ["default", "gpu", "gpu.a", "gpu.b", "gpux"]),
        (None, ["gpu"], ["default", "gpux"]),
        (["gpu"], [], ["gpu", "gpu.a", "gpu.b"]),
        (["gpu.b"], [], ["gpu.b"]),
        (["default", "gpu.a"], [], ["default", "gpu.a"]),
    ],
)
@pytest.mark.django_db
def test_the_name_of_a_queue_family_means_all_its_queues(queues: Any, but: list[str], takes: list[str]) -> None:
    for queue in ("default", "gpu", "gpu.a", "gpu.b", "gpux"):
        Job.objects.create(kind="run_chunk", queue=queue)
    found = []
    while (pk := jobs_queries.claim_next(queues, but=but)) is not None:
        found.append(Job.objects.get(pk=pk).queue)
        Job.objects.filter(pk=pk).update(status=JobStatus.DONE)
    assert sorted(found) == takes


def test_a_family_wake_up_serves_the_loaded_model_and_none_is_lost(
    two_models: list[Version], staged: StagedBackend, lead: User
) -> None:
    start_run(version=two_models[0], by=lead)
    work(1)
    start_run(version=two_models[1], by=lead)
    woken_by = list(Job.objects.filter(status=JobStatus.QUEUED).order_by("-pk").values_list("pk", flat=True))
    while woken_by:
        handle_wake_up(woken_by.pop(0))
        known = Job.objects.filter(status=JobStatus.QUEUED)
        woken_by += [pk for pk in known.values_list("pk", flat=True) if pk not in woken_by]
    assert Run.objects.filter(status=RunStatus.DONE).count() == 2
    assert staged.loaded == ["a", "b"], "the one that was woken for b went on with a first"
    assert handle_wake_up(Job.objects.first().pk) is False  # type: ignore[union-attr]


def test_the_broker_has_one_queue_for_the_family(
    two_models: list[Version], lead: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    settings.REDIS_URL = "redis://nowhere"
    monkeypatch.setattr(current_app, "send_task", lambda *args, queue, **rest: sent.append(queue))
    start_run(version=two_models[0], by=lead)
    for job in Job.objects.all():
        jobs.wake(job)
    assert set(sent) == {"gpu"}


@pytest.mark.parametrize(("torch", "done"), [(None, 0), ("a spec", 20)])
def test_a_worker_without_torch_claims_no_jobs_that_need_it(
    torch: Any, done: int, two_models: list[Version], lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_command, "find_spec", lambda name: torch)
    monkeypatch.setattr(work_command, "close_old_connections", lambda: None)
    run = start_run(version=two_models[0], by=lead)
    work_command.Command().handle(once=True, queue=None, poll=0.1)
    assert progress_of(run).done == done


def test_a_worker_for_models_refuses_to_start_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_command, "find_spec", lambda name: None)
    for queues in (["gpu"], ["default", "gpu.0123456789ab"]):
        with pytest.raises(
            CommandError, match=r"torch is not installed, but the queue gpu needs it\. Install requirements/gpu\.txt"
        ):
            work_command.Command().handle(once=True, queue=queues, poll=0.1)
    monkeypatch.setattr(celery, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="torch is not installed, but the queue gpu needs it"):
        celery.refuse_without_torch(instance=Named(["gpu"]))
    celery.refuse_without_torch(instance=Named(["default"]))


class Named:
    """A Celery worker that listens to queues."""

    def __init__(self, queues: list[str]) -> None:
        self.app, self.amqp, self.queues, self.consume_from = self, self, self, dict.fromkeys(queues)


def test_a_model_stays_claimed_only_while_the_worker_has_it_loaded(
    two_models: list[Version], staged: StagedBackend, lead: User
) -> None:
    start_run(version=two_models[1], by=lead)
    work(1)
    first, second = (Job.objects.create(kind="run_chunk", queue=queue) for queue in ("gpu.x", "gpu.3e23e8160039"))
    Job.objects.exclude(pk__in=[first.pk, second.pk]).update(not_before=timezone.now() + timedelta(minutes=1))
    assert claim_next() == second.pk
    chunks.release_summariser()
    assert claim_next() == first.pk
