"""Write a set of files in batches, as an import that is arriving (docs/decisions/0026-arriving-imports.md).

A batch is prepared outside of its transaction, which inserts the rows and stores the position in the files. A second
attempt, or the same command again, continues at this position.
"""

import errno
import hashlib
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from django.db import DatabaseError, IntegrityError
from django.db.models import Model, Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit.row_digests import SETTLED
from projects.jobs import batches, jobs
from projects.jobs.arriving import ImportArriving, ensure_none_arrives
from projects.jobs.batches import Progress, silent
from projects.jobs.pace import Pace
from projects.models import Import, ImportFile, ImportState, Job, JobStatus, Project
from projects.stored_figures.actions import content_changed
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.files import Source
from sql import planner
from sql.bulk import BulkWriter, Ids, resumable_batches

from .. import imports
from ..clusters import inclusions
from ..models import Role
from . import passes
from .format import Notice
from .licences import stated_licence
from .passes import Pass, Place
from .records import add_records, record_import, warning_rows
from .stream import Position, Stream
from .withdrawal import withdraw

UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)
#: Number of attempts to write a batch if it conflicts with rows of others.
TRIES = 3
#: Phases of an arriving import: its rows are written, all are written, its append-only rows are written, or its rows
#: are removed.
READING, COMPLETE, FINISHING, WITHDRAWING = "reading", "complete", "finishing", "withdrawing"
TAKEN = "Another import has stored the same items in the meantime. Check the file again."
DISK_FULL = "The disk of the server is full, so the import was stopped. Free space, then import the file again."
DISK_STAYS_FULL = "The disk of the server is full. Free space, then import the file again: the import continues."
FILE_CHANGED = "{} changed during the import. Restore the file."
#: PostgreSQL's statistics are checked after this number of batches.
ANALYZE_EVERY = 20


def digest_of_set(sources: Sequence[Source]) -> str:
    """Return the digest of one file, or of the digests of several."""
    if len(sources) == 1:
        return sources[0].sha256
    return hashlib.sha256("".join(source.sha256 for source in sources).encode()).hexdigest()


def arriving_import(project: Project) -> Import | None:
    return Import.objects.filter(project=project, state=ImportState.ARRIVING).first()


def is_disk_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    messages = ("disk is full", "No space left on device")
    return isinstance(error, (DatabaseError, sqlite3.Error)) and any(text in str(error) for text in messages)


@contextmanager
def refusing_full_disk() -> Iterator[None]:
    """Raise `Conflict` with the reason if the disk is full, also that of temporary files."""
    try:
        yield
    except (OSError, DatabaseError, sqlite3.Error) as error:
        if not is_disk_full(error):
            raise
        raise Conflict(DISK_FULL) from error


class Overtaken(Conflict):
    """Another process continues the import. Nothing must be withdrawn."""

    def __init__(self) -> None:
        super().__init__("Another process continues this import.")


class Writing(Pass):
    """Write the new items of a set of files."""

    def __init__(
        self,
        project: Project,
        format: str,
        stream: Stream,
        sources: Sequence[Source],
        *,
        by: User | None,
        progress: Progress,
        job: int | None = None,
    ) -> None:
        super().__init__(project, stream, sources, Faults(), progress)
        self.project: Project = project
        self.format, self.by, self.job = format, by, job
        self.digest = digest_of_set(sources)
        self.ids = Ids()
        self.first = self.rows = self.batches = 0
        self.pace, self.row_pace = Pace(), Pace()
        #: Tables with new rows.
        self.tables: set[type[Model]] = set()
        self.phase, self.position = READING, Position()

    def run(self) -> Import:
        """Import the files, or continue their import.

        If it fails, a command withdraws it. After a job has ended, another job does (`uploads.py`). Raise `BadFiles` if
        the files have faults.
        """
        try:
            with resumable_batches():
                self._run()
            return self._arrive()
        except Overtaken:
            raise
        except BadFiles as bad:
            self._withdraw(bad.faults.summary("withdrawn"))
            raise
        except BaseException as error:
            message = DISK_FULL if is_disk_full(error) else ""
            if self.job is None:
                message = self._withdraw_if_possible(message or str(error) or type(error).__name__) or message
            if message:
                raise Conflict(message) from error
            raise

    def _run(self) -> None:
        self._continue()
        if self.phase == READING:
            self.read(self.position)
            if self.faults:
                raise BadFiles(self.faults)
            self._complete()
        if self.stream.finishes():
            self._finish()

    def _withdraw_if_possible(self, reason: str) -> str:
        """Withdraw the import, or return why the disk prevents it."""
        try:
            self._withdraw(reason)
        except (OSError, DatabaseError) as error:
            if not is_disk_full(error):
                raise
            return DISK_STAYS_FULL
        return ""

    def _withdraw(self, reason: str) -> None:
        if self.imported and self.batches and self.phase != FINISHING:
            withdraw(self.imported, by=self.by, reason=reason)

    def _continue(self) -> None:
        """Load the position of an import of the same files that is arriving."""
        imported = arriving_import(self.project)
        if imported is None:
            return
        if imported.format != self.format or imported.sha256 != self.digest or self._is_at_work(imported):
            raise ImportArriving(imported.file_name)
        stored = imported.progress
        if stored["phase"] == WITHDRAWING:
            if self.job is not None or imported.job_id is not None:
                raise Conflict("This import is being withdrawn. Start it again afterwards.")
            # A command was killed while it withdrew the import. No job will do it.
            withdraw(imported, by=self.by, reason="continued")
            return
        if stored["phase"] != FINISHING and imported.created_at < timezone.now() - SETTLED:
            # The audit would report its rows: rows with higher ids have settled digests.
            raise Conflict("This import was started over a day ago. Withdraw it, then import the file again.")
        self.imported, self.stream.level = imported, imported.level
        self.stream.state |= stored["stream"]
        self.position, self.phase = Position(*stored["position"]), stored["phase"]
        self.first, self.rows, self.batches = stored["first"], stored["rows"], stored["batches"]
        self.pace, self.row_pace = Pace(stored["bytes"]), Pace(self.rows)
        self.tally, self.totals = Counter(stored["tally"]), Counter(stored["totals"])
        self.values = {name: Counter(counts) for name, counts in stored["values"].items()}
        if imported.job_id != self.job:
            with batches.idempotent():
                Import.objects.filter(pk=imported.pk).update(job=self.job)

    def _is_at_work(self, imported: Import) -> bool:
        """Whether another job writes or withdraws the import."""
        if imported.job_id in (None, self.job):
            return False
        unfinished = Job.objects.filter(project=self.project, status__in=UNFINISHED)
        return unfinished.filter(Q(pk=imported.job_id) | Q(params__withdraw=imported.pk)).exists()

    def handle(self, batch: Sequence[Place], new: Sequence[Any], end: Position) -> None:
        before = self.tally.copy(), self.totals.copy(), {name: c.copy() for name, c in self.values.items()}
        for attempt in range(TRIES):
            try:
                self._write(batch, new, end)
                return
            except IntegrityError:
                self.tally, self.totals, self.values = before[0].copy(), before[1].copy(), before[2]
                if not self.batches:
                    self.imported = None
                    ensure_none_arrives(self.project.pk)
                    if Import.objects.filter(project=self.project, format=self.format, sha256=self.digest).exists():
                        raise Conflict(TAKEN) from None
                # Others created the same reviews or studies, or one of the items.
                new = self.compare(batch)
                if self.faults:
                    return
                if attempt == TRIES - 1:
                    raise Conflict("Others are changing the same items. Import the file again.") from None

    def _write(self, batch: Sequence[Place], new: Sequence[Any], end: Position) -> None:
        rows = BulkWriter(self.ids)
        with batches.idempotent():  # reserved ids that are not used do no harm
            if self.imported is None:
                self._add_import(rows)
            assert self.imported
            self.stream.create(self.imported, new, self.first + self.tally["new"], rows)
            add_records(rows, self.imported, batch, new)
            self.add_up(batch, new)
            self._add_warnings(rows, (notice for item in new for notice in self.stream.notices(item)))
        self._store(rows, end)

    def _add_import(self, rows: BulkWriter) -> None:
        self.first = self.stream.next_position(self.project)
        names = ", ".join(PurePath(source.name).name for source in self.sources)
        licence = stated_licence(imports.get(self.format).licence)
        [self.imported] = rows.add(
            [
                Import(
                    project=self.project,
                    format=self.format,
                    level=self.stream.level,
                    # Without folders: paths on a person's machine are private and must not reach a release.
                    file_name=names[:200],
                    sha256=self.digest,
                    size=self.total_bytes,
                    state=ImportState.ARRIVING,
                    report={"totals": {}, "values": {}},
                    job_id=self.job,
                    licence=licence.name,
                    may_redistribute=licence.may_redistribute,
                    created_by=self.by,
                    created_at=timezone.now(),
                )
            ]
        )
        rows.add(file_rows(self.imported, self.sources))

    def _add_warnings(self, rows: BulkWriter, notices: Iterable[Notice]) -> None:
        assert self.imported
        added = rows.add(warning_rows(self.imported, notices))
        self.totals.update(row.kind for row in added)

    def _store(self, rows: BulkWriter, end: Position, phase: str = "") -> None:
        """Insert prepared rows and store the position after them."""
        assert self.imported
        done = self.done_bytes(end)
        self.pace.add(done)
        self.row_pace.add(self.rows + len(rows))
        stored = {
            "phase": phase or self.phase,
            "position": list(end),
            "bytes": done,
            "batches": self.batches + 1,
            "rows": self.rows + len(rows),
            "rate": self.row_pace.per_second(),
            "seconds_left": self.pace.seconds_left(self.total_bytes),
            "at": time.time(),
            "first": self.first,
            "tally": self.tally,
            "totals": self.totals,
            "values": self.values,
            "stream": self.stream.state,
        }
        with batches.batch(done, self.total_bytes):
            rows.write()
            mine = Import.objects.filter(pk=self.imported.pk)
            if self.batches:
                mine = mine.filter(state=ImportState.ARRIVING, progress__batches=self.batches)
            if not mine.update(progress=stored):
                raise Overtaken
            self.tables.update(rows.tables)
            if self.batches % ANALYZE_EVERY == 2:
                planner.analyze_grown_tables(*self.tables)
        self.phase, self.position = phase or self.phase, end
        self.batches, self.rows = self.batches + 1, self.rows + len(rows)

    def _complete(self) -> None:
        """Add what is known only when all rows are written: warnings of the files as a whole, and distinct counts."""
        assert self.imported
        self.tally = Counter(self.stream.ordered(dict(self.tally) | self.stream.count_distinct(self.imported)))
        rows = BulkWriter(self.ids)
        with batches.idempotent():
            self._add_warnings(rows, list(self.stream.final_notices(self.stream.new_keys(self.imported))))
        self.phase = COMPLETE
        self._store(rows, Position())

    def _finish(self) -> None:
        """Read the files again, and write the append-only rows. The import cannot be withdrawn any more."""
        assert self.imported
        imported = self.imported
        if self.phase == FINISHING:  # it can no longer be cancelled
            self.stream.progress = silent
        items: list[Any] = []
        size = 0

        def write(end: Position) -> None:
            if changed := next((source for source in self.sources if source.has_changed()), None):
                raise Conflict(FILE_CHANGED.format(changed.name))
            rows = BulkWriter(self.ids)
            with batches.idempotent():
                self.stream.finish(imported, items, rows)
            self._store(rows, end, FINISHING)
            items.clear()

        for number in range(self.position.file, len(self.sources)):
            begin = self.position if number == self.position.file else Position(number)
            for each in self.stream.records(self.sources[number], begin, self.faults):
                if self.faults:
                    raise Conflict(FILE_CHANGED.format(self.sources[number].name))
                items.append(each.item)
                # An item has about eight of these rows for each text.
                size += 3 * self.stream.rows_of(each.item)
                if self.phase != FINISHING:  # it can no longer be cancelled
                    self.progress(0, self.total_bytes, "writing labels")
                if size >= passes.MOST_ROWS:
                    write(Position(number, each.end, each.line))
                    size = 0
        write(Position(len(self.sources)))

    def _arrive(self) -> Import:
        """Make all rows visible."""
        assert self.imported
        imported = self.imported
        imported.state, imported.progress = ImportState.ARRIVED, {"rows": self.rows}
        imported.counts = self.stream.ordered(dict(self.tally))
        values = {name: dict(counter.most_common()) for name, counter in self.values.items()}
        imported.report = {"totals": dict(self.totals), "values": values}
        general = inclusions.general_inputs_of(imported)
        follow_ups = list(self.stream.follow_ups(self.sources))
        with batches.batch(self.total_bytes, self.total_bytes):
            inclusions.set_role(general, Role.INCLUDED, by=self.by, project=self.project.pk)
            mine = Import.objects.filter(pk=imported.pk, state=ImportState.ARRIVING, progress__batches=self.batches)
            fields = {name: getattr(imported, name) for name in ("state", "progress", "counts", "report")}
            if not mine.update(**fields):
                raise Overtaken
            planner.analyze_grown_tables(*self.tables)
            record_import(imported)
            content_changed(Q(pk=self.project.pk))
            for kind, params in follow_ups:
                jobs.enqueue(project=self.project, kind=kind, params=params, by=self.by)
        return imported


def file_rows(imported: Import, sources: Sequence[Source]) -> list[ImportFile]:
    return [
        ImportFile(
            imported=imported,
            position=position,
            name=PurePath(source.name).name[:200],
            sha256=source.sha256,
            size=source.size,
        )
        for position, source in enumerate(sources)
    ]
