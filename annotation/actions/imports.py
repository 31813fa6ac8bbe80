"""Bringing files in: parse first, compare with what is there, then write everything in one short transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from accounts.problems import Conflict, Refused
from audit.log import record
from projects.models import Import, Project

from ..imports import FORMATS
from ..imports.faults import BadFiles, Faults
from ..imports.formats import Format, Notice, Parsed
from ..imports.reading import Progress, Source, silent


@dataclass
class Checked:
    """Files that were read, without a change to the data base."""

    parsed: list[tuple[Source, Parsed]] = field(default_factory=list)
    #: Files whose very bytes the project has imported before.
    known: list[tuple[Source, Import]] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)


def format_named(key: str) -> Format:
    """The format of that name; refuses an unknown one."""
    if key not in FORMATS:
        raise Refused.field("format", f"There is no format {key!r}; there are: {', '.join(FORMATS)}.")
    return FORMATS[key]


def check_files(
    *, project: Project | None, format: str, sources: Sequence[Source], level: str = "", progress: Progress = silent
) -> Checked:
    """Read files whole and compare them with the project (None: one that is still to be made). Writes nothing."""
    reader = format_named(format)
    levels = [key for key, _ in reader.levels]
    if level and level not in levels:
        raise Refused.field("level", f"{format} has no level {level!r}; it has: {', '.join(levels) or 'none'}.")
    checked = Checked()
    seen: set[str] = set()
    for source in sources:
        if source.sha256 in seen:
            checked.faults.add(source.name, 0, "file", "the same content as another of the files given")
            continue
        seen.add(source.sha256)
        known = Import.objects.filter(project=project, format=format, sha256=source.sha256).first() if project else None
        if known:
            checked.known.append((source, known))
            continue
        before = checked.faults.total
        parsed = reader.read(source, level=level, faults=checked.faults, progress=progress)
        if project and checked.faults.total == before:
            parsed.compare(project, checked.faults)
        checked.parsed.append((source, parsed))
    return checked


@transaction.atomic
def _insert(project: Project, format: str, checked: Checked, by: User | None, progress: Progress) -> list[Import]:
    """Write what was read. Files compare again in here, so that one file's items are seen by the next."""
    done = []
    for number, (source, parsed) in enumerate(checked.parsed):
        if number:
            parsed.compare(project, checked.faults)
            if checked.faults:
                raise BadFiles(checked.faults)
        done.append(_insert_file(project, format, source, parsed, by, progress))
    return done


def _insert_file(
    project: Project, format: str, source: Source, parsed: Parsed, by: User | None, progress: Progress
) -> Import:
    imported = Import.objects.create(
        project=project,
        format=format,
        level=parsed.level,
        # The name alone: where it lay on somebody's machine is nobody's business, least of all a release's.
        file_name=PurePath(source.name).name[:200],
        sha256=source.sha256,
        size=source.size,
        counts=parsed.counts(),
        report=report_of(parsed),
        created_by=by,
        created_at=timezone.now(),
    )
    parsed.insert(imported, progress)
    record(
        actor=by,
        verb="import",
        obj=imported,
        project_id=project.pk,
        after={"format": format, "file": imported.file_name, "sha256": source.sha256, "counts": imported.counts},
    )
    return imported


def report_of(parsed: Parsed) -> dict[str, Any]:
    """What was noticed: all notices, how many of each kind, and the counts of values."""
    notices = parsed.notices()
    return {"totals": totals(notices), "values": parsed.summary(), "notices": [n.as_json() for n in notices]}


def totals(notices: Sequence[Notice]) -> dict[str, int]:
    """Notices by kind, in the order in which the kinds first occur."""
    counts: dict[str, int] = {}
    for notice in notices:
        counts[notice.kind] = counts.get(notice.kind, 0) + 1
    return counts


def import_files(
    *,
    project: Project,
    format: str,
    checked: Checked,
    by: User | None,
    progress: Progress = silent,
) -> list[Import]:
    """Write files that were checked: all rows of all files, or none. Returns the imports made.

    Raises `BadFiles` for faults, `Conflict` when another import of the same content was faster.
    """
    if checked.faults:
        raise BadFiles(checked.faults)
    try:
        return _insert(project, format, checked, by, progress)
    except IntegrityError as error:
        raise Conflict("Something of the same content was imported meanwhile; check the file again.") from error
