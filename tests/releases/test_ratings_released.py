"""Rating rounds in a release, and what it must not reveal before unblinding."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from evaluation.models import PageText, Rating, RatingDesign
from evaluation.results.actions import compute_ratings
from evaluation.unblinding.actions import unblind
from generation.models import Run
from measures.design import digest
from measures.recompute import agreement, ratings
from measures.recompute.__main__ import main
from measures.recompute.files import Findings, Folder
from projects.gold.actions import finish_round
from projects.models import Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.folders.dictionary import table_of
from tests.evaluation.rating_rounds import (
    BEST_WORST,
    GUIDELINE,
    PREFERENCE,
    SYSTEMS,
    build_runs,
    cards_of,
    open_rating,
    rate_all,
    rate_value,
    submit_value,
)
from tests.evaluation.test_meanings import labelled
from tests.generation.builders import build_run
from tests.generation.summaries import scored
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db
CHECKED = {"checks": 50, "exclude_fast": True}


def told(round: Round) -> None:
    close_round(round=round, by=None)
    unblind(design=RatingDesign.objects.get(round=round), by=round.project.members.get(role="lead").user)


def rated(
    project: Project, people: list[User], protocol: str = GUIDELINE, runs: list[Run] | None = None, **plan: Any
) -> tuple[Round, list[Run]]:
    runs = runs or build_runs(project)
    members = [project.members.get(user=user) for user in people]
    round = open_rating(project, members, runs, protocol, **plan)
    for user in people:
        rate_all(user, round)
    return round, runs


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "ratings" / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def whole(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parquet
def test_a_round_that_is_unblinded_is_released_a_row_a_rating(
    project: Project, lead: User, evaluator: User, ann1: User, tmp_path: Path
) -> None:
    round, _ = rated(project, [evaluator, ann1], options=CHECKED)
    told(round)
    folder = released(project, tmp_path / "r")
    ratings = rows(folder, "ratings.csv")
    assert len(ratings) == Rating.objects.count() == 2 * (16 + 2 * 4) * 3
    assert {row["systems"] for row in ratings if row["is_check"] == "false"} == set(SYSTEMS)
    assert {row["systems"] for row in ratings if row["is_check"] == "true"} == {""}
    assert {row["active_ms"] for row in ratings} == {"30000"}
    assert {row["rater"] for row in ratings} == set(
        project.members.filter(user__in=[evaluator, ann1]).values_list("pseudonym", flat=True)
    )
    [line] = lines(folder, "ratings/rounds.jsonl")
    design = RatingDesign.objects.get()
    assert (line["seed"], line["secret"], line["plan"]) == (round.seed, design.secret, design.whole)
    assert line["design"] == design.digest == digest(line["plan"])
    assert line["protocol"]["content"] == design.version.content
    assert line["exclusions"] == {"exclude_fast": True}
    assert line["unblinded_by"] == project.members.get(user=lead).pseudonym
    [options] = [one["options"] for one in lines(folder, "rounds.jsonl") if one["round"] == round.name]
    assert options["entrants"] == round.options["systems"]
    assert {one["hash"] for one in line["entrants"]} == {one["version"] for one in design.plan["entrants"]}
    texts = rows(folder, "texts.csv")
    assert {row["exact"] for row in texts if row["system"] == "Birch"} == {SYSTEMS["Birch"](n) for n in range(4)}
    assert sum(row["is_check"] == "true" and row["made_from"] != row["text"] for row in texts) == 2
    assert len(lines(folder, "ratings/sources.jsonl")) == 4


def test_every_column_of_its_files_is_described(project: Project, evaluator: User, ann1: User, tmp_path: Path) -> None:
    round, runs = rated(project, [evaluator])
    told(round)
    told(rated(project, [ann1], PREFERENCE, runs, name="pairs")[0])
    folder = released(project, tmp_path / "r")
    for path in (folder / "ratings").iterdir():
        if path.name == "methods.md":
            continue
        table = table_of(f"ratings/{path.name}")
        assert table
        found = rows(folder, path.name)[0] if path.suffix == ".csv" else lines(folder, f"ratings/{path.name}")[0]
        assert set(found) == set(table.columns)
        assert set(table.key) <= set(found)
    assert {row["choice"] for row in rows(folder, "preferences.csv")} == {"left", "right"}


@pytest.mark.parametrize("protocol", [GUIDELINE, PREFERENCE])
@pytest.mark.parametrize("closed", [False, True])
def test_an_open_or_blinded_round_leaves_only_its_line_in_a_release(
    project: Project, evaluator: User, protocol: str, closed: bool, tmp_path: Path
) -> None:
    round, runs = rated(project, [evaluator], protocol)
    if closed:
        close_round(round=round, by=None)
    folder = released(project, tmp_path / "r")
    assert not (folder / "ratings").exists()
    assert not (folder / "answers").exists()
    assert not (folder / "agreement").exists()
    [line] = lines(folder, "rounds.jsonl")
    assert (line["round"], line["seed"], line["options"], line["blind"]) == ("ratings", None, {}, True)
    said = whole(folder)
    clues = [*SYSTEMS, str(round.seed), RatingDesign.objects.get().secret, *(run.version.hash for run in runs)]
    clues += list(PageText.objects.values_list("code", flat=True))
    for word in clues:
        assert word.encode() not in said
    assert b"until they are closed and unblinded: ratings." in said
    assert main([str(folder)]) == 0


def test_a_released_round_leaves_the_release_while_its_runs_are_embargoed(
    project: Project, evaluator: User, tmp_path: Path
) -> None:
    round, runs = rated(project, [evaluator])
    told(round)
    assert (released(project, tmp_path / "before") / "ratings").exists()
    open_rating(project, [project.members.get(user=evaluator)], runs[:2], name="another")
    folder = released(project, tmp_path / "after")
    assert not (folder / "ratings").exists()
    assert {line["seed"] for line in lines(folder, "rounds.jsonl")} == {None}


@pytest.mark.parametrize("protocol", [GUIDELINE, PREFERENCE, "shipped:m3-table-3"])
def test_the_agreement_of_a_rating_round_comes_out_as_printed(
    project: Project, evaluator: User, ann1: User, protocol: str, tmp_path: Path
) -> None:
    round, _ = rated(project, [evaluator, ann1], protocol, options={"checks": 50})
    told(round)
    finish_round(round=Round.objects.get(pk=round.pk), by=None)
    folder = released(project, tmp_path / "r")
    findings = Findings()
    agreement.recompute(Folder(folder), findings)
    assert (findings.differences, findings.not_recomputed) == ([], [])
    assert findings.equal[agreement.REPORTS] > 20
    assert main([str(folder)]) == 3, "the figures of the ratings were not stored when it was released"
    path = folder / "ratings" / "methods.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("2 raters judged", "20 raters judged"), encoding="utf-8")
    assert main([str(folder)]) == 1


def test_a_release_that_counted_attention_checks_still_comes_out_as_printed(
    project: Project, evaluator: User, ann1: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older releases, which counted attention checks, do not list them in `agreement/reports.jsonl`."""
    round, _ = rated(project, [evaluator, ann1], options={"checks": 50})
    told(round)
    monkeypatch.setattr("evaluation.kinds.pages.PageKind.checks_among", lambda self, units: frozenset())
    folder = released(project, tmp_path / "r")
    path = folder / agreement.REPORTS
    [line] = lines(folder, agreement.REPORTS)
    assert line["report"]["measures"][0]["units"] == 16 + 2 * 4
    path.write_text(json.dumps({k: v for k, v in line.items() if k not in ("checks", "units_to_measure")}) + "\n")
    findings = Findings()
    agreement.recompute(Folder(folder), findings)
    assert findings.differences == []


def test_reasons_are_published_where_comments_are(project: Project, evaluator: User, tmp_path: Path) -> None:
    members = [project.members.get(user=evaluator)]
    round = open_rating(project, members, build_runs(project, clusters=1))
    value = rate_value(cards_of(evaluator, round)[0])
    value["texts"][0]["said"][0]["reason"] = "Reads like a list."
    submit_value(evaluator, next_assignments(user=evaluator, round=round)[0], value)
    told(round)
    without = released(project, tmp_path / "without")
    assert b"Reads like a list." not in whole(without)
    assert json.loads((without / "manifest.json").read_text())["counts"]["comments_left_out"] >= 1
    Project.objects.filter(pk=project.pk).update(publish_comments=True)
    folder = released(Project.objects.get(pk=project.pk), tmp_path / "with")
    assert "Reads like a list." in {row["reason"] for row in rows(folder, "ratings.csv")}
    assert b"Reads like a list." in (folder / "answers" / "rate.csv").read_bytes()


def test_the_methods_paragraph_says_what_is_known_and_marks_what_is_not(
    project: Project, evaluator: User, ann1: User, tmp_path: Path
) -> None:
    round, _ = rated(project, [evaluator, ann1], options=CHECKED)
    told(round)
    said = (released(project, tmp_path / "r") / "ratings" / "methods.md").read_text(encoding="utf-8")
    assert "2 raters judged the texts of 4 systems (Alder, Birch, Cedar and Dogwood) for 4 sources on 4 pages" in said
    assert "each rated by 2 of them; no page was repeated" in said
    assert "2 degraded texts were attention checks, each on a separate page; they received 4 answers." in said
    assert "Exclusions declared in advance: implausibly fast pages." in said
    assert "Agreement on coherence was 1.00 by Krippendorff's alpha" in said
    assert "n = 16 texts from 4 reviews, 32 ratings by 2 raters; all raters agreed on 16 of 16 texts" in said
    assert "Ethical approval: NOT PROVIDED." in said


def test_ratings_take_the_same_queries_for_any_number(
    project: Project, evaluator: User, ann1: User, tmp_path: Path
) -> None:
    from releases.formats import ratings as format
    from releases.formats.notes import Notes

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            for path, chunks in format.files(project, Notes()):
                if not path.endswith("methods.md"):
                    list(chunks)
        return len(seen)

    round, runs = rated(project, [evaluator])
    told(round)
    few = queries()
    told(rated(project, [evaluator, ann1], runs=runs, name="more")[0])
    assert queries() <= few + 5  # once per round: participants, and whether its figures belong to its answers


def test_figures_of_every_round_type_are_recomputed_from_its_files(
    project: Project, lead: User, evaluator: User, ann1: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ratings depend on a text's code, and with some codes one rating more or less changes no correlation.
    monkeypatch.setattr("evaluation.kinds.pages.token_hex", lambda size: "5ec2e7" * 5)
    labelled(project, lead, evaluator, tmp_path)  # M3's round, with gold
    runs = build_runs(project)
    told(rated(project, [evaluator, ann1], runs=runs, name="rated", options=CHECKED | {"exclude_checks": 0})[0])
    told(rated(project, [evaluator, ann1], PREFERENCE, runs, name="pairs")[0])
    told(rated(project, [evaluator, ann1], BEST_WORST, runs, name="tuples", options=CHECKED | {"exclude_checks": 0})[0])
    told(rated(project, [evaluator, ann1], "shipped:direct-assessment", runs, name="sliders")[0])
    for run in runs:
        scored(run, "rouge", "length")
    for design in RatingDesign.objects.filter(round__name__in=["rated", "pairs", "tuples", "sliders"]):
        compute_ratings(design=design)
    told(rated(project, [evaluator], runs=runs, name="later")[0])
    folder = released(project, tmp_path / "r")
    found = {line["round"]: line["figures"] for line in lines(folder, ratings.FIGURES)}
    assert [found["rated"]["kept"] is None, found["pairs"]["all"]["preferences"] == []] == [False, False]
    assert [row["n"] for row in found["tuples"]["all"]["best_worst"]] == [8]
    assert [row["raters"] for row in found["sliders"]["all"]["standardised"]] == [2, 2]
    assert found["ratings"]["not_compared"] == [{"criterion": "polarity", "value": "mixed", "n": 3}]
    findings = Findings()
    ratings.recompute(Folder(folder), findings)
    assert findings.differences == []
    assert findings.not_recomputed == ["ratings of later: not computed at the time of the release"]
    assert findings.equal[ratings.FIGURES] > 500
    assert {row["criterion"] for row in found["rated"]["all"]["correlations"]} == {
        "coherence",
        "relevance",
        "consistency",
    }
    assert any(row["systems"][0]["value"] for row in found["rated"]["all"]["metrics"])
    # One rating more or less changes the share of consistent texts; without differences there is no correlation.
    flipped = {"consistent": "not consistent", "not consistent": "consistent"}
    correlated = next(row["criterion"] for row in found["rated"]["all"]["correlations"] if row["value"] is not None)
    for criterion, most, figures in (("consistency", 1, "all, criteria, consistency"), (correlated, None, "all, corr")):
        with (folder / ratings.RATINGS).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        changed = [row for row in rows if (row["round"], row["criterion"]) == ("rated", criterion)][:most]
        for row in changed:
            row["value"] = flipped[row["value"]] if most else changed[0]["value"]
        with (folder / ratings.RATINGS).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        findings = Findings()
        ratings.recompute(Folder(folder), findings)
        assert any(figures in sentence for sentence in findings.differences)


def test_metrics_against_ratings_are_released_only_with_the_scores_that_they_are_of(
    project: Project, evaluator: User, tmp_path: Path
) -> None:
    round, runs = rated(project, [evaluator])
    told(round)
    scored(runs[0], "length")
    compute_ratings(design=RatingDesign.objects.get(round=round), replicates=10)
    units = Unit.objects.filter(cluster__isnull=False).values_list("pk", flat=True)
    build_run(runs[0].version, dict.fromkeys(units, "Anew."))
    folder = released(project, tmp_path / "r")
    [line] = lines(folder, ratings.FIGURES)
    assert line["scored"] is None
    assert not {"metrics", "correlations"} & line["figures"]["all"].keys()
    findings = Findings()
    ratings.recompute(Folder(folder), findings)
    assert findings.not_recomputed == ["metrics against ratings of ratings: not all scores are in the release"]


def test_a_project_without_rating_rounds_has_the_files_it_had(project: Project, tmp_path: Path) -> None:
    folder = released(project, tmp_path / "r")
    assert not (folder / "ratings").exists()
    assert "rounds_kept_blind" not in json.loads((folder / "manifest.json").read_text())["counts"]
