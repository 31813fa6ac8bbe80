"""MSLR's two tables: facets of a summary, and which of two is nearer to the target."""

from collections.abc import Iterator, Mapping

from .said import NOT_APPLICABLE, Page, Read, Said

FACETS = {"expid", "reviewid", "target summary", "generated summary"}
SIDES = {"review_id", "target", "sys_a", "a", "sys_b", "b"}
WHICH = "which of a or b"
#: Criterion of the shipped protocol -> how the question begins, and a word that tells it from its neighbour.
QUESTIONS = {
    "fluency": ("is the generated summary fluent", ""), "population": ("is the *population*", ""),
    "intervention": ("is the *intervention*", ""), "outcome": ("is the *outcome*", ""),
    "direction-target": ("what is the effect direction", "*target*"),
    "direction-generated": ("what is the effect direction", "*generated*"),
    "strength-target": ("what is the strength", "*target*"), "strength-generated": ("what is the strength",
                                                                                    "*generated*"),
}  # fmt: skip
_DIRECTIONS = {"(+1)": "positive", "0": "no effect", "(-1)": "negative", "+1": "positive", "-1": "negative"}


def is_facets(names: set[str]) -> bool:
    return names >= FACETS


def is_pairs(names: set[str]) -> bool:
    return names >= SIDES and any(name.startswith(WHICH) for name in names)


def meaning(criterion: str, value: str) -> str:
    """What stands before the colon of an option's words; of a direction, in words."""
    code = value.partition(":")[0].strip()
    if code.casefold() == NOT_APPLICABLE:
        return NOT_APPLICABLE
    if criterion.startswith("direction"):
        return _DIRECTIONS.get(code, value)
    return code if code.isdigit() else value


def take_facets(rows: Iterator[tuple[int, Mapping[str, str]]], read: Read, default: str) -> None:
    columns: dict[str, str] = {}
    for line, cells in rows:
        columns = columns or _columns(list(cells), read)
        unit, system = cells["reviewid"].strip(), cells["expid"].strip()
        lacking = [name for name, value in (("ReviewID", unit), ("ExpID", system)) if not value]
        for name in lacking:
            read.fault(line, name, "no text")
        page = Page(unit)
        if lacking or not read.text(page, (system,), cells["generated summary"], line, "Generated Summary"):
            continue
        read.against.setdefault(page, cells["target summary"])
        comments = _comments(cells, columns)
        for column, criterion in columns.items():
            value = cells[column].strip()
            if not value:
                read.notice("no answer", "An empty cell is no rating.", line, criterion)
                continue
            said = Said(line, page, _rater(cells, default), criterion, value, comments.get(criterion, ""), (system,))
            read.said.append(said)


def _columns(names: list[str], read: Read) -> dict[str, str]:
    """Column -> criterion, in the order of the file."""
    found = {}
    for name in names:
        for criterion, (begins, has) in QUESTIONS.items():
            if name.startswith(begins) and has in name:
                found[name] = criterion
    for criterion in QUESTIONS:
        if criterion not in found.values():
            read.fault(1, criterion, f"this question is missing; its column begins {QUESTIONS[criterion][0]!r}")
    return found


def _comments(cells: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    """A comment belongs to the question that stands before it."""
    found, last = {}, ""
    for name, cell in cells.items():
        last = columns.get(name, last)
        if name.startswith("comments about") and last and cell.strip():
            found[last] = cell.strip()
    return found


def take_pairs(rows: Iterator[tuple[int, Mapping[str, str]]], read: Read, default: str) -> None:
    for line, cells in rows:
        column = next(name for name in cells if name.startswith(WHICH))
        unit, left, right = (cells[name].strip() for name in ("review_id", "sys_a", "sys_b"))
        lacking = [name for name in ("review_id", "sys_a", "sys_b", "a", "b") if not cells[name].strip()]
        for name in lacking:
            read.fault(line, name, "no text")
        if lacking:
            continue
        if left == right:
            read.fault(line, "sys_b", f"{right} on both sides")
            continue
        swapped = left > right
        page = Page(unit, sides=(right, left) if swapped else (left, right))
        both = [read.text(page, (system,), cells[side], line, side) for system, side in ((left, "a"), (right, "b"))]
        if not all(both):
            continue
        read.against.setdefault(page, cells["target"])
        if not (value := cells[column].strip()):
            read.notice("no answer", "An empty cell is no choice.", line, "preference")
            continue
        comment = cells.get("notes", "").strip()
        read.said.append(
            Said(line, page, _rater(cells, default), "preference", value, comment, swapped=swapped)
        )  # fmt: skip


def choice(criterion: str, value: str) -> str:
    """A, B or Neither, which the files say in more words."""
    word = value.casefold()
    if word in ("a", "b"):
        return {"a": "left", "b": "right"}[word]
    return "neither" if word.startswith("neither") else word


def _rater(cells: Mapping[str, str], default: str) -> str:
    return (cells.get("rater") or cells.get("annotator") or "").strip() or default
