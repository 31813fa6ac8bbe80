"""A long table: a row a rating, with unit, system, rater, criterion and value."""

from collections.abc import Iterator, Mapping

from .said import Page, Read, Said

#: Column -> the names it may have; those of a release's ``ratings.csv`` among them.
COLUMNS = {
    "unit": ("unit", "source", "item", "review_id", "docid"), "system": ("system", "systems", "model", "model_id"),
    "rater": ("rater", "annotator", "worker"), "criterion": ("criterion", "question", "dimension"),
    "value": ("value", "rating", "score"),
}  # fmt: skip
COMMENT, SUMMARY, TARGET = ("comment", "reason"), ("summary", "generated", "output"), ("target_text",)
#: Between the systems that wrote the same text, as a release has them.
BETWEEN = " | "


def is_long(names: set[str]) -> bool:
    return all(any(name in names for name in known) for known in COLUMNS.values())


def take(rows: Iterator[tuple[int, Mapping[str, str]]], read: Read, default: str) -> None:
    for line, cells in rows:
        found = {column: _cell(cells, names) for column, names in COLUMNS.items()}
        if cells.get("is_check") == "true":
            read.notice("attention check", "A text made plainly bad is no system's; left out.", line)
            continue
        lacking = [column for column in ("unit", "system", "rater", "criterion") if not found[column]]
        for column in lacking:
            read.fault(line, column, "no text")
        if lacking:
            continue
        value = "n/a" if cells.get("na") == "true" else found["value"]
        if not value:
            read.notice("no answer", "An empty cell is no rating.", line, found["criterion"])
            continue
        page = Page(found["unit"], cells.get("target", ""))
        systems = tuple(found["system"].split(BETWEEN))
        if not read.text(page, systems, _cell(cells, SUMMARY), line, "summary"):
            continue
        if target := _cell(cells, TARGET):
            read.against.setdefault(page, target)
        criterion = _key(found["criterion"])
        read.said.append(Said(line, page, found["rater"], criterion, value, _cell(cells, COMMENT), systems))


def _cell(cells: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((cells[name].strip() for name in names if name in cells), "")


def _key(name: str) -> str:
    """A criterion's key: protocols have small letters, digits and hyphens."""
    parts = "".join(c if c.isascii() and c.isalnum() else " " for c in name.casefold()).split()
    return "-".join(parts)[:30].strip("-") or "criterion"
