"""Small reviews in the form of MS^2's files, and the published sample if it is available."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation.imports.actions import Checked, check_files, import_files
from annotation.models import SENTENCE_CLASSES
from projects.models import Import, Project
from projects.uploads.files import Source

SAMPLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "ms2" / "sample.json"
published = pytest.mark.skipif(not SAMPLE.exists(), reason="MS^2's sample is not beside the project")
Record = dict[str, Any]
DIRECTIONS = ("significantly decreased", "no significant difference", "significantly increased")
PAIRS = (("drug a", "pain"), ("drug a", "death"))


def sentence(label: str, text: str) -> list[Any]:
    return [label, text, {name: 0.92 if name == label else 0.01 for name in SENTENCE_CLASSES}]


SENTENCES = (
    sentence("BACKGROUND", "<out> Pain </out> is common ."),
    sentence("GOAL", "We ask whether <int> Drug A </int> lowers <out> <pop> pain in adults ."),
    sentence("METHODS", "</out> </pop> Trials were sought ."),
    sentence("EFFECT", "<int> Drug A </int> lowers <out> pain </out>"),
    sentence("EFFECT", "<out> Death </out> is not affected ."),
)


def effect(intervention: str, outcome: str, evidence: str, most: int = 1, score: float = 0.25) -> Record:
    return {
        "intervention": intervention,
        "outcome": outcome,
        "classification": {name: 0.6 if n == most else 0.2 for n, name in enumerate(DIRECTIONS)},
        "evidence_sentence": evidence,
        "evidence_sentence_score": score,
    }


def reference(pmid: str = "11", abstract: str | None = "<pop> Adults </pop> had less pain .", **fields: Any) -> Record:
    evidence = "Adults had less pain ."
    return {
        "identifiers": [],
        "metadata": {"YEAR": 2004, "SO": "A Journal", "AU": []},
        "title": f"Trial {pmid}",
        "doi": None,
        "pmid": pmid,
        "s2id": 1000 + len(pmid),
        "s2hash": "4e65",
        "abstract": abstract,
        "content": None,
        "publication_types": ["JournalArticle", "Study"],
        "significances": [effect(*pair, evidence, n) for n, pair in enumerate(PAIRS)],
        "interventions": None,
        "outcomes": None,
        "populations": None,
        "in_doc_significances": None,
    } | fields


def study(entry: Record | None = None, **fields: Any) -> Record:
    entry = entry or reference()
    return {"references": [entry], **{key: entry[key] for key in ("identifiers", "metadata", "pmid", "doi")}} | fields


def review(pmid: int = 7, sentences: Sequence[list[Any]] = SENTENCES, **fields: Any) -> Record:
    return {
        "docid": str(900 + pmid),
        "title": f"Drug A for pain: review {pmid}",
        "authors": "",
        "abstract": " ".join(text for _, text, _ in sentences),
        "structured_abstract": [*sentences],
        "summary": None,
        "structured_summary": [],
        "included_studies": [study()],
        "ongoing_studies": [],
        "awaiting_studies": [],
        "excluded_studies": [],
        "general_references": [reference("21")],
        "unattributed_references": [],
        "content": None,
        "doi": None,
        "s2id": str(900 + pmid),
        "s2hash": "5c39",
        "pmid": pmid,
        "interventions": ["Drug A", "Drug A"],
        "outcomes": ["Pain", "pain in adults .", "pain", "Death"],
        "populations": ["pain in adults ."],
        "significances": [effect(*pair, "Death is not affected .") for pair in PAIRS],
    } | fields


def as_bytes(records: Iterable[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write(path: Path, content: bytes | Iterable[Record]) -> Source:
    path.write_bytes(content if isinstance(content, bytes) else as_bytes(content))
    return Source.of(path)


def checked(project: Project | None, *sources: Source, preview: bool = True) -> Checked:
    return check_files(project=project, format="ms2", sources=sources, preview=preview)


def import_records(project: Project, *sources: Source) -> Import:
    """Import without a preview, as large files are."""
    [imported] = import_files(project=project, format="ms2", checked=checked(project, *sources, preview=False), by=None)
    return imported
