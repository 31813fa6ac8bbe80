"""Human evaluation in Results: from answers to stored figures, tables, files and permissions."""

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Conflict
from audit.actions import create_checkpoints
from audit.verify import findings
from evaluation.models import PageText, RatingDesign, RatingFigures
from evaluation.protocols.actions import create_protocol
from evaluation.results import tidy
from evaluation.results.actions import KIND, compute_ratings
from evaluation.results.computed import RULES, stored
from evaluation.results.rating_rows import RoundRatings
from evaluation.results.serializers import ExampleRatingSerializer, ExampleSerializer
from evaluation.results.tables.building import Ratings
from evaluation.unblinding.actions import unblind
from generation.models import Run
from projects import reports
from projects.jobs.running import run_job
from projects.models import Job, Member, Project, Round
from projects.queue.actions import next_assignments
from projects.reports.registry import Tables
from projects.reports.writing import FORMATS, UNDEFINED, words
from projects.rounds.actions import close_round
from tests.builders import build_cluster
from tests.conftest import person
from tests.evaluation.protocol_drafts import criterion, protocol
from tests.evaluation.rating_rounds import (
    PREFERENCE,
    QUALITY,
    SYSTEMS,
    build_runs,
    cards_of,
    close_rating_round,
    default_choice,
    open_rating,
    rate_all,
    rate_value,
    submit_value,
)
from tests.generation import builders
from tests.generation.builders import build_run, build_version
from tests.generation.exposures import build_training
from tests.measures import rating_oracle as oracle

pytestmark = pytest.mark.django_db


def figures_of(design: RatingDesign) -> Any:
    compute_ratings(design=design, replicates=50)
    found = stored(design)
    assert found is not None
    return found.figures


def rows_of(design: RatingDesign) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(tidy.lines(design)))))


def address(round: Round, more: str = "") -> str:
    return f"/api/v1/rounds/{round.pk}/ratings/{more}"


def test_known_effects_come_out_in_order_with_letters(
    project: Project, lead: User, evaluator: User, ann1: User
) -> None:
    design = close_rating_round(project, lead, [evaluator, ann1], build_runs(project, clusters=12))
    figures = figures_of(design)["all"]
    coherence = next(each for each in figures["criteria"] if each["criterion"] == "coherence")
    means = {row["system"]: row["value"] for row in coherence["systems"]}
    assert sorted(means, key=means.__getitem__, reverse=True) == list(QUALITY)
    assert coherence["letters"]["Alder"] == "a"
    assert not set(coherence["letters"]["Alder"]) & set(coherence["letters"]["Dogwood"])
    assert {row["n"] for row in coherence["systems"]} == {12}


def test_an_independent_script_gets_the_same_from_the_tidy_file(
    project: Project, lead: User, evaluator: User, ann1: User
) -> None:
    design = close_rating_round(
        project, lead, [evaluator, ann1], build_runs(project, clusters=8), options={"checks": 20}
    )
    figures = figures_of(design)["all"]
    good = {"consistency": "consistent"}
    rows = [
        {
            "source": row["source"],
            "system": system,
            "rater": row["rater"],
            "criterion": row["criterion"],
            "repeat": int(row["repeat"]),
            "value": None if row["na"] == "true" else _number(row, good),
        }
        for row in rows_of(design)
        if row["is_check"] == "false"
        for system in row["systems"].split(tidy.BETWEEN)
    ]
    for made in figures["criteria"]:
        cells = oracle.cells_of(rows, made["criterion"])
        for row in made["systems"]:
            values = [cells[row["system"]][source] for source in sorted(cells[row["system"]])]
            share = made["kind"] == "share"
            theirs = oracle.share(values, row["judgements"]) if share else oracle.mean(values)
            assert (row["value"], row["n"]) == (pytest.approx(theirs["value"]), theirs["n"])
            assert (row["ci"], bool(row["ci_reason"])) == (None, True)  # eight reviews
        for row, theirs in zip(made["pairs"], oracle.pairs(cells, figures["systems"], share), strict=True):
            assert row["comparison"]["difference"]["value"] == pytest.approx(theirs["difference"], abs=1e-12)
            assert row["comparison"]["p"] == pytest.approx(theirs["p"])
            assert row["holm"] == pytest.approx(theirs["holm"])


def _number(row: Mapping[str, str], good: Mapping[str, str]) -> float:
    right = good.get(row["criterion"])
    return float(row["value"] == right) if right else float(row["value"])


def test_a_shared_text_counts_for_both_systems_and_a_degraded_one_for_none(
    project: Project, lead: User, evaluator: User
) -> None:
    runs = build_runs(project, clusters=4)
    design = close_rating_round(project, lead, [evaluator], runs, options={"checks": 50})
    said = RoundRatings(design)
    assert {each.system for each in said.judgements} == set(SYSTEMS)
    assert len(said.judgements) == 4 * 4 * 3
    (checked,) = said.checks.values()
    assert checked[1] == PageText.objects.filter(is_check=True).exclude(made_from=F("code")).count() == 2
    rows = rows_of(design)
    assert len(rows) == 3 * (16 + 2 * 4)
    bad = [row for row in rows if row["is_check"] == "true"]
    assert {row["systems"] for row in bad} == {""}
    made_from = PageText.objects.filter(is_check=True).values_list("made_from", flat=True)
    assert {row["made_from"] for row in bad} == set(made_from)


def test_preferences_give_strengths_of_systems(project: Project, lead: User, evaluator: User, ann1: User) -> None:
    runs = build_runs(project, systems=("Alder", "Birch", "Cedar"))
    design = close_rating_round(project, lead, [evaluator, ann1], runs, protocol=PREFERENCE)
    (made, *_) = figures_of(design)["all"]["preferences"]
    assert {row["system"] for row in made["systems"]} == {"Alder", "Birch", "Cedar"}
    assert made["n"] == 24
    raters = Tables(project).build(reports.get("raters"))
    assert [row[1].value for row in raters.rows] == sorted(
        project.members.filter(user__in=[evaluator, ann1]).values_list("pseudonym", flat=True)
    )
    rows = rows_of(design)
    won = {name: sum(row[f"{row['choice']}_systems"] == name for row in rows) for name in QUALITY}
    assert {row["system"]: row["wins"] for row in made["systems"]} == {k: v for k, v in won.items() if k != "Dogwood"}
    table = Tables(project).build(reports.get("preferences"))
    assert len(table.rows) == 3


def test_declared_rules_give_figures_with_and_without(
    project: Project, lead: User, evaluator: User, ann1: User
) -> None:
    options = {"checks": 50, "exclude_checks": 0}
    design = close_rating_round(project, lead, [evaluator, ann1], build_runs(project), options=options)
    figures = figures_of(design)
    failed = {row["rater"] for row in figures["checks"] if row["failed"]}
    left = {rater for rule in figures["left_out"] for rater in rule["raters"]}
    assert left == failed
    assert figures["kept"]["judgements"] == figures["all"]["judgements"] * (2 - len(failed)) // 2


def test_reading_takes_the_same_queries_for_more_ratings(
    project: Project, lead: User, evaluator: User, client_of: Callable[[User], APIClient]
) -> None:
    counts, opened = [], []
    # Reading a protocol for the first time is no matter of this test.
    RoundRatings(close_rating_round(project, lead, [evaluator], _more(project, 1), name="first"))
    for clusters in (2, 6):
        runs = _more(project, clusters)
        design = close_rating_round(project, lead, [evaluator], runs, name=f"of {clusters}")
        with CaptureQueriesContext(connection) as seen:
            said = RoundRatings(design)
            assert said.judgements
            said.scores(said.scorings())
        counts.append(len(seen))
        compute_ratings(design=design, replicates=0)
        with CaptureQueriesContext(connection) as seen:
            shown = client_of(lead).get(address(design.round)).json()
            client_of(lead).get(address(design.round, "examples/"))
        assert shown["figures"]["all"]["items"] == clusters
        opened.append(len(seen))
    assert counts[0] == counts[1]
    assert opened[0] == opened[1]


def _more(project: Project, clusters: int) -> list[Run]:
    there = [build_cluster(project, number=100 * clusters + n) for n in range(clusters)]
    return [
        build_run(
            build_version(project, name, decoding={"sentences": clusters}),
            {c.unit_id: SYSTEMS[name](n) for n, c in enumerate(there)},
        )
        for name in ("Alder", "Birch", "Cedar")[: 1 + clusters // 2]
    ]


def test_unblinding_asks_for_the_figures_and_a_worker_stores_them(
    project: Project, lead: User, evaluator: User, client_of: Callable[[User], APIClient]
) -> None:
    design = close_rating_round(project, lead, [evaluator], build_runs(project, clusters=3))
    waiting = client_of(lead).get(address(design.round))
    assert (waiting.status_code, waiting.json()["figures"]) == (202, None)
    job = Job.objects.get(kind=KIND)
    run_job(job.pk)
    found = client_of(lead).get(address(design.round))
    assert found.status_code == 200
    assert (found.json()["outdated"], found.json()["job"]) == ([], None)
    create_checkpoints()
    run_job(client_of(lead).post(address(design.round)).json()["id"])
    assert [str(one) for one in findings()] == [], "figures that a worker replaced are no finding"
    RatingFigures.objects.update(rule="another")
    assert [one.what for one in findings()] == [f"evaluation.ratingfigures {RatingFigures.objects.get().pk}"]
    assert client_of(lead).get(address(design.round)).json()["outdated"] == [RULES]
    assert client_of(lead).post(address(design.round)).status_code == 202


def test_results_of_a_changed_design_are_not_computed(project: Project, lead: User, evaluator: User) -> None:
    design = close_rating_round(project, lead, [evaluator], build_runs(project, clusters=2))
    PageText.objects.filter(pk=PageText.objects.order_by("pk")[0].pk).update(system_numbers=[9])
    with pytest.raises(Conflict, match="changed after it was frozen"):
        compute_ratings(design=design)


@pytest.mark.parametrize("more", ["", "examples/", "file/"])
def test_nobody_sees_ratings_of_systems_before_they_are_unblinded(
    project: Project, lead: User, evaluator: User, stranger: User, client_of: Callable[[User], APIClient], more: str
) -> None:
    runs = build_runs(project, clusters=2)
    round = open_rating(project, [project.members.get(user=evaluator)], runs)
    status = {user: client_of(user).get(address(round, more)).status_code for user in (lead, evaluator, stranger)}
    assert status == {lead: 409, evaluator: 403, stranger: 404}
    rate_all(evaluator, round)
    close_round(round=round, by=lead)
    assert client_of(lead).get(address(round, more)).status_code == 409
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    with pytest.raises(Conflict, match="Unblind the round first"):
        compute_ratings(design=design)
    unblind(design=design, by=lead)
    compute_ratings(design=design, replicates=10)
    status = {user: client_of(user).get(address(round, more)).status_code for user in (lead, evaluator, stranger)}
    assert status == {lead: 200, evaluator: 403, stranger: 404}


@pytest.mark.parametrize("more", ["", "examples/", "file/"])
def test_raters_of_embargoed_runs_see_no_results_of_an_unblinded_round(
    project: Project, lead: User, evaluator: User, client_of: Callable[[User], APIClient], more: str
) -> None:
    runs = build_runs(project, clusters=2)
    design = close_rating_round(project, lead, [evaluator], runs)
    compute_ratings(design=design, replicates=10)
    other = person("curator")
    curator = Member.objects.create(project=project, user=other, role="curator", pseudonym="C")
    assert client_of(other).get(address(design.round, more)).status_code == 200
    open_rating(project, [curator], runs[:1], name="another")
    assert client_of(other).get(address(design.round, more)).status_code == 403
    assert client_of(other).get("/api/v1/projects/eye/ratings/").json() == []
    assert Ratings(project, curator).rounds == []
    assert Ratings(project, published=True).rounds == []
    assert len(Ratings(project, project.members.get(user=lead)).rounds) == 1


def test_examples_are_summaries_with_a_rating_for_an_appendix(
    project: Project, lead: User, evaluator: User, client_of: Callable[[User], APIClient]
) -> None:
    design = close_rating_round(project, lead, [evaluator], build_runs(project, clusters=5), options={"checks": 20})
    client = client_of(lead)
    every = client.get(address(design.round, "examples/")).json()
    assert every["count"] == 20
    assert {frozenset(row) for row in every["results"]} == {frozenset(ExampleSerializer().fields)}
    [shape] = {frozenset(rating) for row in every["results"] for rating in row["ratings"]}
    assert shape == frozenset(ExampleRatingSerializer().fields)
    asked = {"system": "Alder", "criterion": "consistency", "value": "consistent"}
    found = client.get(address(design.round, "examples/"), asked).json()["results"]
    assert found
    for row in found:
        said = {rating["criterion"]: rating["value"] for rating in row["ratings"]}
        assert (row["system"], said["consistency"]) == ("Alder", "consistent")
    viewer = person("viewer")
    Member.objects.create(project=project, user=viewer, role="viewer", pseudonym="V")
    theirs = client_of(viewer).get(address(design.round, "examples/")).json()["results"][0]
    assert {rating["rater"] for rating in theirs["ratings"]} == {""}
    assert client_of(viewer).get(address(design.round, "file/")).status_code == 403


def test_results_take_the_same_queries_for_any_number_of_answers(
    project: Project, lead: User, evaluator: User, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            reply = client.get(path)
            assert reply.getvalue()
        assert reply.status_code == 200
        return len(seen)

    def rated(number: int, *raters: User) -> Round:
        design = close_rating_round(project, lead, list(raters), _more(project, number), name=f"{number}")
        compute_ratings(design=design, replicates=10)
        return design.round

    of_project = ("projects/eye/ratings/", "projects/eye/results/", "projects/eye/results/ratings/latex/")
    few = rated(1, evaluator)
    before = [queries(f"/api/v1/{path}") for path in of_project]
    many = rated(2, evaluator, ann1)
    assert [queries(f"/api/v1/{path}") for path in of_project] == before
    assert all(n <= most for n, most in zip(before, (4, 44, 10), strict=True)), before
    asked = "examples/?criterion=consistency&value=consistent"
    for part, most in (("", 14), ("examples/", 12), (asked, 12), ("file/", 16)):
        assert queries(address(few, part)) == queries(address(many, part)) <= most, part


def test_tables_are_on_results_and_in_every_format(
    project: Project, lead: User, evaluator: User, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    plain = [each["key"] for each in client_of(lead).get("/api/v1/projects/eye/results/").json()["tables"]]
    assert "ratings" not in plain
    design = close_rating_round(project, lead, [evaluator, ann1], build_runs(project, clusters=6))
    call_command("compute_ratings", "--project", "eye", "--round", str(design.round_id))
    shown = client_of(lead).get("/api/v1/projects/eye/results/").json()["tables"]
    assert [each["key"] for each in shown if each["key"] not in plain] == [
        "ratings",
        "rating-differences",
        "rated-systems",
        "raters",
        "severity",
        "intra-rater",
    ]
    for key in ("ratings", "rating-differences", "rated-systems", "raters", "severity", "intra-rater"):
        table = Tables(project).build(reports.get(key))
        assert table.rows
        for _, _, write in FORMATS.values():
            assert write(table)


def test_rated_systems_whose_model_has_seen_sources_are_marked(
    project: Project, lead: User, evaluator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Project.objects.create(name="Hidden heart", slug="hidden-heart")
    training = build_training(other, "elsewhere", [])
    monkeypatch.setattr(builders, "FACTS", {**builders.FACTS, "weights": training.result["weights"]})
    runs = build_runs(project, clusters=3)
    training.studies.create(key=runs[0].items.order_by("pk")[0].unit.cluster.review.pmid)
    design = close_rating_round(project, lead, [evaluator], runs)
    compute_ratings(design=design, replicates=10)
    for key, column in (("ratings", 3), ("rated-systems", 1)):
        cells = [row[column] for row in Tables(project).build(reports.get(key)).rows]
        notes = {cell.value: cell.note for cell in cells if cell.note}
        assert set(notes) == {run.version.system.name for run in runs}, key
        for name, note in notes.items():
            assert note == f"Units of {name} that were used to train or choose its model: 1 of 3."


def test_results_can_leave_out_the_sources_that_a_model_has_seen(
    project: Project,
    lead: User,
    evaluator: User,
    monkeypatch: pytest.MonkeyPatch,
    client_of: Callable[[User], APIClient],
) -> None:
    other = Project.objects.create(name="Hidden heart", slug="hidden-heart")
    training = build_training(other, "elsewhere", [])
    monkeypatch.setattr(builders, "FACTS", {**builders.FACTS, "weights": training.result["weights"]})
    runs = build_runs(project, clusters=3)
    design = close_rating_round(project, lead, [evaluator], runs)
    compute_ratings(design=design, replicates=10)
    address, client = f"/api/v1/rounds/{design.round_id}/ratings/", client_of(lead)
    assert client.get(address).json()["seen"] == []

    training.studies.create(key=runs[0].items.order_by("pk")[0].unit.cluster.review.pmid)
    names = [run.version.system.name for run in runs]
    before = client.get(address).json()
    assert before["seen"] == [{"system": name, "seen": 1, "sources": 3} for name in names]
    assert before["outdated"] == ["models have been trained on its sources since"]
    compute_ratings(design=design, replicates=10)

    def numbers(reply: Any) -> set[int]:
        return {row["n"] for criterion in reply["figures"]["all"]["criteria"] for row in criterion["systems"]}

    whole, unseen = client.get(address).json(), client.get(address, {"unseen": "true"}).json()
    assert (numbers(whole), numbers(unseen)) == ({3}, {2})
    assert whole["outdated"] == unseen["outdated"] == []
    table = Tables(project, unseen=True).build(reports.get("ratings"))
    assert {row[7].value for row in table.rows} == {2}
    assert f"{design.round.name}: left out because used to train or choose a model: 1 of the sources." in table.notes
    assert not any(cell.note for row in table.rows for cell in row)


def test_tables_keep_rounds_of_one_protocol_together_and_criteria_of_two_protocols_apart(
    project: Project, lead: User, evaluator: User
) -> None:
    """A criterion with the same name may have another direction, so it has its own column."""
    runs = build_runs(project, clusters=6, systems=("Alder", "Birch"))
    asked = {}
    for name, better in (("First", "higher"), ("Second", "lower")):
        content = protocol(criterion("quality", better=better), title=name)
        asked[name] = create_protocol(project=project, name=name, content=content, by=lead)
    for n, name in enumerate(("First", "Second", "First")):
        close_rating_round(
            project,
            lead,
            [evaluator],
            runs,
            protocol=str(asked[name].pk),
            name=f"{name} {n}",
            choose=lambda _: default_choice,
        )
    call_command("compute_ratings", "--project", "eye")
    whole = Tables(project).build(reports.get("rated-systems"))
    assert [(column.title, column.better) for column in whole.columns[3:5]] == [
        ("Quality", "higher"),
        ("Quality", "lower"),
    ]
    assert [row[0].value for row in whole.rows[::2]] == ["First 0", "First 2", "Second 1"]
    assert [[cell.value == "" for cell in row[3:5]] for row in whole.rows[::2]] == [
        [False, True],
        [False, True],
        [True, False],
    ]
    criteria = Tables(project).build(reports.get("ratings"))
    assert [(row[0].value, row[2].value) for row in criteria.rows[::2]] == [
        ("First 0", "Quality"),
        ("First 2", "Quality"),
        ("Second 1", "Quality ↓"),
    ]
    assert "First 2: First, version 1" in " ".join(whole.notes)


def test_a_criterion_that_was_never_applicable_prints_a_dash_with_its_reason(
    project: Project, lead: User, evaluator: User
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project, clusters=3))
    while slots := next_assignments(user=evaluator, round=round):
        value = rate_value(cards_of(evaluator, round)[0])
        for said in (said for text in value["texts"] for said in text["said"] if said["criterion"] == "coherence"):
            said |= {"value": "", "na": True}
        submit_value(evaluator, slots[0], value)
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    close_round(round=round, by=lead)
    unblind(design=design, by=lead)
    compute_ratings(design=design, replicates=10)
    table = Tables(project).build(reports.get("ratings"))
    cells = [row[4] for row in table.rows if words(row[2]) == "Coherence"]
    assert {cell.undefined for cell in cells} == {"every rating is N/A"}
    assert f"{UNDEFINED} (a)" in FORMATS["markdown"][2](table)
