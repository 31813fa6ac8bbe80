"""Splits of a project: their parts by unit and by review, and leakage between their parts."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from measures.splits.leaking import leakage as shared
from measures.splits.units import Units
from projects.jobs.queries import pending_job
from projects.models import Project

from ..models import DataSplit, SplitUnit
from .levels import LEVELS, counts

#: Kind of the job that creates a split.
KIND = "split"
#: Name that the split of a project has if no other is given.
MAIN = "main"

#: Columns of the file of a split in a release.
COLUMNS = ("unit", "review", "part", "component")
_BATCH = 2000
#: Number of units up to which the check of a release compares the parts again: a second or two.
COMPARED = 5000


def overview(project: Project) -> dict[str, Any]:
    """Return the splits, the levels that can be split, and a job that is in progress or failed."""
    levels = [
        {"level": level, "name": LEVELS[level].name, "units": units, "strata": ["topic", *LEVELS[level].strata, "size"]}
        for level, units in counts(project).items()
    ]
    return {"splits": current_splits(project), "levels": levels, "job": pending_job(project, KIND)}


def current_splits(project: Project) -> list[DataSplit]:
    """Return the splits that a release of the project has, oldest first. One query."""
    return list(DataSplit.objects.current().filter(project=project))


def default_split(project: Project) -> DataSplit | None:
    """Return the split by which the Parquet files of a release are divided: *main*, else the oldest. One query."""
    splits = current_splits(project)
    return next((split for split in splits if split.name == MAIN), splits[0] if splits else None)


def rows_of(split: DataSplit) -> Iterator[tuple[str, str, str, int]]:
    """Yield unit, review, part and component of each row of a split, in corpus order."""
    rows = SplitUnit.objects.filter(split=split).order_by("id")
    return iter(rows.values_list("key", "review", "part", "component").iterator(chunk_size=_BATCH))


def parts_of(split: DataSplit) -> dict[str, str]:
    """Return the part of each unit of a split, by the key of the unit. The keys are those of the split's level."""
    return {unit: part for unit, _, part, _ in rows_of(split)}


def parts_by_split(project: Project) -> dict[str, dict[str, str]]:
    """Return `parts_of` each split that a release of the project has, by the name of the split."""
    return {split.name: parts_of(split) for split in current_splits(project)}


def parts_of_reviews(split: DataSplit) -> dict[str, str]:
    """Return the part of each review (or question) of a split, by its key.

    Reviews with units in several parts are left out; only a split that was imported can have them.
    """
    divided = divided_reviews(split)
    return {review: part for _, review, part, _ in rows_of(split) if review not in divided}


def divided_reviews(split: DataSplit) -> set[str]:
    """Return the keys of the reviews (or questions) with units in several parts of a split."""
    parts = SplitUnit.objects.filter(split=split).order_by().values("review")
    several = parts.annotate(parts=Count("part", distinct=True)).filter(parts__gt=1)
    return set(several.values_list("review", flat=True))


def units_of(split: DataSplit, part: str) -> list[tuple[int, str, str]]:
    """Return the units of a part in the order of the split, each with its key and its review (or question)."""
    units = SplitUnit.objects.filter(split=split, part=part).order_by("id")
    return list(units.values_list("unit_id", "key", "review"))


def csv_lines(split: DataSplit) -> Iterator[bytes]:
    """Yield the file of a split in a release, line by line."""
    for cells in (COLUMNS, *rows_of(split)):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(cells)
        yield out.getvalue().encode()


@dataclass(frozen=True)
class Leakage:
    """What two parts of a split share: numbers of PubMed ids, equal texts and near-equal texts.

    ``near``: None if near-equal texts were not searched.
    """

    split: str
    parts: tuple[str, str]
    pmids: int
    texts: int
    near: int | None

    def __str__(self) -> str:
        counts = ((self.pmids, "PMID"), (self.texts, "equal text"), (self.near or 0, "near-equal text"))
        shared = " and ".join(f"{n:,} {name}{'s' * (n != 1)}" for n, name in counts if n)
        return f"{self.split}: {self.parts[0]} and {self.parts[1]} share {shared}"


def leakage(project: Project) -> list[Leakage]:
    """Return the leakage between parts of the project's splits. Empty if they are free of leakage.

    Studies and texts may have been added to units after a split was created. Up to `COMPARED` units are therefore
    compared as they are now; otherwise, and for near-equal texts, the report of the split is used.
    """
    found = []
    for split in current_splits(project):
        pairs = split.report["leakage"]["pairs"]
        parts = parts_of(split) if pairs else {}
        if 0 < len(parts) <= COMPARED:
            pairs = [now | {"near": then["near"]} for now, then in zip(_pairs_now(split, parts), pairs, strict=True)]
        found += leaking_pairs(split.name, pairs)
    return found


def _pairs_now(split: DataSplit, parts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what each pair of parts shares now, in the order of the split's report."""
    units = Units()
    names = [*dict.fromkeys(name for pair in split.report["leakage"]["pairs"] for name in pair["parts"])]
    for row in LEVELS[split.level].rows(split.project):
        if row.key in parts:
            units.add(row.item)
    return list(shared(units, [names.index(parts[key]) for key in units.keys], names)["pairs"])


def leaking_pairs(name: str, pairs: list[Mapping[str, Any]]) -> list[Leakage]:
    """Return the pairs of parts of a report that share something."""
    found = []
    for pair in pairs:
        near = pair["near"]["count"] if pair["near"] else None
        first, second = pair["parts"]
        one = Leakage(name, (first, second), pair["pmids"]["count"], pair["texts"]["count"], near)
        if one.pmids or one.texts or one.near:
            found.append(one)
    return found
