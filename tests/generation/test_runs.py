"""Runs as jobs: every item is done once under all faults."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.models import Cluster
from api.problems import Conflict, Refused
from audit.models import Entry
from generation.backends.protocol import Failure, Output, PassingError, Source
from generation.models import ItemStatus, Run, RunStatus, Summary, Version
from generation.runs import chunks
from generation.runs.actions import embargo_run, lift_embargo, resume_run, retry_failed, start_run, stop_run
from generation.runs.concurrency import FIRST_ITEMS
from generation.systems.actions import create_system, make_version
from projects.jobs import jobs, running
from projects.jobs.running import WorkerUnhealthy, request_exit, run_job
from projects.models import Job, JobStatus, Member, Project, Unit
from tests.builders import TEXT, build_cluster
from tests.generation.staged import StagedBackend
from tests.generation.workers import Killed, come_due, kill_after, lapse, staged_version, work

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def version(project: Project, staged: StagedBackend) -> Version:
    """A staged version over twenty clusters, in batches of four."""
    for number in range(20):
        build_cluster(project, number, text="word " * (number + 1))
    return staged_version(project)


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def done_once(run: Run, count: int = 20) -> bool:
    """Assert that every item is done and has a summary; constraints allow no second one."""
    items = run.items.filter(status=ItemStatus.DONE, summary__isnull=False, error="")
    return items.count() == count == Summary.objects.filter(item__run=run).count()


def test_a_run_summarises_every_unit_of_its_level_once_longest_first(
    version: Version, staged: StagedBackend, lead: User
) -> None:
    run = start_run(version=version, by=lead)
    work()
    assert fresh(run).status == RunStatus.DONE
    assert fresh(run).finished_at is not None
    assert done_once(run)
    keys = [key for batch in staged.batches for key in batch]
    assert keys == [f"DEMO{number:04d}_0" for number in reversed(range(20))]
    assert staged.loaded == ["w"], "the second chunk found it warm"


def test_outputs_are_stored_unchanged(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    work()
    summary = Summary.objects.get(item__run=run, item__unit__key="DEMO0003_0")
    assert (summary.text, summary.finish) == ("About DEMO0003_0.", "complete")
    assert (summary.tokens_in, summary.tokens_cut, summary.tokens_out) == (9, 0, 3)
    assert (summary.token_ids, summary.seconds, summary.record) == ([1, 2, 3], 0.5, {"batch": 4})
    assert len(summary.digest) == 64


def test_the_first_chunk_is_small_and_the_next_as_large_as_the_pace_says(
    version: Version, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    work(1)
    first = Job.objects.get(kind="run_chunk", status=JobStatus.DONE)
    assert first.result is not None
    assert first.result["items"] == first.done == FIRST_ITEMS == 8
    second = Job.objects.get(kind="run_chunk", status=JobStatus.QUEUED)
    assert second.params["pace"] > 0
    monkeypatch.setattr(chunks, "TARGET_SECONDS", 10 / second.params["pace"])
    work(1)
    assert fresh(run).items.filter(status=ItemStatus.DONE).count() == 18


def test_chunks_never_exceed_concurrency_or_remaining_work(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=2)
    queued = Job.objects.filter(kind="run_chunk", status=JobStatus.QUEUED)
    while fresh(run).status == RunStatus.RUNNING:
        assert queued.count() <= 2
        work(1)
    assert done_once(run)
    work()
    few = start_run(version=version, by=lead, units=[run.items.all()[0].unit_id], concurrency=5)
    assert queued.count() == 1
    work()
    assert done_once(few, 1)


def test_a_run_that_is_done_leaves_no_chunk_behind(
    version: Version, lead: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    run = start_run(version=version, by=lead, concurrency=3)
    monkeypatch.setattr(chunks, "FIRST_ITEMS", 20)
    with django_capture_on_commit_callbacks(execute=True):
        work(1)
    assert fresh(run).status == RunStatus.DONE
    assert set(Job.objects.values_list("status", flat=True)) == {JobStatus.DONE, JobStatus.CANCELLED}


def test_a_chunk_that_takes_too_long_returns_its_remaining_items(
    version: Version, staged: StagedBackend, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "LONGEST_SECONDS", -1)
    run = start_run(version=version, by=lead)
    work(1)
    assert run.items.filter(status=ItemStatus.DONE).count() == 4
    assert not run.items.filter(status=ItemStatus.WAITING, job__isnull=False).exists()
    work()
    assert done_once(run)
    assert len(staged.batches) == 5


def test_a_worker_asked_to_end_returns_its_items_after_the_batch(
    version: Version, staged: StagedBackend, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_leaving", bytearray(1))
    run = start_run(version=version, by=lead)
    staged.before = lambda batch: request_exit()
    work(1)
    assert run.items.filter(status=ItemStatus.DONE).count() == 4
    assert not run.items.filter(status=ItemStatus.WAITING, job__isnull=False).exists()
    monkeypatch.setattr(running, "_leaving", bytearray(1))
    staged.before = lambda batch: None
    work()
    assert done_once(run)
    assert len(staged.batches) == 5, "nothing was begun that another does again"


def test_a_stopped_run_keeps_its_results_and_can_continue(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead)

    def stop(batch: Sequence[Source]) -> None:
        if len(staged.batches) == 2:
            stop_run(run=run, by=lead)

    staged.before = stop
    work()
    assert fresh(run).status == RunStatus.STOPPED
    assert fresh(run).error == ""
    assert done_once(run, 8), "the batch that was under way is stored"
    with pytest.raises(Conflict, match="not in progress"):
        stop_run(run=fresh(run), by=lead)
    resume_run(run=fresh(run), by=lead)
    work()
    assert fresh(run).status == RunStatus.DONE
    assert done_once(run)
    assert len(staged.batches) == 5, "nothing was done twice"
    assert list(Entry.objects.filter(object_type="run").order_by("pk").values_list("verb", flat=True)) == [
        "start run",
        "stop run",
        "resume run",
    ]


def test_cancelling_a_chunk_stops_its_run(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    jobs.cancel(Job.objects.filter(kind="run_chunk").latest("pk"))
    assert fresh(run).status == RunStatus.STOPPED
    work()
    assert done_once(run, 0)


def test_another_worker_continues_the_chunk_of_a_killed_worker(
    version: Version, staged: StagedBackend, lead: User
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    staged.before = kill_after(staged, 1)
    with pytest.raises(Killed):
        work(1)
    assert done_once(run, 4)
    assert run.items.filter(status=ItemStatus.WAITING, job__isnull=False).count() == 4
    staged.before = lambda batch: None
    lapse()
    work()
    assert fresh(run).status == RunStatus.DONE
    assert done_once(run)
    keys = [key for batch in staged.batches for key in batch]
    assert len(keys) == 24, "only the batch that was under way is done again"
    assert [len(batch) for batch in staged.batches[2:6]] == [1, 1, 1, 1], "one by one: one of them may be to blame"


def test_a_worker_that_lost_its_chunk_stores_nothing_more(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)

    def overtaken(batch: Sequence[Source]) -> None:
        if len(staged.batches) == 2:
            staged.before = lambda batch: None
            lapse()
            work()

    staged.before = overtaken
    work()
    assert fresh(run).status == RunStatus.DONE
    assert done_once(run)


def test_an_item_that_kills_its_workers_fails_alone(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)

    def deadly(batch: Sequence[Source]) -> None:
        if any(source.key == "DEMO0017_0" for source in batch):
            raise Killed

    staged.before = deadly
    for _ in range(3):
        with pytest.raises(Killed):
            work()
        lapse()
    work()
    assert fresh(run).status == RunStatus.DONE
    failed = run.items.get(status=ItemStatus.FAILED)
    assert failed.unit.key == "DEMO0017_0"
    assert failed.error == "It was processed alone 2 times, and each time the worker died or was interrupted."
    assert run.items.filter(status=ItemStatus.DONE).count() == 19


def test_a_run_whose_workers_always_die_stops_with_a_message(
    version: Version, staged: StagedBackend, lead: User
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    for _ in range(3):
        Job.objects.update(status=JobStatus.RUNNING, attempts=3, leased_until=timezone.now() - timedelta(1))
    work()
    assert fresh(run).status == RunStatus.STOPPED
    assert fresh(run).error == "A chunk of the run failed: The worker died 3 times while running this job."
    resume_run(run=fresh(run), by=lead)
    work()
    assert done_once(run)


def test_an_unexpected_error_fails_its_item_only(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead)

    def odd(batch: Sequence[Source]) -> None:
        if any(source.key == "DEMO0017_0" for source in batch):
            raise ZeroDivisionError("by zero")

    staged.before = odd
    work()
    assert fresh(run).status == RunStatus.DONE
    failed = run.items.get(status=ItemStatus.FAILED)
    assert (failed.unit.key, failed.error) == ("DEMO0017_0", "ZeroDivisionError: by zero")
    assert staged.closed == ["w", "w"], "what broke off is not kept warm"


def test_items_after_a_fatal_error_are_not_blamed(
    version: Version, staged: StagedBackend, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU whose context is lost: every later item fails."""
    run = start_run(version=version, by=lead, concurrency=1)

    def spoil(batch: Sequence[Source]) -> None:
        monkeypatch.setattr(staged, "load", spoilt)
        raise RuntimeError("device-side assert triggered")

    def spoilt(*_: object) -> None:
        raise RuntimeError("device-side assert triggered")

    staged.before = spoil
    work()
    assert fresh(run).status == RunStatus.STOPPED
    assert fresh(run).error == "A chunk of the run failed: RuntimeError: device-side assert triggered"
    assert run.items.filter(status=ItemStatus.WAITING).count() == 20


def test_an_item_that_spoils_the_gpu_for_its_process_fails_alone(
    version: Version, staged: StagedBackend, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "_is_fatal", lambda error: isinstance(error, MemoryError))
    run = start_run(version=version, by=lead, concurrency=1)

    def spoil(batch: Sequence[Source]) -> None:
        if any(source.key == "DEMO0017_0" for source in batch):
            raise MemoryError("the context is lost")

    staged.before = spoil
    for _ in range(3):
        with pytest.raises(WorkerUnhealthy, match="no longer be used from this process"):
            work()
    work()
    assert fresh(run).status == RunStatus.DONE
    assert run.items.get(status=ItemStatus.FAILED).unit.key == "DEMO0017_0"
    assert run.items.filter(status=ItemStatus.DONE).count() == 19


def test_a_failed_item_is_tried_again_on_request(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead)

    def one_fails(batch: Sequence[Source]) -> list[Output | Failure]:
        return [
            Failure(source.unit, "It is too long.") if source.key == "DEMO0003_0" else Output(source.unit, "Fine.")
            for source in batch
        ]

    staged.before = one_fails
    with pytest.raises(Conflict, match="No item of this run has failed"):
        retry_failed(run=run, by=lead)
    work()
    assert fresh(run).status == RunStatus.DONE
    failed = run.items.get(status=ItemStatus.FAILED)
    assert (failed.unit.key, failed.error) == ("DEMO0003_0", "It is too long.")
    staged.before = lambda batch: None
    retry_failed(run=fresh(run), by=lead)
    assert fresh(run).status == RunStatus.RUNNING
    work()
    assert fresh(run).status == RunStatus.DONE
    assert done_once(run)
    assert len(staged.batches) == 6


def test_a_unit_without_inputs_fails_with_the_reason(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    cluster = Cluster.objects.get(key="DEMO0004_0")
    Unit.objects.filter(type="proposition", context=cluster.unit_id).update(superseded_by=cluster.unit)
    work()
    failed = run.items.get(status=ItemStatus.FAILED)
    assert (failed.unit.key, failed.error) == ("DEMO0004_0", chunks.NO_INPUT)
    assert fresh(run).status == RunStatus.DONE


def test_a_summariser_that_omits_an_item_is_detected(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead)
    staged.before = lambda batch: [Output(source.unit, "Fine.") for source in batch if source.key != "DEMO0011_0"]
    work()
    failed = run.items.get(status=ItemStatus.FAILED)
    assert (failed.unit.key, failed.error) == ("DEMO0011_0", "The system returned no output for this unit.")


def test_a_changed_version_stops_the_run_and_names_the_difference(
    version: Version, staged: StagedBackend, lead: User
) -> None:
    run = start_run(version=version, by=lead)
    staged.release = "2.0"
    work()
    assert fresh(run).status == RunStatus.STOPPED
    assert fresh(run).error == "The version was made with staged 1.0, not 2.0."
    staged.release = "1.0"
    resume_run(run=fresh(run), by=lead)
    work()
    assert done_once(run)


def test_temporary_failures_are_retried_later(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)

    def away(batch: Sequence[Source]) -> None:
        if len(staged.batches) == 2:
            raise PassingError("The endpoint does not answer.")

    staged.before = away
    work()
    assert fresh(run).status == RunStatus.RUNNING
    assert done_once(run, 4)
    postpone = Job.objects.get(kind="run_chunk", status=JobStatus.QUEUED)
    assert postpone.not_before is not None
    assert postpone.note == "The endpoint does not answer."
    assert come_due() == 1
    work()
    assert done_once(run)
    assert fresh(run).status == RunStatus.DONE


def test_an_unreachable_endpoint_stops_the_run_after_several_attempts(
    version: Version, staged: StagedBackend, lead: User
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)

    def away(batch: Sequence[Source]) -> None:
        raise PassingError("The endpoint does not answer.")

    staged.before = away
    work()
    for _ in range(chunks.TRIES - 1):
        assert fresh(run).status == RunStatus.RUNNING
        come_due()
        work()
    come_due()
    work()
    assert fresh(run).status == RunStatus.STOPPED
    assert fresh(run).error == "The endpoint does not answer. Tried 6 times."
    assert run.items.filter(status=ItemStatus.WAITING).count() == 20, "no item is to blame"


def test_a_run_with_nothing_to_do_or_invalid_options_is_refused(version: Version, project: Project, lead: User) -> None:
    sentences = staged_version(project, "Sentences", level="sentence")
    with pytest.raises(Refused, match=r"no target sentences, level sentence\. It has \d+ clusters"):
        start_run(version=sentences, by=lead)
    with pytest.raises(Refused, match="2 of the units do not belong to this project and level"):
        start_run(version=version, by=lead, units=[0, -1])
    with pytest.raises(Refused, match="Must be from 1 to 64"):
        start_run(version=version, by=lead, concurrency=0)
    assert not Run.objects.exists()


def test_a_version_has_one_run_at_a_time(version: Version, lead: User) -> None:
    first = start_run(version=version, by=lead)
    with pytest.raises(Conflict, match="already in progress"):
        start_run(version=version, by=lead)
    stop_run(run=first, by=lead)
    second = start_run(version=version, by=lead)
    with pytest.raises(Conflict, match="Another run of this version"):
        resume_run(run=fresh(first), by=lead)
    work()
    assert done_once(second)
    with pytest.raises(Conflict, match="not stopped"):
        resume_run(run=fresh(second), by=lead)


def test_an_extractive_run_does_what_the_backend_says(project: Project, lead: User) -> None:
    for number in range(3):
        build_cluster(project, number)
    config = {"backend": "extractive", "decoding": {"method": "lead", "sentences": 1}}
    version = make_version(system=create_system(project=project, name="Lead-1", by=lead), config=config, by=lead)
    run = start_run(version=version, by=lead)
    work()
    assert set(run.items.values_list("summary__text", flat=True)) == {TEXT}
    stored = Job.objects.filter(kind="run_chunk").values_list("queue", "status")
    assert set(stored) == {("default", "done")}


def test_storing_a_batch_takes_the_same_queries_however_large_it_is(
    version: Version, project: Project, lead: User
) -> None:
    def queries(name: str, batch: int) -> int:
        run = start_run(version=staged_version(project, name, batch=batch), by=lead)
        held = Job.objects.filter(kind="run_chunk", params__run=run.pk).latest("pk")
        with CaptureQueriesContext(connection) as seen:
            run_job(held.pk)
        assert run.items.filter(status=ItemStatus.DONE).count() == 8
        work()
        return len(seen)

    one, two, eight = queries("One", 8), queries("Two", 4), queries("Eight", 1)
    each = two - one
    assert each <= 9
    assert eight - one == 7 * each


def test_an_embargo_hides_a_run_from_a_person_until_it_is_lifted(
    version: Version, project: Project, lead: User
) -> None:
    run = start_run(version=version, by=lead)
    work()
    ann, eva = project.members.get(pseudonym="R1"), project.members.get(pseudonym="R3")
    assert len(embargo_run(run=run, members=[ann, eva], by=lead)) == 2
    assert len(embargo_run(run=run, members=[ann], by=lead)) == 2, "whoever has an embargo keeps it"
    assert not Summary.objects.visible_to(ann).exists()
    assert Summary.objects.visible_to(project.members.get(pseudonym="R2")).count() == 20
    embargo = run.embargoes.get(member=ann)
    lift_embargo(embargo=embargo, by=lead)
    assert Summary.objects.visible_to(ann).count() == 20
    with pytest.raises(Conflict, match="already been lifted"):
        lift_embargo(embargo=embargo, by=lead)
    other = Project.objects.create(slug="other", name="Other")
    foreign = Member.objects.create(project=other, user=lead, role="lead", pseudonym="X")
    with pytest.raises(Refused, match="member of this project"):
        embargo_run(run=run, members=[foreign], by=lead)


def test_the_next_run_of_a_version_inherits_the_embargoes_of_the_last(
    version: Version, project: Project, lead: User
) -> None:
    first = start_run(version=version, by=lead)
    work()
    ann, eva = project.members.get(pseudonym="R1"), project.members.get(pseudonym="R3")
    embargo_run(run=first, members=[ann, eva], by=lead)
    lift_embargo(embargo=first.embargoes.get(member=eva), by=lead)
    second = start_run(version=version, by=lead)
    work()
    assert not Summary.objects.visible_to(ann).exists(), "it wrote the same texts"
    assert list(second.embargoes.values_list("member", flat=True)) == [ann.pk]
