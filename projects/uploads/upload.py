"""What differs between one sort of file and another: what is asked with it, how it is read, what is written of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from accounts.models import User
from audit.log import record

from ..background.jobs import RunningJob
from ..background.progress import Progress
from ..models import Job, JobStatus, Project
from .faults import Faults
from .source import Source

Json = dict[str, Any]
END = "end import"
#: How an import ended, as the log says it.
HOW = {JobStatus.DONE: "done", JobStatus.CANCELLED: "cancelled", JobStatus.FAILED: "failed"}


@dataclass(frozen=True)
class Brought:
    """A file as its check, and later its writing, has it: ``params`` is what was asked with it, and on confirming."""

    project: Project
    path: Path
    name: str
    params: Mapping[str, Any]
    by: User | None
    job: RunningJob
    #: (path, name) of the files that are taken with it as one set.
    others: Sequence[tuple[Path, str]] = ()

    @cached_property
    def source(self) -> Source:
        """The file with its SHA-256, for which it is read once."""
        return Source.of(self.path, self.name)

    @cached_property
    def sources(self) -> list[Source]:
        """The file, and those that are taken with it."""
        return [self.source, *(Source.of(path, name) for path, name in self.others)]

    @cached_property
    def progress(self) -> Progress:
        return self.job.paced()


@dataclass(frozen=True)
class Found:
    """What a check found: what is wrong, and what writing the file would come to, in the upload's own words."""

    faults: Faults
    says: Mapping[str, Any]

    def as_json(self) -> Json:
        return {**self.says, "faults": self.faults.as_json()}


class Upload(ABC):
    """One sort of file that people send. A module in an app's ``actions/uploads/`` with a class that extends this is an
    upload; it is found there (`projects.uploads.discover`). All else (keeping the file, the jobs, confirming once,
    removing it, what the log says of the end) is the flow's, and the same for all (`projects.uploads.flow`).
    """

    #: By what it is asked for.
    key: str
    #: The kind of its job that checks, and of the one that writes what was confirmed. Without the second a file that
    #: has no fault is kept by its check, and there is nothing to confirm.
    checks: str
    writes: str = ""
    #: The page that shows what was written, below the project's; it may name parameters of the job.
    page: str = "import"

    def joins(self, asked: Json) -> bool:
        """Whether several files can be sent as one set, checked and written as if they were one."""
        return False

    def accept(self, project: Project, asked: Json) -> Json:
        """Look at what is asked with a file before it is kept; `Refused` for what cannot be. What its job gets to know,
        values of JSON."""
        return asked

    @abstractmethod
    def check(self, brought: Brought) -> Found:
        """Read the file and say what writing it would come to, with everything that is wrong; writes nothing. Whatever
        a file holds is a fault, by its line and field: a `Problem` is for what is not the file's."""

    def unfit(self, found: Json) -> str:
        """Why what a check found cannot be confirmed; empty where it can."""
        return "The file has faults; mend it and upload it again." if found["faults"]["total"] else ""

    def choose(self, project: Project, chosen: Json) -> Json:
        """Look at what is chosen on confirming; `Refused` for what cannot be. What the writing job gets to know too."""
        return chosen

    def write(self, brought: Brought) -> Json:
        """Write the file, in batches of the job (`projects.background.batches`), and say what came of it. Called again
        where a worker died it finds what is written, and writes the rest or nothing: the same file again changes
        nothing. Its entry in the log is in the transaction that writes."""
        raise NotImplementedError

    def ended(self, job: Job) -> None:
        """In the transaction in which the writing ends, however it does. What was written has its entry; here the log
        is told of what was confirmed and did not come to be."""
        if job.status != JobStatus.DONE:
            how = HOW[JobStatus(job.status)]
            record(
                actor=job.created_by, verb=END, object_type="project", object_id=job.project_id,
                project_id=job.project_id, reason=job.error,
                after={"upload": self.key, "file": job.params["name"], "job": job.pk, "how": how},
            )  # fmt: skip
