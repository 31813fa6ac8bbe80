"""Interface between a format of published data and the importer."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from api.problems import Refused
from api.registry import Registry
from projects.jobs.batches import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter

if TYPE_CHECKING:
    from .stream import Stream


@dataclass(frozen=True)
class Notice:
    """An unusual value. It was imported unchanged, unless the message says otherwise.

    ``item`` is the published id. ``place`` is "target", "input 3" (from 1, in file order) or "". ``field`` is the
    published key and ``text`` the value.
    """

    kind: str
    message: str
    item: str = ""
    place: str = ""
    field: str = ""
    text: str = ""

    def as_json(self) -> dict[str, str]:
        return asdict(self)


class Parsed(Protocol):
    """A file that was read completely: its content, and how it becomes rows."""

    #: The level of the file; "" if the format has only one.
    level: str

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Separate the items that the project already has, word for word. An item that differs is a fault."""
        ...

    def counts(self) -> dict[str, int]:
        """Return counts by content, including ``new`` and ``unchanged`` items."""
        ...

    def summary(self) -> dict[str, dict[str, int]]:
        """Return counts of values by field."""
        ...

    def notices(self, progress: Progress) -> Iterator[Notice]:
        """Yield the notices in file order, except for items that the project already has."""
        ...

    def sample(self, size: int) -> list[dict[str, Any]]:
        """Return the first items in their published form."""
        ...

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        """Add the new items to the rows to write. All slow work happens here, before the transaction."""
        ...

    def confirm(self) -> None:
        """Check inside the write transaction. Raise `Conflict` if the data compared with has changed."""
        ...


class Level(NamedTuple):
    """One level of a format. ``material``: as for the format."""

    key: str
    title: str
    material: Sequence[str] = ()


class Ask(NamedTuple):
    """A question about a file beside its level: key, title, the level it applies to, and the reason."""

    key: str
    title: str
    level: str
    help: str
    is_needed: bool = False


class Format:
    """A published format."""

    key: str
    #: Name, content after a colon, and file type in brackets.
    title: str
    #: Kinds of material that it brings or that it belongs to; empty if any project can use it.
    material: Sequence[str] = ()
    #: Levels that can be declared; empty if there is only one.
    levels: Sequence[Level] = ()
    #: Whether the level is read from the file if none is declared. If not, the first level applies.
    recognises: bool = True
    #: Licence that the publication states for files of this format: an SPDX id or a name; empty if it states none.
    licence: str = ""
    #: Questions about a file beside its level.
    asks: Sequence[Ask] = ()
    #: Whether several files can form one set (`together`).
    joins: bool = False
    #: Whether files are read record by record (`stream`). If it also `joins`, a set of them is one import.
    streams: bool = False
    #: Whether the files of a set need each other, so that one of them is not left out if it was imported before.
    is_whole: bool = False
    #: Whether files may contain values that need a mapping (`mapped`).
    maps: bool = False
    #: Whether only the command imports it, because it needs other files of the server.
    is_for_command: bool = False
    #: Whether people give each column a role before an import.
    needs_columns: bool = False
    #: Whether a folder can be given whose subfolders are named after reviews.
    folders: bool = False
    #: Kinds of notices about texts that differ from those of the project. Cleaning rules change between versions, so a
    #: file that was imported before is read again to list the differences.
    differences: Sequence[str] = ()

    @property
    def name(self) -> str:
        return re.split(r"[:(]", self.title)[0].strip()

    def mapped(self, mapping: Mapping[str, str]) -> "Format":
        """Return the format with a mapping of unknown values. Raise `Refused` if the format has no values to map."""
        if mapping:
            raise Refused.field("map", f"Files of the format {self.key} have no values to map. Remove the mapping.")
        return self

    def with_answers(self, about: Mapping[str, str]) -> "Format":
        """Return the format with answers to its questions, by key. Raise `Refused` for an unknown question."""
        if unknown := [key for key, value in about.items() if value.strip()]:
            raise Refused.field(unknown[0], f"The format {self.key} does not use {unknown[0]!r}. Leave it empty.")
        return self

    def refuse_misplaced(self, level: str, about: Mapping[str, str]) -> None:
        """Raise `Refused` for an answer that belongs to another level, because it would be ignored."""
        declared = level or ("" if self.recognises or not self.levels else self.levels[0].key)
        for ask in self.asks:
            if declared and ask.level not in ("", declared) and about.get(ask.key, "").strip():
                raise Refused.field(
                    ask.key,
                    f"{ask.title} applies to level {ask.level} only, but the file is read as level {declared}. "
                    f"Select level {ask.level}, or leave {ask.key} empty.",
                )

    def level_of(self, level: str, name: str = "") -> str:
        """Return the level under which an import of the file ``name`` is stored; "" if the file determines it.

        The same bytes can be imported once per level.
        """
        return ""

    def files_of(self, folder: Path, level: str) -> list[Path]:
        """Return the files of a level in a folder, if the format's files have fixed names."""
        return []

    def stream(self, level: str, name: str = "") -> "Stream":
        """Return a reader for a set of files of a level. If the format `streams`, it replaces `read`.

        ``name``: of the first file.
        """
        raise NotImplementedError

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        """Read the whole file. If ``level`` is "", the file determines it. Errors are added to ``faults``."""
        raise NotImplementedError

    def results(self, files: Sequence[Parsed]) -> Iterator[str]:
        """Yield lines about the imported data, which the command prints after its report."""
        yield from ()

    def counted(self, files: Sequence[Parsed]) -> dict[str, int]:
        """Return the counts of files that are checked as one set."""
        counts: Counter[str] = Counter()
        for file in files:
            counts.update(file.counts())
        return dict(counts)

    def together(self, files: Sequence[Parsed]) -> None:
        """Combine files that were read together without faults into one set. Does nothing by default."""


_FORMATS = Registry(Format, "format")
#: Register the formats of a package; called from ``AppConfig.ready``.
discover = _FORMATS.discover
#: Return the format with a key. Raise KeyError if there is none.
get = _FORMATS.get
every = _FORMATS.every


def choices() -> list[tuple[str, str]]:
    """Return the key and title of each format that a page can import, as choices of a form field."""
    return [(format.key, format.title) for format in every() if not format.is_for_command]
