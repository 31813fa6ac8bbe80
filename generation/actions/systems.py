"""Registering summarisers and their versions."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from projects.background import batches, jobs
from projects.models import Job, Project

from ..backends.protocol import BackendError, PassingError
from ..models import System, Version
from ..runs.queues import GPU
from ..systems.identity import backend_of, checked, hash_of
from .outputs import was_kept

#: How often a version's number is taken again where others made versions of the system at the same moment.
TRIES = 5


def create_system(*, project: Project, name: str, description: str = "", by: User | None) -> System:
    """Register a summariser under the name that tables print. `Refused` where the name is empty or taken."""
    name = name.strip()
    if not name or len(name) > 80 or "\0" in name + description:
        raise Refused.field("name", "A name of 1 to 80 characters, without NUL.")
    try:
        with transaction.atomic():
            system = System.objects.create(project=project, name=name, description=description, created_by=by)
            record(actor=by, verb="register system", obj=system, project_id=project.pk, after={"name": name})
    except IntegrityError as error:
        raise Refused.field(
            "name", f"This project has a system named {name!r} already: make a version of it."
        ) from error
    return system


def read(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The whole configuration and its facts, read here and now. `Refused` and `Conflict` as `make_version` says."""
    clean = checked(config)
    try:
        return clean, backend_of(clean).facts(clean)
    except BackendError as error:
        raise Refused(str(error)) from error
    except PassingError as error:
        raise Conflict(f"{error} Try again later.") from error


def make_version(*, system: System, config: Mapping[str, Any], note: str = "", by: User | None) -> Version:
    """Make the version that a configuration names, here and now; the one that exists where it has the same hash.

    Reads what the configuration points at (hashes of weights: seconds). Raises `Refused` where a field is wrong or the
    backend cannot find what it names, `Conflict` where an endpoint is away.
    """
    _check_note(note)
    clean, facts = read(config)
    _check_file(system, clean)
    digest = hash_of(clean, facts)
    for _ in range(TRIES):
        if made := system.versions.filter(hash=digest).first():
            return made
        try:
            return _insert(system, clean, facts, digest, note, by)
        except IntegrityError:
            continue
    raise Conflict("Others make versions of this system at this moment. Try again.")


def _insert(
    system: System, config: dict[str, Any], facts: dict[str, Any], digest: str, note: str, by: User | None
) -> Version:
    with batches.batch():
        last = system.versions.aggregate(last=Max("number"))["last"] or 0
        version = Version.objects.create(
            system=system, number=last + 1, backend=config["backend"], level=config["level"], config=config,
            facts=facts, hash=digest, note=note, created_by=by,
        )  # fmt: skip
        record(
            actor=by, verb="make version", obj=version, project_id=system.project_id,
            after={"system": system.name, "number": version.number, "hash": digest, "note": note},
        )  # fmt: skip
    return version


def ask_for_version(*, system: System, config: Mapping[str, Any], note: str = "", by: User | None) -> Version | Job:
    """Make a version, or, where only a worker with torch can read what it points at, ask one to.

    The job's result is ``{"version": id}``. What is wrong with the configuration itself is refused at once.
    """
    clean = checked(config)
    _check_note(note)
    if not backend_of(clean).needs_torch(clean):
        return make_version(system=system, config=clean, note=note, by=by)
    job, _ = jobs.ask(
        project=system.project, kind="make_version", queue=GPU, by=by,
        params={"system": system.pk, "config": clean, "note": note},
    )  # fmt: skip
    return job


def _check_file(system: System, config: Mapping[str, Any]) -> None:
    """Whoever knows the hash of a file that was brought to another project must not read it here: it may be sealed from
    them there."""
    if config["backend"] == "imported" and not was_kept(system.project, config["model"]["file"]):
        raise Refused.field("model.file", "No such file was brought to this project: upload it.")


def _check_note(note: str) -> None:
    if len(note) > 300 or "\0" in note:
        raise Refused.field("note", "At most 300 characters, without NUL.")
