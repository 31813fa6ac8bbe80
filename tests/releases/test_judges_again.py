"""What a judge is worth can be recomputed from a release, and a changed row or figure is found and named."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import User
from evaluation.judge_figures.actions import compute_judges
from evaluation.results.actions import compute_ratings
from measures.recompute import judges
from measures.recompute.files import Findings, Folder
from projects.models import Project
from releases.folders.dictionary import table_of
from tests.evaluation.judged_rounds import extended, judge_by_quality, judge_round
from tests.evaluation.rating_rounds import PREFERENCE, QUALITY, build_runs, close_rating_round
from tests.releases.recompute_runner import recompute
from tests.releases.test_again import cell, changed
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db


@pytest.fixture
def raters(evaluator: User, ann1: User, ann2: User) -> list[User]:
    return [evaluator, ann1, ann2]


def recompute_judges(folder: Path) -> Findings:
    findings = Findings()
    judges.recompute(Folder(folder), findings)
    return findings


def test_what_a_judge_is_worth_is_recomputed_from_its_rows(
    project: Project, lead: User, raters: list[User], tmp_path: Path
) -> None:
    design = close_rating_round(project, lead, raters[:2], build_runs(project, clusters=9), sample=8)
    judge_round(design, judge_by_quality(), judge_set=extended(design))
    compute_judges(design=design)
    folder = released(project, tmp_path / "r")
    findings = recompute_judges(folder)
    assert (findings.differences, findings.not_recomputed) == ([], [])
    assert findings.equal[judges.WORTH] > 100
    one = changed(folder, tmp_path / "c", judges.WORTH, lambda text: re.sub(r'"others": 1\b', '"others": 2', text))
    told = rf"{judges.WORTH}: run \d+, Quill v1 on ratings, criteria, coherence, 1, systems"
    assert any(re.match(told, each) for each in recompute_judges(one).differences)


@pytest.fixture(scope="module")
def written() -> dict[str, Path]:
    """The release of `folder`, written once; tests change copies only."""
    return {}


@pytest.fixture
def folder(request: pytest.FixtureRequest, written: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not written:
        written["r"] = released(request.getfixturevalue("judged"), tmp_path_factory.mktemp("judged") / "r")
    return written["r"]


@pytest.fixture
def judged(project: Project, lead: User, raters: list[User]) -> Project:
    """A round of texts and a round of pairs, each with a judge; the first judge also rates four other sources."""
    runs = build_runs(project, clusters=14)
    texts = close_rating_round(project, lead, raters, runs, sample=10, options={"checks": 20, "exclude_checks": 1})
    judge_round(texts, judge_by_quality(), judge_set=extended(texts), failed=(0, 11), followed=True)
    options = {"pairs_a_source": 2}
    pairs = close_rating_round(project, lead, raters, runs, protocol=PREFERENCE, options=options, name="pairs")
    judge_round(pairs, lambda criterion, system, code: f"{QUALITY[system] + 5:.1f}")
    for design in (texts, pairs):
        compute_ratings(design=design, replicates=50)
        compute_judges(design=design)
    return project


@pytest.mark.long
def test_a_release_with_judges_is_recomputed_without_a_difference(folder: Path) -> None:
    for path in folder.glob("judges/*"):
        assert table_of(f"judges/{path.name}"), path
    lines = [json.loads(line) for line in (folder / judges.WORTH).read_text().splitlines()]
    assert [line["figures"]["facts"]["followed"] for line in lines] == [1, 0]
    assert lines[0]["figures"]["criteria"][0]["systems"][0]["others"] == 4
    status, said, failed = recompute(folder)
    assert (status, failed) == (0, ""), said
    assert int(re.search(r"judges/worth.jsonl: (\d+) figures", said)[1]) > 500  # type: ignore[index]


def column(name: str, value: str, **where: str) -> Callable[[str], str]:
    """Change a column of a CSV file in the rows whose other columns have these values."""

    def change(text: str) -> str:
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        output = io.StringIO(newline="")
        writer = csv.DictWriter(output, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {name: value} if where.items() <= row.items() else row for row in rows)
        return output.getvalue()

    return change


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        (
            "judges/ratings.csv",
            column("value", "5", criterion="coherence", systems="Birch"),
            r"judges/worth.jsonl: run \d+, Quill v1 on ratings, criteria, coherence",
        ),
        ("judges/ratings.csv", cell(0, "target", "elsewhere"), "criteria, coherence, 1, n: printed"),
        ("judges/ratings.csv", cell(-2, "is_followed", "false"), r"set \d+, page \d+, is_followed: printed 'false'"),
        ("judges/preferences.csv", cell(0, "choice", "tie"), "Quill v2 on pairs, criteria"),
        ("judges/failures.csv", cell(0, "control", "removed"), "facts, failed: printed 2, recomputed 1"),
        (
            "judges/runs.jsonl",
            lambda text: text.replace('"own_systems": []', '"own_systems": ["Alder"]', 1),
            "criteria, coherence, 1, family",
        ),
        (
            "judges/runs.jsonl",
            lambda text: text.replace('"failed": 2', '"failed": 0', 1),
            r"judges/runs.jsonl: run \d+, failed: printed 0, recomputed 2",
        ),
        ("judges/sources.jsonl", lambda text: "\n".join(text.split("\n")[2:]), "imputed: printed"),
        (
            "ratings/ratings.csv",
            column("value", "5", criterion="coherence", systems="Birch"),
            "criteria, coherence, 1, agreement",
        ),
        ("ratings/texts.csv", column("shown", "One.", system="Alder"), "coherence, 1, length"),
        ("rounds.jsonl", lambda text: text.replace('"sample": 10', '"sample": null', 1), "human_ci_reason"),
        (
            "judges/worth.jsonl",
            lambda text: re.sub(r'"winning_rate": [^,]*', '"winning_rate": 0.9', text, count=1),
            "criteria, coherence, 1, alternative, winning_rate: printed 0.9",
        ),
        (
            "judges/worth.jsonl",
            lambda text: text.replace(" may not replace", " may replace", 1).replace(
                "cannot show whether", "show that", 1
            ),
            ", sentence: printed",
        ),
    ],
)
def test_a_changed_row_or_figure_of_a_judge_is_found(
    folder: Path, tmp_path: Path, name: str, change: Callable[[str], str], told: str
) -> None:
    differences = recompute_judges(changed(folder, tmp_path / "c", name, change)).differences
    assert any(re.search(told, each) for each in differences), differences
