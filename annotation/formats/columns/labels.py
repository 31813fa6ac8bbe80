"""Labels of items in a table, for kinds whose value is one choice. Ratings of passages are labels of inputs."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from projects.gold.actions import with_digests
from projects.models import Decision, Import, Origin
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
    rows.add(with_digests(_decisions(imported, (unit for unit, _ in units))))


def _decisions(imported: Import, units: Iterable[int]) -> Iterable[Decision]:
    return (
        Decision(
            unit_id=unit,
            kind=SCREEN.key,
            field=SCREEN.field,
            origin=Origin.IMPORTED,
            imported_id=imported.pk,
            decided_at=imported.created_at,
        )
        for unit in units
    )
