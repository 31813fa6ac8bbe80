"""Bringing files in: parse first, compare with what is there, make all rows ready, then write them in one transaction.

On SQLite nobody else can write while that lasts: it takes some 10 microseconds a row, whatever the rows hold.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from projects.actions import rolling
from projects.background import batches
from projects.background.progress import Progress, silent
from projects.models import Import, Project
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.source import Source
from sql import planner
from sql.ready import Rows

from .. import imports
from ..imports.formats import Format, Parsed

#: How many notices of a file are kept; all are counted.
NOTED = 20_000
#: How often rows are made where others write what they clash with.
TRIES = 3


@dataclass
class Checked:
    """Files that were read, without a change to the data base."""

    parsed: list[tuple[Source, Parsed]] = field(default_factory=list)
    #: Files whose very bytes the project has imported before.
    known: list[tuple[Source, Import]] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)


def format_named(key: str) -> Format:
    """The format of that name; refuses an unknown one."""
    try:
        return imports.get(key)
    except KeyError:
        known = ", ".join(format.key for format in imports.every())
        raise Refused.field("format", f"There is no format {key!r}; there are: {known}.") from None


def check_files(
    *, project: Project | None, format: str, sources: Sequence[Source], level: str = "", progress: Progress = silent,
    mapping: Mapping[str, str] | None = None, about: Mapping[str, str] | None = None,
) -> Checked:  # fmt: skip
    """Read files whole and compare them with the project (None: one that is still to be made). Writes nothing.

    ``mapping``: what values mean that a format does not know; ``about``: what it asks for, by key.
    """
    reader = format_named(format).mapped(mapping or {}).told(about or {})
    levels = [key for key, _ in reader.levels]
    if level and level not in levels:
        raise Refused.field("level", f"{format} has no level {level!r}; it has: {', '.join(levels) or 'none'}.")
    checked = Checked()
    seen: set[str] = set()
    sound: list[Parsed] = []
    for source in sources:
        if source.sha256 in seen:
            checked.faults.add(source.name, 0, "file", "the same content as another of the files given")
            continue
        seen.add(source.sha256)
        if known := _known(project, format, source, reader.level_of(level)):
            checked.known.append((source, known))
            continue
        before = checked.faults.total
        parsed = reader.read(source, level=level, faults=checked.faults, progress=progress)
        checked.parsed.append((source, parsed))
        if checked.faults.total == before:
            sound.append(parsed)
    reader.together(sound)
    for parsed in sound:
        if project:
            parsed.compare(project, checked.faults, progress)
    return checked


def _known(project: Project | None, format: str, source: Source, level: str) -> Import | None:
    """The import that brought these very bytes, as that level where they may come in as several."""
    same = Import.objects.filter(project=project, format=format, sha256=source.sha256)
    return (same.filter(level=level) if level else same).first() if project else None


def mapping_of(lines: Sequence[str]) -> dict[str, str]:
    """What people write as ``old=new``, a line each. `Refused` for a line without that."""
    found = {}
    for line in filter(str.strip, lines):
        old, equals, new = line.rpartition("=")
        if not (old.strip() and equals and new.strip()):
            raise Refused.field("map", f"{line!r} is no mapping: OLD=NEW.")
        found[old.strip()] = new.strip()
    return found


@dataclass
class Ready:
    """A file whose rows are made, and not written."""

    imported: Import
    parsed: Parsed
    rows: Rows


def _insert(project: Project, format: str, checked: Checked, by: User | None, progress: Progress) -> list[Import]:
    """Write what was read. The first file, which in a browser is the only one, is made ready before the transaction;
    the others in it, compared again, so that they see the items of those before them."""
    done = []
    with ExitStack() as transaction:
        for number, (source, parsed) in enumerate(checked.parsed):
            if number:
                parsed.compare(project, checked.faults, progress)
                if checked.faults:
                    raise BadFiles(checked.faults)
            ready = _made_ready(project, format, source, parsed, by, progress)
            if not number:
                progress(len(ready.rows), len(ready.rows), "writing")
                transaction.enter_context(batches.batch())
            done.append(_write(ready))
            planner.look_at_grown(*ready.rows.tables)
        if done:
            rolling.due(Q(project=project))
    return done


def _made_ready(
    project: Project, format: str, source: Source, parsed: Parsed, by: User | None, progress: Progress
) -> Ready:
    rows = Rows()
    # Ids that are reserved and not used harm nobody.
    with batches.harmless():
        [imported] = rows.add(
            [
                Import(
                    project=project,
                    format=format,
                    level=parsed.level,
                    # The name alone: where it lay on somebody's machine is nobody's business, least of all a release's.
                    file_name=PurePath(source.name).name[:200],
                    sha256=source.sha256,
                    size=source.size,
                    counts=parsed.counts(),
                    report=report_of(parsed, progress),
                    created_by=by,
                    created_at=timezone.now(),
                )
            ]
        )
        parsed.lay_out(imported, rows, progress)
    return Ready(imported, parsed, rows)


def _write(ready: Ready) -> Import:
    imported = ready.imported
    ready.parsed.confirm()
    ready.rows.write()
    record(
        actor=imported.created_by,
        verb="import",
        obj=imported,
        project_id=imported.project_id,
        after={
            "format": imported.format,
            "file": imported.file_name,
            "sha256": imported.sha256,
            "counts": imported.counts,
        },
    )
    return imported


def report_of(parsed: Parsed, progress: Progress = silent) -> dict[str, Any]:
    """What was noticed: how many notices of each kind, in the order in which the kinds first occur, the first `NOTED`
    of them, and the counts of values."""
    totals: dict[str, int] = {}
    noted: list[dict[str, str]] = []
    for notice in parsed.notices(progress):
        totals[notice.kind] = totals.get(notice.kind, 0) + 1
        if len(noted) < NOTED:
            noted.append(notice.as_json())
    return {"totals": totals, "values": parsed.summary(), "notices": noted}


def import_files(
    *,
    project: Project,
    format: str,
    checked: Checked,
    by: User | None,
    progress: Progress = silent,
) -> list[Import]:
    """Write files that were checked: all rows of all files, or none. Returns the imports made.

    What another import, or somebody who types, made of the same reviews and studies meanwhile is looked up, and the
    rows are made anew. Raises `BadFiles` for faults, `Conflict` when others were faster again and again.
    """
    for _ in range(TRIES):
        if checked.faults:
            raise BadFiles(checked.faults)
        try:
            return _insert(project, format, checked, by, progress)
        except IntegrityError:
            for _, parsed in checked.parsed:
                parsed.compare(project, checked.faults, progress)
    raise Conflict("Something of the same content was imported meanwhile; check the file again.")
