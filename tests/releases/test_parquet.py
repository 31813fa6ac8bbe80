"""Parquet files, the card's head and croissant.json: others load what the JSONL and CSV files have."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command
from pyarrow import parquet as pq
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import DataSplit, SplitUnit
from api.problems import Refused
from projects.jobs.running import run_job
from projects.models import Job, Project
from releases.folders.dictionary import TABLES, table_of
from releases.folders.dictionary.table import column_of
from releases.folders.diffs import differences
from releases.folders.folder import inspect, read
from releases.huggingface import configs, croissant, writing
from releases.models import Release
from releases.publishing import actions as publishing_actions
from releases.publishing.actions import write_release
from releases.sources.options import ReleaseOptions
from tests.annotation.m3_files import cluster, import_records, write
from tests.releases.parquet_rows import assert_same_rows, source_rows
from tests.releases.test_again import corpus, judging, people, staged, study
from tests.releases.test_needed_again import released

__all__ = ["corpus", "judging", "people", "staged", "study"]
pytestmark = [pytest.mark.django_db, pytest.mark.parquet]
PATH = "huggingface/m3_level3/{}.parquet"


def rows_of(folder: Path, split: str = "full") -> list[dict[str, Any]]:
    return list(pq.ParquetFile(folder / PATH.format(split)).read().to_pylist())


def head_of(folder: Path) -> dict[str, Any]:
    _, head, _ = (folder / "README.md").read_text().split("---\n", 2)
    return dict(yaml.safe_load(head))


def split_by_review(project: Project) -> None:
    """The first review is for training, the second for testing."""
    split = DataSplit.objects.create(
        project=project,
        name="main",
        level="proposition",
        mode="strict",
        seed=1,
        parts=[],
        report={"leakage": {"pairs": []}},
        digest="0",
    )
    for one in project.clusters.select_related("review").order_by("position"):
        part = "train" if one.review.pmid == "26258610" else "test"
        SplitUnit.objects.create(
            split=split, unit=one.unit, key=one.key, review=one.review.pmid, part=part, component=1
        )


def in_new_process(*command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=settings.ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DEBUG": "1", "READ_DOT_ENV": "0", **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_every_configuration_loads_without_network_as_the_files_of_rows(study: Project, tmp_path: Path) -> None:
    split_by_review(study)
    folder = released(study, tmp_path / "r")
    out = in_new_process("-m", "tests.releases.load_offline", str(folder), str(tmp_path / "cache"))
    for reader, found in json.loads(out.splitlines()[-1]).items():
        assert [line for line in found if line[2]] == [], reader
        rows = {name: n for name, n, _ in found}
        assert (rows["m3_level3/train"], rows["m3_level3/test"]) == (2, 1)
        assert rows["m3_counterfactuals/train"] + rows["m3_counterfactuals/test"] == 3
        assert rows["systems_summaries/test"] > 0
        assert rows["agreement_reports/full"] == 2
        assert len(rows) > 20


def test_a_wrong_value_in_parquet_is_found_by_the_test_of_loading(study: Project, tmp_path: Path) -> None:
    folder = released(study, tmp_path / "r")
    path = folder / PATH.format("full")
    table = pq.ParquetFile(path).read()
    pq.write_table(table.drop_columns("docid").append_column("docid", table["target_text"]), path)
    with pytest.raises(AssertionError, match="docid"):
        assert_same_rows(folder)


def test_parts_of_a_split_have_files_and_rows_of_their_own(study: Project, tmp_path: Path) -> None:
    split_by_review(study)
    SplitUnit.objects.filter(key="26258610_1")
    folder = released(study, tmp_path / "r")
    assert {row["docid"] for row in rows_of(folder, "train")} == {"26258610_0", "26258610_1"}
    assert {row["docid"] for row in rows_of(folder, "test")} == {"30000001_0"}
    answers = pq.ParquetFile(folder / "huggingface/answers_label/test.parquet").read().to_pylist()
    assert {row["unit"].partition("/")[0] for row in answers} == {"30000001_0"}
    assert (folder / "huggingface/rounds/full.parquet").exists(), "rounds belong to no part"
    [config] = [one for one in head_of(folder)["configs"] if one["config_name"] == "m3_level3"]
    assert [one["split"] for one in config["data_files"]] == ["train", "test"]


def test_units_in_no_part_are_in_a_split_of_their_own(corpus: Project, tmp_path: Path) -> None:
    split_by_review(corpus)
    import_records(corpus, write(tmp_path / "more.jsonl", [cluster("40000001_0")]))
    folder = released(corpus, tmp_path / "r")
    assert [row["docid"] for row in rows_of(folder, "unassigned")] == ["40000001_0"]


@pytest.mark.long
def test_bytes_are_equal_in_another_process_and_with_other_batches(
    study: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = released(study, tmp_path / "first")
    for module in ("rows", "agreement", "answers", "provenance", "rounds", "systems", "counterfactuals"):
        monkeypatch.setattr(f"releases.formats.{module}.BATCH", 2)
    second = released(study, tmp_path / "second")
    assert (first / "manifest.json").read_bytes() == (second / "manifest.json").read_bytes()
    third = Path(shutil.copytree(first, tmp_path / "third"))
    shutil.rmtree(third / "huggingface")
    script = (
        "import django; django.setup(); import sys; from pathlib import Path; from releases.huggingface import writing;"
        "folder = Path(sys.argv[1]);"
        "writing.write(folder, sorted(str(p.relative_to(folder)) for p in folder.rglob('*') if p.is_file()), {})"
    )
    in_new_process("-c", script, str(third), PYTHONHASHSEED="7", DJANGO_SETTINGS_MODULE="config.settings")
    assert inspect(third).findings == []


def test_a_row_group_ends_after_rows_or_characters(
    corpus: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def groups(folder: Path, config: str) -> list[int]:
        metadata = pq.ParquetFile(folder / "huggingface" / config / "full.parquet").metadata
        assert metadata.format_version == "2.6"
        assert metadata.row_group(0).column(0).compression == "ZSTD"
        return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]

    monkeypatch.setattr(writing, "GROUP_ROWS", 2)
    folder = released(corpus, tmp_path / "rows")
    assert groups(folder, "m3_level3") == [2, 1]
    monkeypatch.setattr(writing, "GROUP_ROWS", 1000)
    monkeypatch.setattr(writing, "GROUP_CHARACTERS", 10)
    assert groups(released(corpus, tmp_path / "characters"), "m3_level3") == [1, 1, 1]
    manifest = read(folder).body
    assert manifest["parquet"]["row_group"] == {"rows": configs.GROUP_ROWS, "characters": configs.GROUP_CHARACTERS}
    assert manifest["parquet"]["pyarrow"] == writing.VERSION


def test_the_manifest_counts_the_rows_of_parquet_files_and_names_them(corpus: Project, tmp_path: Path) -> None:
    folder = released(corpus, tmp_path / "r")
    entries = {entry.path: entry for entry in read(folder).entries}
    assert entries[PATH.format("full")].rows == entries["m3/level3.jsonl"].rows == 3
    assert table_of(PATH.format("full")) == table_of("m3/level3.jsonl")
    assert inspect(folder).findings == []
    assert PATH.format("full") in (folder / "SHA256SUMS").read_text()


def test_a_changed_parquet_file_counts_as_one_difference(corpus: Project, tmp_path: Path) -> None:
    before = released(corpus, tmp_path / "before")
    import_records(corpus, write(tmp_path / "more.jsonl", [cluster("40000001_0")]))
    after = released(corpus, tmp_path / "after")
    found = {d.path: d for d in differences((before, read(before)), (after, read(after)))}
    one = found[PATH.format("full")]
    assert (one.added, one.removed, one.changed, one.keys) == (0, 0, 1, ("full.parquet",))
    assert found["m3/level3.jsonl"].keys == ("40000001_0",)


def test_the_head_of_the_card_is_that_of_a_repository_of_the_hub(corpus: Project, tmp_path: Path) -> None:
    corpus.name, corpus.licence = 'Eye: "data"\n---', "CC-BY-4.0"
    corpus.save()
    head = head_of(released(corpus, tmp_path / "r"))
    assert (head["pretty_name"], head["license"], head["language"]) == (corpus.name, "cc-by-4.0", ["en"])
    assert head["size_categories"] == ["n<1K"]
    assert [one["config_name"] for one in head["configs"] if one.get("default")] == ["m3_level3"]
    for config in head["configs"]:
        for file in config["data_files"]:
            assert (tmp_path / "r" / file["path"]).is_file()


def test_a_licence_that_the_hub_does_not_know_is_named(corpus: Project, tmp_path: Path) -> None:
    corpus.licence = "For friends only"
    corpus.save()
    head = head_of(released(corpus, tmp_path / "r"))
    assert (head["license"], head["license_name"], head["license_link"]) == ("other", corpus.licence, "LICENSE")


def test_croissant_states_what_the_data_contain_and_what_not(corpus: Project, tmp_path: Path) -> None:
    folder = released(corpus, tmp_path / "r")
    body = json.loads((folder / "croissant.json").read_text())
    assert body["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    assert body["rai:dataBiases"] == "NOT PROVIDED"
    assert "Study, first: 3" in body["rai:annotationsPerItem"]
    sums = {entry.path: entry.sha256 for entry in read(folder).entries}
    assert {one["contentUrl"]: one["sha256"] for one in body["distribution"]}.items() <= sums.items()
    used = {
        field["source"]["fileObject"]["@id"] for one in body["recordSet"] for field in one["field"] if "source" in field
    }
    assert all(path.endswith(".parquet") for path in used)


def test_croissant_has_the_context_of_its_specification() -> None:
    from mlcroissant._src.core.context import Context, CroissantVersion
    from mlcroissant._src.core.rdf import make_context

    assert make_context(Context(conforms_to=CroissantVersion.V_1_1)) == croissant.CONTEXT


def test_a_value_of_another_type_than_declared_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "rounds.jsonl").write_text('{"round": "A", "overlap": "three"}\n')
    with pytest.raises(Refused, match=r"rounds\.jsonl, rows from 1: a value of overlap"):
        writing.write(tmp_path, ["rounds.jsonl"], {})


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("rounds.jsonl", {"round": "A", "colour": "red"}),
        ("m3/level1.jsonl", {"docid": "1", "input_studies": [{"source_pmid": "1", "source_text": "", "more": 1}]}),
    ],
)
def test_fields_that_the_dictionary_lacks_are_refused_not_dropped(
    tmp_path: Path, name: str, line: dict[str, Any]
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(json.dumps(line) + "\n")
    with pytest.raises(Refused, match=r"colour|more"):
        writing.write(tmp_path, [name], {})


def test_cells_with_line_ends_quotes_and_long_texts_come_through(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    text = 'a\r\n"b",\u2028' + "x" * 200_000
    quoted = text.replace('"', '""')
    content = f'answer,flag,active_ms,"odd, name",\n1,true,5,"{quoted}",=1\n2,,,,\n'
    (tmp_path / "answers" / "label.csv").write_bytes(content.encode())
    writing.write(tmp_path, ["answers/label.csv"], {})
    first, second = pq.ParquetFile(tmp_path / "huggingface/answers_label/full.parquet").read().to_pylist()
    assert first == {"answer": "1", "flag": True, "active_ms": 5, "odd, name": text, "row": "=1"}
    assert second == {"answer": "2", "flag": None, "active_ms": None, "odd, name": "", "row": ""}


def test_parts_of_one_table_have_one_schema(tmp_path: Path) -> None:
    (tmp_path / "mslr").mkdir()
    (tmp_path / "mslr" / "train-targets.csv").write_text(",ReviewID,Target,Background\n0,1,It helps.,Pain\n")
    (tmp_path / "mslr" / "dev-targets.csv").write_text(",ReviewID,Target\n0,2,It harms.\n")
    [config] = writing.write(tmp_path, ["mslr/dev-targets.csv", "mslr/train-targets.csv"], {})
    assert (config.name, [split for split, _ in config.in_order]) == ("mslr_targets", ["train", "dev"])
    [row] = pq.ParquetFile(tmp_path / "huggingface/mslr_targets/dev.parquet").read().to_pylist()
    assert row == {"row": "0", "ReviewID": "2", "Target": "It harms.", "Background": None}


def test_types_are_those_of_described_columns_and_names_of_configurations_differ() -> None:
    for table in TABLES:
        assert set(table.types) | set(table.unit) <= set(table.columns), table.path
        assert len(set(map(column_of, table.columns))) == len(table.columns)
        assert table_of(f"huggingface/{table.config.replace('*', 'x').replace('[12]', '1')}/full.parquet") == table
    assert len({table.config for table in TABLES}) == len(TABLES)


def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing_actions, "find_spec", lambda name: None)


@pytest.mark.django_db(transaction=True)
def test_without_pyarrow_a_release_says_what_to_install_or_leaves_parquet_out(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pyarrow(monkeypatch)
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0")]))
    command = ("release", "--project", "eye", "--version", "1.0.0", "--out", str(tmp_path / "r"))
    with pytest.raises(CommandError, match=r"pip install -r requirements/parquet\.txt"):
        call_command(*command)
    assert not (tmp_path / "r").exists()
    call_command(*command, "--without", "parquet", stdout=StringIO())
    manifest = read(tmp_path / "r").body
    assert (manifest["without"], "parquet" in manifest) == (["parquet"], False)
    assert not (tmp_path / "r" / "huggingface").exists()
    head = head_of(tmp_path / "r")
    assert (head["viewer"], "configs" in head) == (False, False)
    body = json.loads((tmp_path / "r" / "croissant.json").read_text())
    assert (body["recordSet"], body["distribution"][0]["@id"]) == ([], "m3/level3.jsonl")
    monkeypatch.undo()
    with pytest.raises(CommandError, match="different content"):
        call_command(*command[:-1], str(tmp_path / "s"))


@pytest.mark.django_db(transaction=True)
def test_a_lead_chooses_on_the_page_whether_the_release_has_parquet(
    project: Project, lead: User, client_of: Callable[[User], APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pyarrow(monkeypatch)
    address = "/api/v1/projects/eye/releases/"
    failed = (
        client_of(lead).post(address, {"version": "1.0.0", "reason": "A test.", "without": []}, format="json").json()
    )
    run_job(failed["id"])
    assert "requirements/parquet.txt" in Job.objects.get(pk=failed["id"]).error
    made = (
        client_of(lead)
        .post(address, {"version": "1.0.0", "reason": "A test.", "without": ["parquet"]}, format="json")
        .json()
    )
    run_job(made["id"])
    release = Release.objects.get()
    shown = client_of(lead).get(f"/api/v1/releases/{release.pk}/").json()["manifest"]
    assert shown["without"] == ["parquet"]
    other = client_of(lead).post(address, {"version": "1.0.1", "without": ["texts of others"]}, format="json")
    assert other.status_code == 422


@pytest.mark.django_db(transaction=True)
def test_nothing_else_can_be_left_out(project: Project, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="Only these can be left out: parquet"):
        write_release(project=project, version="1.0.0", out=tmp_path / "r", options=ReleaseOptions(without=["answers"]))


def test_the_unit_of_a_row_is_found_by_its_own_key_its_target_or_its_review() -> None:
    parts = {"26258610_0": "train", "30000001": "dev"}
    found = [writing._part([key], [0], parts) for key in ("26258610_0/2", "30000001_4", "26258610_0 77", "1", "")]
    assert found == ["train", "dev", "train", "unassigned", "unassigned"]


def test_source_rows_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,\n")
    assert list(source_rows(tmp_path / "t.csv")) == [{"a": "1", "b": ""}]
