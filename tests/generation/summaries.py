"""Build runs with summaries and scores for tests."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from audit.digests import digest_of
from generation.models import ItemStatus, Run, RunItem, RunStatus, Summary, System, Version
from generation.scoring.actions import score_run
from generation.sources import Material, materials, units_of
from projects.models import Project
from tests.annotation import m3_files

Write = Callable[[Material], str | None]


def bring_two_reviews(project: Project, folder: Path) -> Project:
    """Two clusters of two reviews, whose ROUGE is easy to compute by hand."""
    records = [
        m3_files.cluster("111_0", [m3_files.source("It helps a lot", "1")], target_text="It helps"),
        m3_files.cluster("222_0", [m3_files.source("It is safe", "2")], target_text="It harms"),
    ]
    m3_files.import_records(project, m3_files.write(folder / "level3.jsonl", records))
    return project


def first_sentence(material: Material) -> str:
    """The output of the extractive lead-1."""
    return material.source.inputs[0].text


def the_target(material: Material) -> str:
    return material.references[0].text


def build_version(project: Project, name: str = "Lead", level: str = "proposition", number: int = 1) -> Version:
    system, _ = System.objects.get_or_create(project=project, name=name)
    content: dict[str, Any] = {"backend": "extractive", "level": level, "seed": number}
    return Version.objects.create(
        system=system,
        number=number,
        backend="extractive",
        level=level,
        config=content,
        facts={},
        hash=digest_of(content),
    )


def build_run(
    project: Project, name: str = "Lead", level: str = "proposition", write: Write = first_sentence, number: int = 1
) -> Run:
    """Create a finished run: ``write`` returns the text of each unit, or None if it failed."""
    run = Run.objects.create(version=build_version(project, name, level, number), status=RunStatus.DONE)
    units = units_of(project, level)
    found: Mapping[int, Material] = materials(project, level, units)
    for unit in units:
        add_summary(run, unit, write(found[unit]))
    return run


def add_summary(run: Run, unit: int, text: str | None) -> RunItem:
    status = ItemStatus.FAILED if text is None else ItemStatus.DONE
    item = RunItem.objects.create(run=run, unit_id=unit, size=1, status=status)
    if text is not None:
        Summary.objects.create(item=item, text=text, finish="complete", digest=sha256(text.encode()).hexdigest())
    return item


def scored(run: Run, *metrics: str, **params: object) -> None:
    for metric in metrics:
        score_run(run=run, metric=metric, params=params, by=None, progress=lambda *_: None)
