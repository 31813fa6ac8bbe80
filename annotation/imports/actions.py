"""Import files: parse them, compare them with the project, prepare all rows, then write them in one transaction.

On SQLite that transaction blocks all other writers. It takes about 10 microseconds per row. Formats that are read
record by record write in batches instead (`writing.py`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from projects.jobs import batches
from projects.jobs.arriving import ensure_none_arrives
from projects.jobs.batches import Progress, silent
from projects.models import Import, ImportState, Project
from projects.stored_figures.actions import content_changed
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.files import Source
from sql import planner
from sql.bulk import BulkWriter

from .. import imports
from .format import Format, Notice, Parsed
from .licences import stated_licence
from .passes import CHANGED, LISTED_NOTICES, Preview
from .records import record_import, warning_rows
from .stream import Stream
from .writing import TAKEN, TRIES, Writing, file_rows, refusing_full_disk


class FileSet(NamedTuple):
    """Files that are one import, of a format that is read record by record."""

    sources: list[Source]
    stream: Callable[[], Stream]


class EarlierImport(NamedTuple):
    """A file that the project imported before, and notices of the texts that would differ if it were imported now."""

    source: Source
    imported: Import
    differing: list[Notice]


@dataclass
class Checked:
    """Files that were checked, before anything is written to the database.

    ``parsed``: each file as `Parsed`, or a set of files as one `Preview`.
    """

    parsed: list[tuple[Source, Any]] = field(default_factory=list)
    #: Files whose exact bytes the project imported before.
    known: list[EarlierImport] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    #: Files to import. A format that is read record by record imports them as sets.
    sources: list[Source] = field(default_factory=list)
    sets: list[FileSet] = field(default_factory=list)


def format_by_key(key: str) -> Format:
    """Return the format with this key. Raise `Refused` if there is none."""
    try:
        return imports.get(key)
    except KeyError:
        keys = ", ".join(format.key for format in imports.every())
        raise Refused.field("format", f"Unknown format {key!r}. Expected one of: {keys}.") from None


@refusing_full_disk()
def check_files(
    *,
    project: Project | None,
    format: str,
    sources: Sequence[Source],
    level: str = "",
    progress: Progress = silent,
    mapping: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
    preview: bool = True,
) -> Checked:
    """Read files completely and compare them with the project. Write nothing.

    ``project`` is None for a project that does not exist yet. ``mapping`` gives the meaning of values that the format
    does not know. ``about`` holds the answers to the format's questions, by key. Without ``preview``, files of a format
    that is read record by record are not read: `import_files` checks them while it writes.
    """
    reader = format_by_key(format).mapped(mapping or {}).with_answers(about or {})
    levels = [each.key for each in reader.levels]
    if level and level not in levels:
        raise Refused.field(
            "level", f"The format {format} has no level {level!r}. Its levels: {', '.join(levels) or 'none'}."
        )
    reader.refuse_misplaced(level, about or {})
    checked = Checked()
    seen_files: set[tuple[str, str]] = set()
    for source in sources:
        stored_as = reader.level_of(level, source.name)
        if (source.sha256, stored_as) in seen_files:
            checked.faults.add(
                source.name, 0, "file", "this file has the same content as another selected file; leave one of them out"
            )
            continue
        seen_files.add((source.sha256, stored_as))
        if project and (known := _find_earlier_import(project, format, source, stored_as)):
            checked.known.append(EarlierImport(source, known, _changed_texts(project, reader, source, level, progress)))
        else:
            checked.sources.append(source)
    if reader.is_whole and checked.sources and checked.known:
        checked.sources, checked.known = list(sources), []
    if not reader.streams:
        _read_each(checked, reader, project, level, progress)
        return checked
    checked.sets = _sets(checked.sources, reader, level)
    # A fault in a later set must prevent the import of an earlier one.
    if preview or len(checked.sets) > 1:
        for files, stream in checked.sets:
            found = Preview(project, stream(), files, checked.faults, progress)
            found.read()
            checked.parsed.append((files[0], found))
    return checked


def _sets(sources: Sequence[Source], reader: Format, level: str) -> list[FileSet]:
    sets = [list(sources)] if reader.joins and sources else [[source] for source in sources]
    return [FileSet(files, partial(reader.stream, level, files[0].name)) for files in sets]


def _read_each(checked: Checked, reader: Format, project: Project | None, level: str, progress: Progress) -> None:
    parsed_files: list[Parsed] = []
    for source in checked.sources:
        before = checked.faults.total
        parsed = reader.read(source, level=level, faults=checked.faults, progress=progress)
        checked.parsed.append((source, parsed))
        if source.has_changed():
            checked.faults.add(source.name, 0, "file", CHANGED)
        if checked.faults.total == before:
            parsed_files.append(parsed)
    reader.together(parsed_files)
    for parsed in parsed_files:
        if project:
            parsed.compare(project, checked.faults, progress)


def _find_earlier_import(project: Project, format: str, source: Source, level: str) -> Import | None:
    """Return the import of these exact bytes; of this level, if the format stores files by level."""
    imports_ = Import.objects.filter(
        project=project, format=format, state=ImportState.ARRIVED, files__sha256=source.sha256
    )
    return (imports_.filter(level=level) if level else imports_).first()


def _changed_texts(project: Project, reader: Format, source: Source, level: str, progress: Progress) -> list[Notice]:
    """Return notices of the texts of a known file that the current cleaning rules read differently.

    The texts in the project stay unchanged.
    """
    if not reader.differences:
        return []
    faults = Faults()
    if reader.streams:
        parsed: Any = Preview(project, reader.stream(level, source.name), [source], faults, progress)
        parsed.read()
    else:
        parsed = reader.read(source, level=level, faults=faults, progress=progress)
        if not faults:
            parsed.compare(project, faults, progress)
    if faults:
        return []
    return [notice for notice in parsed.notices(progress) if notice.kind in reader.differences]


def parse_mapping(lines: Sequence[str]) -> dict[str, str]:
    """Parse a mapping written as ``old=new``, one pair per line. Raise `Refused` for a malformed line."""
    mapping = {}
    for line in filter(str.strip, lines):
        old, equals, new = line.rpartition("=")
        if not (old.strip() and equals and new.strip()):
            raise Refused.field("map", f"Expected a mapping OLD=NEW, found {line!r}.")
        mapping[old.strip()] = new.strip()
    return mapping


@dataclass
class PreparedFile:
    """A file whose rows are prepared but not written."""

    imported: Import
    parsed: Parsed
    rows: BulkWriter


def _insert(project: Project, format: str, checked: Checked, by: User | None, progress: Progress) -> list[Import]:
    """Write the files that were read.

    The first file, in a browser the only one, is prepared before the transaction starts. The others are prepared inside
    it and compared again, so that they see the items of earlier files.
    """
    ensure_none_arrives(project.pk)
    imports_ = []
    with ExitStack() as transaction:
        for number, (source, parsed) in enumerate(checked.parsed):
            if number:
                parsed.compare(project, checked.faults, progress)
                if checked.faults:
                    raise BadFiles(checked.faults)
            ready = _prepare(project, format, source, parsed, by, progress)
            if not number:
                progress(len(ready.rows), len(ready.rows), "writing")
                transaction.enter_context(batches.batch())
            imports_.append(_write(ready))
            planner.analyze_grown_tables(*ready.rows.tables)
        if imports_:
            content_changed(Q(pk=project.pk))
    return imports_


def _prepare(
    project: Project, format: str, source: Source, parsed: Parsed, by: User | None, progress: Progress
) -> PreparedFile:
    rows = BulkWriter()
    licence = stated_licence(format_by_key(format).licence)
    found = list(parsed.notices(progress))
    report = {"totals": dict(Counter(notice.kind for notice in found)), "values": parsed.summary()}
    # Reserved ids that are not used do no harm.
    with batches.idempotent():
        [imported] = rows.add(
            [
                Import(
                    project=project,
                    format=format,
                    level=parsed.level,
                    # Store the name without its folders: paths on a person's machine are private and must not reach a
                    # release.
                    file_name=PurePath(source.name).name[:200],
                    sha256=source.sha256,
                    size=source.size,
                    counts=parsed.counts(),
                    report=report,
                    licence=licence.name,
                    may_redistribute=licence.may_redistribute,
                    created_by=by,
                    created_at=timezone.now(),
                )
            ]
        )
        rows.add(file_rows(imported, [source]))
        rows.add(warning_rows(imported, found))
        parsed.create_items(imported, rows, progress)
    return PreparedFile(imported, parsed, rows)


def _write(ready: PreparedFile) -> Import:
    imported = ready.imported
    ready.parsed.confirm()
    ready.rows.write()
    record_import(imported)
    return imported


def report_of(parsed: Parsed, progress: Progress = silent) -> dict[str, Any]:
    """Return the notices (see `summarise_notices`) and the counts of values of a file that was not imported."""
    if isinstance(parsed, Preview):
        return parsed.report()
    return {**summarise_notices(parsed.notices(progress)), "values": parsed.summary()}


def report_with_warnings(imported: Import) -> dict[str, Any]:
    """Return the report of an import with its first warnings, as `report_of` does."""
    rows = imported.warnings.values(*(each.name for each in fields(Notice)))[:LISTED_NOTICES]
    return {**imported.report, "notices": list(rows)}


def summarise_notices(notices: Iterable[Notice]) -> dict[str, Any]:
    """Return the number of notices per kind, in order of first occurrence, and the first `LISTED_NOTICES`."""
    totals: dict[str, int] = {}
    noted: list[dict[str, str]] = []
    for notice in notices:
        totals[notice.kind] = totals.get(notice.kind, 0) + 1
        if len(noted) < LISTED_NOTICES:
            noted.append(notice.as_json())
    return {"totals": totals, "notices": noted}


def import_each(
    *, project: Project, format: str, checked: Checked, by: User | None, progress: Progress = silent
) -> Iterator[Import]:
    """Write checked files, each in its own transaction, and yield each import once it is written.

    Use this for many files. The rows of each are prepared before its transaction, so that others can write in between.
    Each file is compared again with the files imported before it. Raises the same errors as `import_files`; earlier
    files stay imported.
    """
    if checked.faults:
        raise BadFiles(checked.faults)
    for one in checked.sets:
        yield from import_files(project=project, format=format, checked=Checked(sets=[one]), by=by, progress=progress)
    for number, (source, parsed) in enumerate(() if checked.sets else checked.parsed):
        single = Checked(parsed=[(source, parsed)])
        if number:
            parsed.compare(project, single.faults, progress)
        yield from import_files(project=project, format=format, checked=single, by=by, progress=progress)


@refusing_full_disk()
def import_files(
    *,
    project: Project,
    format: str,
    checked: Checked,
    by: User | None,
    progress: Progress = silent,
    job: int | None = None,
) -> list[Import]:
    """Write checked files: all rows of all files, or none. Return the imports.

    Each set of files that are read record by record is written by itself.

    If a concurrent write created the same reviews or studies, they are looked up and the rows are created again. Raise
    `BadFiles` for errors in files. Raise `Conflict` after `TRIES` attempts.
    """
    if checked.sets:
        if checked.faults:
            raise BadFiles(checked.faults)
        return [
            Writing(project, format, stream(), sources, by=by, progress=progress, job=job).run()
            for sources, stream in checked.sets
        ]
    for _ in range(TRIES):
        if checked.faults:
            raise BadFiles(checked.faults)
        try:
            return _insert(project, format, checked, by, progress)
        except IntegrityError:
            for _, parsed in checked.parsed:
                parsed.compare(project, checked.faults, progress)
    raise Conflict(TAKEN)
