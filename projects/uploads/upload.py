"""The base class for types of upload, and the values that it receives and returns."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from accounts.models import User
from audit.log import record

from ..jobs.batches import Progress
from ..jobs.running import RunningJob
from ..models import Job, JobStatus, Project
from .faults import Faults
from .files import Source

Json = dict[str, Any]
END = "end import"
#: Status of the job -> end of the import in the audit log.
HOW = {JobStatus.DONE: "done", JobStatus.CANCELLED: "cancelled", JobStatus.FAILED: "failed"}


@dataclass(frozen=True)
class Brought:
    """An uploaded file with its job. ``params`` are the parameters of the upload and of the confirmation."""

    project: Project
    path: Path
    name: str
    params: Mapping[str, Any]
    by: User | None
    job: RunningJob
    #: (path, name) of the other files of the set.
    others: Sequence[tuple[Path, str]] = ()

    @cached_property
    def source(self) -> Source:
        """The file with its SHA-256. Reads the file once."""
        return Source.of(self.path, self.name)

    @cached_property
    def sources(self) -> list[Source]:
        """All files of the set."""
        return [self.source, *(Source.of(path, name) for path, name in self.others)]

    @cached_property
    def progress(self) -> Progress:
        return self.job.paced()


@dataclass(frozen=True)
class Found:
    """The result of a check: faults, and other values that depend on the type of upload."""

    faults: Faults
    says: Mapping[str, Any]

    def as_json(self) -> Json:
        return {**self.says, "faults": self.faults.as_json()}


class Upload(ABC):
    """A type of upload, found in a module `uploads` of a feature package (`projects.uploads.discover`).

    `projects.uploads.actions` handles storage, jobs, confirmation and removal for all types.
    """

    #: The key in the registry.
    key: str
    #: Kinds of the job that checks and of the job that writes. If `writes` is empty, there is no confirmation and the
    #: check itself stores a file without faults.
    checks: str
    writes: str = ""
    #: Path of the page with the result, relative to the project. It can contain parameters of the job.
    page: str = "import"

    def joins(self, params: Json) -> bool:
        """Return whether several files can be uploaded, checked and written as one set."""
        return False

    def accept(self, project: Project, params: Json) -> Json:
        """Validate the parameters of an upload and return the JSON parameters of its job. Raise `Refused`."""
        return params

    def bind(self, found: Json) -> Json:
        """Return parameters of the job that writes a checked file, from the result of the check."""
        return {}

    @abstractmethod
    def check(self, brought: Brought) -> Found:
        """Read the file without writing anything, and return its faults and what would be imported.

        An error in the content of the file is a fault with line and field. Raise `Problem` only for other errors.
        """

    def unfit(self, found: Json) -> str:
        """Return why a checked file cannot be confirmed, or an empty string."""
        return "The file has faults. Correct them and upload it again." if found["faults"]["total"] else ""

    def choose(self, project: Project, chosen: Json) -> Json:
        """Validate the options of the confirmation and return additional parameters of the job. Raise `Refused`."""
        return chosen

    def write(self, brought: Brought) -> Json:
        """Write the file in batches of the job (`projects.jobs.batches`) and return the result.

        Idempotent: after a worker stopped, the next call writes the rest. The audit entry is created in the
        transaction that writes.
        """
        raise NotImplementedError

    def ended(self, job: Job) -> None:
        """Called in the transaction in which the job that writes ends, with any status.

        Successful imports already have an audit entry. This method logs confirmed imports that failed or were
        cancelled.
        """
        if job.status != JobStatus.DONE:
            how = HOW[JobStatus(job.status)]
            record(
                actor=job.created_by,
                verb=END,
                object_type="project",
                object_id=job.project_id,
                project_id=job.project_id,
                reason=job.error,
                after={"upload": self.key, "file": job.params["name"], "job": job.pk, "how": how},
            )
