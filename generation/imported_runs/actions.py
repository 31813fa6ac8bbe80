"""Store files of outputs, and prepare the runs of imported outputs.

A worker checks a whole file before it is stored.
"""

import json
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from api.problems import Refused
from audit.log import record
from generation.backends.imported.storage import keep, survey_upload
from projects.jobs import batches
from projects.jobs.batches import Progress, silent
from projects.models import Project, Unit
from projects.uploads.faults import Faults
from sql import planner
from sql.bulk import BulkWriter, reserve_ids

from .. import sources
from ..backends.identity import hash_of
from ..backends.imported.survey import About, Survey
from ..backends.protocol import Finish, Output
from ..models import ItemStatus, Run, RunItem, RunPurpose, RunStatus, System, UnitLevel, Version
from ..probing.actions import summary_of
from ..systems.actions import KEEP, create_system, make_version, read, was_uploaded

#: Maximum number of listed keys that match no unit; the others are only counted.
LISTED = 200


@dataclass(frozen=True)
class CheckedOutputs:
    """The result of checking a file against the project's units of a level. The file is stored if it has no faults.

    ``unknown`` lists (line, key) of outputs without a unit, in file order, at most `LISTED`; ``unknown_total`` counts
    all.
    """

    about: About
    faults: Faults
    units: int
    unknown: list[tuple[int, str]]
    unknown_total: int

    @property
    def matched(self) -> int:
        """Number of outputs that belong to a unit."""
        return 0 if self.faults else self.about.outputs - self.unknown_total


def keep_outputs(
    *, project: Project, level: str, path: Path, name: str, by: User | None, progress: Progress = silent
) -> CheckedOutputs:
    """Check a file and store it. A version of the backend ``imported`` refers to it by its SHA-256.

    Faults give line and field, and prevent storage. Some keys without a unit are no fault, because a file may contain
    more. Raise `Refused` if no key matches. Idempotent after an interruption.
    """
    with survey_upload(path, name, progress) as (about, faults, index):
        if faults:
            return CheckedOutputs(about, faults, 0, [], 0)
        with closing(Survey(path, index)) as survey:
            checked = _check_keys(project, level, survey)
            if not checked.matched:
                raise Refused.field("level", _explain_no_match(project, level, survey))
        keep(path, index, about)
    with batches.batch():
        if not was_uploaded(project, about.sha256):
            record(
                actor=by,
                verb=KEEP,
                obj=project,
                project_id=project.pk,
                after={"file": name, "sha256": about.sha256, "outputs": about.outputs},
            )
    return checked


def _explain_no_match(project: Project, level: str, survey: Survey) -> str:
    """Return the message for a file without any key of the level.

    It gives an example key, and the levels of the keys in the file.
    """
    message = f"No key of the file matches the {sources.LEVELS[UnitLevel(level)]} of this project"
    example = sources.first_key(project, level)
    message += f"; an example of their keys is {example!r}." if example else ": it has none."
    for other in UnitLevel:
        groups = ([key for _, key in group] for group in survey.in_groups())
        if n := sum(len(sources.matching_keys(project, other, keys)) for keys in groups):
            message += f" Keys of {sources.LEVELS[other]} (level {other}) in the file: {n}."
    return message


def _check_keys(project: Project, level: str, survey: Survey) -> CheckedOutputs:
    unknown: list[tuple[int, str]] = []
    total = 0
    for group in survey.in_groups():
        known = sources.matching_keys(project, level, [key for _, key in group])
        unmatched = [(line, key) for line, key in group if key not in known]
        unknown += unmatched[: LISTED - len(unknown)]
        total += len(unmatched)
    return CheckedOutputs(survey.about, Faults(), sources.count_units(project, level), unknown, total)


IMPORTED = "imported"
LONGEST_NAME = 80


def available_names(project: Project, names: set[str]) -> set[str]:
    """Return the system names that imported outputs can use: new names, and systems without generated versions.

    Under another name, imported outputs could be mistaken for outputs of a version of this server.
    """
    versions = Version.objects.filter(system__project=project, system__name__in=names)
    generating_names = set(versions.exclude(backend=IMPORTED).values_list("system__name", flat=True))
    return {name for name in names if 0 < len(name) <= LONGEST_NAME} - generating_names


@dataclass
class PreparedRun:
    """A finished run of the backend ``imported``, ready to be saved.

    ``summaries`` maps units to ids of their summaries.
    """

    project: Project
    run: Run
    name: str
    origin: str
    config: Mapping[str, Any]
    summaries: Mapping[int, int]
    rows: BulkWriter

    def write(self) -> None:
        """Save the run, all prepared rows, and its system and version unless they exist. The caller opens the
        transaction.

        Raise `Refused` if the system generates summaries on this server.
        """
        _refuse_generating_system(self.project, self.name)
        run, by = self.run, self.run.started_by
        system = System.objects.filter(project=self.project, name=self.name).first() or create_system(
            project=self.project, name=self.name, description=self.origin, by=by
        )
        run.version = make_version(system=system, config=self.config, note=self.origin[:300], by=by)
        run.save(force_insert=True)
        self.rows.write()
        record(
            actor=by,
            verb="bring run",
            obj=run,
            project_id=self.project.pk,
            after={"version": run.version.hash, "outputs": run.units_count, "origin": self.origin},
        )
        planner.analyze_grown_tables(RunItem)


def prepare_run(
    *,
    project: Project,
    level: str,
    name: str,
    texts: Mapping[int, tuple[str, str]],
    file: str,
    origin: str,
    by: User | None,
) -> PreparedRun:
    """Store the texts as a file of outputs and prepare all rows of a run, before the transaction that saves them.

    ``name`` is a system name that `available_names` allows. ``texts`` maps units of the level to their key and summary.
    ``file`` is the name of the stored file, and ``origin`` describes the source of the texts. Raise `Refused` if the
    system generates summaries on this server.
    """
    _refuse_generating_system(project, name)
    config = {
        "backend": IMPORTED,
        "level": level,
        "model": {"file": _store_texts(project, level, texts, file, by), "name": file, "made_by": origin},
    }
    now, rows = timezone.now(), BulkWriter()
    newest = Unit.objects.aggregate(newest=Max("pk"))["newest"]
    # Evaluation designs identify the version by its hash. `write` replaces this instance by the stored one.
    version = Version(level=level, backend=IMPORTED, hash=hash_of(*read(config)))
    run = Run(
        pk=reserve_ids(Run, 1)[0],
        version=version,
        purpose=RunPurpose.SUMMARIES,
        status=RunStatus.DONE,
        started_by=by,
        units_count=len(texts),
        finished_at=now,
    )
    sizes = sources.sizes(level, list(texts))
    items = rows.add(
        RunItem(run=run, unit_id=unit, size=sizes[unit], status=ItemStatus.DONE, finished_at=now, units_up_to=newest)
        for unit in texts
    )
    summaries = rows.add(
        summary_of(
            item, Output(item.unit_id, texts[item.unit_id][1], Finish.UNKNOWN, record={"file": file, "line": line})
        )
        for line, item in enumerate(items, start=1)
    )
    return PreparedRun(project, run, name, origin, config, {s.item.unit_id: s.pk for s in summaries}, rows)


def _refuse_generating_system(project: Project, name: str) -> None:
    if name not in available_names(project, {name}):
        raise Refused.field(
            "system", f"{name} generates summaries on this server; imported outputs need another system name."
        )


def _store_texts(project: Project, level: str, texts: Mapping[int, tuple[str, str]], file: str, by: User | None) -> str:
    """Store the texts as an output file, like an uploaded one, and return its SHA-256."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outputs.jsonl"
        with path.open("w", encoding="utf-8", newline="\n") as lines:
            for key, text in texts.values():
                lines.write(json.dumps({"key": key, "text": text}, ensure_ascii=False) + "\n")
        checked = keep_outputs(project=project, level=level, path=path, name=file, by=by)
    if checked.faults:
        raise Refused(str(next(iter(checked.faults))))
    return checked.about.sha256
