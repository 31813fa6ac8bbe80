"""Releasing a large corpus: constant memory, queries per batch, and writers go on."""

import gc
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.models import Cluster
from audit.actions import create_checkpoints
from projects.models import Answer, Decision, Member, Project
from projects.queue.actions import next_assignments
from releases.formats import m3
from releases.formats.notes import Notes
from releases.publishing.actions import write_release
from releases.sources import state
from releases.sources.state import snapshot
from tests.annotation.m3_files import Record, cluster, import_records, write
from tests.builders import answer, build_round, label_value

#: Small, for a quick test.
BATCH = 100
pytestmark = pytest.mark.django_db(transaction=True)


def records(count: int, first: int = 0) -> Iterator[Record]:
    return (cluster(f"{1 + n // 10}_{n % 10}") for n in range(first, first + count))


def level3(project: Project) -> tuple[int, int, int]:
    """Generate level 3 and return lines, queries, and the peak memory in bytes."""
    notes = Notes()
    # Python collects the oldest generation only after it grew by a quarter, which large imported libraries would delay.
    gc.freeze()
    gc.collect()
    # It also runs rarely (config/__init__.py): uncollected objects are bounded, but take many times the memory of a
    # batch.
    rarely = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    tracemalloc.start()
    try:
        with CaptureQueriesContext(connection) as queries, snapshot():
            lines = sum(1 for _, chunks in m3.files(project, notes) for _ in chunks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.set_threshold(*rarely)
        gc.unfreeze()
    return lines, len(queries), peak


@pytest.mark.long
def test_ten_times_the_clusters_take_the_memory_of_a_batch_and_the_same_queries_a_batch(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(m3, "BATCH", BATCH)
    import_records(project, write(tmp_path / "small.jsonl", records(2 * BATCH)))
    lines, small_queries, small_peak = level3(project)
    assert lines == 2 * BATCH
    import_records(project, write(tmp_path / "large.jsonl", records(18 * BATCH, first=2 * BATCH)))
    lines, queries, peak = level3(project)
    assert lines == 20 * BATCH == Cluster.objects.count() == 2000
    # Queries that run once are left out of the comparison.
    for_a_batch, rest = divmod(queries - small_queries, 18)
    assert (rest, for_a_batch <= 10) == (0, True)
    # Reading everything at once would take ten times as much. Reference cycles wait for the garbage collector, hence 3.
    assert peak < 3 * small_peak


@pytest.mark.row(32)
def test_release_counts_match_their_files_while_people_answer(
    project: Project, lead: User, ann1: User, ann2: User, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "level3.jsonl", records(60)))
    people = [Member.objects.get(user=u) for u in (ann1, ann2)]
    round = build_round(project, people, overlap=2, purpose="measure only")
    stop = threading.Event()
    errors: list[BaseException] = []
    # Answers before and during each release; there are enough for all three.
    permits = threading.Semaphore(0)

    def work(user: User) -> None:
        try:
            while (
                permits.acquire(timeout=60) and not stop.is_set() and (held := next_assignments(user=user, round=round))
            ):
                answer(user, held[0], label_value(polarity="positive"))
                time.sleep(0.005)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work, args=(m.user,)) for m in people]
    for worker in workers:
        worker.start()
    made = []
    deadline = time.monotonic() + 60
    for n in range(3):
        there = Answer.objects.count()
        permits.release(60)
        while Answer.objects.count() == there and not errors and time.monotonic() < deadline:
            time.sleep(0.02)
        made.append(write_release(project=project, version="1.0.0", out=tmp_path / f"r{n}"))
    stop.set()
    permits.release(len(workers))
    for worker in workers:
        worker.join(timeout=60)
    assert errors == []
    answers = [m["counts"]["answers"] for m in made]
    assert 0 < answers[0] < answers[1] < answers[2] <= Answer.objects.count()
    for m in made:
        rows = {f["path"]: f["rows"] for f in m["files"]}
        assert rows["answers/label.csv"] == m["counts"]["answers"]
        assert rows["provenance/values.csv"] == m["counts"]["decisions"] == Decision.objects.count()
        assert rows["m3/level3.jsonl"] == m["counts"]["clusters"] == 60


def test_a_row_added_after_the_checkpoint_gets_one_before_files_are_written(
    project: Project, ann1: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its checkpoint would move the audit head of the next release of the same state."""
    import_records(project, write(tmp_path / "level3.jsonl", records(2)))
    round = build_round(project, [Member.objects.get(user=ann1)], purpose="measure only")
    from releases.publishing import actions as publishing_actions

    calls: list[int] = []

    def late_answer() -> None:
        create_checkpoints()
        calls.append(1)
        if len(calls) == 1:
            answer(ann1, next_assignments(user=ann1, round=round)[0], label_value(polarity="positive"))

    monkeypatch.setattr(publishing_actions, "create_checkpoints", late_answer)
    first = write_release(project=project, version="1.0.0", out=tmp_path / "a")
    assert (len(calls), first["counts"]["answers"], state.rows_without_checkpoint(project)) == (2, 1, 0)
    monkeypatch.undo()
    second = write_release(project=project, version="1.0.0", out=tmp_path / "b")
    assert (tmp_path / "a" / "manifest.json").read_bytes() == (tmp_path / "b" / "manifest.json").read_bytes()
    assert first["audit_head"] == second["audit_head"] is not None


def test_nothing_can_be_written_inside_a_snapshot(project: Project) -> None:
    from django.db import DatabaseError

    with pytest.raises(DatabaseError), snapshot():
        Project.objects.update(name="Changed")
    project.refresh_from_db()
    assert project.name == "Eye"
    Project.objects.update(name="Written after it")
