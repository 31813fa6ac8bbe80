"""Splits in releases: a released split never changes."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction

from annotation.models import SplitUnit
from annotation.splits.actions import create_split, discard_split, import_split
from annotation.splits.parameters import SplitParameters, parse_parts
from annotation.splits.queries import parts_by_split
from api.problems import Conflict
from audit.models import Entry
from projects.models import Project
from releases.publishing.actions import freeze
from releases.sources.parts import parts_of_units
from releases.storage.registry import folder_of
from tests.annotation.m3_files import import_records, write
from tests.annotation.test_splits import item
from tests.builders import build_cluster

pytestmark = pytest.mark.django_db(transaction=True)
HALVES = parse_parts("train=50,test=50")
create = partial(create_split, by=None)


@pytest.fixture
def eye(project: Project, tmp_path: Path) -> Project:
    """Six reviews of one study each. The first two share a study."""
    shared = [item(100 + n, "1") for n in range(2)]
    import_records(project, write(tmp_path / "l3.jsonl", [*shared, *(item(200 + n, str(300 + n)) for n in range(4))]))
    return project


def test_the_file_of_a_split_can_be_imported(eye: Project, tmp_path: Path) -> None:
    create(project=eye, asked=SplitParameters("main", parts=HALVES))
    out = tmp_path / "release"
    call_command("release", project="eye", release="1.0.0", out=out, stdout=io.StringIO())
    asked = SplitParameters("again", mode="imported")
    import_split(project=eye, asked=asked, path=out / "splits" / "main.csv", name="main.csv", by=None)
    assert parts_by_split(eye)["again"] == parts_by_split(eye)["main"]


def test_a_release_keeps_a_split_as_it_was_when_a_review_is_added(eye: Project) -> None:
    split = create(project=eye, asked=SplitParameters("main", parts=HALVES))
    first = folder_of(freeze(project=eye, version="1.0.0", by=None))
    split.refresh_from_db()
    assert split.first_release == "1.0.0"
    build_cluster(eye, 500)
    second = folder_of(freeze(project=eye, version="1.1.0", by=None))
    for name in ("main.csv", "main.json"):
        assert (first / "splits" / name).read_bytes() == (second / "splits" / name).read_bytes()
    rows = list(csv.DictReader((second / "splits" / "main.csv").open()))
    assert [row["unit"] for row in rows] == [row["review"] + "_0" for row in rows]
    assert len(rows) == 6
    assert "`splits/` has the part of each unit (splits: main)" in (second / "README.md").read_text()
    report = json.loads((second / "splits" / "main.json").read_text())
    assert report["leakage"]["pairs"][0]["pmids"] == {"count": 0, "first": []}
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        SplitUnit.objects.filter(split=split).update(part="test")


def test_the_name_of_a_released_split_is_never_used_again(eye: Project) -> None:
    split = create(project=eye, asked=SplitParameters("main", parts=HALVES))
    with pytest.raises(Conflict, match="There is a split named main"):
        create(project=eye, asked=SplitParameters("main", parts=HALVES, seed=4))
    assert create(project=eye, asked=SplitParameters("main", parts=HALVES)) == split
    discard_split(split=split, by=None)
    other = create(project=eye, asked=SplitParameters("main", parts=HALVES, seed=4))
    freeze(project=eye, version="1.0.0", by=None)
    discard_split(split=other, by=None)
    with pytest.raises(Conflict, match=r"Release 1\.0\.0 has a split named main"):
        create(project=eye, asked=SplitParameters("main", parts=HALVES, seed=5))
    assert parts_by_split(eye) == {}
    assert not (folder_of(freeze(project=eye, version="1.1.0", by=None)) / "splits").exists()
    assert Entry.objects.filter(project=eye.pk, verb="split").count() == 2
    assert Entry.objects.filter(project=eye.pk, verb="discard split").count() == 2


def test_a_release_is_divided_by_the_split_named_main(eye: Project) -> None:
    create(project=eye, asked=SplitParameters("first", parts=HALVES))
    split = create(project=eye, asked=SplitParameters("main", parts=HALVES, seed=3))
    parts = parts_of_units(eye)
    assert {key: part for key, part in parts.items() if "_" in key} == parts_by_split(eye)["main"]
    assert parts["100"] == parts["101"] == parts["100_0"]
    discard_split(split=split, by=None)
    assert parts_of_units(eye)["100_0"] == parts_by_split(eye)["first"]["100_0"]
