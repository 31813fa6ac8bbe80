"""Files of outputs made elsewhere: checked whole, and kept for the versions that are made of them."""

from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from accounts.models import User
from accounts.problems import Refused
from audit.log import record
from audit.models import Entry
from projects.models import Project
from projects.uploads import name_of, path_of, refuse_larger, store

from ..backends.imported.kept import keep
from ..backends.imported.survey import Survey, survey
from ..models import UnitLevel
from ..sources import source_keys
from ..wording import LEVELS

#: How many keys that match no unit are listed; the rest is counted.
LISTED = 200
KEEP = "keep outputs"


@dataclass(frozen=True)
class KeptOutputs:
    """A file that was kept, and how it fits the project's units of a level. ``unknown``: (line, key) in the file's
    order, at most 200; all of them are ``unknown_total``."""

    sha256: str
    name: str
    format: str
    outputs: int
    units: int
    matched: int
    unknown: list[tuple[int, str]]
    unknown_total: int


def keep_outputs(*, project: Project, level: str, file: "UploadedFile[bytes]", by: User | None) -> KeptOutputs:
    """Check and keep a file; its SHA-256 is what a version of the backend ``imported`` names.

    `Refused` names faults by file, line and field, and where no key at all is that of a unit. Single keys that match
    none are no fault: a file may hold more.
    """
    refuse_larger(file.size or 0)
    upload = path_of(store(file))
    try:
        found = survey(upload, name_of(file))
        if found.faults:
            listed = [{"field": f"{f.file}:{f.line}: {f.field}", "message": f.message} for f in found.faults]
            raise Refused(found.faults.summary(), errors=listed)
        with transaction.atomic():
            kept = _compared(project, level, found)
            if not kept.matched:
                raise Refused.field("level", _elsewhere(project, level, found))
            record(
                actor=by, verb=KEEP, obj=project, project_id=project.pk,
                after={"file": kept.name, "sha256": kept.sha256, "outputs": kept.outputs},
            )  # fmt: skip
            keep(upload)
    finally:
        upload.unlink(missing_ok=True)
    return kept


def was_kept(project: Project, sha256: str) -> bool:
    """Whether a file was brought to a project; the log knows."""
    acts = Entry.objects.filter(object_type="project", object_id=str(project.pk), verb=KEEP)
    return acts.filter(after__sha256=sha256).exists()


def _elsewhere(project: Project, level: str, found: Survey) -> str:
    """What to say of a file without one key of the level: an example, and at which other level its keys are known."""
    said = f"No key of the file is that of one of the {LEVELS[UnitLevel(level)]} here"
    there = source_keys(project, level)[:1]
    said += f", which are written like {there[0]!r}." if there else ": there are none."
    for other in UnitLevel:
        if n := len(found.places.keys() & set(source_keys(project, other))):
            said += f" Keys of {LEVELS[other]}, level {other}, in it: {n}."
    return said


def _compared(project: Project, level: str, found: Survey) -> KeptOutputs:
    keys = set(source_keys(project, level))
    unknown = [(place.line, key) for key, place in found.places.items() if key not in keys]
    return KeptOutputs(
        found.sha256, found.name, found.format, len(found.places), len(keys), len(found.places) - len(unknown),
        unknown[:LISTED], len(unknown),
    )  # fmt: skip
