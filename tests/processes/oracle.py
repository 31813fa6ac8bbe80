"""`python -m tests.processes.oracle FILE`: check invariants of the rows after faults, and print violations.

FILE is the JSON of `noted(ledger)`. Each rule yields messages, and none if all is well. The rules compare rows with
what the clients were told, however the rows came about.
"""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import django

from operations.simulation.client import Ledger

#: The most violations of one rule that are reported.
TOLD = 5


def noted(ledger: Ledger) -> dict[str, Any]:
    """Return a ledger as JSON: the sent digests, and the acknowledged assignment, revision and counting of each
    answer."""
    return {
        "sent": {uuid: hashlib.sha256(body).hexdigest() for uuid, body in ledger.sent.items()},
        "acknowledged": {u: [a.assignment, a.revision, a.counted] for u, a in ledger.acknowledged.items()},
    }


class Book:
    """What the clients sent, and what was acknowledged."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.sent: dict[str, str] = content["sent"]
        #: Assignment, revision, and whether the reply said that the answer counts.
        self.acknowledged: dict[str, tuple[int, int, bool]] = content["acknowledged"]


def lost(book: Book) -> Iterator[str]:
    """Acknowledged answers are stored as sent, with the acknowledged assignment and revision."""
    from projects.models import Answer

    rows = Answer.objects.values_list("pk", "body_digest", "assignment", "revision")
    stored = {str(pk): (digest, assignment, revision) for pk, digest, assignment, revision in rows}
    for uuid, (assignment, revision, _) in book.acknowledged.items():
        if uuid not in stored:
            yield f"answer {uuid} was acknowledged and is lost"
        elif stored[uuid] != (book.sent[uuid], assignment, revision):
            yield f"answer {uuid} is not stored as it was acknowledged"


def unacknowledged(book: Book) -> Iterator[str]:
    """Refused answers are not stored. (Clients resend until they get a definite reply.)"""
    from projects.models import Answer

    for uuid in set(book.sent) - set(book.acknowledged):
        if Answer.objects.filter(pk=uuid).exists():
            yield f"answer {uuid} was refused and is stored"


def doubled(book: Book) -> Iterator[str]:
    """The same bytes are stored once."""
    from projects.models import Answer

    rows = Counter(Answer.objects.order_by().values_list("assignment", "body_digest"))
    for (assignment, _), count in rows.items():
        if count > 1:
            yield f"slot {assignment} has the same answer {count} times"


def revisions(book: Book) -> Iterator[str]:
    """Revisions of an assignment have no gap, and the newest answer is the current one."""
    from projects.models import Answer, Assignment

    slots = Assignment.objects.in_bulk()
    answers: dict[int, list[tuple[int, Any]]] = defaultdict(list)
    for answer in Answer.objects.order_by("assignment", "revision"):
        answers[answer.assignment_id].append((answer.revision, answer.pk))
        if answer.author_id != slots[answer.assignment_id].person_id:
            yield f"answer {answer.pk} is not by the person of its slot {answer.assignment_id}"
    for pk, slot in slots.items():
        given = answers.get(pk, [])
        if [revision for revision, _ in given] != list(range(1, len(given) + 1)):
            yield f"slot {pk} lacks a revision"
        if (slot.revision, slot.current_answer_id) != (given[-1] if given else (0, None)):
            yield f"slot {pk} does not have its newest answer in force"


def over_k(book: Book) -> Iterator[str]:
    """A unit has at most k counted answers, each by another person."""
    from projects.models import Assignment

    counted = Assignment.objects.counted().exclude(current_answer=None).order_by()
    rows: dict[tuple[int, int, int], list[Any]] = defaultdict(list)
    for slot in counted.select_related("round", "current_answer"):
        rows[slot.round_id, slot.unit_id, slot.repeat].append(slot)
    for (round, unit, _), slots in rows.items():
        if len(slots) > slots[0].round.overlap or any(slot.number > slot.round.overlap for slot in slots):
            yield f"unit {unit} of round {round} has {len(slots)} counted answers, k is {slots[0].round.overlap}"
        if len({slot.current_answer.author_id for slot in slots}) < len(slots):
            yield f"unit {unit} of round {round} has two counted answers of one person"


def said_to_count(book: Book) -> Iterator[str]:
    """A current answer counts if the reply said so."""
    from projects.models import Assignment

    surplus = Assignment.objects.filter(number__lt=0).exclude(current_answer=None)
    for slot, uuid in surplus.values_list("pk", "current_answer"):
        if str(uuid) in book.acknowledged and book.acknowledged[str(uuid)][2]:
            yield f"answer {uuid} was said to count, and its slot {slot} does not"


def after_gold(book: Book) -> Iterator[str]:
    """Decisions match the counted answers: none was accepted after the gold standard had formed."""
    from projects import kinds
    from projects.answers.queries import counted_answers
    from projects.models import Decision, Job, JobStatus, Round
    from projects.purposes import which

    finished = Job.objects.filter(kind="finish_round", status=JobStatus.DONE).values_list("params", flat=True)
    for round in Round.objects.filter(pk__in=[params["round"] for params in finished], purpose__in=which("makes_gold")):
        kind = kinds.get(round.kind)
        units: dict[Any, list[Any]] = defaultdict(list)
        for answer in counted_answers(round):
            if not answer.assignment.repeat:
                units[answer.assignment.unit].append(answer)
        values = kind.values(answer.pk for answers in units.values() for answer in answers)
        expected = {
            (unit.pk, result.field, result.origin, result.answer and result.answer.pk)
            for unit, answers in units.items()
            if len(answers) >= round.overlap
            for result in kind.aggregate(unit, [(answer, values[answer.pk]) for answer in answers], round)
        }
        decided = set(Decision.objects.filter(round=round).values_list("unit", "field", "origin", "answer"))
        for unit, field, *_ in sorted(expected ^ decided, key=str):
            yield f"gold of round {round.pk}, unit {unit}, {field}: not what the answers that count come to"


def decided_twice(book: Book) -> Iterator[str]:
    """A round decides each field of a unit once. Curation rounds may decide it repeatedly."""
    from projects.models import Decision, Purpose

    formed = Decision.objects.exclude(round=None).exclude(round__purpose=Purpose.CURATION).order_by()
    for (round, unit, field), count in Counter(formed.values_list("round", "unit", "field")).items():
        if count > 1:
            yield f"gold of round {round}, unit {unit}, {field}: decided {count} times"


def without_entry(book: Book) -> Iterator[str]:
    """Answers record their origin. Answers that no client sent come from a sheet or file whose import was logged
    before."""
    from projects.models import Answer, CameBy

    brought = {CameBy.SHEET: "import sheet", CameBy.IMPORT: "import answers"}
    for answer in Answer.objects.select_related("assignment", "entry"):
        was_sent, round, entry = str(answer.pk) in book.sent, str(answer.assignment.round_id), answer.entry
        if was_sent != (answer.came_by in (CameBy.BROWSER, CameBy.TOKEN)):
            yield f"answer {answer.pk} {'was' if was_sent else 'was not'} sent by a client; it came by {answer.came_by}"
        elif was_sent:
            if entry is not None:
                yield f"answer {answer.pk} was sent by its author, and names an act"
        elif entry is None or (entry.verb, entry.object_id) != (brought.get(CameBy(answer.came_by)), round):
            yield f"answer {answer.pk} of round {round} came by {answer.came_by}, and names no such act"
        elif entry.at > answer.received_at:
            yield f"answer {answer.pk} of round {round} was there before the log told who brings it"


def without_end(book: Book) -> Iterator[str]:
    """The import of a sheet has one logged end, with the number of stored answers."""
    from audit.models import Entry
    from projects.models import Answer

    ends: dict[int, list[Any]] = defaultdict(list)
    told: Any = Entry.objects.filter(verb="end sheet import").values_list("after", flat=True)
    for after in told:
        ends[after["entry"]].append(after["stored"])
    for entry in Entry.objects.filter(verb="import sheet"):
        stored = Answer.objects.filter(entry=entry).count()
        if ends[entry.pk] != [stored]:
            yield f"the sheet of entry {entry.pk} brought {stored} answers, the log tells its end as {ends[entry.pk]}"


def unfinished(book: Book) -> Iterator[str]:
    """Every job has ended, and failed ones have an error message."""
    from projects.models import Job, JobStatus

    for job in Job.objects.order_by("pk"):
        if job.status in (JobStatus.QUEUED, JobStatus.RUNNING):
            yield f"job {job.pk} ({job.kind}) is {job.status}"
        elif job.status == JobStatus.FAILED and not job.error:
            yield f"job {job.pk} ({job.kind}) failed and does not say why"


def half_done(book: Book) -> Iterator[str]:
    """Imports are stored completely, with their log entry, or not at all; releases and release folders match."""
    from annotation.models import Cluster
    from audit.models import Entry
    from projects.models import Answer, Import
    from releases.models import Release
    from releases.storage.registry import store, verify

    entries = set(Entry.objects.filter(verb="import").values_list("object_id", flat=True))
    for made in Import.objects.all():
        if made.format.startswith("answers "):
            there = Answer.objects.filter(assignment__round=made.counts["round"]).count()
            whole = there == made.counts["answers"]
        else:
            there = Cluster.objects.filter(imported=made).count()
            whole = there == made.counts["clusters"] and str(made.pk) in entries
        if not whole:
            yield f"import {made.pk} is there in part, or without its entry"
    folders = {path.name for path in store().glob("[!.]*")} if store().exists() else set()
    for release in Release.objects.all():
        folders.discard(release.folder)
        yield from (f"release {release.version}: {finding}" for finding in verify(release).findings)
    yield from (f"folder {name} belongs to no release" for name in sorted(folders))


def out_of_order(book: Book) -> Iterator[str]:
    """Log entries are in a possible order: a round is opened before it is closed, once each."""
    from audit.models import Entry

    acts = Entry.objects.filter(object_type="round", verb__in=("open round", "close round")).order_by("id")
    by_round: dict[str, list[str]] = defaultdict(list)
    for round, verb in acts.values_list("object_id", "verb"):
        by_round[round].append(verb)
    for round, verbs in by_round.items():
        if any(before == after for before, after in pairwise(verbs)):
            yield f"round {round} was opened or closed twice"


RULES: tuple[Callable[[Book], Iterator[str]], ...] = (
    lost,
    unacknowledged,
    doubled,
    revisions,
    over_k,
    said_to_count,
    after_gold,
    decided_twice,
    without_entry,
    without_end,
    unfinished,
    half_done,
    out_of_order,
)


def findings(content: dict[str, Any]) -> dict[str, list[str]]:
    """Return the first violations of each rule and their number; empty if all is well."""
    book, found = Book(content), {}
    for rule in RULES:
        if told := list(rule(book)):
            more = [f"... {len(told)} in all"] if len(told) > TOLD else []
            found[rule.__name__] = told[:TOLD] + more
    return found


def main() -> None:
    django.setup()
    json.dump(findings(json.loads(Path(sys.argv[1]).read_text())), sys.stdout)


if __name__ == "__main__":
    main()
