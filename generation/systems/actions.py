"""Register systems and create their versions."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from audit.models import Entry
from projects.jobs import batches, jobs
from projects.models import Job, Project

from ..backends.identity import GPU, backend_of, checked, hash_of
from ..backends.protocol import BackendError, PassingError
from ..models import System, Version

KEEP = "keep outputs"


def was_uploaded(project: Project, sha256: str) -> bool:
    """Return whether a file was uploaded to a project, according to the audit log."""
    entries = Entry.objects.filter(object_type="project", object_id=str(project.pk), verb=KEEP)
    return entries.filter(after__sha256=sha256).exists()


#: Maximum number of attempts to assign a version number while others create versions of the system.
TRIES = 5


def create_system(*, project: Project, name: str, description: str = "", by: User | None) -> System:
    """Register a system under the name that tables print. Raise `Refused` if the name is invalid or taken."""
    name = name.strip()
    if not name or len(name) > 80 or "\0" in name + description:
        raise Refused.field("name", "Must be a name of 1 to 80 characters without NUL.")
    try:
        with transaction.atomic():
            system = System.objects.create(project=project, name=name, description=description, created_by=by)
            record(actor=by, verb="register system", obj=system, project_id=project.pk, after={"name": name})
    except IntegrityError as error:
        raise Refused.field(
            "name", f"This project already has a system named {name!r}: create a version of it."
        ) from error
    return system


def read(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the full configuration and its current facts. Raise `Refused` and `Conflict` as `make_version` does."""
    clean = checked(config)
    try:
        return clean, backend_of(clean).facts(clean)
    except BackendError as error:
        raise Refused(str(error)) from error
    except PassingError as error:
        raise Conflict(f"{error} Try again later.") from error


def make_version(*, system: System, config: Mapping[str, Any], note: str = "", by: User | None) -> Version:
    """Create the version of a configuration, or return the existing version with the same hash.

    Reads the facts (hashing weights takes seconds). Raise `Refused` if a field is invalid or the backend cannot find
    what it names, and `Conflict` if an endpoint is unavailable.
    """
    _check_note(note)
    clean, facts = read(config)
    _check_was_uploaded(system, clean)
    digest = hash_of(clean, facts)
    for _ in range(TRIES):
        if existing := system.versions.filter(hash=digest).first():
            return existing
        try:
            return _insert(system, clean, facts, digest, note, by)
        except IntegrityError:
            continue
    raise Conflict("Other users are creating versions of this system. Try again.")


def _insert(
    system: System, config: dict[str, Any], facts: dict[str, Any], digest: str, note: str, by: User | None
) -> Version:
    with batches.batch():
        last = system.versions.aggregate(last=Max("number"))["last"] or 0
        version = Version.objects.create(
            system=system,
            number=last + 1,
            backend=config["backend"],
            level=config["level"],
            config=config,
            facts=facts,
            hash=digest,
            note=note,
            created_by=by,
        )
        record(
            actor=by,
            verb="make version",
            obj=version,
            project_id=system.project_id,
            after={"system": system.name, "number": version.number, "hash": digest, "note": note},
        )
    return version


def request_version(*, system: System, config: Mapping[str, Any], note: str = "", by: User | None) -> Version | Job:
    """Create a version, or queue a job if only a worker with torch can read its facts.

    The job's result is ``{"version": id}``. An invalid configuration is rejected immediately.
    """
    clean = checked(config)
    _check_note(note)
    if not backend_of(clean).needs_torch(clean):
        return make_version(system=system, config=clean, note=note, by=by)
    job, _ = jobs.request_job(
        project=system.project,
        kind="make_version",
        queue=GPU,
        by=by,
        params={"system": system.pk, "config": clean, "note": note},
    )
    return job


def _check_was_uploaded(system: System, config: Mapping[str, Any]) -> None:
    """Raise `Refused` unless the file was uploaded to this project.

    A user who knows the hash of another project's file must not read it here: it may be embargoed for that user there.
    """
    if config["backend"] == "imported" and not was_uploaded(system.project, config["model"]["file"]):
        raise Refused.field("model.file", "This file was not uploaded to this project: upload it first.")


def _check_note(note: str) -> None:
    if len(note) > 300 or "\0" in note:
        raise Refused.field("note", "Must be at most 300 characters without NUL.")
