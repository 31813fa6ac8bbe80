"""A reliability study: two rounds from one sample, and a table like M3's Table 9."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import MatchCandidate, ReliabilityStudy
from annotation.reliability.actions import StudyPlan, begin_study
from annotation.reliability.queries import fields
from api.problems import Refused
from projects import reports
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Decision, Member, Project, Round
from projects.people.actions import add_member
from projects.queue.actions import next_assignments
from projects.reports.registry import Tables
from projects.reports.table import Table
from projects.rounds.actions import close_round
from tests.annotation.test_match import build_target
from tests.builders import answer, build_cluster, label_value

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/projects/eye/reliability/"


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, stranger: User, lead: User) -> list[Member]:
    """Three annotators."""
    third = add_member(project=project, user=stranger, role="annotator", by=lead)
    return [*(Member.objects.get(project=project, user=user) for user in (ann1, ann2)), third]


def build_corpus(project: Project, lead: User, clusters: int = 5, targets: int = 4) -> None:
    """Create clusters whose targets have current labels, and target sentences with evidence."""
    by = Member.objects.get(project=project, user=lead)
    for number in range(clusters):
        unit = build_cluster(project, number).propositions.get(position=0).unit
        correct(unit=unit, kind="label", value=label_value("no effect"), reason="", by=by)
    for number in range(targets):
        build_target(project, number)


def begin(project: Project, lead: User, people: list[Member], **plan: Any) -> ReliabilityStudy:
    usual: dict[str, Any] = {"name": "Study", "propositions": 4, "sentences": 3, "overlap": 3, "seed": 5}
    return begin_study(project=project, plan=StudyPlan(people=[m.pk for m in people], **usual | plan), by=lead)


def play(study: ReliabilityStudy, people: list[Member], lead: User) -> None:
    """All answers are correct, except the last person's in the first unit of each round."""
    gold = dict(MatchCandidate.objects.filter(is_gold=True).values_list("item__unit", "position"))
    for round in (study.labels, study.matches):
        if round is None:
            continue
        first = min(round.assignments.values_list("unit", flat=True))
        for person in people:
            while held := next_assignments(user=person.user, round=round):
                unit = held[0].unit_id
                wrong = person == people[-1] and unit == first
                if round == study.labels:
                    answer(person.user, held[0], label_value("positive" if wrong else "no effect"))
                else:
                    value = {"most_relevant": gold[unit] % 4 + 1 if wrong else gold[unit]}
                    answer(person.user, held[0], value, kind="match")
        close_round(round=round, by=lead)
        finish_round(round=round, by=lead)


def table_of(project: Project) -> Table:
    return Tables(project).build(reports.get("m3-9"))


def rows_of(table: Table) -> dict[str, dict[str, Any]]:
    """Return cells by field and column."""
    titles = [column.title for column in table.columns]
    return {str(row[1].value): dict(zip(titles, row, strict=True)) for row in table.rows}


def test_one_seed_samples_two_rounds_that_measure_only(project: Project, lead: User, people: list[Member]) -> None:
    build_corpus(project, lead)
    study = begin(project, lead, people)
    labels, matches = study.labels, study.matches
    assert matches is not None
    assert [(r.kind, r.purpose, r.overlap, r.units_count, r.seed) for r in (labels, matches)] == [
        ("label", "measure only", 3, 4, 5),
        ("match", "measure only", 3, 3, 5),
    ]
    assert labels.options["with_cues"] is False
    units = set(labels.assignments.values_list("unit__position", flat=True))
    assert units == {0}, "targets alone are labelled"
    again = begin(project, lead, people, name="Again")
    asked = [set(r.assignments.values_list("unit", flat=True)) for r in (labels, again.labels)]
    assert asked[0] == asked[1], "the same seed samples the same targets"


def test_the_table_has_agreement_and_accuracy_of_each_field(project: Project, lead: User, people: list[Member]) -> None:
    build_corpus(project, lead)
    study = begin(project, lead, people)
    before = Decision.objects.count()
    play(study, people, lead)
    assert Decision.objects.count() == before, "it never touches gold"
    rows = rows_of(table_of(project))
    assert list(rows) == ["Polarity", "Modality", "Match"]
    polarity, match = rows["Polarity"], rows["Match"]
    assert [polarity[c].value for c in ("Items", "Raters per item")] == [4, 3]
    assert polarity["All agree (%)"].value == pytest.approx(75)
    assert polarity["Pairwise (%)"].value == pytest.approx(100 * (3 + 1 / 3) / 4)
    assert polarity["Accuracy (%)"].value == pytest.approx(100 * 11 / 12)
    assert polarity["Chance (%)"].value == match["Chance (%)"].value == 25
    assert polarity["Ranker (%)"].undefined == "rankers do not label"
    assert match["Accuracy (%)"].value == pytest.approx(100 * 8 / 9)
    assert match["Ranker (%)"].value in (0, 100)
    assert match["All agree (%)"].n == match["Ranker (%)"].n == 3
    # Of 4 items: pa = 10/12; shares 11/12 and 1/12 of four categories.
    pe = (11 / 12 * 1 / 12 * 2) / 3
    assert polarity["AC1"].value == pytest.approx((10 / 12 - pe) / (1 - pe))
    assert (polarity["AC1"].ci, bool(polarity["AC1"].ci_reason)) == (None, True)
    assert rows["Modality"]["Fleiss' kappa"].undefined == "no variation"


def test_the_reliability_table_has_no_figures_while_rounds_are_open(
    project: Project, lead: User, people: list[Member]
) -> None:
    build_corpus(project, lead)
    begin(project, lead, people)
    table = table_of(project)
    assert [str(row[1].value) for row in table.rows] == ["Polarity, Modality", "Match"]
    assert {cell.undefined for row in table.rows for cell in row[4:]} == {"its round is open"}
    assert not any("seed" in note for note in table.notes if note.startswith("Study")), "it tells the candidates' order"


def test_without_matchable_targets_the_study_has_labels_only(
    project: Project, lead: User, people: list[Member]
) -> None:
    build_corpus(project, lead, targets=0)
    study = begin(project, lead, people, sentences=0)
    assert (study.matches, study.no_matches) == (
        None,
        "The project has no target sentences. Import or select some first.",
    )
    play(study, people, lead)
    assert list(rows_of(table_of(project))) == ["Polarity", "Modality"]
    assert any(
        "No matches: The project has no target sentences. Import or select some first." in note
        for note in table_of(project).notes
    )


def test_impossible_samples_are_refused_and_no_round_is_opened(
    project: Project, lead: User, people: list[Member]
) -> None:
    build_corpus(project, lead)
    for wrong, message in (
        ({"propositions": 6}, "Only 5 target propositions match."),
        ({"sentences": 5}, "Only 4 target sentences have"),
        ({"overlap": 4}, "Select at least 4 people."),
        ({"nearest_by": "tea leaves"}, "no rankings by"),
    ):
        with pytest.raises(Refused, match=message):
            begin(project, lead, people, **wrong)
    assert not Round.objects.opened_by_people().exists()
    begin(project, lead, people)
    with pytest.raises(Refused, match="already has a reliability study named 'Study'"):
        begin(project, lead, people)


def test_a_lead_opens_a_study_and_reads_its_table_in_three_formats(
    project: Project,
    lead: User,
    ann1: User,
    viewer: Member,
    people: list[Member],
    client_of: Callable[[User], APIClient],
) -> None:
    build_corpus(project, lead)
    client = client_of(lead)
    found = client.get(ADDRESS).json()
    assert (found["propositions"], found["sentences"], found["no_matches"], found["table"]) == (5, 4, "", None)
    body = {"name": "Study", "propositions": 3, "sentences": 2, "people": [m.pk for m in people]}
    made = client.post(ADDRESS, body, format="json")
    assert made.status_code == 201, made.content
    [study] = made.json()["studies"]
    assert [r["name"] for r in study["rounds"]] == ["Study: labels", "Study: matches"]
    assert study["seed"] is None, "while the matches are open"
    other = client_of(ann1)
    assert other.get(ADDRESS).status_code == other.post(ADDRESS, body, format="json").status_code == 403
    play(ReliabilityStudy.objects.get(), people, lead)
    assert client.get(ADDRESS).json()["studies"][0]["seed"] is not None
    for form, piece in (("csv", "Fleiss"), ("markdown", "| Polarity |"), ("latex", r"\begin{table")):
        assert piece in client.get(f"/api/v1/projects/eye/results/m3-9/{form}/").content.decode()
    read = list(csv.reader(io.StringIO(client.get("/api/v1/projects/eye/results/m3-9/csv/").content.decode())))
    assert len(read) >= 4
    below = client.get("/api/v1/projects/eye/results/m3-9/markdown/").content.decode()
    assert "M3 reports" in below
    assert ".522" in below
    # The figures are those of the rounds' Agreement pages, with the same permissions.
    reader = client_of(viewer.user)
    round = ReliabilityStudy.objects.get().labels_id
    assert reader.get(f"/api/v1/rounds/{round}/agreement/").status_code == 403
    assert reader.get("/api/v1/projects/eye/results/m3-9/csv/").status_code == 403
    shown = [table["key"] for table in client.get("/api/v1/projects/eye/results/").json()["tables"]]
    assert [key for key in shown if key != "m3-9"] == [
        table["key"] for table in reader.get("/api/v1/projects/eye/results/").json()["tables"]
    ]
    assert "m3-9" in shown


def test_the_command_prints_the_table(
    project: Project, lead: User, people: list[Member], capsys: pytest.CaptureFixture[str]
) -> None:
    build_corpus(project, lead)
    play(begin(project, lead, people), people, lead)
    call_command("tables", project="eye", table=["m3-9"], format="markdown")
    assert "Reliability study (M3, Table 9)" in capsys.readouterr().out


def test_the_page_costs_the_same_with_few_and_many(
    project: Project, lead: User, people: list[Member], client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)

    def cost() -> int:
        with CaptureQueriesContext(connection) as counted:
            assert client.get(ADDRESS).status_code == 200
        return len(counted)

    build_corpus(project, lead, clusters=2, targets=2)
    begin(project, lead, people, propositions=1, sentences=1)
    few = cost()
    for number in range(2, 8):
        build_cluster(project, number)
        build_target(project, number)
    begin(project, lead, people, name="another")
    assert cost() == few
    assert fields(ReliabilityStudy.objects.latest("pk").labels)[0].items == 0
