"""One item of M3 as published, validated strictly: every leaf a string, every key there, nothing else.

Shapes (formats.md, section 1): levels 1 and 2 have ``docid, target_text, input_text, input_studies[{source_pmid,
source_text}]``; level 3 adds the PICO tuple, the discourse relation, and labels with their cues.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from annotation.corpus.items import PMID, SLOTS, Item, Said, Source
from annotation.corpus.lengths import CLAIM, CUE, DOCUMENT, SLOT, longer
from annotation.models import Modality, Polarity, Relation
from measures.consistency.labels import is_consistent

from ..json_lines import described, no_text, shown

JOIN = " ||||| "
TARGET_KEYS = ("target_modality", "target_direction", "target_modality_span", "target_direction_span")
SOURCE_KEYS = ("source_direction", "source_modality", "source_direction_span", "source_modality_span")
PLAIN_KEYS = ("docid", "target_text", "input_text", "input_studies")
CLUSTER_KEYS = ("docid", "pico", "discourse_relation", *TARGET_KEYS, "target_text", "input_text", "input_studies")
PLAIN_INPUT_KEYS = ("source_pmid", "source_text")
CLUSTER_INPUT_KEYS = (*PLAIN_INPUT_KEYS, *SOURCE_KEYS)
DOCID = {
    "1": (PMID, "a PubMed id, such as 26258610"),
    "2": (re.compile(rf"{PMID.pattern}_(?:0|[1-9][0-9]{{0,5}})"), "a PubMed id and a number, such as 26258610_0"),
}
DOCID["3"] = DOCID["2"]
_UNKNOWN_SHOWN = 5
#: Inputs of one item, and what one file may bring: so much is written in a few seconds, in which on SQLite nobody else
#: can write. The longest published item has 19 inputs, level 3 in all 2,292 texts. More comes in several files.
MOST_INPUTS = 1_000
MOST_TEXTS = {"1": 50_000, "2": 50_000, "3": 20_000}
MOST_BYTES = 64 * 2**20

Fault = Callable[[str, str], None]


def of(
    docid: str,
    text: str,
    inputs: tuple[Source, ...],
    said: Said | None = None,
    pico: tuple[str, ...] = (),
    relation: str = "",
) -> Item:
    """The item that M3 names so: its *docid* begins with its review."""
    return Item(docid, docid.partition("_")[0], text, inputs, said, pico, relation)


def recognised(value: Mapping[str, Any]) -> str | None:
    """The level that the keys of an object show, or None."""
    if "pico" in value:
        return "3"
    docid = value.get("docid")
    if not isinstance(docid, str):
        return None
    return "2" if "_" in docid else "1"


def item(value: Mapping[str, Any], level: str, fault: Fault) -> Item | None:
    """The item, or None after naming everything that is wrong with it through ``fault(field, message)``."""
    count = 0

    def report(field: str, message: str) -> None:
        nonlocal count
        count += 1
        fault(field, message)

    is_cluster = level == "3"
    _keys(value, CLUSTER_KEYS if is_cluster else PLAIN_KEYS, "", report)
    pattern, expected = DOCID[level]
    docid = _text(value, "docid", "", report)
    if docid is not None and not pattern.fullmatch(docid):
        report("docid", f"expected {expected}, found {shown(docid)}")
    text = _text(value, "target_text", "", report, needed=True, most=CLAIM if is_cluster else DOCUMENT)
    joined = _text(value, "input_text", "", report)
    said = _said(value, "target", "", report) if is_cluster else None
    pico = _pico(value, report) if is_cluster else ()
    relation = _choice(value, "discourse_relation", "", Relation.values, report) if is_cluster else ""
    inputs = _inputs(value, is_cluster, report)
    if joined is not None and inputs is not None and joined != JOIN.join(i.text for i in inputs):
        report("input_text", f"not the texts of input_studies joined by {shown(JOIN)}; {_difference(joined, inputs)}")
    if count or docid is None or text is None or inputs is None or pico is None or relation is None:
        return None
    return of(docid, text, inputs, said, pico, relation)


def _difference(joined: str, inputs: Iterable[Source]) -> str:
    expected = JOIN.join(i.text for i in inputs)
    at = next(
        (n for n, (a, b) in enumerate(zip(joined, expected, strict=False)) if a != b), min(len(joined), len(expected))
    )
    return (
        f"they differ from character {at + 1}: {shown(joined[at : at + 20])}, expected {shown(expected[at : at + 20])}"
    )


def _inputs(value: Mapping[str, Any], is_cluster: bool, fault: Fault) -> tuple[Source, ...] | None:
    if "input_studies" not in value:
        return None
    studies = value["input_studies"]
    if not isinstance(studies, list):
        fault("input_studies", f"expected a list of objects, found {described(studies)}")
        return None
    if not studies:
        fault("input_studies", "the list is empty; expected at least one input")
        return None
    if len(studies) > MOST_INPUTS:
        fault("input_studies", f"{len(studies):,} inputs; expected at most {MOST_INPUTS:,}")
        return None
    made = [_input(study, f"input_studies[{n}]", is_cluster, fault) for n, study in enumerate(studies)]
    return tuple(i for i in made if i) if all(made) else None


def _input(study: Any, path: str, is_cluster: bool, fault: Fault) -> Source | None:
    if not isinstance(study, dict):
        fault(path, f"expected an object, found {described(study)}")
        return None
    _keys(study, CLUSTER_INPUT_KEYS if is_cluster else PLAIN_INPUT_KEYS, path, fault)
    pmid = _text(study, "source_pmid", path, fault)
    if pmid is not None and not PMID.fullmatch(pmid):
        fault(f"{path}.source_pmid", f"expected a PubMed id, such as 12038941, found {shown(pmid)}")
    text = _text(study, "source_text", path, fault, needed=True, most=CLAIM if is_cluster else DOCUMENT)
    said = _said(study, "source", path, fault) if is_cluster else None
    return None if pmid is None or text is None else Source(pmid, text, said)


def _said(value: Mapping[str, Any], side: str, path: str, fault: Fault) -> Said | None:
    polarity = _choice(value, f"{side}_direction", path, Polarity.values, fault)
    modality = _choice(value, f"{side}_modality", path, Modality.values, fault)
    cues = [_text(value, f"{side}_{name}_span", path, fault, most=CUE) for name in ("direction", "modality")]
    if polarity is None or modality is None or cues[0] is None or cues[1] is None:
        return None
    if not is_consistent(polarity, modality):
        fault(
            _join(path, f"{side}_direction"),
            f'"n/a" exactly when {side}_modality is "no evidence"; found {shown(polarity)} with {shown(modality)}',
        )
    return Said(polarity, modality, cues[0], cues[1])


def _pico(value: Mapping[str, Any], fault: Fault) -> tuple[str, ...] | None:
    if "pico" not in value:
        return None
    pico = value["pico"]
    if not isinstance(pico, dict):
        fault("pico", f"expected an object with the keys p, i, c, o, found {described(pico)}")
        return None
    _keys(pico, SLOTS, "pico", fault)
    texts = [_text(pico, slot, "pico", fault, most=SLOT) for slot in SLOTS]
    for slot, text in zip(SLOTS, texts, strict=True):
        if text and not text.strip():
            fault(f"pico.{slot}", 'only spaces; a blank slot is ""')
    return tuple(t for t in texts if t is not None) if None not in texts else None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _keys(value: Mapping[str, Any], expected: tuple[str, ...], path: str, fault: Fault) -> None:
    if tuple(value) == expected:
        return
    for key in expected:
        if key not in value:
            fault(_join(path, key), "this key is missing")
    unknown = [key for key in value if key not in expected]
    for key in unknown[:_UNKNOWN_SHOWN]:
        fault(_join(path, shown(key).strip('"')), f"an unknown key; expected {', '.join(expected)}")
    if len(unknown) > _UNKNOWN_SHOWN:
        fault(path or "line", f"{len(unknown) - _UNKNOWN_SHOWN} more unknown keys")


def _text(
    value: Mapping[str, Any], key: str, path: str, fault: Fault, *, needed: bool = False, most: int | None = None
) -> str | None:
    """A string of at most so many characters; None after a fault, or where the key is missing (which `_keys` has
    said)."""
    if key not in value:
        return None
    found = value[key]
    if not isinstance(found, str):
        fault(_join(path, key), f"expected a string, found {described(found)}")
        return None
    if unfit := no_text(found) or (most and longer(found, most)):
        fault(_join(path, key), unfit)
        return None
    if needed and not found.strip():
        fault(_join(path, key), "no text")
        return None
    return found


def _choice(value: Mapping[str, Any], key: str, path: str, allowed: Iterable[str], fault: Fault) -> str | None:
    found = _text(value, key, path, fault)
    if found is None or found in allowed:
        return found
    names = ", ".join(f'"{a}"' for a in allowed)
    fault(_join(path, key), f"expected one of {names}; found {shown(found)}")
    return None
