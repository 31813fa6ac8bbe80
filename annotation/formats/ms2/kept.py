"""Fields of MS^2 without a column: kept as text in the metadata of a row, in the order of the file.

The text is JSON with the fields that have another value than usual. The key "" has the order of all keys, if it is not
the usual one. PostgreSQL would reorder the keys of a JSON column.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from measures.pio import spans_of

from .items import QUOTES, REFERENCE_KEYS, REVIEW_KEYS, STUDY_KEYS, Item, Json

#: Usual values of the published files.
USUAL: Json = {
    "authors": "", "summary": None, "structured_summary": [], "ongoing_studies": [], "awaiting_studies": [],
    "excluded_studies": [], "unattributed_references": [], "content": None, "doi": None, "identifiers": [],
    "interventions": None, "outcomes": None, "populations": None, "in_doc_significances": None,
}  # fmt: skip
METADATA_KEYS = ("YEAR", "SO", "AU")
#: Years that a column can hold.
YEARS = range(1, 32_768)
ORDER = ""
# json.dumps would create an encoder for each value.
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


class StudyColumns(NamedTuple):
    """What is stored of a reference with its study."""

    title: str
    year: int | None
    types: Sequence[str]
    kept: str


def pack(value: Json, usual_keys: Sequence[str], but: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of an object with unusual values, without those that rows hold (``but``)."""
    unset = object()
    packed = {
        key: one
        for key, one in value.items()
        if key not in but and not (type(one) is type(known := USUAL.get(key, unset)) and one == known)
    }
    if tuple(value) != usual_keys:
        packed[ORDER] = list(value)
    return packed


def unpack(packed: Json, usual_keys: Sequence[str], rows: Json) -> dict[str, Any]:
    """Return the published object. ``rows`` has the fields that rows hold."""
    return {
        key: packed[key] if key in packed else rows[key] if key in rows else USUAL[key]
        for key in packed.get(ORDER, usual_keys)
    }


def dumped(packed: Json) -> str:
    return _encode(packed) if packed else ""


def loaded(metadata: Json, format: str) -> dict[str, Any]:
    """Return the kept fields in the metadata of a row."""
    text = metadata.get(format)
    return json.loads(text) if text else {}


# Reviews

_OF_REVIEW = ("abstract", "structured_abstract", "included_studies", "general_references", "significances")


def of_review(item: Item) -> str:
    value = item.value
    but = {*_OF_REVIEW, "title", "pmid", *QUOTES}
    if not isinstance(value["title"], str):
        but.remove("title")
    if type(value["pmid"]) is not int or str(value["pmid"]) != item.key:
        but.remove("pmid")
    if value["abstract"] is None:
        but.remove("abstract")
    quotes = quotes_of(item.text, item.tags)
    but -= {name for name in QUOTES if value.get(name) != quotes[name]}
    packed = pack(value, REVIEW_KEYS, but)
    if item.repeated:
        packed["repeated"] = [[name, n, value[name][n]] for name, n in item.repeated]
    return dumped(packed)


def quotes_of(text: str, tags: Sequence[Any]) -> dict[str, list[str]]:
    """Return the quotes of populations, interventions and outcomes, by the names of the published lists."""
    spans, _ = spans_of(text, tags)
    return {name: [text[slice(*span.range)] for span in spans if span.kind == kind] for name, kind in QUOTES.items()}


def review_of(packed: Json, pmid: str, title: str, rows: Json) -> dict[str, Any]:
    """Return the published review. ``rows`` has its abstract, sentences, studies, effects and quotes."""
    known = dict(rows) | {"title": title} | ({"pmid": int(pmid)} if "pmid" not in packed else {})
    for name, n, entry in packed.get("repeated", ()):
        known[name] = [*known[name][:n], entry, *known[name][n:]]
    return unpack(packed, REVIEW_KEYS, known)


# Studies

_OF_STUDY = frozenset({"abstract", "significances"})


def of_study(reference: Json) -> StudyColumns:
    but = set(_OF_STUDY)
    more: dict[str, Any] = {}
    title, types, metadata = (reference.get(name) for name in ("title", "publication_types", "metadata"))
    if isinstance(title, str):
        but.add("title")
    if isinstance(types, list):
        but.add("publication_types")
    if isinstance(reference.get("pmid"), str) and reference["pmid"]:
        but.add("pmid")
    year = metadata.get("YEAR") if isinstance(metadata, dict) else None
    year = year if type(year) is int and year in YEARS else None
    if isinstance(metadata, dict) and tuple(metadata) == METADATA_KEYS and metadata["YEAR"] == year:
        but.add("metadata")
        more = {"SO": metadata["SO"]} | ({"AU": metadata["AU"]} if metadata["AU"] != [] else {})
    return StudyColumns(
        title if isinstance(title, str) else "",
        year,
        types if isinstance(types, list) else [],
        dumped(pack(reference, REFERENCE_KEYS, but) | more),
    )


def reference_of(study: StudyColumns, pmid: str, packed: Json, rows: Json) -> dict[str, Any]:
    """Return the published reference. ``rows`` has its abstract and effects."""
    known = dict(rows) | {"title": study.title, "publication_types": study.types, "pmid": pmid}
    known["metadata"] = {"YEAR": study.year, "SO": packed.get("SO"), "AU": packed.get("AU", [])}
    return unpack(packed, REFERENCE_KEYS, known)


# Inclusions


def of_inclusion(entry: Json | None, reference: Json, is_as_stored: bool) -> dict[str, Any]:
    """Return what a review says of a study: differences from the stored study, and fields of its own entry.

    ``entry`` is None for a general reference.
    """
    packed: dict[str, Any] = {}
    if not is_as_stored:
        packed["reference"] = {key: one for key, one in reference.items() if key not in _OF_STUDY}
        packed["reference"][ORDER] = list(reference)
    if reference.get("abstract") is None:
        packed["abstract"] = None
    if entry is not None:
        repeats = {key for key in STUDY_KEYS[1:] if key in entry and is_same(entry[key], reference.get(key))}
        if study := pack(entry, STUDY_KEYS, {"references", *repeats}):
            packed["study"] = study
    return packed


def entry_of(packed: Json, reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the published entry of an included study."""
    return unpack(packed.get("study", {}), STUDY_KEYS, {**reference, "references": [reference]})


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON, with the same order of keys."""
    return one == other and type(one) is type(other) and (not isinstance(one, dict) or list(one) == list(other))
