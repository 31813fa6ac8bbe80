"""Rebuild the tables of MSLR from rows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from measures.pio import Tag, retag
from projects.models import Project
from sql.expressions import InIds

from ...models import Inclusion, Level, MachineReading, ReadingTask, Review, Target
from ..ms2 import kept
from .rows import FORMAT

Cells = list[str]


def of_format(project: Project) -> QuerySet[Review]:
    """Return the reviews of a project that were imported in this format, in the order of the files."""
    return Review.objects.filter(project=project, metadata__has_key=FORMAT).order_by("pk")


def kept_of(review: Review) -> dict[str, Any]:
    return kept.loaded(review.metadata, FORMAT)


def input_rows(reviews: Sequence[Review]) -> Iterator[list[Cells]]:
    """Yield the rows of inputs of each review. Needs a fixed number of queries."""
    columns = ("pk", "review", "metadata", "study", "study__pmid", "study__title", "study__abstract")
    found = Inclusion.objects.filter(InIds("review_id", [review.pk for review in reviews]))
    inclusions = list(found.order_by("review_id", "position").values_list(*columns))
    of_study = _tags("study", [study for _, _, _, study, *_ in inclusions])
    of_inclusion = _tags("inclusion", [pk for pk, *_ in inclusions])
    of_review: dict[int, list[Cells]] = defaultdict(list)
    for pk, of, metadata, study, pmid, title, abstract in inclusions:
        if FORMAT not in metadata:
            continue  # added later, for example by a list of studies
        said = kept.loaded(metadata, FORMAT)
        tags = of_inclusion.get(pk, of_study.get(study, []))
        tagged = said["abstract"] if "abstract" in said else retag(abstract, tags)
        of_review[of].append([said["row"], pmid, said.get("title", title), tagged])
    for review in reviews:
        rows = [[row, review.pmid, *cells] for row, *cells in of_review[review.pk]]
        for n, row in kept_of(review).get("repeated", ()):
            rows.insert(n, row)
        yield rows


def _tags(owner: str, ids: Sequence[int]) -> dict[int, list[Tag]]:
    rows = MachineReading.objects.filter(InIds(f"{owner}_id", ids), task=ReadingTask.PIO, weights="")
    return {of: values["tags"] for of, values in rows.values_list(owner, "values")}


def target_row(said: Mapping[str, Any], review: Review, target: str | None) -> Cells:
    """Return the row of the targets. ``target`` is None if the review has no current one."""
    _, row, *background = said["target"]
    text = said.get("blank target", "") if target is None else target
    return [row, review.pmid, text, *background]


def info_row(said: Mapping[str, Any], review: Review) -> Cells:
    _, row, background = said["info"]
    return [row, review.pmid, background]


def background_of(review: Review) -> str:
    """Return the background that the tables state for a review, with its tags. Empty if none of them does."""
    said = kept_of(review)
    return next((str(said[part][2]) for part in ("info", "target") if len(said.get(part, ())) > 2), "")


def targets_of(reviews: Sequence[Review], *, current: bool = True) -> dict[int, str]:
    """Return the text of the document target of each review that states one; the imported ones if not ``current``."""
    rows = Target.objects.stated().filter(review__in=reviews, level=Level.DOCUMENT)
    rows = rows.current() if current else rows.filter(version=1)
    return dict(rows.values_list("review", "text"))


def rows_of_value(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of a review by table, without their positions in it."""
    rows: dict[str, Any] = {"inputs": [list(row.values()) for row in value["inputs"]]}
    return rows | {part: value[part][1:] for part in ("targets", "reviews-info") if part in value}


def stored_reviews(project: Project, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the rows of reviews by table, as imported, by review."""
    reviews = [review for review in Review.objects.filter(project=project, pmid__in=keys) if FORMAT in review.metadata]
    targets = targets_of(reviews, current=False)
    stored = {}
    for review, inputs in zip(reviews, input_rows(reviews), strict=True):
        said = kept_of(review)
        stored[review.pmid] = (
            {"inputs": inputs}
            | ({"targets": target_row(said, review, targets.get(review.pk))} if "target" in said else {})
            | ({"reviews-info": info_row(said, review)} if "info" in said else {})
        )
    return stored
