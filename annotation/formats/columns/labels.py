"""Labels of items in a table, for kinds whose value is one choice. Ratings of passages are labels of inputs."""

from collections.abc import Mapping
from typing import NamedTuple

from projects.gold.actions import imported_decision, with_digests
from projects.models import Import
from sql.bulk import BulkWriter

from ...models import Review, Screened, Screening


class LabelledKind(NamedTuple):
    """A kind of items. ``values``: the values by their key or title, in lower case."""

    key: str
    title: str
    field: str
    values: Mapping[str, str]

    def value_of(self, text: str) -> str | None:
        return self.values.get(" ".join(text.casefold().split()))

    @property
    def expected(self) -> str:
        return ", ".join(dict.fromkeys(self.values.values()))


SCREEN = LabelledKind(
    "screen",
    "Screening",
    "screening",
    {text.casefold(): str(one.value) for one in Screened for text in (one.value, str(one.label))},
)
#: Kinds of items. They need a corpus of documents, whose items are reviews.
OF_ITEMS = {kind.key: kind for kind in (SCREEN,)}


def add_screenings(imported: Import, labels: Mapping[str, str], rows: BulkWriter) -> None:
    """Prepare the screenings, by review, of the reviews that this import created, and the decisions that adopt them."""
    reviews = Review.with_arriving.filter(imported=imported, pmid__in=list(labels)).order_by("pk")
    units = [(unit, labels[key]) for key, unit in reviews.values_list("pmid", "unit_id")]
    rows.add(Screening(unit_id=unit, imported=imported, screening=value) for unit, value in units)
    decisions = (
        imported_decision(unit, SCREEN.key, SCREEN.field, imported.pk, imported.created_at) for unit, _ in units
    )
    rows.add(with_digests(decisions))
