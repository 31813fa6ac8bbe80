"""Tables of documents and their summaries: targets at document or sentence level with their inputs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from projects.models import Import, Project
from sql.bulk import BulkWriter

from ...clusters.creation import Layout
from ...clusters.items import Item, Source
from ...models import ColumnValues, Review
from ..m3 import existing
from .items import TableItem, outputs_of, shown_of
from .labels import SCREEN, add_screenings
from .mapping import SENTENCES
from .stream import TableStream, value_rows

FORMAT = "csv"


class TableLayout(Layout):
    """Rows of items whose table has titles."""

    def __init__(self, imported: Import, rows: BulkWriter, items: Sequence[TableItem]) -> None:
        super().__init__(imported.project, rows, imported=imported)
        self.details = {review_of(item): item.details for item in reversed(items)}
        self.study_titles: dict[str, str] = {}
        self.abstracts: dict[str, str] = {}
        for item in items:
            has_target = bool(item.target.strip())
            for entry in item.entries:
                self.study_titles.setdefault(entry.key, entry.title)
                if not has_target:
                    # Without a target there is no input that could have the text.
                    self.abstracts.setdefault(entry.key, entry.text or "")

    def review_columns(self, missing: Sequence[str], items: Sequence[Item]) -> dict[str, Any]:
        details = [self.details.get(key, {}) for key in missing]
        backgrounds = [{name: of[name] for name in ("background",) if name in of} for of in details]
        return {
            "title": [of.get("title", "") for of in details],
            "metadata": [{FORMAT: of} if of else {} for of in backgrounds],
        }

    def study_columns(self, missing: Sequence[str]) -> dict[str, Any]:
        return {
            "title": [self.study_titles.get(key, "") for key in missing],
            "abstract": [self.abstracts.get(key, "") for key in missing],
        }


class DocumentStream(TableStream):
    @property
    def m3_level(self) -> str:
        return "2" if self.level == SENTENCES else "1"

    def rows_of(self, item: TableItem) -> int:
        return 5 + 4 * len(item.entries)

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        found: dict[str, int | None] = dict(existing.stored_keys(project, self.m3_level, keys))
        if self.level != SENTENCES:
            # Items without a target. Reviews of another source get the new target.
            reviews = Review.with_arriving.filter(project=project, pmid__in=keys, imported__format=FORMAT)
            found = {**dict(reviews.order_by().values_list("pmid", "imported_id")), **found}
        return found

    def differences(self, project: Project, items: Sequence[TableItem]) -> Iterator[tuple[str, str, object]]:
        stored = existing.stored_items(project, self.m3_level, [item.key for item in items])
        for item in items:
            known = stored.get(item.key)
            if known is None:
                if item.target.strip():
                    yield item.key, self._name("target"), ""
            elif known._replace(review=review_of(item)) != (new := m3_item(item)):
                path, value = existing.difference(new, known)
                yield item.key, self._name("target" if path == "target_text" else "input"), value

    def _name(self, role: str) -> str:
        assert self.mapping
        return next((column.name for column in self.mapping.of_role(role)), role)

    def create(self, imported: Import, items: Sequence[TableItem], first: int, rows: BulkWriter) -> None:
        self.add_mapping(imported, rows)
        layout = TableLayout(imported, rows, items)
        published = [m3_item(item) for item in items]
        stated = [item for item in published if item.text.strip()]
        layout.reviews(published)
        targets = layout.targets(existing.LEVELS[self.m3_level], stated, first)
        units = {item.key: layout.review_units.get(item.review, 0) for item in published}
        units |= {item.key: target.unit_id for target, item in zip(targets, stated, strict=True)}
        values = [(units[item.key], *each) for item in items if units[item.key] for each in values_of(item)]
        if columns := value_rows(values):
            rows.add_columns(ColumnValues, len(columns["unit_id"]), imported_id=imported.pk, **columns)

    def finishes(self) -> bool:
        return bool(self.mapping and any(column.labels_item for column in self.mapping.columns))

    def finish(self, imported: Import, items: Sequence[TableItem], rows: BulkWriter) -> None:
        labels = {review_of(item): item.labels[SCREEN.key] for item in items if SCREEN.key in item.labels}
        add_screenings(imported, labels, rows)

    def next_position(self, project: Project) -> int:
        return existing.next_item_position(project, self.m3_level)

    def new_keys(self, imported: Import) -> Iterator[str]:
        return existing.created_keys(imported, self.m3_level)

    def count(self, items: Sequence[TableItem]) -> dict[str, int]:
        return {
            "targets": sum(bool(item.target.strip()) for item in items),
            "inputs": sum(len(item.entries) for item in items),
            **outputs_of(items),
        }

    def distinct(self, items: Sequence[TableItem]) -> dict[str, set[str]]:
        return {
            "reviews": {review_of(item) for item in items},
            "studies": {entry.key for item in items for entry in item.entries},
        }

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return existing.count_distinct(imported, self.m3_level)

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        return self.finished_counts(("targets", "inputs", "reviews", "studies"), counts)

    def sample(self, item: TableItem) -> dict[str, Any]:
        inputs = [{"id": entry.key, "text": entry.text} for entry in item.entries]
        return {"key": item.key, **item.details, "target": item.target, "inputs": inputs, **shown_of(item)}


def review_of(item: TableItem) -> str:
    """Return the review of an item: of a sentence, its key without the number."""
    return item.key.rpartition("_")[0] or item.key if item.is_sentence else item.key


def m3_item(item: TableItem) -> Item:
    inputs = tuple(Source(entry.key, entry.text or "") for entry in item.entries)
    return Item(item.key, review_of(item), item.target, inputs)


def values_of(item: TableItem) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """Yield (position, details, kept) of an item and of its inputs."""
    yield 0, item.details, item.kept
    for position, entry in enumerate(item.entries, start=1):
        yield position, {}, entry.kept
