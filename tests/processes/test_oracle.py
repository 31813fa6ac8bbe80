"""The oracle of the drill detects each kind of violation when it is planted in valid rows."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from accounts.models import User
from annotation.models import Label
from audit import triggers
from audit.log import record
from audit.models import Entry
from operations.simulation.client import Acknowledged, Ledger
from projects.jobs.running import run_job
from projects.models import Answer, Assignment, Decision, Import, Job, Project, Round
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round
from tests.processes.oracle import findings, noted

pytestmark = [pytest.mark.django_db, pytest.mark.long]


class Played:
    """A closed round of two people over one unit, with gold, and the clients' ledger."""

    def __init__(self, project: Project, people: list[User]) -> None:
        build_cluster(project, inputs=0)
        self.round = build_round(project, [project.members.get(user=user) for user in people], overlap=2)
        for user in people:
            for slot in next_assignments(user=user, round=self.round):
                answer(user, slot)
        run_job(close_round(round=self.round, by=None).pk)
        self.book = noted(_ledger())
        self.first, self.second = Answer.objects.order_by("pk")

    def faults(self) -> dict[str, list[str]]:
        return findings(self.book)


def _ledger() -> Ledger:
    """Return a ledger as if clients had sent every answer."""
    ledger = Ledger()
    for row in Answer.objects.all():
        ledger.sent[str(row.pk)] = b""
        ledger.note(Acknowledged(str(row.pk), b"", 201, row.assignment_id, row.revision, 1))
    return ledger


@pytest.fixture
def played(project: Project, ann1: User, ann2: User, settings: LazySettings, tmp_path: Path) -> Played:
    settings.MEDIA_ROOT = tmp_path
    played = Played(project, [ann1, ann2])
    played.book["sent"] = {str(row.pk): row.body_digest for row in Answer.objects.all()}
    return played


def test_valid_rows_have_no_findings(played: Played) -> None:
    assert Decision.objects.filter(round=played.round).count() == 4
    assert played.faults() == {}


def lost(played: Played) -> None:
    played.book["acknowledged"][str(uuid.uuid4())] = [played.first.assignment_id, 1, True]


def stored_otherwise(played: Played) -> None:
    played.book["sent"][str(played.first.pk)] = "0" * 64


def refused(played: Played) -> None:
    del played.book["acknowledged"][str(played.first.pk)]


def doubled(played: Played) -> None:
    """The same bytes again as the next revision."""
    _again(played, played.first.body_digest)


def _again(played: Played, digest: str, **said: Any) -> None:
    slot, pk = played.first.assignment_id, uuid.uuid4()
    copy, label = Answer.objects.get(pk=played.first.pk), Label.objects.get(answer=played.first)
    copy.pk = copy.uuid = pk
    copy.revision, copy.body_digest = 2, digest
    copy.save(force_insert=True)
    label.pk, label.answer = None, copy
    label.polarity = said.get("polarity", label.polarity)
    label.save(force_insert=True)
    Assignment.objects.filter(pk=slot).update(revision=2, current_answer=copy)
    played.book["sent"][str(pk)] = digest
    played.book["acknowledged"][str(pk)] = [slot, 2, True]


def no_longer_in_force(played: Played) -> None:
    Assignment.objects.filter(pk=played.first.assignment_id).update(current_answer=None)


def of_another(played: Played) -> None:
    Answer.objects.filter(pk=played.first.pk).update(author=played.second.author_id)


def over_k(played: Played) -> None:
    Round.objects.update(overlap=1)


def said_to_count(played: Played) -> None:
    Assignment.objects.filter(pk=played.first.assignment_id).update(number=-1)


def after_gold(played: Played) -> None:
    """A revision after gold had formed."""
    _again(played, "1" * 64, polarity="positive")


def without_decision(played: Played) -> None:
    Decision.objects.filter(round=played.round).first().delete()  # type: ignore[union-attr]


def decided_twice(played: Played) -> None:
    decision = Decision.objects.filter(round=played.round).latest("pk")
    decision.pk = None
    decision.save(force_insert=True)


def of_nobody(played: Played) -> None:
    for name in ("sent", "acknowledged"):
        del played.book[name][str(played.first.pk)]


def before_its_entry(played: Played) -> None:
    """The log entry of a sheet comes after its answers."""
    of_nobody(played)
    entry = record(actor=None, verb="import sheet", obj=played.round)
    Answer.objects.filter(pk=played.first.pk).update(came_by="sheet", entry=entry)


def by_another_act(played: Played) -> None:
    of_nobody(played)
    entry = Entry.objects.filter(verb="open round").get()
    Answer.objects.filter(pk=played.first.pk).update(came_by="sheet", entry=entry)


def a_sheet_without_end(played: Played) -> None:
    record(actor=None, verb="import sheet", obj=played.round)


def left_queued(played: Played) -> None:
    Job.objects.create(kind="release", params={})


def failed_in_silence(played: Played) -> None:
    Job.objects.create(kind="release", params={}, status="failed")


def half_an_import(played: Played) -> None:
    Import.objects.create(
        project=played.round.project,
        format="m3",
        file_name="a",
        sha256="0",
        size=1,
        counts={"clusters": 2},
        created_at=timezone.now(),
    )


def a_folder_of_no_release(played: Played) -> None:
    from releases.storage.registry import store

    (store() / "eye-1.0.0").mkdir(parents=True)


def closed_twice(played: Played) -> None:
    for _ in range(2):
        record(actor=None, verb="close round", obj=played.round)


PLANTED: dict[Callable[[Played], None], tuple[str, str]] = {
    lost: ("lost", "was acknowledged and is lost"),
    stored_otherwise: ("lost", "is not stored as it was acknowledged"),
    refused: ("unacknowledged", "was refused and is stored"),
    doubled: ("doubled", "has the same answer 2 times"),
    no_longer_in_force: ("revisions", "does not have its newest answer in force"),
    of_another: ("revisions", "is not by the person of its slot"),
    over_k: ("over_k", "has 2 counted answers, k is 1"),
    said_to_count: ("said_to_count", "was said to count"),
    after_gold: ("after_gold", "polarity: not what the answers that count come to"),
    without_decision: ("after_gold", "not what the answers that count come to"),
    decided_twice: ("decided_twice", "decided 2 times"),
    of_nobody: ("without_entry", "was not sent by a client; it came by"),
    before_its_entry: ("without_entry", "was there before the log told who brings it"),
    by_another_act: ("without_entry", "names no such act"),
    a_sheet_without_end: ("without_end", "brought 0 answers, the log tells its end as []"),
    left_queued: ("unfinished", "is queued"),
    failed_in_silence: ("unfinished", "does not say why"),
    half_an_import: ("half_done", "is there in part"),
    a_folder_of_no_release: ("half_done", "belongs to no release"),
    closed_twice: ("out_of_order", "was opened or closed twice"),
}


@pytest.mark.row(63)
@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_fault_that_is_planted_is_named(plant: Callable[[Played], None], played: Played) -> None:
    rule, sentence = PLANTED[plant]
    with triggers.suspend_triggers(connection):
        plant(played)
        found = played.faults()
    assert sentence in " ".join(found.get(rule, [])), found
