"""Rankers of evidence in a release: every figure of their table is recomputed from the released rankings."""

from pathlib import Path

import pytest

from annotation.evidence import actions as evidence_actions
from annotation.models import Ranking, Target
from measures.recompute import rankings
from measures.recompute.files import Findings, Folder
from projects import reports
from projects.models import Project
from projects.reports.registry import Tables
from projects.stored_figures.actions import compute_and_store
from tests.annotation.test_evidence import build_review
from tests.releases.test_every_figure_again import is_among, printed_in, recompute_all
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db


@pytest.fixture
def ranked(project: Project) -> Project:
    """Twelve reviews of two pairs. Another ranker misses the evidence in some, and has not ranked the last pair."""
    for number in range(12):
        build_review(project, number)
    evidence_actions.rank(project=project, ranker="words", model="")
    for n, row in enumerate(list(Ranking.objects.order_by("pk"))[:-1]):
        order = [[3, 1, 2, 4], [1, 3, 2, 4], [1, 2, 4, 3]][n % 7 % 3]
        Ranking.objects.create(
            target=row.target, study=row.study, ranker="other", texts=row.texts, order=order, similarities=[]
        )
    return project


@pytest.mark.parquet
def test_every_figure_of_rankers_is_recomputed_from_a_release(ranked: Project, tmp_path: Path) -> None:
    folder = released(ranked, tmp_path / "r")
    known = sorted(recompute_all(folder).numbers)
    compute_and_store(project=ranked)
    table = Tables(ranked).build(reports.get("rankers"))
    numbers = [number for row in table.rows for cell in row for number in printed_in(cell)]
    assert [number for number in numbers if not is_among(number, known)] == []
    assert sum(number % 1 != 0 for number in numbers) >= 6
    lines = (folder / "rankings/mapped.csv").read_text().splitlines()
    key = Target.objects.order_by("pk")[0].key
    assert lines[0] == "target,study,review,sentences,evidence,position"
    assert lines[1].startswith(f"{key},")
    assert lines[1].split(",")[4] == "3"


def test_a_changed_ranking_is_noticed(ranked: Project, tmp_path: Path) -> None:
    folder = released(ranked, tmp_path / "r")
    path = folder / "rankings/rankings.csv"
    path.write_text(path.read_text().replace(",3 1 2 4", ",1 2 4 3", 3))
    findings = Findings()
    rankings.recompute(Folder(folder), findings)
    assert any("top_3" in sentence for sentence in findings.differences)


def test_a_project_without_rankings_has_no_such_files(project: Project, tmp_path: Path) -> None:
    build_review(project, 1)
    assert not (released(project, tmp_path / "r") / "rankings").exists()
