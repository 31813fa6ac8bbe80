"""What is wrong with a file, said so that a person can find and mend it: file, line, field and a sentence."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from api.problems import Refused

#: How many faults are listed; the rest is counted.
LISTED = 200


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong. ``file``: its name, of a workbook with the sheet (``back.xlsx[answers]``). ``line``: its
    line or row, from 1; 0 where the whole file is meant. ``field``: the column, or a path such as
    ``input_studies[3].source_direction``; "line" or "file" where nothing narrower can be named."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.message}"

    def as_json(self) -> dict[str, str | int]:
        return asdict(self)


class Faults:
    """The faults of one file or of several: the first 200 in order, and how many there are in all."""

    def __init__(self) -> None:
        self.listed: list[Fault] = []
        self.total = 0

    def add(self, file: str, line: int, field: str, message: str) -> None:
        self.total += 1
        if len(self.listed) < LISTED:
            self.listed.append(Fault(file, line, field, message))

    def __bool__(self) -> bool:
        return self.total > 0

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.listed)

    def summary(self) -> str:
        more = f", the first {LISTED} listed" if self.total > LISTED else ""
        return f"{self.total} {'fault' if self.total == 1 else 'faults'}{more}; nothing was imported."

    def as_json(self) -> dict[str, Any]:
        """As results of jobs keep them; `projects.serializers.faults` says the shape."""
        return {"total": self.total, "listed": [fault.as_json() for fault in self.listed]}


class BadFiles(Refused):
    """The files have faults; nothing was imported."""

    type = "faulty-files"
    title = "The files have faults"

    def __init__(self, faults: Faults, detail: str = "") -> None:
        errors = [{"field": f"{f.file}:{f.line}: {f.field}", "message": f.message} for f in faults]
        super().__init__(detail or f"{faults.summary()} {faults.listed[0]}", errors=errors, total=faults.total)
        self.faults = faults


class Unreadable(BadFiles):
    """From here on a file cannot be read: its one fault that matters. Whoever checks adds it to the others."""

    def __init__(self, file: str, line: int, field: str, message: str) -> None:
        faults = Faults()
        faults.add(file, line, field, message)
        super().__init__(faults, str(faults.listed[0]))

    def add_to(self, faults: Faults) -> None:
        [fault] = self.faults
        faults.add(fault.file, fault.line, fault.field, fault.message)
