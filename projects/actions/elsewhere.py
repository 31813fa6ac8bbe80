"""Answers that were given outside Concord, by people it does not know: stored as a closed round of named raters."""

import uuid as uuids
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.parameters import defaults
from api.problems import Conflict, Problem, Refused
from audit.digests import canonical
from audit.log import record
from audit.models import Entry
from sql import planner

from .. import kinds
from ..background import batches, jobs, uploads
from ..kinds import Kind, SheetFaults, Value, place
from ..models import (
    Answer,
    Assignment,
    CameBy,
    Import,
    Job,
    JobStatus,
    Member,
    Outcome,
    Participant,
    Project,
    Purpose,
    Role,
    Round,
    Unit,
)
from ..purposes import which
from ..rounds.submission import Submission
from ..sheets.layout import sheet_of
from ..sheets.reading import Row, read
from .answers import insert_answers
from .guidelines import latest_guideline
from .people import add_member
from .rounds import close_round

#: Namespace of the users that stand for raters; they never sign in.
RATERS = uuids.UUID("0c8d5f1f-6d36-5b0c-9a51-3c1c5a3f7f02")
PURPOSES = tuple(sorted(map(Purpose, which("independent")), reverse=True))
#: How many faults are named; all are counted.
NAMED = 500
#: What a file may bring: so much is stored in a few seconds.
MOST_RATINGS, MOST_RATERS = 10_000, 500
Progress = Callable[[int, int | None, str], None]
Key = tuple[int, str]


def silent(done: int, total: int | None, note: str) -> None:
    """Progress that nobody watches."""


@dataclass
class Ratings:
    """What a file says: the value of each (unit id, rater), and what is wrong with it, by cell."""

    said: dict[Key, Value] = field(default_factory=dict)
    units: dict[int, Unit] = field(default_factory=dict)
    raters: set[str] = field(default_factory=set)
    #: The first of them; all are counted.
    faults: list[dict[str, Any]] = field(default_factory=list)
    faults_total: int = 0
    rows: int = 0

    def add_fault(self, row: Row, column: str, message: str) -> None:
        self.faults_total += 1
        if len(self.faults) < NAMED:
            self.faults.append({"place": row.place(column), "row": row.number, "column": column, "message": message})


def read_ratings(
    *, project: Project, kind: Kind, path: Path, name: str, progress: Progress = silent
) -> Ratings:  # fmt: skip
    """The ratings of a file with the columns ``unit``, ``rater`` and those that the kind's sheet asks for. `Refused`
    for one of more ratings, or raters, than are stored in a moment: on SQLite nobody else can write meanwhile."""
    ratings = Ratings()
    known = {unit.key: unit for unit in kind.units(project)}
    texts = kind.texts([u.pk for u in known.values()])
    asked = [c.name for c in sheet_of(kind).asked]
    for row in read(path, name, needed=["unit", "rater", *asked]):
        ratings.rows += 1
        progress(ratings.rows, None, "reading")
        for column, message in _take(row, ratings, known, texts, kind, asked):
            ratings.add_fault(row, column, message)
        if len(ratings.said) > MOST_RATINGS or len(ratings.raters) > MOST_RATERS:
            raise Refused.field(
                "file", f"Row {row.number}: a file holds {MOST_RATINGS:,} ratings of {MOST_RATERS} raters at most."
            )  # fmt: skip
    return ratings


def _take(
    row: Row, ratings: Ratings, known: dict[str, Unit], texts: dict[int, str], kind: Kind, asked: list[str]
) -> list[tuple[str, str]]:
    """Add one row to the ratings, or say what keeps it out."""
    if formulas := row.formulas & {"unit", "rater", *asked}:
        return [(name, "holds a formula; expected a value") for name in sorted(formulas)]
    unit, rater = known.get(row.cells.get("unit", "").strip()), row.cells.get("rater", "").strip()
    if unit is None:
        return [("unit", f"{row.cells.get('unit', '')[:100]!r} is no unit of this project that {kind.key} is asked of")]
    if not rater or len(rater) > 100:
        return [("rater", "expected a name of at most 100 characters")]
    if (unit.pk, rater) in ratings.said:
        return [("rater", f"{rater} has rated {unit.key} in an earlier row")]
    try:
        value = sheet_of(kind).value(texts[unit.pk], {c: row.cells.get(c, "") for c in asked})
        kind.check(place(unit, kind.key, None), value)
    except SheetFaults as wrong:
        return wrong.faults
    except Problem as wrong:
        return [("unit", str(wrong))]
    ratings.said[unit.pk, rater] = value
    ratings.raters.add(rater)
    ratings.units[unit.pk] = unit
    return []


def report(ratings: Ratings) -> dict[str, Any]:
    """What importing would come to, as JSON."""
    by_unit = Counter(unit for unit, _ in ratings.said)
    return {
        "rows": ratings.rows, "ratings": len(ratings.said), "units": len(by_unit), "raters": sorted(ratings.raters),
        "most_raters": max(by_unit.values(), default=0), "least_raters": min(by_unit.values(), default=0),
        "faults_total": ratings.faults_total, "faults": ratings.faults,
    }  # fmt: skip


def start_check(*, project: Project, kind: str, file: "UploadedFile[bytes]", by: User) -> Job:
    """Store an uploaded file and queue the job ``check_elsewhere`` that reads it."""
    if kinds.get(kind).sheet is None:
        raise Refused.field("kind", f"{kinds.get(kind).title} cannot be given in a sheet.")
    uploads.refuse_larger(file.size or 0)
    params = {"kind": kind, "upload": uploads.store(file, by), "name": uploads.name_of(file)}
    return jobs.ask(project=project, kind="check_elsewhere", params=params, by=by)[0]


@transaction.atomic
def confirm(*, project: Project, job_id: int, round_name: str, purpose: str, by: User) -> Job:
    """Queue the import of a file that was checked and found without fault."""
    found = Job.objects.filter(pk=job_id, project=project, kind="check_elsewhere").first()
    if found is None:
        raise Refused.field("job", "There is no such check in this project.")
    if found.status != JobStatus.DONE or not isinstance(found.result, dict):
        raise Conflict("The check of this file has not ended well; there is nothing to confirm.")
    if found.result["faults_total"] or not found.result["ratings"]:
        raise Conflict("The file has faults or no ratings; mend it and upload it again.")
    if purpose not in PURPOSES:
        raise Refused.field("purpose", f"One of: {', '.join(PURPOSES)}.")
    if project.rounds.filter(name=round_name).exists():
        raise Refused.field("name", f"There is a round {round_name!r} already.")
    params = found.params | {"round_name": round_name, "purpose": purpose}
    return jobs.ask(project=project, kind="import_elsewhere", params=params, by=by)[0]


def import_ratings(
    *, project: Project, kind: str, path: Path, name: str, round_name: str, purpose: str, by: User,
    job: jobs.RunningJob | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Store all ratings of a file as a round that is closed at once, or nothing.

    Each rater becomes a member who cannot sign in, known by pseudonym; the name in the file is seen by those who may
    see names. The same file again changes nothing. Raises `Refused` where a cell is wrong. The worker of ``job`` proves
    that it still has it in the transaction that stores it all.
    """
    how = kinds.get(kind)
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    format = f"answers {kind}"
    if known := Import.objects.filter(project=project, format=format, sha256=digest).first():
        return {"known": True, "round": known.counts.get("round")}
    progress = job.paced() if job else silent
    ratings = read_ratings(project=project, kind=how, path=path, name=name, progress=progress)
    if ratings.faults:
        first = ratings.faults[0]
        raise Refused.field("file", f"{name} {first['place']}: {first['column']} {first['message']}")
    given = _submissions(how, ratings)
    progress(ratings.rows, ratings.rows, "storing answers")
    with batches.batch(ratings.rows):
        raters = {rater: _member(project, rater, by) for rater in sorted(ratings.raters)}
        round = _round(project, how, ratings, round_name=round_name, purpose=purpose, file=name, by=by)
        Participant.objects.bulk_create(Participant(round=round, member=m) for m in raters.values())
        entry = record(
            actor=by, verb="import answers", obj=round, project_id=project.pk,
            after={"file": name, "sha256": digest, "raters": len(raters), "answers": len(ratings.said)}
            | ({"job": job.job.pk} if job else {}),
        )  # fmt: skip
        _answers(round, ratings, raters, given, entry)
        Import.objects.create(
            project=project, format=format, file_name=name, sha256=digest, size=path.stat().st_size, created_by=by,
            created_at=timezone.now(), counts={"round": round.pk, "answers": len(ratings.said)},
            report={"totals": {}, "values": {}, "notices": []},
        )  # fmt: skip
        close_round(round=round, by=by)
        planner.look_at_grown(*planner.hanging_on(Answer))
    return {"known": False, "round": round.pk, "answers": len(ratings.said), "raters": len(raters)}


def _member(project: Project, rater: str, by: User) -> Member:
    """The member that stands for a rater of this project, made when first met."""
    email = f"rater-{uuids.uuid5(RATERS, f'{project.pk} {rater}')}@elsewhere.invalid"
    user = User.objects.filter(email=email).first()
    if user is None:
        user = User(email=email, name=rater, is_active=False)
        user.set_unusable_password()
        user.save(force_insert=True)
    elif user.is_active:
        # The address can be worked out by anybody: nobody comes into the project by having taken it.
        raise Conflict(f"The account that stands for the rater {rater!r} is in somebody's use. Tell whoever runs this.")
    return add_member(project=project, user=user, role=Role.ANNOTATOR, by=by)


def _round(
    project: Project, kind: Kind, ratings: Ratings, *, round_name: str, purpose: str, file: str, by: User
) -> Round:  # fmt: skip
    if project.rounds.filter(name=round_name).exists():
        raise Refused.field("name", f"There is a round {round_name!r} already.")
    by_unit = Counter(unit for unit, _ in ratings.said)
    return Round.objects.create(
        project=project, name=round_name, kind=kind.key, purpose=purpose, overlap=max(by_unit.values()), seed=0,
        dealing=Round.Dealing.DEALT, guideline=latest_guideline(project, kind.key, by=by),
        sampling={"units": "made elsewhere", "file": file},
        policy=defaults(kind.policy), options=defaults(kind.options),
        units_count=len(by_unit), created_by=by, opened_at=timezone.now(),
    )  # fmt: skip


def _submissions(kind: Kind, ratings: Ratings) -> dict[Key, Submission]:
    """The answers to be given, units in corpus order; ``assignment`` and ``entry`` are not known yet."""
    positions = {unit: n for n, unit in enumerate(ratings.units)}
    ordered = sorted(ratings.said.items(), key=lambda item: (positions[item[0][0]], item[0][1]))
    return {
        (unit, rater): Submission(
            uuid=uuids.uuid4(), digest=sha256(canonical({"unit": unit, "rater": rater, "value": value})).hexdigest(),
            assignment=0, revision=0, kind=kind.key, outcome=Outcome.ANSWERED, shown=ratings.units[unit].revision,
            value=value, came_by=CameBy.IMPORT,
        )
        for (unit, rater), value in ordered
    }  # fmt: skip


def _answers(
    round: Round, ratings: Ratings, raters: dict[str, Member], given: dict[Key, Submission], entry: Entry
) -> None:  # fmt: skip
    """One slot and one answer for each rating, in a fixed number of queries a rater."""
    positions = {unit: n for n, unit in enumerate(ratings.units)}
    numbers: Counter[int] = Counter()
    slots = []
    for (unit, rater), submission in given.items():
        numbers[unit] += 1
        slots.append(
            Assignment(
                round=round, unit=ratings.units[unit], number=numbers[unit], position=positions[unit],
                person=raters[rater], revision=1, current_answer_id=submission.uuid,
            )
        )  # fmt: skip
    of_rater: dict[str, list[tuple[Assignment, Submission, Value]]] = {rater: [] for rater in raters}
    for slot, (key, submission) in zip(Assignment.objects.bulk_create(slots), given.items(), strict=True):
        submission = replace(submission, assignment=slot.pk, entry=entry.pk)
        of_rater[key[1]].append((slot, submission, ratings.said[key]))
    now = timezone.now()
    for rater, rated in of_rater.items():
        insert_answers(round, rated, author=raters[rater], now=now)
