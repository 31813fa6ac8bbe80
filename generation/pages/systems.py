"""Systems, versions and what can be configured, as pages show them: a fixed number of queries whatever there is."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from projects.models import Member, Project
from projects.permissions import Names

from .. import backends
from ..actions.runs import kept_sealed
from ..backends.protocol import SECTIONS, Backend
from ..models import Run, RunPurpose, Seal, System, UnitLevel, Version
from ..runs.sources import LEVELS, units
from ..systems.presets import PRESETS
from . import wording
from .progress import RunProgress, progress_of, progress_of_many

Json = dict[str, Any]
#: Of a run's progress, for whom the run is sealed from: nothing by which its texts could be told from others', such as
#: how long they are, which are missing, and how fast they came.
BLANK: Json = dict.fromkeys(
    ("since", "done", "failed", "waiting", "pace", "seconds_left", "items_cut", "tokens_cut", "tokens_out")
) | dict.fromkeys(("unknown", "note", "error"), "")


def choices(project: Project) -> Json:
    """What a new version can be made of: levels with their material, backends with what they declare."""
    return {
        "levels": [
            {"key": level, "name": LEVELS[level], "units": units(project, level).count()} for level in UnitLevel
        ],
        "backends": [_backend(backend) for backend in backends.every()],
        "presets": PRESETS,
    }


def _backend(backend: Backend) -> Json:
    return {
        "key": backend.key,
        "name": backend.name,
        "description": backend.description,
        "no_probe": backend.no_probe,
        "sections": [
            {"key": section, "title": wording.TITLES[section], "parameters": declared}
            for section in SECTIONS
            if (declared := backend.sections.get(section))
        ],
    }


def systems(project: Project) -> QuerySet[System]:
    return System.objects.filter(project=project).order_by("id")


def system_rows(found: Sequence[System], member: Member) -> list[Json]:
    """Systems with all their versions, the newest first, and the newest run of each."""
    versions = newest_runs(Version.objects.filter(system__in=found).defer("config", "facts").newest_first())
    runs = _runs((v.newest_run for v in versions), member)
    by_system: dict[int, list[Json]] = defaultdict(list)
    for version in versions:
        by_system[version.system_id].append(_version(version) | {"run": runs.get(version.newest_run)})
    return [
        {
            "id": system.pk,
            "name": system.name,
            "description": system.description,
            "created_at": system.created_at,
            "versions": by_system[system.pk],
        }
        for system in found
    ]


def version_page(version: Version, member: Member) -> Json:
    """One version whole: configuration in words, facts, in what it differs from the one before, and its runs."""
    before = Version.objects.filter(system=version.system_id, number__lt=version.number).newest_first().first()
    changes = (
        wording.differences((before.config, before.facts), (version.config, version.facts)) if before else []
    )  # fmt: skip
    runs = version.runs.order_by("-id").values_list("pk", flat=True)[:50]
    return _version(version) | {
        "system": version.system_id,
        "system_name": version.system.name,
        "project": version.system.project.slug,
        "config": version.config,
        "facts": version.facts,
        "by": Names(member).of(version.created_by),
        "no_probe": wording.no_probe(version.config),
        "lines": [asdict(line) for line in wording.described(version.config)],
        "before": before and {"id": before.pk, "number": before.number},
        "changes": [asdict(change) for change in changes],
        "runs": list(_runs(runs, member).values()),
    }


def _version(version: Version) -> Json:
    return {
        "id": version.pk,
        "number": version.number,
        "backend": version.backend,
        "level": version.level,
        "hash": version.hash,
        "note": version.note,
        "created_at": version.created_at,
    }


def newest_runs(versions: QuerySet[Version]) -> QuerySet[Any]:
    """With the newest run that made, or is making, summaries (``newest_run``, an id)."""
    newest = Run.objects.filter(version=OuterRef("pk"), purpose=RunPurpose.SUMMARIES).order_by("-id")
    return versions.annotate(newest_run=Subquery(newest.values("pk")[:1]))


def _runs(ids: Iterable[int | None], member: Member) -> dict[int | None, Json]:
    """Rows of runs by id, the newest first, with how far each is and whether it is sealed from the member."""
    found = list(Run.objects.filter(pk__in=[pk for pk in ids if pk]).order_by("-id"))
    sealed, progress = sealed_from(member, [run.pk for run in found]), progress_of_many(found)
    return {run.pk: _run(run, progress[run.pk], hidden=run.pk in sealed) for run in found}


def run_page(run: Run, member: Member) -> Json:
    """One run with its version's name and how far it is: what is asked again and again while it goes on."""
    version = run.version
    return _run(run, progress_of(run), hidden=bool(sealed_from(member, [run.pk]))) | {
        "version": version.pk,
        "number": version.number,
        "hash": version.hash,
        "level": version.level,
        "system": version.system_id,
        "system_name": version.system.name,
        "by": Names(member).of(run.started_by),
        "kept_sealed": kept_sealed(run),
    }


def _run(run: Run, progress: RunProgress, *, hidden: bool) -> Json:
    return {
        "id": run.pk,
        "purpose": run.purpose,
        "status": run.status,
        "created_at": run.created_at,
        "finished_at": None if hidden else run.finished_at,
        "hidden": hidden,
        "progress": asdict(progress) | (BLANK if hidden else {}),
    }


def sealed_from(member: Member, runs: Sequence[int]) -> set[int]:
    """Those of the runs whose outputs are kept from the member."""
    return set(Seal.objects.upon(member).filter(run__in=runs).values_list("run", flat=True))
