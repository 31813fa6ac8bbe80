"""Figures of rounds with suggestions can be recomputed from a release, and a changed row or figure is found."""

from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import User
from measures.recompute import suggestions
from measures.recompute.files import Findings, Folder
from projects.curation.actions import correct
from projects.models import Member, Project, Unit
from projects.queue import queries as queue_queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, label_value, skip
from tests.projects.test_suggestions import OTHER, SUGGESTED, build_suggestions, open_with
from tests.releases.recompute_runner import recompute
from tests.releases.test_again import changed
from tests.releases.test_judges_again import column
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def written() -> dict[str, Path]:
    """The release of `folder`, written once; tests change copies only."""
    return {}


def suggested(project: Project, lead: User, ann1: User, out: Path, clusters: int) -> Path:
    """Release a closed round in which every second unit of the first half has gold, and one was skipped."""
    made = build_suggestions(project, clusters)
    curator, person = (Member.objects.get(project=project, user=user) for user in (lead, ann1))
    units = Unit.objects.filter(project=project, type="proposition").order_by("pk")
    for number, unit in enumerate(units[: 2 * clusters : 2]):
        value = (SUGGESTED, label_value("negative", "strong"), OTHER)[number % 3]
        correct(unit=unit, kind="label", value=value, reason="It reads so.", by=curator)
    round = open_with(project, [person], made)
    skip(ann1, next_assignments(user=ann1, round=round)[0])
    milliseconds = 1000
    while held := next_assignments(user=ann1, round=round):
        card = queue_queries.cards(round, held[:1])[0]
        milliseconds += 37
        answer(ann1, held[0], card["value"] or OTHER, active_ms=milliseconds)
    close_round(round=round, by=None)
    return released(project, out)


@pytest.fixture
def folder(
    project: Project, lead: User, ann1: User, written: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    if not written:
        written["r"] = suggested(project, lead, ann1, tmp_path_factory.mktemp("suggested") / "r", 21)
    return written["r"]


def recompute_suggestions(folder: Path) -> Findings:
    findings = Findings()
    suggestions.recompute(Folder(folder), findings)
    return findings


def test_the_figures_of_suggestions_are_recomputed_from_their_rows(
    project: Project, lead: User, ann1: User, tmp_path: Path
) -> None:
    folder = suggested(project, lead, ann1, tmp_path / "r", 5)
    findings = recompute_suggestions(folder)
    assert (findings.differences, findings.not_recomputed) == ([], [])
    assert findings.equal[suggestions.REPORTS] > 100
    one = changed(
        folder, tmp_path / "c", suggestions.REPORTS, lambda text: text.replace('"accepted": ', '"accepted": 1', 1)
    )
    [difference] = recompute_suggestions(one).differences
    assert difference.startswith(f"{suggestions.REPORTS}: round round, fields, 1, accepted: printed 1")


@pytest.mark.long
def test_a_release_with_suggestions_is_recomputed_without_a_difference(folder: Path) -> None:
    status, said, failed = recompute(folder)
    assert (status, failed) == (0, ""), said
    assert f"{suggestions.REPORTS}: " in said


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("suggestions/outcomes.csv", column("same", "false", field="polarity", shown="true"), "fields, 2, same"),
        ("suggestions/outcomes.csv", column("right", "false", field="modality", right="true"), "fields, 4, right"),
        (
            "suggestions/outcomes.csv",
            column("suggestion_right", "true", field="polarity", suggestion_right="false"),
            "fields, 2, wrong_kept",
        ),
        ("suggestions/outcomes.csv", column("shown", "true", field=""), "skipped"),
        ("suggestions/outcomes.csv", column("review", ""), "reviews: printed 21, recomputed 1"),
        ("answers/label.csv", column("active_ms", "9000", polarity="positive"), "time, shown, median"),
        ("answers/label.csv", column("counted", "false", polarity="negative"), "blind"),
        ("suggestions/sets.jsonl", lambda text: text.replace("tiny", "huge", 1), "set, model: printed 'tiny'"),
        ("rounds.jsonl", lambda text: text.replace('"seed": 7', '"seed": 8'), "time, ci"),
        (
            suggestions.REPORTS,
            lambda text: text.replace("people are anchored", "no anchoring is shown"),
            "conclusion: printed",
        ),
    ],
)
def test_a_changed_row_or_figure_of_suggestions_is_found(
    folder: Path, tmp_path: Path, name: str, change: Callable[[str], str], told: str
) -> None:
    differences = recompute_suggestions(changed(folder, tmp_path / "c", name, change)).differences
    assert any(told in each for each in differences), differences
