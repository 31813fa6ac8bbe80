"""Provenance of every released value: the current decision on each field, the imported files, and the guidelines.

M3's format cannot contain it, so it is in separate files. ``provenance/values.csv`` has one row per current field.
``provenance/sources.csv`` has one row per imported file. ``provenance/typed.csv`` has one row per typed review, target,
cluster or proposition. ``provenance/guidelines/KIND-NUMBER.md`` are the guidelines, verbatim.
"""

from collections.abc import Iterable, Iterator

from annotation.imports.licences import redistribution_of
from projects.models import Decision, Guideline, Import, ImportState, Project, Unit
from releases.formats.rows import BATCH, csv_row, utc_time

from .notes import Notes

VALUES = (
    "unit_type",
    "unit",
    "kind",
    "field",
    "decision",
    "origin",
    "answer",
    "rater",
    "guideline",
    "source",
    "round",
    "decided_by",
    "decided_at",
    "reason",
)
SOURCES = (
    "source",
    "format",
    "level",
    "file",
    "sha256",
    "size",
    "imported_at",
    "imported_by",
    "licence",
    "redistribution",
)
TYPED = ("unit_type", "unit", "typed_by")


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if Decision.objects.of_project(project).exists():
        yield "provenance/values.csv", _values(project)
    if Import.objects.filter(project=project, state=ImportState.ARRIVED).exists():
        yield "provenance/sources.csv", _sources(project)
    if Unit.objects.filter(project=project, made_by__isnull=False, superseded_by=None).exists():
        yield "provenance/typed.csv", _typed(project)
    for guideline in Guideline.objects.filter(project=project).order_by("kind", "number").iterator():
        yield f"provenance/guidelines/{guideline.kind}-{guideline.number}.md", [guideline.text.encode()]


def _values(project: Project) -> Iterator[bytes]:
    yield csv_row(VALUES)
    pseudonyms = dict(project.members.with_account().values_list("user_id", "pseudonym"))
    rows = (
        Decision.objects.of_project(project)
        .current()
        .order_by("pk")
        .values_list(
            "unit__type",
            "unit__key",
            "kind",
            "field",
            "pk",
            "origin",
            "answer_id",
            "answer__author__pseudonym",
            "answer__guideline__number",
            "imported_id",
            "round__name",
            "decided_by_id",
            "decided_at",
            "reason",
        )
    )
    for *cells, decided_by, decided_at, reason in rows.iterator(chunk_size=BATCH):
        yield csv_row([*cells, pseudonyms.get(decided_by), utc_time(decided_at), reason])


def _typed(project: Project) -> Iterator[bytes]:
    yield csv_row(TYPED)
    pseudonyms = dict(project.members.with_account().values_list("user_id", "pseudonym"))
    rows = Unit.objects.filter(project=project, made_by__isnull=False, superseded_by=None).order_by("pk")
    for type, key, by in rows.values_list("type", "key", "made_by").iterator(chunk_size=BATCH):
        yield csv_row([type, key, pseudonyms.get(by)])


def _sources(project: Project) -> Iterator[bytes]:
    yield csv_row(SOURCES)
    pseudonyms = dict(project.members.with_account().values_list("user_id", "pseudonym"))
    rows = Import.objects.filter(project=project, state=ImportState.ARRIVED).order_by("pk").defer("report", "counts")
    for i in rows.iterator(chunk_size=BATCH):
        by = pseudonyms.get(i.created_by_id) if i.created_by_id else None
        source = [i.pk, i.format, i.level, i.file_name, i.sha256, i.size, utc_time(i.created_at), by]
        yield csv_row([*source, i.licence, redistribution_of(i)])
