"""Tables of MSLR2022 by split, in the published format. The targets of the test set are secret, so they have no table.

The rows of a table keep its order and the numbers in its first column, which has no name.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from annotation.formats.mslr.published import info_row, input_rows, kept_of, of_format, target_row, targets_of
from annotation.models import Review
from projects.models import Project

from .notes import Notes

#: Each review may have hundreds of studies.
BATCH = 20
HEADS = {
    "inputs": ("", "ReviewID", "PMID", "Title", "Abstract"),
    "targets": ("", "ReviewID", "Target"),
    "reviews-info": ("", "ReviewID", "Background"),
}
Places = list[tuple[int, int]]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    inputs: dict[str, list[int]] = {}
    #: (position, review) of the rows of other tables, by split.
    targets: dict[str, Places] = {}
    infos: dict[str, Places] = {}
    backgrounds: set[str] = set()
    for review in of_format(project).only("pk", "metadata").iterator(chunk_size=BATCH):
        said = kept_of(review)
        split = said["split"]
        inputs.setdefault(split, []).append(review.pk)
        if "target" in said:
            targets.setdefault(split, []).append((said["target"][0], review.pk))
            if len(said["target"]) > 2:
                backgrounds.add(split)
        if "info" in said:
            infos.setdefault(split, []).append((said["info"][0], review.pk))
    for split, reviews in inputs.items():
        yield f"mslr/{split}-inputs.csv", _table(HEADS["inputs"], reviews, _inputs)
        if split in targets:
            head = (*HEADS["targets"], *(["Background"] if split in backgrounds else []))
            yield f"mslr/{split}-targets.csv", _table(head, _in_order(targets[split]), _targets)
        if split in infos:
            yield f"mslr/{split}-reviews-info.csv", _table(HEADS["reviews-info"], _in_order(infos[split]), _infos)


def _in_order(places: Places) -> list[int]:
    return [review for _, review in sorted(places)]


def _table(
    head: Sequence[str], reviews: Sequence[int], rows: Callable[[Sequence[Review]], Iterator[Sequence[Any]]]
) -> Iterator[bytes]:
    yield _lines([head])
    listed = iter(reviews)
    while ids := list(islice(listed, BATCH)):
        by_id = Review.objects.in_bulk(ids)
        yield _lines(rows([by_id[pk] for pk in ids]))


def _inputs(reviews: Sequence[Review]) -> Iterator[Sequence[str]]:
    for rows in input_rows(reviews):
        yield from rows


def _targets(reviews: Sequence[Review]) -> Iterator[Sequence[str]]:
    texts = targets_of(reviews)
    return (target_row(kept_of(review), review, texts.get(review.pk)) for review in reviews)


def _infos(reviews: Sequence[Review]) -> Iterator[Sequence[str]]:
    return (info_row(kept_of(review), review) for review in reviews)


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows as the published files have them: only cells that need quotes have them."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
