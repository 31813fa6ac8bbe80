"""Create, discard and release splits."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit.log import record
from projects.jobs import batches, jobs
from projects.jobs.batches import Progress, silent
from projects.models import Job, Project
from projects.uploads.faults import BadFiles
from sql.bulk import BulkWriter

from ..models import DataSplit, SplitUnit
from .computing import Computed, compute
from .files import read_parts
from .parameters import SplitParameters
from .queries import KIND
from .reading import chosen_level

#: Path of a split in a release.
_FILE = re.compile(r"splits/([^/]+)\.csv")


def queue_split(*, project: Project, asked: SplitParameters, by: User) -> Job:
    """Queue the job that creates a split."""
    asked.check()
    chosen_level(project, asked.level)
    check_name(project, asked.name)
    # Only workers with torch can load an encoder.
    queue = "gpu" if asked.encoder else "default"
    return jobs.request_job(project=project, kind=KIND, params=asked.as_json(), by=by, queue=queue)[0]


def create_split(
    *, project: Project, asked: SplitParameters, by: User | None, progress: Progress = silent
) -> DataSplit:
    """Create and return a split. If it exists with the same content, return it.

    Raise `Refused` with ways out if the units cannot be divided as asked, and `Conflict` if the name is taken.
    """
    return store_split(project=project, asked=asked, computed=compute(project, asked, progress), by=by)


def import_split(
    *, project: Project, asked: SplitParameters, path: Path, name: str, by: User | None, progress: Progress = silent
) -> DataSplit:
    """Like `create_split`, with the parts of a file. Raise `BadFiles` with the faults by line and field."""
    return store_split(project=project, asked=asked, computed=compute_file(project, asked, path, name, progress), by=by)


def compute_file(project: Project, asked: SplitParameters, path: Path, name: str, progress: Progress) -> Computed:
    """Return the split of a file, without storing it. Raise `BadFiles`."""
    asked.check()
    parts, faults = read_parts(project, chosen_level(project, asked.level), path, name)
    if faults:
        raise BadFiles(faults)
    return compute(project, asked, progress, assigned=parts)


def store_split(*, project: Project, asked: SplitParameters, computed: Computed, by: User | None) -> DataSplit:
    """Store a computed split."""
    corpus, names = computed.corpus, [part.name for part in computed.parts]
    rows = [
        (unit, key, review, names[part], int(component))
        for unit, key, review, part, component in zip(
            corpus.ids, corpus.units.keys, corpus.reviews, computed.part_of, computed.components, strict=True
        )
        if part >= 0
    ]
    digest = hashlib.sha256()
    for _, *cells in rows:
        digest.update("\t".join(map(str, cells)).encode() + b"\n")
    options = asked.as_json()
    split = DataSplit(
        project=project,
        name=asked.name,
        level=corpus.level,
        mode=asked.mode,
        seed=asked.seed,
        parts=[{"name": part.name, "share": part.share} for part in computed.parts],
        options={name: options[name] for name in ("strata", "topics", "encoder", "topic_count", "near", "drop")},
        report=computed.report,
        digest=digest.hexdigest(),
        created_by=by,
    )
    with batches.batch():
        Project.objects.select_for_update().get(pk=project.pk)
        if same := _taken(project, asked.name):
            if same.discarded_at is None and _content(same) == _content(split):
                return same
            _refuse_name(same)
        split.save()
        writer = BulkWriter()
        units, keys, reviews, parts, components = map(list, zip(*rows, strict=True))
        writer.add_columns(
            SplitUnit,
            len(rows),
            split_id=split.pk,
            unit_id=units,
            key=keys,
            review=reviews,
            part=parts,
            component=components,
        )
        writer.write()
        record(actor=by, verb="split", obj=split, project_id=project.pk, after=_logged(split))
    return split


def _content(split: DataSplit) -> tuple[Any, ...]:
    return split.digest, split.level, split.mode, split.seed, split.parts, split.options


def _logged(split: DataSplit) -> Mapping[str, Any]:
    return {"name": split.name, "level": split.level, "mode": split.mode, "sha256": split.digest}


def _taken(project: Project, name: str) -> DataSplit | None:
    """Return the split that has a name, or had it in a release."""
    rows = DataSplit.objects.filter(Q(discarded_at=None) | ~Q(first_release=""), project=project, name=name)
    return rows.first()


def check_name(project: Project, name: str) -> None:
    if taken := _taken(project, name):
        _refuse_name(taken)


def _refuse_name(taken: DataSplit) -> None:
    if taken.first_release:
        raise Conflict(
            f"Release {taken.first_release} has a split named {taken.name}. It never changes: choose another name."
        )
    raise Conflict(f"There is a split named {taken.name}. Choose another name, or discard that split first.")


@transaction.atomic
def discard_split(*, split: DataSplit, by: User | None) -> None:
    """Leave a split out of later releases. Earlier ones keep it. A repeated request changes nothing."""
    current = DataSplit.objects.current().filter(pk=split.pk)
    if current.update(discarded_at=timezone.now()):
        record(actor=by, verb="discard split", obj=split, project_id=split.project_id, before=_logged(split))


def mark_released(*, project: Project, paths: Iterable[str], version: str) -> None:
    """Note on the splits whose files a release has that it has them, in the caller's transaction.

    The name of a released split is never used again.
    """
    names = [match[1] for path in paths if (match := _FILE.fullmatch(path))]
    DataSplit.objects.current().filter(project=project, name__in=names, first_release="").update(first_release=version)
