"""What is wrong with a file, said so that a person can find and mend it: file, line, field and a sentence."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from api.problems import Refused

#: How many faults are listed; the rest is counted.
LISTED = 200


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong. ``line`` is 1-based, 0 where the whole file is meant; ``field`` is a path such as
    ``input_studies[3].source_direction``, "line" or "file" where nothing narrower can be named."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.message}"

    def as_json(self) -> dict[str, str | int]:
        return asdict(self)


class Faults:
    """The faults of one import: the first 200 in order, and how many there are in all."""

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


class BadFiles(Refused):
    """The files have faults; nothing was imported."""

    type = "faulty-files"
    title = "The files have faults"

    def __init__(self, faults: Faults) -> None:
        errors = [{"field": f"{f.file}:{f.line}: {f.field}", "message": f.message} for f in faults]
        super().__init__(faults.summary(), errors=errors, total=faults.total)
        self.faults = faults
