"""Interface between a format that is read record by record and the importer (docs/decisions/0026-arriving-imports.md).

`Preview` (`passes.py`) reads without writing, `Writing` (`writing.py`) writes in batches. Both need constant memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from projects.jobs.batches import Progress, silent
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from .format import Notice

if TYPE_CHECKING:
    from .passes import Index


class Position(NamedTuple):
    """A position in a set of files: the number of the file, a byte offset and the number of the line before it."""

    file: int = 0
    offset: int = 0
    line: int = 0


#: The position before the first file.
START = Position()


class Record(NamedTuple):
    """One record of a file. ``end``: the offset after it. ``key`` is "" if unknown, ``item`` None if it has faults."""

    line: int
    end: int
    key: str
    item: Any
    #: Field with the key.
    field: str = ""


class FollowUp(NamedTuple):
    """A job that follows when an import is complete."""

    kind: str
    params: dict[str, Any]


class Stream(ABC):
    """The reader of a set of files. Its ``state`` is JSON, and is stored with the position of each batch."""

    def __init__(self, level: str) -> None:
        #: The level of the files; "" until the first record shows it.
        self.level = level
        self.state: dict[str, Any] = {}
        #: Set by the importer, for work before the first record.
        self.progress: Progress = silent

    def begin(self, sources: Sequence[Source], faults: Faults) -> None:  # noqa: B027 - most formats need nothing
        """Prepare to read these files. Called before `records`, also when an import continues."""

    @abstractmethod
    def records(self, source: Source, start: Position, faults: Faults) -> Iterator[Record]:
        """Yield the records of a file after a position. Errors are added to ``faults``."""

    @abstractmethod
    def rows_of(self, item: Any) -> int:
        """Return the approximate number of rows of an item, for the size of a batch."""

    @abstractmethod
    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        """Return the import of each stored item, by key, including items of an import that is arriving."""

    @abstractmethod
    def differences(self, project: Project, items: Sequence[Any]) -> Iterator[tuple[str, str, object]]:
        """Yield (key, path, stored value) for each of these stored items whose content differs."""

    def conflicts(
        self, project: Project | None, items: Sequence[Any], known: "Index | None"
    ) -> Iterator[tuple[str, str, str]]:
        """Yield (key, path, message) of new items that contradict other items in texts that they share.

        Without a project, or in a preview, ``known`` has the texts of earlier items.
        """
        yield from ()

    @abstractmethod
    def create(self, imported: Import, items: Sequence[Any], first: int, rows: BulkWriter) -> None:
        """Prepare the rows of new items, except append-only rows. ``first``: position of the first item."""

    @abstractmethod
    def next_position(self, project: Project) -> int:
        """Return the position of the next item of the project."""

    @abstractmethod
    def notices(self, item: Any) -> Iterator[Notice]:
        """Yield the notices of a new item."""

    @abstractmethod
    def final_notices(self, keys: Iterable[str]) -> Iterator[Notice]:
        """Yield notices of the files as a whole. ``keys``: the keys of the new items."""

    @abstractmethod
    def new_keys(self, imported: Import) -> Iterable[str]:
        """Return the keys of the items that an import created."""

    @abstractmethod
    def count(self, items: Sequence[Any]) -> dict[str, int]:
        """Return counts of new items. They are added up over the batches."""

    @abstractmethod
    def distinct(self, items: Sequence[Any]) -> dict[str, set[str]]:
        """Return values of new items by name, of which the importer counts the distinct ones."""

    @abstractmethod
    def count_distinct(self, imported: Import) -> dict[str, int]:
        """Return the number of distinct values of an import, by the names of `distinct`."""

    @abstractmethod
    def sample(self, item: Any) -> dict[str, Any]:
        """Return an item in its published form."""

    @abstractmethod
    def keys(self, source: Source) -> Iterator[str]:
        """Yield the key of each line of a file, "" if it has none. Called to find repeated keys only."""

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return the counts of all batches in the order in which they are shown. Counts that are missing are 0."""
        return dict(counts)

    def finishes(self) -> bool:
        """Return whether append-only rows are written when all other rows are complete (`finish`)."""
        return False

    def values(self, items: Sequence[Any]) -> dict[str, dict[str, int]]:
        """Return counts of values by field. They are added up over the batches."""
        return {}

    def finish(self, imported: Import, items: Sequence[Any], rows: BulkWriter) -> None:
        """Prepare the append-only rows of the items that this import created."""
        raise NotImplementedError

    def follow_ups(self, sources: Sequence[Source]) -> Iterator[FollowUp]:
        """Yield the jobs that follow when the import is complete. Called when all rows are written."""
        yield from ()
