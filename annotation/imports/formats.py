"""What a format of published data is to the importer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

from api.problems import Refused
from projects.background.progress import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.source import Source
from sql.ready import Rows


@dataclass(frozen=True)
class Notice:
    """Something that is odd and was kept as it is. ``item`` is the published id, ``place`` "target", "input 3" (from
    1, in the order of the file) or "", ``field`` the published key, ``text`` what stands there."""

    kind: str
    message: str
    item: str = ""
    place: str = ""
    field: str = ""
    text: str = ""

    def as_json(self) -> dict[str, str]:
        return asdict(self)


class Parsed(Protocol):
    """A file that was read whole: what is in it, and how it becomes rows."""

    #: Which of the format's levels it is; "" where there is one only.
    level: str

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Set aside what the project has already, word for word; an item that differs is a fault of its line."""
        ...

    def counts(self) -> dict[str, int]:
        """How much of what there is, ``new`` and ``unchanged`` items among it."""
        ...

    def summary(self) -> dict[str, dict[str, int]]:
        """Counts of values, by field."""
        ...

    def notices(self, progress: Progress) -> Iterator[Notice]:
        """What is odd, in the order of the file; not about items that were there already."""
        ...

    def sample(self, size: int) -> list[dict[str, Any]]:
        """The first items in the published shape."""
        ...

    def lay_out(self, imported: Import, rows: Rows, progress: Progress) -> None:
        """Add the new items to the rows that are to be written: all that takes time, before the transaction."""
        ...

    def confirm(self) -> None:
        """In the transaction that writes them: `Conflict` where what they were compared with has changed since."""
        ...


class Level(NamedTuple):
    """One of a format's levels: by what it is declared, and what it is."""

    key: str
    title: str


class Ask(NamedTuple):
    """What has to be said of a file beside its level: by which key, what it is called, for which level, and why."""

    key: str
    title: str
    level: str
    help: str
    is_needed: bool = False


class Format:
    """One published format."""

    key: str
    #: Its name, after a colon what is in it, and in brackets how its files are written.
    title: str
    #: The levels that can be declared; empty where there is one only.
    levels: Sequence[Level] = ()
    #: Whether a file says its level where nobody declares one; else the first is meant.
    recognises: bool = True
    #: What is asked of a file beside its level.
    asks: Sequence[Ask] = ()
    #: Whether several of its files can be one set, read as one (`together`).
    joins: bool = False
    #: Whether its files may have values that somebody has to say the meaning of (`mapped`).
    maps: bool = False

    @property
    def name(self) -> str:
        return re.split(r"[:(]", self.title)[0].strip()

    def mapped(self, mapping: Mapping[str, str]) -> "Format":
        """The format, told what values mean that it does not know. `Refused` where it knows all there can be."""
        if mapping:
            raise Refused.field("map", f"The format {self.key} has no values to be mapped.")
        return self

    def told(self, about: Mapping[str, str]) -> "Format":
        """The format, told by key what it asks for. `Refused` for what it does not ask."""
        if said := [key for key, value in about.items() if value.strip()]:
            raise Refused.field(said[0], f"The format {self.key} asks for no {said[0]}.")
        return self

    def level_of(self, level: str) -> str:
        """What an import is called by, of files that are declared to be of a level: the same bytes may come in as each
        of them. "" where the file says it."""
        return ""

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        """Read the whole file. ``level`` is "" to let the file say. What is wrong is added to ``faults``."""
        raise NotImplementedError

    def together(self, files: Sequence[Parsed]) -> None:
        """Files that are brought at once were read, none with a fault: what of them belongs together is made one."""
