"""One counterfactual of a file: a row of a CSV table or a JSON object, both with the same columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.corpus.lengths import CLAIM, longer
from measures.counterfactuals import Kind, kind_named

from ..json_lines import described, no_text, shown

#: Column -> the names that it may have, whatever their case. The first three must be there.
COLUMNS = {
    "docid": ("docid", "cluster"),
    "kind": ("kind", "type"),
    "text": ("text", "counterfactual"),
    "target_text": ("target_text", "target"),
    # Releases say whether a row was imported or written here; whoever brings it in again is told by the import.
    "origin": ("origin",),
}
NEEDED = ("docid", "kind", "text")
EXPECTED = "docid, kind, text and, optionally, target_text"
_COLUMN_OF = {name: column for column, names in COLUMNS.items() for name in names}
_UNKNOWN_SHOWN = 5

Fault = Callable[[str, str], None]


class Entry(NamedTuple):
    """``docid`` is the cluster's key; ``target_text``, where it is given, the text that the counterfactual is of."""

    docid: str
    kind: Kind
    text: str
    target_text: str | None = None


def columns(names: Sequence[str], fault: Fault) -> list[str] | None:
    """Which column each name stands for, in their order; None after faults."""
    found: list[str] = []
    unknown = [name for name in names if name.strip().casefold() not in _COLUMN_OF]
    for name in unknown[:_UNKNOWN_SHOWN]:
        fault(shown(name).strip('"') or "line", f"an unknown column; expected {EXPECTED}")
    if len(unknown) > _UNKNOWN_SHOWN:
        fault("line", f"{len(unknown) - _UNKNOWN_SHOWN} more unknown columns")
    found = [_COLUMN_OF[key] for name in names if (key := name.strip().casefold()) in _COLUMN_OF]
    for column in COLUMNS:
        if found.count(column) > 1:
            fault(column, f"this column is there twice (it may be called {' or '.join(COLUMNS[column])})")
        elif column in NEEDED and column not in found:
            fault(column, f"this column is missing; expected {EXPECTED}")
    sound = not unknown and len(set(found)) == len(found) and set(NEEDED) <= set(found)
    return found if sound else None


def entry(cells: Mapping[str, Any], fault: Fault) -> Entry | None:
    """The entry of a row by column, or None after naming everything that is wrong with it."""
    texts = {column: _text(column, value, fault) for column, value in cells.items()}
    name = texts["kind"]
    kind = kind_named(name) if name is not None else None
    if name is not None and kind is None:
        accepted = ", ".join(f'"{k}"' for k in Kind)
        fault("kind", f"expected one of {accepted} (in any case, with spaces, _ or -); found {shown(name)}")
    for column in ("docid", "text"):
        value = texts[column]
        if value is not None and not value.strip():
            fault(column, "no text")
            return None
    docid, text = texts["docid"], texts["text"]
    if docid is None or text is None or kind is None or None in texts.values():
        return None
    # An empty cell says nothing of the target.
    return Entry(docid, kind, text, texts.get("target_text") or None)


def _text(column: str, value: Any, fault: Fault) -> str | None:
    if not isinstance(value, str):
        fault(column, f"expected a string, found {described(value)}")
        return None
    if unfit := no_text(value) or longer(value, CLAIM):
        fault(column, unfit)
        return None
    return value
