"""Build systems, versions and runs for tests."""

from typing import Any

from django.utils import timezone

from accounts.models import User
from generation.backends.identity import checked, hash_of
from generation.backends.protocol import Output
from generation.models import ItemStatus, Run, RunItem, RunStatus, System, Version
from generation.probing.actions import Summarising
from projects.models import Project

FACTS = {"libraries": {"numpy": "2.0.0"}}


def build_version(project: Project, name: str = "lead-3", *, by: User | None = None, **config: Any) -> Version:
    """Create the next version of a system, by default three lead sentences of clusters."""
    system, _ = System.objects.get_or_create(project=project, name=name)
    whole = checked({"backend": "extractive", "decoding": {"sentences": 3}} | config)
    return Version.objects.create(
        system=system,
        number=system.versions.count() + 1,
        backend=whole["backend"],
        level=whole["level"],
        config=whole,
        facts=FACTS,
        hash=hash_of(whole, FACTS),
        note="by hand",
        created_by=by,
    )


def build_run(
    version: Version, texts: dict[int, str], failed: tuple[int, ...] = (), waiting: tuple[int, ...] = (), **made: Any
) -> Run:
    """Create a run whose units have these texts, failed, or wait (then it is stopped). ``made``: fields of its
    summaries."""
    status = RunStatus.STOPPED if waiting else RunStatus.DONE
    run = Run.objects.create(
        version=version, status=status, finished_at=timezone.now(), units_count=len((*texts, *failed, *waiting))
    )
    written: dict[str, Any] = {"finish": "complete", "tokens_in": 12, "tokens_cut": 3, "tokens_out": 4} | made
    for unit, text in texts.items():
        item = RunItem.objects.create(run=run, unit_id=unit, size=1, status=ItemStatus.DONE, finished_at=timezone.now())
        Summarising().store([(item, Output(unit, text, **written))])
    run.refresh_from_db()
    for unit in failed:
        RunItem.objects.create(run=run, unit_id=unit, size=1, status=ItemStatus.FAILED, error="Too long.", attempts=1)
    for unit in waiting:
        RunItem.objects.create(run=run, unit_id=unit, size=1)
    return run
