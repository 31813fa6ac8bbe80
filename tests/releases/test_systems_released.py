"""Systems in a release, and what it must not reveal of runs under embargo."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit.digests import digest_of
from generation.latest_runs import published_runs
from generation.models import Embargo, ItemStatus, Run, RunItem, RunStatus, Scoring, System
from generation.sources import units_of
from projects.models import Member, Project
from releases.folders.dictionary import TABLES, table_of
from releases.folders.diffs import differences
from releases.folders.folder import read
from tests.generation.exposures import build_trained_version, build_training
from tests.generation.summaries import add_summary, bring_two_reviews, build_run, scored, the_target
from tests.generation.test_probing import probed
from tests.generation.workers import staged_version
from tests.releases.test_again import corpus, judging, people, staged, study
from tests.releases.test_needed_again import released

__all__ = ["corpus", "judging", "people", "staged", "study"]
pytestmark = pytest.mark.django_db
LATER = datetime(2031, 7, 9, tzinfo=UTC)


@pytest.fixture
def reviews(project: Project, tmp_path: Path) -> Project:
    return bring_two_reviews(project, tmp_path)


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "systems" / name).read_text().splitlines()]


def whole(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_outputs_and_inputs_of_a_run_are_released_with_its_version(reviews: Project, tmp_path: Path) -> None:
    run = build_run(reviews)
    scored(run, "rouge")
    folder = released(reviews, tmp_path / "r")
    [line] = lines(folder, "runs.jsonl")
    assert (line["system"], line["version"], line["hash"], line["done"]) == ("Lead", 1, run.version.hash, 2)
    assert [(line["unit"], line["review"], line["text"]) for line in lines(folder, "summaries.jsonl")] == [
        ("111_0", "111", "It helps a lot"),
        ("222_0", "222", "It is safe"),
    ]
    with (folder / "systems" / "scores" / "rouge.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["rouge1_f1"]) for row in rows] == pytest.approx([2 / 3, 2 / 5])
    assert {row["review"] for row in rows} == {"111", "222"}
    with (folder / "systems" / "references.csv").open(newline="") as file:
        texts = {row["unit"]: row["text"] for row in csv.DictReader(file)}
    assert [texts[row["reference"]] for row in rows] == ["It helps", "It harms"]


def test_a_trained_model_is_released_with_its_trainings_and_no_name_of_another_project(
    reviews: Project, tmp_path: Path
) -> None:
    other = Project.objects.create(name="Hidden heart", slug="hidden-heart")
    build_training(other, "heart-bart-9", ["111"])
    build_training(reviews, "ours", ["999"], base="trained-heart-bart-9")
    run = Run.objects.create(version=build_trained_version(reviews, "Trained", "trained-ours"), status=RunStatus.DONE)
    for unit in units_of(reviews, "proposition"):
        add_summary(run, unit, "It helps")
    scored(run, "rouge")
    folder = released(reviews, tmp_path / "r")
    [line] = lines(folder, "runs.jsonl")
    assert line["seen"] == 1
    assert line["trainings"] == [
        {"name": name, "hash": digest_of(of), "data": "", "training": 0, "development": 0}
        for name, of in (("", "heart-bart-9"), ("ours", "ours"))
    ]
    released_bytes = b"".join(whole(folder).values())
    assert not any(word in released_bytes for word in (b"heart-bart-9", b"Hidden heart", b"hidden-heart"))


@pytest.mark.row(37)
def test_an_embargoed_run_leaves_no_trace_in_a_release(reviews: Project, people: list[Member], tmp_path: Path) -> None:
    """No name, text, score, number or time: the files equal those of a project without the run."""
    scored(build_run(reviews), "rouge")
    without = whole(released(reviews, tmp_path / "without"))
    secret = build_run(reviews, "LEAK system", write=lambda material: f"LEAK {material.source.key}")
    scored(secret, "rouge", "bleu")
    RunItem.objects.filter(run=secret).update(finished_at=LATER)
    Scoring.objects.filter(run=secret).update(finished_at=LATER)
    there = whole(released(reviews, tmp_path / "there"))
    assert any(b"LEAK" in content for content in there.values()), "else nothing was planted"
    assert b"2031-07-09" in there["manifest.json"]
    embargo = Embargo.objects.create(run=secret, member=people[1])
    assert whole(released(reviews, tmp_path / "embargoed")) == without
    embargo.lifted_at = LATER
    embargo.save()
    assert whole(released(reviews, tmp_path / "lifted")) == there


@pytest.mark.long
def test_a_newer_embargoed_run_hides_its_whole_version(reviews: Project, people: list[Member], tmp_path: Path) -> None:
    """As on the Results page: an older run of the same version has nearly the same texts."""
    old = build_run(reviews)
    new = Run.objects.create(version=old.version, status="done")
    add_summary(new, old.items.all()[0].unit_id, "It helps a lot")
    Embargo.objects.create(run=new, member=people[1])
    assert published_runs(reviews) == []
    assert not (released(reviews, tmp_path / "r") / "systems").exists()


def test_failed_items_have_no_summary(reviews: Project, tmp_path: Path) -> None:
    run = build_run(reviews, write=lambda material: None if material.source.key == "111_0" else "")
    assert RunItem.objects.filter(run=run, status=ItemStatus.FAILED).count() == 1
    folder = released(reviews, tmp_path / "r")
    assert [line["text"] for line in lines(folder, "summaries.jsonl")] == [""]
    [line] = lines(folder, "runs.jsonl")
    assert (line["units"], line["done"]) == (2, 1), "how many were lost is printed below tables"
    assert not (folder / "systems" / "scorings.jsonl").exists()


def test_every_column_of_every_file_of_rows_is_described(study: Project, tmp_path: Path) -> None:
    probed(staged_version(study, "Another"))
    folder = released(study, tmp_path / "r")
    card = (folder / "README.md").read_text()
    described = set()
    for path in [path for path in whole(folder) if path.endswith((".csv", ".jsonl"))]:
        table = table_of(path)
        assert table is not None, path
        described.add(table.path)
        rows = (folder / path).read_text(encoding="utf-8").splitlines()
        columns = next(csv.reader(rows)) if path.endswith(".csv") else list(json.loads(rows[0]))
        assert set(table.columns) <= set(columns), path
        assert set(columns) == set(table.columns) or table.others, path
        assert set(table.key) <= set(columns), path
        assert f"`{path}`: one row per {table.row}" in card
    # Values typed, reviewed, matched, rated or classified in a project, and other formats, have their own tests.
    reviewed = {
        "answers/rate.csv",
        "agreement/corrections.jsonl",
        "agreement/references.csv",
        "agreement/shown/*.csv",
        "agreement/candidates.csv",
        "agreement/returned.csv",
        "agreement/studies.jsonl",
    }
    ratings = {table.path for table in TABLES if table.path.startswith("ratings/")}
    formats = (
        "abstracts/",
        "columns/",
        "guidelines",
        "judges/",
        "m3/level[12]",
        "ms2/",
        "mslr/",
        "questions/",
        "rankings/",
        "splits/",
        "suggestions/",
        "written/",
    )
    others = {table.path for table in TABLES if table.path.startswith(formats)}
    assert {table.path for table in TABLES} - described == {"provenance/typed.csv", *reviewed, *ratings, *others}


def test_two_releases_are_compared_row_by_row_in_every_file(study: Project, tmp_path: Path) -> None:
    before = released(study, tmp_path / "before")
    scored(build_run(study, "Third", write=the_target), "rouge")
    after = released(study, tmp_path / "after")
    found = {d.path: d for d in differences((before, read(before)), (after, read(after)))}
    run = System.objects.get(name="Third").versions.get().runs.get().pk
    assert (found["systems/runs.jsonl"].added, found["systems/runs.jsonl"].keys) == (1, (str(run),))
    assert found["systems/scorings.jsonl"].keys == (f"{run} rouge",)
    scores = found["systems/scores/rouge.csv"]
    assert (scores.added, scores.removed, scores.changed) == (3, 0, 0)
    assert found["agreement/reports.jsonl"].same
