"""Outputs that come with something else that was made elsewhere, such as ratings of them: a run that is done."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from api.problems import Refused
from audit.log import record
from projects.background import batches
from projects.models import Project, Unit
from sql import planner

from ..backends.protocol import Finish, Output
from ..models import ItemStatus, Run, RunItem, RunPurpose, RunStatus, System, Version
from . import purposes
from .layout import make_items
from .outputs import keep_outputs
from .systems import create_system, make_version

IMPORTED = "imported"
LONGEST_NAME = 80


def may_be_called(project: Project, names: set[str]) -> set[str]:
    """Of names of systems those that imported outputs can have: nobody's yet, or that of a system of which nothing was
    generated here. Under any other name what was brought could be taken for what a version here wrote."""
    versions = Version.objects.filter(system__project=project, system__name__in=names)
    generating = set(versions.exclude(backend=IMPORTED).values_list("system__name", flat=True))
    return {name for name in names if 0 < len(name) <= LONGEST_NAME} - generating


def bring_run(
    *, project: Project, level: str, name: str, texts: Mapping[int, tuple[str, str]], file: str, origin: str,
    by: User | None,
) -> Run:  # fmt: skip
    """A run of the backend ``imported`` that is done, in the caller's transaction.

    ``name``: the system's, one that `may_be_called` allows; ``texts``: unit of the level -> its key and what was
    written of it; ``file``: what the file that is kept of them is called; ``origin``: where they are from.
    `Refused` where the name is that of a system that generates here.
    """
    if name not in may_be_called(project, {name}):
        raise Refused.field(
            "system", f"{name} generates summaries here; outputs made elsewhere need a name of their own."
        )
    system = System.objects.filter(project=project, name=name).first() or create_system(
        project=project, name=name, description=origin, by=by
    )
    config = {"backend": IMPORTED, "level": level,
              "model": {"file": _kept(project, level, texts, file, by), "name": file, "made_by": origin}}  # fmt: skip
    version = make_version(system=system, config=config, note=origin[:300], by=by)
    now = timezone.now()
    with batches.batch():
        run = Run.objects.create(
            version=version, purpose=RunPurpose.SUMMARIES, status=RunStatus.DONE, started_by=by, units_count=len(texts),
            finished_at=now,
        )  # fmt: skip
        make_items(run, list(texts))
        items = list(run.items.order_by("pk"))
        lines = {unit: line for line, unit in enumerate(texts, start=1)}
        purposes.get(RunPurpose.SUMMARIES).store([
            (item, Output(item.unit_id, texts[item.unit_id][1], Finish.UNKNOWN,
                          record={"file": file, "line": lines[item.unit_id]}))
            for item in items
        ])  # fmt: skip
        newest = Unit.objects.aggregate(newest=Max("pk"))["newest"]
        run.items.update(status=ItemStatus.DONE, finished_at=now, units_up_to=newest)
        record(
            actor=by, verb="bring run", obj=run, project_id=project.pk,
            after={"version": version.hash, "outputs": len(texts), "origin": origin},
        )  # fmt: skip
    planner.look_at_grown(RunItem)
    return run


def _kept(project: Project, level: str, texts: Mapping[int, tuple[str, str]], file: str, by: User | None) -> str:
    """The texts as a file of outputs, kept like one that somebody uploads; its SHA-256."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outputs.jsonl"
        with path.open("w", encoding="utf-8", newline="\n") as lines:
            for key, text in texts.values():
                lines.write(json.dumps({"key": key, "text": text}, ensure_ascii=False) + "\n")
        checked = keep_outputs(project=project, level=level, path=path, name=file, by=by)
    if checked.faults:
        raise Refused(str(next(iter(checked.faults))))
    return checked.about.sha256
