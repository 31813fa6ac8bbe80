"""A release contains the inputs of its figures."""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest

from accounts.models import User
from annotation.imports.actions import check_files, import_files
from annotation.models import Counterfactual
from projects.models import Member, Project
from projects.uploads.files import Source
from releases.folders.dictionary import PARQUET
from releases.folders.diffs import differences
from releases.folders.folder import read
from releases.publishing.actions import write_release
from tests.annotation.m3_files import cluster, import_records, write
from tests.annotation.test_counterfactual_import import ANTONYM, NEGATION, TARGET, as_jsonl, bring
from tests.builders import build_round
from tests.releases.parquet_rows import assert_same_rows

pytestmark = pytest.mark.django_db


def without_snapshot() -> AbstractContextManager[object]:
    """A snapshot needs its own transaction, and a test already is in one."""
    return patch("releases.publishing.actions.snapshot", nullcontext)


def released(project: Project, out: Path) -> Path:
    with without_snapshot():
        write_release(project=project, version="1.0.0", out=out)
    if (out / PARQUET).exists():
        assert_same_rows(out)
    return out


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    return project


def test_counterfactuals_are_released_by_target_and_imported_again_they_change_nothing(
    corpus: Project, tmp_path: Path
) -> None:
    level3 = (released(corpus, tmp_path / "before") / "m3" / "level3.jsonl").read_bytes()
    assert not (tmp_path / "before" / "m3" / "counterfactuals.jsonl").exists()
    given = [
        ("26258610_1", "negation", NEGATION),
        ("26258610_0", "antonym", ANTONYM),
        ("26258610_0", "negation", NEGATION),
    ]
    bring(corpus, tmp_path / "given.jsonl", as_jsonl(given))
    folder = released(corpus, tmp_path / "after")
    assert (folder / "m3" / "level3.jsonl").read_bytes() == level3
    path = folder / "m3" / "counterfactuals.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["docid"], line["kind"]) for line in lines] == [
        ("26258610_0", "negation"),
        ("26258610_0", "antonym"),
        ("26258610_1", "negation"),
    ]
    assert lines[0] == {
        "docid": "26258610_0",
        "kind": "negation",
        "target_text": TARGET,
        "text": NEGATION,
        "origin": "imported",
    }
    checked = check_files(project=corpus, format="counterfactuals", sources=[Source.of(path)])
    assert list(checked.faults) == []
    import_files(project=corpus, format="counterfactuals", checked=checked, by=None)
    assert Counterfactual.objects.count() == 3


def test_a_round_is_released_with_its_seed_filters_and_strata(corpus: Project, ann1: User, tmp_path: Path) -> None:
    people = [Member.objects.get(user=ann1)]
    first = released(corpus, tmp_path / "none")
    assert not (first / "rounds.jsonl").exists()
    build_round(corpus, people, name="Study", purpose="measure only", sample=2, seed=7, strata=("role",))
    folder = released(corpus, tmp_path / "one")
    [line] = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    assert (line["round"], line["seed"], line["units"], line["status"]) == ("Study", 7, 2, "open")
    assert line["sampling"] == {
        "filters": {},
        "order": line["sampling"]["order"],
        "sample": 2,
        "seed": 7,
        "strata": ["role"],
    }
    assert ann1.name not in (folder / "rounds.jsonl").read_text()
    found = {d.path: d for d in differences((first, read(first)), (folder, read(folder)))}
    assert (found["rounds.jsonl"].added, found["rounds.jsonl"].keys) == (1, ("Study",))
