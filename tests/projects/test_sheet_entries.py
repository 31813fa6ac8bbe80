"""Answers that a lead imports for other people: the log has an entry before the first of them, and one at the end."""

import csv
import io
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from audit.actions import create_checkpoints
from audit.models import Entry
from audit.verify import findings
from projects.jobs import jobs
from projects.jobs.running import run_job
from projects.models import Answer, Job, Member, Project, Round
from projects.queue import actions as queue_actions
from projects.rounds.actions import close_round
from projects.sheets import actions as sheets_actions
from projects.sheets.actions import hold_for_sheet, start_import
from tests.builders import build_cluster, build_round

pytestmark = [pytest.mark.django_db, pytest.mark.row(56)]
ROWS = 8


class Killed(BaseException):
    """Cannot be caught, like SIGKILL."""


@pytest.fixture
def round(project: Project, ann1: User) -> Round:
    build_cluster(project, inputs=ROWS - 1)
    return build_round(project, [project.members.get(user=ann1)])


@pytest.fixture
def sheet(round: Round, ann1: User, lead: User) -> bytes:
    """A sheet with all assignments of the annotator filled in."""
    out = io.StringIO()
    columns = (
        "assignment",
        "revision",
        "shown",
        "unit",
        "polarity",
        "polarity_cue",
        "modality",
        "modality_cue",
        "skip",
        "flag",
        "comment",
    )
    writer = csv.DictWriter(out, columns, restval="")
    writer.writeheader()
    for slot in hold_for_sheet(round=round, member=Member.objects.get(user=ann1), by=lead):
        writer.writerow(
            {
                "assignment": slot.pk,
                "revision": 0,
                "shown": 1,
                "unit": slot.unit.key,
                "polarity": "positive",
                "modality": "weak",
            }
        )
    return out.getvalue().encode()


@pytest.fixture
def job(round: Round, sheet: bytes, lead: User) -> Job:
    return start_import(round=round, file=SimpleUploadedFile("back.csv", sheet), by=lead)


@pytest.fixture
def at_row(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], object]], None]:
    """``at_row(4, do)`` calls ``do`` when four rows are stored."""
    submit = queue_actions.submit

    def at(row: int, do: Callable[[], object]) -> None:
        calls = 0

        def counted(**submission: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == row:
                do()
            return submit(**submission)

        monkeypatch.setattr(sheets_actions, "submit", counted)

    return at


def dies() -> None:
    raise Killed


def again(job: Job) -> None:
    """Let another worker take the job, after the lease or the pause."""
    Job.objects.filter(pk=job.pk).update(leased_until=timezone.now(), not_before=None)
    run_job(job.pk)
    job.refresh_from_db()


def begun() -> Entry:
    entry: Entry = Entry.objects.get(verb="import sheet")
    return entry


def ends() -> list[dict[str, Any]]:
    return [entry.after or {} for entry in Entry.objects.filter(verb="end sheet import")]


def test_the_log_entry_of_a_sheet_import_precedes_its_first_row(
    job: Job, lead: User, sheet: bytes, round: Round, at_row: Callable[..., None]
) -> None:
    there: list[Entry] = []
    at_row(1, lambda: there.append(begun()))
    run_job(job.pk)
    (entry,) = there
    assert entry.after
    assert (entry.actor, entry.object_id, entry.after["file"], entry.after["job"]) == (
        lead,
        str(round.pk),
        "back.csv",
        job.pk,
    )
    assert entry.after["sha256"] == sha256(sheet).hexdigest()
    (end,) = ends()
    assert (end["entry"], end["how"], end["stored"], end["rows"]) == (entry.pk, "done", ROWS, ROWS)
    assert set(Answer.objects.values_list("came_by", "entry")) == {("sheet", entry.pk)}


def test_an_import_that_is_cancelled_says_so_and_how_much_it_had_stored(job: Job, at_row: Callable[..., None]) -> None:
    def cancel() -> None:
        jobs.cancel(Job.objects.get(pk=job.pk))
        time.sleep(0.6)  # a worker checks for cancellation twice a second

    at_row(4, cancel)
    run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "cancelled"
    (end,) = ends()
    assert (end["entry"], end["how"], end["stored"]) == (begun().pk, "cancelled", Answer.objects.count())
    assert 0 < end["stored"] < ROWS


def test_an_import_overtaken_by_closing_the_round_says_so(
    job: Job, round: Round, lead: User, at_row: Callable[..., None]
) -> None:
    at_row(4, lambda: close_round(round=round, by=lead))
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, Answer.objects.count()) == ("failed", 3)
    entry = Entry.objects.get(verb="end sheet import")
    assert entry.after
    assert (entry.after["how"], entry.after["stored"], entry.after["entry"]) == ("failed", 3, begun().pk)
    assert "The round was closed" in entry.reason


def test_an_import_whose_worker_is_killed_continues_under_the_same_entry(job: Job, at_row: Callable[..., None]) -> None:
    at_row(4, dies)
    with pytest.raises(Killed):
        run_job(job.pk)
    assert (Answer.objects.count(), ends()) == (3, [])
    again(job)
    assert job.status == "done"
    (end,) = ends()
    assert (end["entry"], end["how"], end["stored"]) == (begun().pk, "done", ROWS)


def test_an_import_that_kills_every_worker_is_given_up_with_an_entry(job: Job, at_row: Callable[..., None]) -> None:
    for _ in range(job.max_attempts):
        at_row(3, dies)
        with pytest.raises(Killed):
            again(job)
    again(job)
    assert job.status == "failed"
    (end,) = ends()
    assert (end["entry"], end["how"], end["stored"]) == (begun().pk, "failed", Answer.objects.count())


def test_an_import_cancelled_between_two_attempts_ends_with_an_entry(job: Job, at_row: Callable[..., None]) -> None:
    def fails() -> None:
        raise RuntimeError("the disk has gone")

    at_row(3, fails)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, ends()) == ("queued", [])
    jobs.cancel(job)
    assert [(end["how"], end["stored"]) for end in ends()] == [("cancelled", 2)]


def test_a_suspended_worker_that_wakes_after_its_lease_stores_nothing_more(
    job: Job, at_row: Callable[..., None]
) -> None:
    """Another worker has finished, and the log has the number of answers: none may be added."""
    at_row(3, lambda: Job.objects.filter(pk=job.pk).update(fence=99))
    run_job(job.pk)
    assert (Answer.objects.count(), ends()) == (2, []), "nor the row whose transaction had begun"
    Job.objects.filter(pk=job.pk).update(attempts=0)
    again(job)
    assert [(end["how"], end["stored"]) for end in ends()] == [("done", ROWS)]


def test_ctrl_c_in_the_command_cancels_the_import_with_its_entry(
    round: Round, sheet: bytes, lead: User, tmp_path: Path, at_row: Callable[..., None]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    path = tmp_path / "back.csv"
    path.write_bytes(sheet)
    at_row(3, interrupt)
    with pytest.raises(KeyboardInterrupt):
        call_command("import_answers", path, project=round.project.slug, round=round.name, by=lead.email)
    assert Job.objects.get(kind="import_sheet").status == "cancelled"
    assert [(end["how"], end["stored"]) for end in ends()] == [("cancelled", 2)]


def test_an_answer_in_anothers_name_cannot_be_stored_without_its_entry(job: Job) -> None:
    run_job(job.pk)
    stored = Answer.objects.first()
    assert stored
    copy = Answer.objects.get(pk=stored.pk)
    copy.pk, copy.revision, copy.entry = uuid4(), 2, None
    with pytest.raises(IntegrityError), transaction.atomic():
        copy.save(force_insert=True)


def test_answers_of_a_sheet_verify_before_and_after_a_checkpoint(job: Job) -> None:
    run_job(job.pk)
    assert list(findings()) == []
    create_checkpoints()
    assert list(findings()) == []
