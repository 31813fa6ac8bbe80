"""Prepare the rows of reviews of MSLR."""

from collections.abc import Sequence
from typing import Any

from projects.models import Import
from sql.bulk import BulkWriter

from ...models import RecordStatus, Review, Study
from ..ms2 import kept
from ..ms2.items import Reference
from ..ms2.rows import Creation

FORMAT = "mslr"


class MSLRCreation(Creation):
    """The rows of some reviews of one split."""

    format = FORMAT

    def __init__(self, imported: Import, rows: BulkWriter, is_withheld: bool) -> None:
        super().__init__(imported, rows)
        self.is_withheld = is_withheld

    def add_reviews(self, items: Sequence[Any]) -> list[int]:
        return self.rows.add_columns(
            Review,
            len(items),
            pmid=[item.key for item in items],
            record=str(RecordStatus.NOT_READ),
            metadata=[{FORMAT: kept.dumped(of_review(item))} for item in items],
            unit_id=self.add_units("review", [item.key for item in items]),
            **self.source,
        )

    def columns_of(self, study: Study) -> kept.StudyColumns:
        return kept.StudyColumns(study.title, None, [], "")

    def columns(self, item: Any, reference: Reference) -> kept.StudyColumns:
        return kept.StudyColumns(item.studies[reference.pmid]["Title"], None, [], "")

    def says(self, item: Any, reference: Reference, is_as_stored: bool) -> dict[str, Any]:
        row = item.studies[reference.pmid]
        said: dict[str, Any] = {"row": row[""]}
        if not is_as_stored:
            said["title"] = row["Title"]
        if not row["Abstract"]:
            said["abstract"] = ""
        return said


def of_review(item: Any) -> dict[str, Any]:
    """Return what is kept of a review: its split, and its rows except the target and the studies.

    A row of another table is kept with its position, so that tables come back in their own order.
    """
    said: dict[str, Any] = {"split": item.split}
    if "targets" in item.value:
        position, row, _, _, *background = item.value["targets"]
        said["target"] = [position, row, *background]
        if not item.target.strip():
            said["blank target"] = item.target
    if "reviews-info" in item.value:
        position, row, _, background = item.value["reviews-info"]
        said["info"] = [position, row, background]
    seen: set[str] = set()
    repeated = []
    for n, row in enumerate(item.value["inputs"]):
        if row["PMID"] in seen:
            repeated.append([n, list(row.values())])
        seen.add(row["PMID"])
    if repeated:
        said["repeated"] = repeated
    return said
