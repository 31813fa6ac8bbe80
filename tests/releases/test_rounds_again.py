"""What gates read and the accuracy on returning items can be recomputed from a release, and changes are found."""

from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import User
from measures.recompute import rounds
from measures.recompute.files import Findings, Folder
from measures.recompute.statistics import ROUNDS
from projects.curation.actions import correct
from projects.drift import actions as drift_actions
from projects.models import Member, Project, Round, Unit
from projects.rounds.actions import close_round
from tests.projects.test_gates import ClientOf, bar, close, pilot, planned, run_jobs
from tests.projects.test_returning import RIGHT, monitored, people, work
from tests.releases.recompute_runner import recompute
from tests.releases.test_again import changed
from tests.releases.test_judges_again import column
from tests.releases.test_needed_again import released

__all__ = ["people", "pilot"]
pytestmark = pytest.mark.django_db


def recompute_rounds(folder: Path) -> Findings:
    findings = Findings()
    rounds.recompute_gates(Folder(folder), findings)
    rounds.recompute_returned(Folder(folder), findings)
    return findings


def found_in(folder: Path, tmp_path: Path, name: str, change: Callable[[str], str]) -> list[str]:
    return recompute_rounds(changed(folder, tmp_path / str(len(list(tmp_path.iterdir()))), name, change)).differences


def test_what_a_gate_read_is_recomputed_from_the_report_of_its_pilot(
    pilot: Round, lead: User, client_of: ClientOf, tmp_path: Path
) -> None:
    waiting = planned(pilot, lead, bar(0.9, least=6))
    close(pilot, lead)
    planned(pilot, lead, bar(0.2), name="met")
    reply = client_of(lead).post(f"/api/v1/rounds/{waiting.pk}/gate/", {"reason": "It is clearer now."}, format="json")
    assert reply.status_code == 202
    run_jobs()
    folder = released(pilot.project, tmp_path / "r")
    findings = recompute_rounds(folder)
    assert (findings.differences, findings.not_recomputed, findings.not_recomputable) == ([], [], [])
    for was, is_now, told in (
        ('"outcome": "not met"', '"outcome": "met"', "gate of main, reading 1, outcome: printed 'met'"),
        ('"number": 0.9', '"number": 0.91', "gate of main, reading 1, why"),
        ('"units": 6, "value"', '"units": 7, "value"', "reading 1, figures, units: printed 7, recomputed 6"),
    ):
        differences = found_in(folder, tmp_path, ROUNDS, lambda text: text.replace(was, is_now, 1))  # noqa: B023
        assert any(told in each for each in differences), differences


def test_the_accuracy_and_the_warnings_of_raters_are_recomputed_from_their_answers(
    project: Project, people: list[Member], tmp_path: Path
) -> None:
    round = monitored(project, people[1:2], return_share=0.3)
    work(round, people[1], wrong_after=12)
    assert drift_actions.check_open_rounds() == 1
    close_round(round=round, by=None)
    folder = released(project, tmp_path / "r")
    findings = recompute_rounds(folder)
    assert (findings.differences, findings.not_recomputable) == ([], [])
    assert findings.equal[ROUNDS] > 10
    name = people[1].pseudonym
    for file, change, told in (
        (rounds.RETURNED, column("correct", "true"), f"{name}, warnings, length: printed 1, recomputed 0"),
        (rounds.RETURNED, column("correct", "false", number="1"), f"{name}, windows, 1, right"),
        (rounds.RETURNED, column("rater", "somebody", number="1"), "returning items, raters"),
        ("answers/label.csv", column("slot", "1"), "returning items, answers: printed 11, recomputed 0"),
        (ROUNDS, lambda text: text.replace('"bar": 85', '"bar": 90'), f"{name}, warnings"),
        (ROUNDS, lambda text: text.replace('"score": ', '"score": 1'), f"{name}, warnings, 1, score"),
    ):
        differences = found_in(folder, tmp_path, file, change)
        assert any(told in each for each in differences), differences


@pytest.mark.long
def test_warnings_that_newer_gold_would_not_give_are_no_difference(
    project: Project, people: list[Member], tmp_path: Path
) -> None:
    round = monitored(project, people[1:2], return_share=0.3)
    work(round, people[1], wrong_after=12)
    drift_actions.check_open_rounds()
    wrong = RIGHT | {"polarity": "positive"}
    for unit in Unit.objects.filter(type="proposition").order_by("pk")[:24]:
        correct(unit=unit, kind="label", value=wrong, reason="It reads otherwise.", by=people[0])
    folder = released(project, tmp_path / "r")
    status, said, failed = recompute(folder)
    assert (status, failed) == (0, ""), said
    assert "answers or gold are newer than the last check" in said
    assert '"warnings_are_current": false' in (folder / ROUNDS).read_text()
