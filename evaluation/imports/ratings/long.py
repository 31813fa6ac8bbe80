"""Read a long table: one rating per row, with unit, system, rater, criterion and value."""

from collections.abc import Iterator, Mapping

from evaluation.imports.ratings.rows import ABOUT, GROUP, Page, RatingFile, RatingRow, flag_of, part_of, repeat_of
from projects.spreadsheets.cells import has_decimal_comma, is_missing, number, number_text

#: Column -> accepted names, including those of a release's ``ratings.csv``.
COLUMNS = {
    "unit": ("unit", "source", "item", "review_id", "docid"),
    "system": ("system", "systems", "model", "model_id"),
    "rater": ("rater", "annotator", "worker"),
    "criterion": ("criterion", "question", "dimension"),
    "value": ("value", "rating", "score"),
}
COMMENT, SUMMARY, TARGET = ("comment", "reason"), ("summary", "generated", "output"), ("target_text",)
#: Separator between systems that wrote the same text, as in a release.
BETWEEN = " | "


def is_long(names: set[str]) -> bool:
    return all(any(name in names for name in known) for known in COLUMNS.values())


def is_used(name: str) -> bool:
    """Whether a column is read."""
    return name in ("target", "is_check", "na", *ABOUT, *COMMENT, *SUMMARY, *TARGET) or any(
        name in known for known in COLUMNS.values()
    )


def take(rows: Iterator[tuple[int, Mapping[str, str]]], read: RatingFile, default: str) -> None:
    for count, (line, cells) in enumerate(rows):
        if not count:
            _say_what_is_left_out(cells, read, line)
        values = {column: _cell(cells, names) for column, names in COLUMNS.items()}
        is_check, is_na = (flag_of(cells, column, read, line) for column in ("is_check", "na"))
        if is_check is None or is_na is None:
            continue
        if is_check:
            read.notice(
                "attention check", "Attention checks are degraded texts, not outputs of a system; left out.", line
            )
            continue
        missing = [column for column in ("unit", "system", "rater", "criterion") if not values[column]]
        for column in missing:
            read.fault(line, column, "no text")
        if missing:
            continue
        value = "n/a" if is_na else _value(values, read, line)
        if not value:
            continue
        unit, rater = (read.name(column, values[column], line) for column in ("unit", "rater"))
        page = Page(unit, cells.get("target", ""))
        if not (systems := _systems(values["system"], read, line)):
            continue
        if not read.text(page, systems, _cell(cells, SUMMARY), line, "summary"):
            continue
        if target := _cell(cells, TARGET):
            read.against.setdefault(page, target)
        criterion, repeat = read.criterion(values["criterion"], line), repeat_of(cells, read, line)
        if repeat is not None:
            rating = RatingRow(
                line,
                page,
                rater,
                criterion,
                value,
                _cell(cells, COMMENT),
                systems,
                repeat=repeat,
                part=part_of(cells, read, line),
            )
            read.add(rating, "value")


def _say_what_is_left_out(cells: Mapping[str, str], read: RatingFile, line: int) -> None:
    """Add a notice for each column that is ignored because a synonymous column is read."""
    for names in (*COLUMNS.values(), COMMENT, SUMMARY, GROUP):
        first, *others = [name for name in names if name in cells] or [""]
        for other in others:
            read.notice("column left out", f"Ignored: the column {first} is used instead.", line, other)


def _systems(cell: str, read: RatingFile, line: int) -> tuple[str, ...]:
    """Return the sorted systems that wrote the text. Return an empty tuple after adding a fault."""
    names = [read.name("system", name, line) for name in f"{cell} ".split(BETWEEN)]
    if not all(names):
        read.fault(line, "system", f"empty system name in {cell!r}")
        return ()
    if twice := next((name for name in names if names.count(name) > 1), ""):
        read.fault(line, "system", f"{twice} occurs twice in {cell!r}")
        return ()
    return tuple(sorted(names))


def _value(values: Mapping[str, str], read: RatingFile, line: int) -> str:
    """Return the value of a row; empty if it is missing."""
    value, criterion = values["value"], values["criterion"]
    if not value:
        read.notice("no answer", "Empty cell: no rating imported.", line, criterion)
    if is_missing(value):
        read.notice("missing value", "Code for a missing value: no rating imported.", line, criterion, value)
        return ""
    if has_decimal_comma(value):
        point = number_text(number(value) or 0)
        read.notice("decimal comma", f"Read as the number {point}.", line, criterion, value)
        return point
    return value


def _cell(cells: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((cells[name].strip() for name in names if name in cells), "")
