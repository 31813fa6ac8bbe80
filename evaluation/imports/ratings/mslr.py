"""Read MSLR's two tables: facets of a summary, and choices between two summaries."""

from collections.abc import Iterator, Mapping

from evaluation.imports.ratings.rows import ABOUT, NOT_APPLICABLE, Page, RatingFile, RatingRow, part_of, repeat_of

#: Names of the unit and system columns. The pilot's files use the second name of each.
UNITS, SYSTEMS = ("reviewid", "docid"), ("expid", "model")
FACETS = {"target summary", "generated summary"}
SIDES = {"review_id", "target", "sys_a", "a", "sys_b", "b"}
WHICH = "which of a or b"
#: Criterion of the shipped protocol -> start of the column name, and a word that distinguishes similar columns.
QUESTIONS = {
    "fluency": ("is the generated summary fluent", ""),
    "population": ("is the *population*", ""),
    "intervention": ("is the *intervention*", ""),
    "outcome": ("is the *outcome*", ""),
    "direction-target": ("what is the effect direction", "*target*"),
    "direction-generated": ("what is the effect direction", "*generated*"),
    "strength-target": ("what is the strength", "*target*"),
    "strength-generated": ("what is the strength", "*generated*"),
}
_DIRECTIONS = {"(+1)": "positive", "0": "no effect", "(-1)": "negative", "+1": "positive", "-1": "negative"}


def is_facets(names: set[str]) -> bool:
    return names >= FACETS and not names.isdisjoint(UNITS) and not names.isdisjoint(SYSTEMS)


def is_pairs(names: set[str]) -> bool:
    return names >= SIDES and any(name.startswith(WHICH) for name in names)


def is_used(name: str) -> bool:
    """Whether a column is read."""
    begins = (WHICH, "comments about", *(begin for begin, _ in QUESTIONS.values()))
    return name in {*UNITS, *SYSTEMS, *FACETS, *SIDES, *ABOUT, "notes", "rater", "annotator"} or name.startswith(begins)


def meaning(criterion: str, value: str) -> str:
    """Return the value on the shipped protocol's scale: the number or direction at the start of the option."""
    code = value.partition(":")[0].strip()
    if value.casefold() == NOT_APPLICABLE:
        return NOT_APPLICABLE
    if criterion.startswith("direction"):
        return _DIRECTIONS.get(code, value)
    return code if code.isdigit() else value


def take_facets(rows: Iterator[tuple[int, Mapping[str, str]]], read: RatingFile, default: str) -> None:
    columns: dict[str, str] = {}
    for line, cells in rows:
        columns = columns or _columns(list(cells), read)
        unit_column, system_column = (next(n for n in names if n in cells) for names in (UNITS, SYSTEMS))
        unit = read.name("unit", cells[unit_column], line, unit_column)
        system = read.name("system", cells[system_column], line, system_column)
        missing = [name for name, value in ((unit_column, unit), (system_column, system)) if not value]
        for name in missing:
            read.fault(line, name, "no text")
        page = Page(unit)
        if missing or not read.text(page, (system,), cells["generated summary"], line, "Generated Summary"):
            continue
        read.against.setdefault(page, cells["target summary"])
        rater, repeat, part = (
            _rater(cells, read, line, default),
            repeat_of(cells, read, line),
            part_of(cells, read, line),
        )
        if repeat is None:
            continue
        comments = _comments(cells, columns)
        for column, criterion in columns.items():
            value = cells[column].strip()
            if not value:
                read.notice("no answer", "Empty cell: no rating imported.", line, criterion)
                continue
            rating = RatingRow(
                line, page, rater, criterion, value, comments.get(criterion, ""), (system,), repeat=repeat, part=part
            )
            read.add(rating, column)


def _columns(names: list[str], read: RatingFile) -> dict[str, str]:
    """Return column -> criterion, in the order of the file. Add a fault for each missing question."""
    columns = {}
    for name in names:
        for criterion, (begins, has) in QUESTIONS.items():
            if name.startswith(begins) and has in name:
                columns[name] = criterion
    for criterion in QUESTIONS:
        if criterion not in columns.values():
            read.fault(
                1,
                criterion,
                f"no column for this question; expected a name that begins with {QUESTIONS[criterion][0]!r}",
            )
    return columns


def _comments(cells: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the comments by criterion. A comment belongs to the last question column before it."""
    comments, last = {}, ""
    for name, cell in cells.items():
        last = columns.get(name, last)
        if name.startswith("comments about") and last and cell.strip():
            comments[last] = cell.strip()
    return comments


def take_pairs(rows: Iterator[tuple[int, Mapping[str, str]]], read: RatingFile, default: str) -> None:
    for line, cells in rows:
        column = next(name for name in cells if name.startswith(WHICH))
        unit = read.name("unit", cells["review_id"], line)
        left, right = (read.name("system", cells[name], line) for name in ("sys_a", "sys_b"))
        missing = [name for name in ("review_id", "sys_a", "sys_b", "a", "b") if not cells[name].strip()]
        for name in missing:
            read.fault(line, name, "no text")
        if missing:
            continue
        if left == right:
            read.fault(line, "sys_b", f"the same system on both sides: {right}")
            continue
        swapped = left > right
        page = Page(unit, sides=(right, left) if swapped else (left, right))
        both = [read.text(page, (system,), cells[side], line, side) for system, side in ((left, "a"), (right, "b"))]
        if not all(both):
            continue
        read.against.setdefault(page, cells["target"])
        if not (value := cells[column].strip()):
            read.notice("no answer", "Empty cell: no choice imported.", line, "preference")
            continue
        comment = cells.get("notes", "").strip()
        if (repeat := repeat_of(cells, read, line)) is not None:
            rating = RatingRow(
                line,
                page,
                _rater(cells, read, line, default),
                "preference",
                value,
                comment,
                swapped=swapped,
                repeat=repeat,
                part=part_of(cells, read, line),
            )
            read.add(rating, column)


def choice(criterion: str, value: str) -> str:
    """Return the choice (left, right or neither) of a cell. The files use longer wordings of A, B and neither."""
    word = value.casefold()
    if word in ("a", "b"):
        return {"a": "left", "b": "right"}[word]
    return "neither" if word.startswith("neither") else word


def _rater(cells: Mapping[str, str], read: RatingFile, line: int, default: str) -> str:
    named = (cells.get("rater") or cells.get("annotator") or "").strip()
    return read.name("rater", named or default, line)
