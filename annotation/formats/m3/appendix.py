"""Read the document level (level 1) with the names of the paper's appendix, which differ from the published files'."""

import re
from collections.abc import Mapping
from typing import Any

from ...clusters.items import Item
from ...clusters.strata import DOCUMENT
from .records import JOIN, PLAIN_KEYS, Fault, check_keys, parse_item, text_of

KEYS = ("target_pmid", "target_abstract", "target_conclusions", "source_items")
INPUT_KEYS = ("source_pmid", "source_abstract")
#: The published name of each of these names.
PUBLISHED = {
    "target_pmid": "docid",
    "target_conclusions": "target_text",
    "source_items": "input_studies",
    "source_abstract": "source_text",
}
_OWN_NAMES = {name: own for own, name in PUBLISHED.items()}
ASSUMED = (
    "lines have the names of the paper's appendix. Assumed: target_pmid is docid, target_conclusions is target_text, "
    "source_items is input_studies, and source_abstract is source_text. target_abstract becomes the abstract of the "
    "review if the project does not have the review yet. A release writes the names of the published files."
)


def has_appendix_names(value: Mapping[str, Any]) -> bool:
    return "target_pmid" in value and not value.keys() & set(PLAIN_KEYS)


def parse(value: Mapping[str, Any], fault: Fault) -> Item | None:
    """Return the item, or None after reporting all of its errors with ``fault(field, message)``."""
    faults: list[tuple[str, str]] = []

    def report(field: str, message: str) -> None:
        faults.append((re.sub(r"\w+", lambda match: _OWN_NAMES.get(match[0], match[0]), field), message))

    check_keys(value, KEYS, "", report)
    studies = value.get("source_items")
    for n, study in enumerate(studies if isinstance(studies, list) else ()):
        if isinstance(study, dict):
            check_keys(study, INPUT_KEYS, f"source_items[{n}]", report)
    abstract = text_of(value, "target_abstract", "", report, most=DOCUMENT)
    item = None if faults else parse_item(_published(value), "1", report)
    for field, message in faults:
        fault(field, message)
    return item._replace(abstract=abstract or "") if item and not faults else None


def _published(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with the published names."""
    studies = value["source_items"]
    if isinstance(studies, list):
        studies = [
            {PUBLISHED.get(key, key): text for key, text in study.items()} if isinstance(study, dict) else study
            for study in studies
        ]
    texts = [study["source_text"] for study in studies if isinstance(study, dict)] if isinstance(studies, list) else []
    return {
        "docid": value["target_pmid"],
        "target_text": value["target_conclusions"],
        "input_text": JOIN.join(text for text in texts if isinstance(text, str)),
        "input_studies": studies,
    }
