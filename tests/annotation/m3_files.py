"""Small M3 files in the published format, and the published level 3 if it is available."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from annotation.imports.actions import Checked, check_files, import_files
from projects.models import Import, Project
from projects.uploads.files import Source

LEVEL3 = Path(__file__).resolve().parents[3] / "shared" / "data" / "m3" / "level3.jsonl"
published = pytest.mark.skipif(not LEVEL3.exists(), reason=f"the published file {LEVEL3.name} is not there")
Record = dict[str, Any]


def source(text: str = "Nepralin may reduce relapse.", pmid: str = "111", **fields: str) -> Record:
    return {
        "source_pmid": pmid,
        "source_text": text,
        "source_direction": "positive",
        "source_modality": "weak",
        "source_direction_span": "reduce",
        "source_modality_span": "may",
    } | fields


def cluster(docid: str = "26258610_0", studies: list[Record] | None = None, **fields: Any) -> Record:
    """Return a level 3 record with keys in the published order."""
    studies = [source()] if studies is None else studies
    record = {
        "docid": docid,
        "pico": {"p": "", "i": "nepralin", "c": "[placebo]", "o": "relapse"},
        "discourse_relation": "agreement",
        "target_modality": "moderate",
        "target_direction": "positive",
        "target_modality_span": "",
        "target_direction_span": "reduces",
        "target_text": "The review shows that nepralin reduces relapse.",
        "input_text": " ||||| ".join(s["source_text"] for s in studies),
        "input_studies": studies,
    }
    return record | fields


def plain(docid: str, target: str, *inputs: tuple[str, str]) -> Record:
    """Return a record of level 1 or 2."""
    return {
        "docid": docid,
        "target_text": target,
        "input_text": " ||||| ".join(text for _, text in inputs),
        "input_studies": [{"source_pmid": pmid, "source_text": text} for pmid, text in inputs],
    }


def as_bytes(records: Iterable[Record]) -> bytes:
    return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)


def write(path: Path, content: bytes | Iterable[Record]) -> Source:
    path.write_bytes(content if isinstance(content, bytes) else as_bytes(content))
    return Source.of(path)


def checked(project: Project | None, *sources: Source, level: str = "") -> Checked:
    return check_files(project=project, format="m3", sources=sources, level=level)


def import_records(project: Project, *sources: Source, level: str = "") -> list[Import]:
    return import_files(project=project, format="m3", checked=checked(project, *sources, level=level), by=None)


def faults_of(path: Path, content: bytes | Iterable[Record], level: str = "") -> list[tuple[int, str, str]]:
    """Return (line, field, message) of every fault of a file."""
    return [(f.line, f.field, f.message) for f in checked(None, write(path, content), level=level).faults]


Corpus = Callable[..., Project]
