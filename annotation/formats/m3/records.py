"""Parse and validate one M3 item as published.

Every leaf is a string, every key is required, and no other key is allowed. Shapes (formats.md, section 1): levels 1 and
2 have ``docid, target_text, input_text, input_studies[{source_pmid, source_text}]``. Level 3 adds the PICO tuple, the
discourse relation, and labels with their cues.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from measures.consistency.labels import is_consistent

from ...clusters.items import ELEMENTS, PMID, Item, Source, TextLabels
from ...clusters.strata import CLAIM, CUE, DOCUMENT, ELEMENT, length_error
from ...imports.json_lines import describe, illegal_character, quoted
from ...models import Modality, Polarity, Relation

JOIN = " ||||| "
TARGET_KEYS = ("target_modality", "target_direction", "target_modality_span", "target_direction_span")
SOURCE_KEYS = ("source_direction", "source_modality", "source_direction_span", "source_modality_span")
PLAIN_KEYS = ("docid", "target_text", "input_text", "input_studies")
CLUSTER_KEYS = ("docid", "pico", "discourse_relation", *TARGET_KEYS, "target_text", "input_text", "input_studies")
PLAIN_INPUT_KEYS = ("source_pmid", "source_text")
CLUSTER_INPUT_KEYS = (*PLAIN_INPUT_KEYS, *SOURCE_KEYS)
#: Documents and their inputs may come from elsewhere than PubMed. In keys, "_", "/" and a space precede a number.
_DOCUMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:-]{0,39}")
_DOCUMENT_EXPECTED = "a PMID, such as 26258610, or an id of at most 40 letters, digits, hyphens, dots and colons"
DOCID = {
    "1": (_DOCUMENT, _DOCUMENT_EXPECTED),
    "2": (re.compile(rf"{PMID.pattern}_(?:0|[1-9][0-9]{{0,5}})"), "a PMID and a number, such as 26258610_0"),
}
DOCID["3"] = DOCID["2"]
_UNKNOWN_SHOWN = 5
#: Maximum number of inputs of an item. The longest published item has 19, the longest review of MS^2 401.
MOST_INPUTS = 1_000
#: Length of the published form without its texts: of an item, and of one input with its separator.
_ITEM_LENGTH = len('{"docid": "", "target_text": "", "input_text": "", "input_studies": []}')
_INPUT_LENGTH = len('{"source_pmid": "", "source_text": ""}, ')

Fault = Callable[[str, str], None]


def make_item(
    docid: str,
    text: str,
    inputs: tuple[Source, ...],
    labels: TextLabels | None = None,
    pico: tuple[str, ...] = (),
    relation: str = "",
) -> Item:
    """Return an item whose review is the first part of its M3 *docid*."""
    return Item(docid, docid.partition("_")[0], text, inputs, labels, pico, relation)


def detect_level(value: Mapping[str, Any]) -> str | None:
    """Return the level that the keys of an object indicate, or None."""
    if "pico" in value:
        return "3"
    if "target_pmid" in value:
        return "1"
    docid = value.get("docid")
    if not isinstance(docid, str):
        return None
    return "2" if "_" in docid else "1"


def parse_item(value: Mapping[str, Any], level: str, fault: Fault) -> Item | None:
    """Return the item, or None after reporting all of its errors with ``fault(field, message)``."""
    count = 0

    def report(field: str, message: str) -> None:
        nonlocal count
        count += 1
        fault(field, message)

    is_cluster = level == "3"
    check_keys(value, CLUSTER_KEYS if is_cluster else PLAIN_KEYS, "", report)
    pattern, expected = DOCID[level]
    docid = text_of(value, "docid", "", report)
    if docid is not None and not pattern.fullmatch(docid):
        report("docid", f"expected {expected}, found {quoted(docid)}")
    text = text_of(value, "target_text", "", report, needed=True, most=CLAIM if is_cluster else DOCUMENT)
    joined = text_of(value, "input_text", "", report)
    labels = _labels(value, "target", "", report) if is_cluster else None
    pico = _pico(value, report) if is_cluster else ()
    relation = _choice(value, "discourse_relation", "", Relation.values, report) if is_cluster else ""
    inputs = _inputs(value, level, report)
    if joined is not None and inputs is not None and joined != JOIN.join(i.text for i in inputs):
        report(
            "input_text", f"expected the texts of input_studies joined by {quoted(JOIN)}; {_difference(joined, inputs)}"
        )
    if count or docid is None or text is None or inputs is None or pico is None or relation is None:
        return None
    return make_item(docid, text, inputs, labels, pico, relation)


def _difference(joined: str, inputs: Iterable[Source]) -> str:
    expected = JOIN.join(i.text for i in inputs)
    at = next(
        (n for n, (a, b) in enumerate(zip(joined, expected, strict=False)) if a != b), min(len(joined), len(expected))
    )
    return (
        f"they differ from character {at + 1}: {quoted(joined[at : at + 20])}, expected "
        f"{quoted(expected[at : at + 20])}"
    )


def _inputs(value: Mapping[str, Any], level: str, fault: Fault) -> tuple[Source, ...] | None:
    if "input_studies" not in value:
        return None
    studies = value["input_studies"]
    if not isinstance(studies, list):
        fault("input_studies", f"expected a list of objects, found {describe(studies)}")
        return None
    if not studies:
        fault("input_studies", "the list is empty; expected at least one input")
        return None
    if len(studies) > MOST_INPUTS:
        fault("input_studies", f"{len(studies):,} inputs; expected at most {MOST_INPUTS:,}")
        return None
    parsed = [_input(study, f"input_studies[{n}]", level, fault) for n, study in enumerate(studies)]
    return tuple(i for i in parsed if i) if all(parsed) else None


def _input(study: Any, path: str, level: str, fault: Fault) -> Source | None:
    is_cluster = level == "3"
    if not isinstance(study, dict):
        fault(path, f"expected an object, found {describe(study)}")
        return None
    check_keys(study, CLUSTER_INPUT_KEYS if is_cluster else PLAIN_INPUT_KEYS, path, fault)
    pmid = text_of(study, "source_pmid", path, fault)
    pattern, expected = DOCID["1"] if level == "1" else (PMID, "a PMID, such as 12038941")
    if pmid is not None and not pattern.fullmatch(pmid):
        fault(f"{path}.source_pmid", f"expected {expected}, found {quoted(pmid)}")
    text = text_of(study, "source_text", path, fault, needed=True, most=CLAIM if is_cluster else DOCUMENT)
    labels = _labels(study, "source", path, fault) if is_cluster else None
    return None if pmid is None or text is None else Source(pmid, text, labels)


def _labels(value: Mapping[str, Any], side: str, path: str, fault: Fault) -> TextLabels | None:
    polarity = _choice(value, f"{side}_direction", path, Polarity.values, fault)
    modality = _choice(value, f"{side}_modality", path, Modality.values, fault)
    cues = [text_of(value, f"{side}_{name}_span", path, fault, most=CUE) for name in ("direction", "modality")]
    if polarity is None or modality is None or cues[0] is None or cues[1] is None:
        return None
    if not is_consistent(polarity, modality):
        fault(
            _join(path, f"{side}_direction"),
            f'expected "n/a" exactly if {side}_modality is "no evidence"; '
            f"found {quoted(polarity)} with {quoted(modality)}",
        )
    return TextLabels(polarity, modality, cues[0], cues[1])


def _pico(value: Mapping[str, Any], fault: Fault) -> tuple[str, ...] | None:
    if "pico" not in value:
        return None
    pico = value["pico"]
    if not isinstance(pico, dict):
        fault("pico", f"expected an object with the keys p, i, c, o, found {describe(pico)}")
        return None
    check_keys(pico, ELEMENTS, "pico", fault)
    texts = [text_of(pico, element, "pico", fault, most=ELEMENT) for element in ELEMENTS]
    for element, text in zip(ELEMENTS, texts, strict=True):
        if text and not text.strip():
            fault(f"pico.{element}", 'the text has only spaces; write a blank element as ""')
    return tuple(t for t in texts if t is not None) if None not in texts else None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def check_keys(value: Mapping[str, Any], expected: tuple[str, ...], path: str, fault: Fault) -> None:
    if tuple(value) == expected:
        return
    for key in expected:
        if key not in value:
            fault(_join(path, key), "this key is missing")
    unknown = [key for key in value if key not in expected]
    for key in unknown[:_UNKNOWN_SHOWN]:
        fault(_join(path, quoted(key).strip('"')), f"unknown key; expected {', '.join(expected)}")
    if len(unknown) > _UNKNOWN_SHOWN:
        fault(path or "line", f"{len(unknown) - _UNKNOWN_SHOWN} more unknown keys")


def text_of(
    value: Mapping[str, Any], key: str, path: str, fault: Fault, *, needed: bool = False, most: int | None = None
) -> str | None:
    """Return a string of at most ``most`` characters.

    Return None after reporting an error, or if the key is missing (`check_keys` reports missing keys).
    """
    if key not in value:
        return None
    text = value[key]
    if not isinstance(text, str):
        fault(_join(path, key), f"expected a string, found {describe(text)}")
        return None
    if problem := illegal_character(text) or (most and length_error(text, most)):
        fault(_join(path, key), problem)
        return None
    if needed and not text.strip():
        fault(_join(path, key), "the text is empty")
        return None
    return text


def _choice(value: Mapping[str, Any], key: str, path: str, allowed: Iterable[str], fault: Fault) -> str | None:
    text = text_of(value, key, path, fault)
    if text is None or text in allowed:
        return text
    names = ", ".join(f'"{a}"' for a in allowed)
    fault(_join(path, key), f"expected one of {names}; found {quoted(text)}")
    return None


def as_published(item: Item) -> dict[str, Any]:
    """Return the object whose ``json.dumps(..., ensure_ascii=False)`` is the published line."""
    joined = JOIN.join(s.text for s in item.inputs)
    if item.labels is None:
        return {
            "docid": item.key,
            "target_text": item.text,
            "input_text": joined,
            "input_studies": [{"source_pmid": s.pmid, "source_text": s.text} for s in item.inputs],
        }
    return {
        "docid": item.key,
        "pico": dict(zip(ELEMENTS, item.pico, strict=True)),
        "discourse_relation": item.relation,
        "target_modality": item.labels.modality,
        "target_direction": item.labels.polarity,
        "target_modality_span": item.labels.modality_cue,
        "target_direction_span": item.labels.polarity_cue,
        "target_text": item.text,
        "input_text": joined,
        "input_studies": [
            {
                "source_pmid": s.pmid,
                "source_text": s.text,
                "source_direction": s.labels.polarity,
                "source_modality": s.labels.modality,
                "source_direction_span": s.labels.polarity_cue,
                "source_modality_span": s.labels.modality_cue,
            }
            for s in item.inputs
            if s.labels
        ],
    }


def is_as_published(item: Item, line: str) -> bool:
    """Whether a line is the published form of its item, character by character.

    Writing every line again takes as long as reading it. Without labels and rare escapes the length decides, because
    all other escapes take two characters for one. It does not show spaces that moved within the line.
    """
    has_escapes = "\\" in line
    if item.labels is not None or (has_escapes and ("\\u" in line or "\\/" in line)):
        return json.dumps(as_published(item), ensure_ascii=False) == line
    texts = sum(len(source.text) for source in item.inputs)
    number = len(item.inputs)
    expected = (
        _ITEM_LENGTH + len(item.key) + len(item.text) + 2 * texts + len(JOIN) * (number - 1)
        + _INPUT_LENGTH * number - len(", ") + sum(len(source.pmid) for source in item.inputs)
    )  # fmt: skip
    escapes = line.count("\\") - line.count("\\\\") if has_escapes else 0
    return len(line) == expected + escapes and line.startswith('{"docid": "')
