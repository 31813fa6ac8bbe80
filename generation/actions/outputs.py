"""Files of outputs made elsewhere: taken in, checked whole by a worker, and kept for versions made of them."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from accounts.models import User
from api.problems import Refused
from audit.log import record
from audit.models import Entry
from projects.background import batches
from projects.background.progress import Progress, silent
from projects.models import Project
from projects.uploads.faults import Faults

from ..backends.imported.kept import gone_through, keep
from ..backends.imported.survey import About, Survey
from ..models import UnitLevel
from ..runs import sources

#: How many keys that match no unit are listed; the rest is counted.
LISTED = 200
KEEP = "keep outputs"


@dataclass(frozen=True)
class CheckedOutputs:
    """A file that was checked, and how it fits the project's units of a level. It was kept if it has no fault.

    ``unknown``: (line, key) of outputs that are of no unit, in the file's order, at most 200; ``unknown_total`` all.
    """

    about: About
    faults: Faults
    units: int
    unknown: list[tuple[int, str]]
    unknown_total: int

    @property
    def matched(self) -> int:
        """Outputs that are of a unit."""
        return 0 if self.faults else self.about.outputs - self.unknown_total


def keep_outputs(
    *, project: Project, level: str, path: Path, name: str, by: User | None, progress: Progress = silent
) -> CheckedOutputs:  # fmt: skip
    """Check a file and keep it; its SHA-256 is what a version of the backend ``imported`` names.

    Faults are named by line and field, and nothing is kept. Single keys that match no unit are no fault: a file may
    hold more; `Refused` where all are. Done again after it was cut off, it comes to the same.
    """
    with gone_through(path, name, progress) as (about, faults, index):
        if faults:
            return CheckedOutputs(about, faults, 0, [], 0)
        with closing(Survey(path, index)) as found:
            checked = _compared(project, level, found)
            if not checked.matched:
                raise Refused.field("level", _elsewhere(project, level, found))
        keep(path, index, about)
    with batches.batch():
        if not was_kept(project, about.sha256):
            record(
                actor=by, verb=KEEP, obj=project, project_id=project.pk,
                after={"file": name, "sha256": about.sha256, "outputs": about.outputs},
            )  # fmt: skip
    return checked


def was_kept(project: Project, sha256: str) -> bool:
    """Whether a file was brought to a project; the log knows."""
    acts = Entry.objects.filter(object_type="project", object_id=str(project.pk), verb=KEEP)
    return acts.filter(after__sha256=sha256).exists()


def _elsewhere(project: Project, level: str, found: Survey) -> str:
    """What to say of a file without one key of the level: an example, and at which other level its keys are known."""
    said = f"No key of the file is that of one of the {sources.LEVELS[UnitLevel(level)]} here"
    there = sources.first_key(project, level)
    said += f", which are written like {there!r}." if there else ": there are none."
    for other in UnitLevel:
        groups = ([key for _, key in group] for group in found.in_groups())
        if n := sum(len(sources.keys_among(project, other, keys)) for keys in groups):
            said += f" Keys of {sources.LEVELS[other]}, level {other}, in it: {n}."
    return said


def _compared(project: Project, level: str, found: Survey) -> CheckedOutputs:
    unknown: list[tuple[int, str]] = []
    total = 0
    for group in found.in_groups():
        there = sources.keys_among(project, level, [key for _, key in group])
        strange = [(line, key) for line, key in group if key not in there]
        unknown += strange[: LISTED - len(unknown)]
        total += len(strange)
    return CheckedOutputs(found.about, Faults(), sources.units(project, level).count(), unknown, total)
