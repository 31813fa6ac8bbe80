"""Import ratings made outside Concord as a closed round of named raters."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.models import User
from api.parameters import defaults
from api.problems import Problem, Refused
from audit.log import record
from audit.models import Entry
from sql import planner
from sql.bulk import BulkWriter, reserve_ids

from .. import kinds
from ..guidelines.actions import latest_guideline
from ..jobs import batches
from ..jobs.batches import Progress, silent
from ..jobs.running import RunningJob
from ..kinds import Kind, Sheet, SheetFaults, Value, curator_assignment
from ..models import Answer, Import, Participant, Project, Purpose, Round, Unit
from ..purposes import which
from ..rounds.actions import close_round
from ..sheets.writing import KEYS
from ..spreadsheets.reading import Row, read
from ..uploads.faults import BadFiles, Faults, Unreadable
from ..uploads.files import Source
from . import raters
from .raters import ExternalRating, members_of_raters, prepare_answers

#: Purposes that an imported round can have.
PURPOSES = tuple(sorted(map(Purpose, which("independent")), reverse=True))
#: Maximum number of ratings in a file. Storing their typed rows takes about a second.
MAX_RATINGS = 10_000
Key = tuple[int, str]


@dataclass
class Ratings:
    """Contents of a ratings file: the value of each (unit id, rater), and the faults by cell."""

    values: dict[Key, Value] = field(default_factory=dict)
    units: dict[int, Unit] = field(default_factory=dict)
    raters: set[str] = field(default_factory=set)
    faults: Faults = field(default_factory=Faults)
    rows: int = 0
    warnings: list[str] = field(default_factory=list)


def read_ratings(*, project: Project, kind: Kind, path: Path, name: str, progress: Progress = silent) -> Ratings:
    """Read a file with the columns ``unit`` and ``rater`` and those of the kind's sheet.

    Stop with a fault if the file has too many ratings or raters. Storing more would block other writers on SQLite.
    """
    ratings = Ratings()
    known = {unit.key: unit for unit in kind.units(project)}
    texts = kind.texts([u.pk for u in known.values()])
    answer_columns, own = [c.name for c in _sheet_of(kind).answer_columns], [c.name for c in KEYS]
    try:
        for row in read(
            path, name, needed=["unit", "rater", *answer_columns], own_columns=own, warn=ratings.warnings.append
        ):
            ratings.rows += 1
            progress(ratings.rows, None, "reading")
            for column, message in _add_row(row, ratings, known, texts, kind, answer_columns):
                ratings.faults.add(row.file, row.number, column, message)
            if len(ratings.values) > MAX_RATINGS:
                raise Unreadable(
                    row.file,
                    row.number,
                    "file",
                    f"the file has more than {MAX_RATINGS:,} ratings; split it into several files",
                )
            if len(ratings.raters) > raters.MAX_RATERS:
                raise Unreadable(row.file, row.number, "rater", raters.TOO_MANY)
    except Unreadable as unreadable:
        unreadable.add_to(ratings.faults)
    return ratings


def _sheet_of(kind: Kind) -> Sheet:
    """Return the sheet of a kind, as asked outside of rounds. Raise ValueError if the kind has none."""
    if kind.sheet is None:
        raise ValueError(f"Answers of the task {kind.title!r} cannot be imported from a file.")
    return kind.sheet


def _add_row(
    row: Row, ratings: Ratings, known: dict[str, Unit], texts: dict[int, str], kind: Kind, answer_columns: list[str]
) -> list[tuple[str, str]]:
    """Add one row to the ratings. Return its faults as (column, message); a row with faults is not added."""
    if problems := row.problems({"unit", "rater", *answer_columns}):
        return problems
    unit, rater = known.get(row.cells.get("unit", "").strip()), row.cells.get("rater", "").strip()
    if unit is None:
        return [
            (
                "unit",
                f"this project has no unit {row.cells.get('unit', '')[:100]!r} to which the task {kind.key} applies",
            )
        ]
    if not rater or len(rater) > 100:
        return [("rater", "expected a name of at most 100 characters")]
    if (unit.pk, rater) in ratings.values:
        return [("rater", f"an earlier row has a rating of {unit.key} by {rater}")]
    try:
        value = _sheet_of(kind).value(texts[unit.pk], {c: row.cells.get(c, "") for c in answer_columns})
        kind.check(curator_assignment(unit, kind.key, None), value)
    except SheetFaults as wrong:
        return wrong.faults
    except Problem as wrong:
        return [("unit", str(wrong))]
    ratings.values[unit.pk, rater] = value
    ratings.raters.add(rater)
    ratings.units[unit.pk] = unit
    return []


def report(ratings: Ratings) -> dict[str, Any]:
    """Return what an import would store, as JSON data without the faults."""
    by_unit = Counter(unit for unit, _ in ratings.values)
    return {
        "rows": ratings.rows,
        "ratings": len(ratings.values),
        "units": len(by_unit),
        "raters": sorted(ratings.raters),
        "warnings": ratings.warnings,
        "most_raters": max(by_unit.values(), default=0),
        "least_raters": min(by_unit.values(), default=0),
    }


def import_ratings(
    *,
    project: Project,
    kind: str,
    source: Source,
    round_name: str,
    purpose: str,
    by: User,
    job: RunningJob | None = None,
) -> dict[str, Any]:
    """Store all ratings of a file as a closed round, or nothing.

    Each rater becomes a member without an account, known by a pseudonym. Only people who may see names see the name
    from the file. A second import of the same file changes nothing.

    Raise `BadFiles` if a cell is invalid. The worker of ``job`` verifies in the storing transaction that it still holds
    the job.
    """
    how = kinds.get(kind)
    format = f"answers {kind}"
    if known := Import.objects.filter(project=project, format=format, sha256=source.sha256).first():
        return {"known": True, "round": known.counts.get("round")}
    progress = job.paced() if job else silent
    ratings = read_ratings(project=project, kind=how, path=source.path, name=source.name, progress=progress)
    if ratings.faults:
        raise BadFiles(ratings.faults)
    progress(ratings.rows, ratings.rows, "storing answers")
    rows, names = BulkWriter(), sorted(ratings.raters)
    with batches.idempotent():
        members = members_of_raters(project, names, rows)
        round = _round(project, how, ratings, round_name=round_name, purpose=purpose, file=source.name, by=by)
        [round.pk], [entry] = reserve_ids(Round, 1), reserve_ids(Entry, 1)
        answers = prepare_answers(round, _ratings_in_order(ratings), members, entry, rows)
        rows.add(Participant(round=round, member=members[name]) for name in names)
    with batches.batch(ratings.rows):
        round.save(force_insert=True)
        record(
            actor=by,
            verb="import answers",
            obj=round,
            project_id=project.pk,
            after={"file": source.name, "sha256": source.sha256, "raters": len(names), "answers": len(answers)}
            | ({"job": job.job.pk} if job else {}),
            pk=entry,
            at=round.opened_at,
        )
        rows.write()
        how.store(answers)
        Import.objects.create(
            project=project,
            format=format,
            file_name=source.name,
            sha256=source.sha256,
            size=source.size,
            created_by=by,
            created_at=timezone.now(),
            counts={"round": round.pk, "answers": len(answers)},
            report={"totals": {}, "values": {}},
        )
        close_round(round=round, by=by)
        planner.analyze_grown_tables(*planner.dependents_of(Answer))
    return {"known": False, "round": round.pk, "answers": len(answers), "raters": len(names)}


def require_free_name(project: Project, round_name: str) -> None:
    """Raise `Refused` if the project has a round of that name."""
    if project.rounds.filter(name=round_name).exists():
        raise Refused.field("name", f"The project already has a round named {round_name!r}. Choose another name.")


def _round(
    project: Project, kind: Kind, ratings: Ratings, *, round_name: str, purpose: str, file: str, by: User
) -> Round:
    require_free_name(project, round_name)
    by_unit = Counter(unit for unit, _ in ratings.values)
    return Round(
        project=project,
        name=round_name,
        kind=kind.key,
        purpose=purpose,
        overlap=max(by_unit.values()),
        seed=0,
        allocation=Round.Allocation.FIXED,
        guideline=latest_guideline(project, kind.key, by=by),
        sampling={"units": "made elsewhere", "file": file},
        policy=defaults(kind.policy),
        options=defaults(kind.options),
        units_count=len(by_unit),
        created_by=by,
        opened_at=timezone.now(),
    )


def _ratings_in_order(ratings: Ratings) -> Iterator[ExternalRating]:
    """Yield the answers, sorted by the first appearance of the unit in the file and by rater."""
    positions = {unit: n for n, unit in enumerate(ratings.units)}
    numbers: Counter[int] = Counter()
    for (unit, rater), value in sorted(ratings.values.items(), key=lambda item: (positions[item[0][0]], item[0][1])):
        numbers[unit] += 1
        yield ExternalRating(rater, ratings.units[unit], positions[unit], numbers[unit], value)
