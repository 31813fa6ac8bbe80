"""Faults of uploaded files, located by file, line and field."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from api.problems import Refused
from sql.text import storable

#: Maximum number of faults that are listed. The rest is only counted.
LISTED = 200
#: Number of faults after which the rest of a file is not read.
MOST = 100_000
#: Control characters that are escaped, so that a message is one line.
_ESCAPES = str.maketrans({"\t": "\\t", "\r": "\\r", "\n": "\\n"})


@dataclass(frozen=True)
class Fault:
    """A fault in a file.

    ``file``: the file name, with the sheet of a workbook (``back.xlsx[answers]``).
    ``line``: the line or row, from 1; 0 for the whole file.
    ``field``: the column, a path such as ``input_studies[3].source_direction``, or "line" or "file".
    """

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.message}"

    def as_json(self) -> dict[str, str | int]:
        return asdict(self)


class Faults:
    """The faults of one or more files: the first `LISTED` in order, and the total."""

    def __init__(self) -> None:
        self.listed: list[Fault] = []
        self.total = 0

    def add(self, file: str, line: int, field: str, message: str) -> None:
        self.total += 1
        if len(self.listed) < LISTED:
            self.listed.append(Fault(file, line, field.translate(_ESCAPES), storable(message.translate(_ESCAPES))))

    @property
    def are_too_many(self) -> bool:
        return self.total >= MOST

    def __bool__(self) -> bool:
        return self.total > 0

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.listed)

    def summary(self, outcome: str = "nothing was imported") -> str:
        more = f", the first {LISTED} listed" if self.total > LISTED else ""
        return f"{self.total} {'fault' if self.total == 1 else 'faults'}{more}; {outcome}."

    def as_json(self) -> dict[str, Any]:
        """Return the faults for the result of a job. `projects.uploads.serializers` documents the format."""
        return {"total": self.total, "listed": [fault.as_json() for fault in self.listed]}


class BadFiles(Refused):
    """The files have faults, and nothing was imported."""

    type = "faulty-files"
    title = "Files have faults"

    def __init__(self, faults: Faults, detail: str = "") -> None:
        errors = [{"field": f"{f.file}:{f.line}: {f.field}", "message": f.message} for f in faults]
        super().__init__(detail or f"{faults.summary()} {faults.listed[0]}", errors=errors, total=faults.total)
        self.faults = faults


class Unreadable(BadFiles):
    """A file cannot be read beyond a position. A check adds this fault to the others with `add_to`."""

    def __init__(self, file: str, line: int, field: str, message: str) -> None:
        faults = Faults()
        faults.add(file, line, field, message)
        super().__init__(faults, str(faults.listed[0]))

    def add_to(self, faults: Faults) -> None:
        [fault] = self.faults
        faults.add(fault.file, fault.line, fault.field, fault.message)
