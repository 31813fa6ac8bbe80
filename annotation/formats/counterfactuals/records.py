"""Counterfactuals in an import file: parsing of rows (CSV or JSON, same columns) and creation of model rows."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from annotation.clusters.gold import Gold, gold_labels
from api.problems import Conflict, Refused
from measures.counterfactuals import Kind, kind_named
from projects.models import Answer, Import, Project, Unit

from ...clusters.counterfactuals import check
from ...clusters.strata import CLAIM, length_error
from ...imports.json_lines import describe, illegal_character, quoted
from ...models import Counterfactual, PicoElement, Proposition

#: Column -> accepted names, case-insensitive. The first three are required.
COLUMNS = {
    "docid": ("docid", "cluster"),
    "kind": ("kind", "type"),
    "text": ("text", "counterfactual"),
    "target_text": ("target_text", "target"),
    # Releases contain this column. Its value is ignored: the import itself determines the origin.
    "origin": ("origin",),
}
REQUIRED = ("docid", "kind", "text")
EXPECTED = "docid, kind, text and, optionally, target_text"
_COLUMN_OF = {name: column for column, names in COLUMNS.items() for name in names}
_UNKNOWN_SHOWN = 5

Fault = Callable[[str, str], None]


class Entry(NamedTuple):
    """``docid`` is the key of the cluster. ``target_text`` is the text that the counterfactual alters, if given."""

    docid: str
    kind: Kind
    text: str
    target_text: str | None = None


def map_columns(names: Sequence[str], fault: Fault) -> list[str] | None:
    """Return the column of each name, in the same order, or None after reporting errors."""
    mapped: list[str] = []
    unknown = [name for name in names if name.strip().casefold() not in _COLUMN_OF]
    for name in unknown[:_UNKNOWN_SHOWN]:
        fault(quoted(name).strip('"') or "line", f"unknown column; expected {EXPECTED}")
    if len(unknown) > _UNKNOWN_SHOWN:
        fault("line", f"{len(unknown) - _UNKNOWN_SHOWN} more unknown columns")
    mapped = [_COLUMN_OF[key] for name in names if (key := name.strip().casefold()) in _COLUMN_OF]
    for column in COLUMNS:
        if mapped.count(column) > 1:
            fault(column, f"this column occurs twice (its names: {' or '.join(COLUMNS[column])})")
        elif column in REQUIRED and column not in mapped:
            fault(column, f"this column is missing; expected {EXPECTED}")
    is_valid = not unknown and len(set(mapped)) == len(mapped) and set(REQUIRED) <= set(mapped)
    return mapped if is_valid else None


def parse_entry(cells: Mapping[str, Any], fault: Fault) -> Entry | None:
    """Return the entry of a row, or None after reporting all of its errors."""
    texts = {column: _text(column, value, fault) for column, value in cells.items()}
    name = texts["kind"]
    kind = kind_named(name) if name is not None else None
    if name is not None and kind is None:
        accepted = ", ".join(f'"{k}"' for k in Kind)
        fault("kind", f"expected one of {accepted} (in any case, with spaces, _ or -); found {quoted(name)}")
    for column in ("docid", "text"):
        value = texts[column]
        if value is not None and not value.strip():
            fault(column, "the cell is empty; expected a text")
            return None
    docid, text = texts["docid"], texts["text"]
    if docid is None or text is None or kind is None or None in texts.values():
        return None
    # An empty cell counts as no target text.
    return Entry(docid, kind, text, texts.get("target_text") or None)


def _text(column: str, value: Any, fault: Fault) -> str | None:
    if not isinstance(value, str):
        fault(column, f"expected a string, found {describe(value)}")
        return None
    if problem := illegal_character(value) or length_error(value, CLAIM):
        fault(column, problem)
        return None
    return value


_CHUNK = 500


@dataclass
class StoredCluster:
    """Stored data of one cluster.

    ``target`` is None if the cluster was retired. ``earlier``: earlier texts of the target, before corrections.
    ``texts``: current counterfactuals of the target, by kind. ``imported``: every imported (kind, text). ``withdrawn``:
    kinds for which it was decided that the target has none.
    """

    target: Proposition | None = None
    earlier: set[str] = field(default_factory=set)
    elements: list[PicoElement] = field(default_factory=list)
    gold: dict[str, Gold] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    imported: set[tuple[str, str]] = field(default_factory=set)
    withdrawn: set[str] = field(default_factory=set)


def read_clusters(project: Project, docids: Sequence[str]) -> dict[str, StoredCluster]:
    """Return the stored data of clusters by key. Needs a few queries for each 500 clusters."""
    stored: dict[str, StoredCluster] = {}
    for start in range(0, len(docids), _CHUNK):
        stored |= _read_clusters(project, docids[start : start + _CHUNK])
    return stored


def _read_clusters(project: Project, docids: Sequence[str]) -> dict[str, StoredCluster]:
    by_key: dict[str, StoredCluster] = {}
    targets = Proposition.objects.filter(cluster__project=project, cluster__key__in=docids, position=0)
    by_unit: dict[int, StoredCluster] = {}
    by_target: dict[int, StoredCluster] = {}
    for target in targets.select_related("unit", "cluster"):
        stored = by_key.setdefault(target.cluster.key, StoredCluster())
        if target.unit.superseded_by_id:
            stored.earlier.add(target.text)
        else:
            stored.target = target
            by_unit[target.unit_id] = by_target[target.pk] = stored
    for unit, gold in gold_labels(list(by_unit)).items():
        by_unit[unit].gold = gold
    clusters = {stored.target.cluster_id: stored for stored in by_target.values() if stored.target}
    for element in PicoElement.objects.filter(cluster__in=list(clusters)).prefetch_related("fragments"):
        clusters[element.cluster_id].elements.append(element)
    counterfactuals = Counterfactual.objects.filter(target__in=list(by_target)).order_by("version")
    for pk, kind, text, imported in counterfactuals.values_list("target", "kind", "text", "imported"):
        by_target[pk].texts[kind] = text
        (by_target[pk].withdrawn.discard if text else by_target[pk].withdrawn.add)(kind)
        if imported:
            by_target[pk].imported.add((kind, text))
    for stored in by_target.values():
        stored.texts = {kind: text for kind, text in stored.texts.items() if text}
    return by_key


def texts_by_kind(entries: Sequence[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """Group (docid, kind, text) as docid -> kind -> text."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for docid, kind, text in entries:
        texts[docid][kind] = text
    return texts


@dataclass(frozen=True)
class NewCounterfactual:
    """A counterfactual of a target, loaded with its unit. ``version`` is one more than that of the corrected text."""

    target: Proposition
    kind: Kind
    text: str
    version: int = 1


def add_counterfactuals(
    *, rows: Sequence[NewCounterfactual], imported: Import | None = None, answer: Answer | None = None
) -> list[Counterfactual]:
    """Store the counterfactuals of one source.

    Raise `Refused` for an input proposition or an invalid counterfactual. Raise `Conflict` if a target was corrected or
    retired, or if the same kind was added in the meantime.
    """
    for row in rows:
        _check_entry(row)
    check_uncorrected({row.target.unit_id for row in rows})
    try:
        with transaction.atomic():
            return Counterfactual.objects.bulk_create(as_rows(rows, imported=imported, answer=answer))
    except IntegrityError:
        raise Conflict("Another person has just added a counterfactual of the same kind. Reload the page.") from None


def as_rows(
    rows: Sequence[NewCounterfactual], *, imported: Import | None = None, answer: Answer | None = None
) -> list[Counterfactual]:
    """Return unsaved rows. The caller must have checked the texts."""
    return [
        Counterfactual(
            target=row.target, kind=row.kind.value, version=row.version, text=row.text, imported=imported, answer=answer
        )
        for row in rows
    ]


def check_uncorrected(units: Collection[int]) -> None:
    """Raise `Conflict` if the unit of a target was superseded by a correction or by a retirement."""
    ids = sorted(units)
    for start in range(0, len(ids), 500):
        if Unit.objects.filter(pk__in=ids[start : start + 500], superseded_by__isnull=False).exists():
            raise Conflict("A target was corrected, or its cluster removed, since the check. Check the file again.")


def _check_entry(row: NewCounterfactual) -> None:
    if not row.target.is_target:
        raise Refused.field("target", "Only targets have counterfactuals, and this proposition is an input.")
    if errors := check(row.target, row.kind, row.text).errors:
        raise Refused.field("text", " ".join(error.message for error in errors))
