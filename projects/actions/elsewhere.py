"""Answers that were given outside Concord, by people it does not know: stored as a closed round of named raters."""

import uuid as uuids
from collections import Counter
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.models import User
from api.parameters import defaults
from api.problems import Conflict, Problem, Refused
from audit.digests import canonical
from audit.log import record
from audit.models import Entry
from sql import planner

from .. import kinds
from ..background import batches
from ..background.jobs import RunningJob
from ..background.progress import Progress, silent
from ..kinds import Kind, Sheet, SheetFaults, Value, place
from ..models import (
    Answer,
    Assignment,
    CameBy,
    Import,
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
from ..sheets.reading import Row, read
from ..uploads.faults import BadFiles, Faults, Unreadable
from ..uploads.source import Source
from .answers import insert_answers
from .guidelines import latest_guideline
from .people import add_member
from .rounds import close_round

#: Namespace of the users that stand for raters; they never sign in.
RATERS = uuids.UUID("0c8d5f1f-6d36-5b0c-9a51-3c1c5a3f7f02")
#: What a round of them can be for.
PURPOSES = tuple(sorted(map(Purpose, which("independent")), reverse=True))
#: What a file may bring: so much is stored in a few seconds.
MOST_RATINGS, MOST_RATERS = 10_000, 500
Key = tuple[int, str]


@dataclass
class Ratings:
    """What a file says: the value of each (unit id, rater), and what is wrong with it, by cell."""

    said: dict[Key, Value] = field(default_factory=dict)
    units: dict[int, Unit] = field(default_factory=dict)
    raters: set[str] = field(default_factory=set)
    faults: Faults = field(default_factory=Faults)
    rows: int = 0


def read_ratings(
    *, project: Project, kind: Kind, path: Path, name: str, progress: Progress = silent
) -> Ratings:  # fmt: skip
    """The ratings of a file with the columns ``unit``, ``rater`` and those that the kind's sheet asks for.
    Of more ratings, or raters, than are stored in a moment nothing more is read: on SQLite nobody else can write then.
    """
    ratings = Ratings()
    known = {unit.key: unit for unit in kind.units(project)}
    texts = kind.texts([u.pk for u in known.values()])
    asked = [c.name for c in _sheet_of(kind).asked]
    try:
        for row in read(path, name, needed=["unit", "rater", *asked]):
            ratings.rows += 1
            progress(ratings.rows, None, "reading")
            for column, message in _take(row, ratings, known, texts, kind, asked):
                ratings.faults.add(row.file, row.number, column, message)
            if len(ratings.said) > MOST_RATINGS or len(ratings.raters) > MOST_RATERS:
                most = f"a file holds {MOST_RATINGS:,} ratings of {MOST_RATERS} raters at most"
                raise Unreadable(row.file, row.number, "file", most)
    except Unreadable as unreadable:
        unreadable.add_to(ratings.faults)
    return ratings


def _sheet_of(kind: Kind) -> Sheet:
    """What is asked of ratings that belong to no round yet. ValueError for a kind that has none."""
    if kind.sheet is None:
        raise ValueError(f"{kind.title} cannot be given in a sheet.")
    return kind.sheet


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
        value = _sheet_of(kind).value(texts[unit.pk], {c: row.cells.get(c, "") for c in asked})
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
    """What importing would come to, as JSON, but for the faults."""
    by_unit = Counter(unit for unit, _ in ratings.said)
    return {
        "rows": ratings.rows, "ratings": len(ratings.said), "units": len(by_unit), "raters": sorted(ratings.raters),
        "most_raters": max(by_unit.values(), default=0), "least_raters": min(by_unit.values(), default=0),
    }  # fmt: skip


def import_ratings(
    *, project: Project, kind: str, source: Source, round_name: str, purpose: str, by: User,
    job: RunningJob | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Store all ratings of a file as a round that is closed at once, or nothing.

    Each rater becomes a member who cannot sign in, known by pseudonym; the name in the file is seen by those who may
    see names. The same file again changes nothing. Raises `BadFiles` where a cell is wrong. The worker of ``job``
    proves that it still has it in the transaction that stores it all.
    """
    how = kinds.get(kind)
    format = f"answers {kind}"
    if known := Import.objects.filter(project=project, format=format, sha256=source.sha256).first():
        return {"known": True, "round": known.counts.get("round")}
    progress = job.paced() if job else silent
    ratings = read_ratings(project=project, kind=how, path=source.path, name=source.name, progress=progress)
    if ratings.faults:
        raise BadFiles(ratings.faults)
    given = _submissions(how, ratings)
    progress(ratings.rows, ratings.rows, "storing answers")
    with batches.batch(ratings.rows):
        raters = {rater: member_of_rater(project, rater, by) for rater in sorted(ratings.raters)}
        round = _round(project, how, ratings, round_name=round_name, purpose=purpose, file=source.name, by=by)
        Participant.objects.bulk_create(Participant(round=round, member=m) for m in raters.values())
        entry = record(
            actor=by, verb="import answers", obj=round, project_id=project.pk,
            after={"file": source.name, "sha256": source.sha256, "raters": len(raters), "answers": len(ratings.said)}
            | ({"job": job.job.pk} if job else {}),
        )  # fmt: skip
        _answers(round, ratings, raters, given, entry)
        Import.objects.create(
            project=project, format=format, file_name=source.name, sha256=source.sha256, size=source.size,
            created_by=by,
            created_at=timezone.now(), counts={"round": round.pk, "answers": len(ratings.said)},
            report={"totals": {}, "values": {}, "notices": []},
        )  # fmt: skip
        close_round(round=round, by=by)
        planner.look_at_grown(*planner.hanging_on(Answer))
    return {"known": False, "round": round.pk, "answers": len(ratings.said), "raters": len(raters)}


def member_of_rater(project: Project, rater: str, by: User | None) -> Member:
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


def refuse_taken(project: Project, round_name: str) -> None:
    """`Refused` where there is a round of that name."""
    if project.rounds.filter(name=round_name).exists():
        raise Refused.field("name", f"There is a round {round_name!r} already.")


def _round(
    project: Project, kind: Kind, ratings: Ratings, *, round_name: str, purpose: str, file: str, by: User
) -> Round:  # fmt: skip
    refuse_taken(project, round_name)
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
