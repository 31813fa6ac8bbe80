"""Gates, returning items, suggestions and judges in the methods text have the numbers of the rows."""

import json
from dataclasses import replace
from datetime import date

import pytest

from accounts.models import User
from annotation.models import Label
from evaluation.judge_figures.actions import compute_judges
from evaluation.models import JudgeFigures, Rating
from projects.curation.actions import correct
from projects.gates import actions as gates_actions
from projects.models import Answer, Assignment, GateReading, Member, Project, Round, SuggestionOutcome, Unit
from projects.models.round import RETURNED
from projects.rounds.actions import close_round
from releases.methods.facts.gates import gate_facts
from releases.methods.facts.judges import SystemMeans, judge_facts
from releases.methods.facts.study import study_facts
from releases.methods.sections import document, gates
from releases.methods.sections.judges import _system as system_words
from releases.methods.text import of_total
from tests.builders import build_cluster
from tests.evaluation.judged_rounds import extended, judge_by_quality, judge_round
from tests.evaluation.rating_rounds import build_runs, close_rating_round
from tests.projects.test_gates import bar, close, planned
from tests.projects.test_gates import pilot as pilot
from tests.projects.test_returning import RIGHT, monitored
from tests.projects.test_returning import work as answer_all
from tests.projects.test_suggestions import OTHER, build_suggestions, open_with, work

pytestmark = pytest.mark.django_db


def said(project: Project, title: str) -> str:
    """Return the text of a section."""
    [section] = [each for each in document(study_facts(project)).sections if each.title == title]
    return "\n".join(section.paragraphs)


def test_a_gate_that_is_met_states_the_bar_and_the_figures_read(pilot: Round, lead: User) -> None:
    planned(pilot, lead, bar(0.99), name="first")
    planned(pilot, lead, bar(0.2, least=6))
    close(pilot, lead)
    reading = GateReading.objects.get(outcome="met")
    assert reading.figures
    value = reading.figures["value"]
    assert reading.figures["units"] == Assignment.objects.filter(round=pilot).values("unit").distinct().count() == 6
    assert reading.figures["ratings"] == Answer.objects.filter(assignment__round=pilot).count() == 12
    text = said(pilot.project, "Annotation rounds")
    assert "The round waited for the pilot round “pilot”: AC1 of polarity had to be at least 0.20 with n of at" in text
    assert f"The closed pilot had {value:.2f} (" in text
    assert f"n = 6 units, 12 ratings by 2 raters) on {date.today():%-d %b %Y}; the bar was met." in text
    assert "Bars on this figure were read 2 times in the project." in text


def test_a_gate_that_a_lead_opened_states_the_reason_and_a_blind_pilot_no_figures(pilot: Round, lead: User) -> None:
    round = planned(pilot, lead, bar(0.9, requires="lower bound"))
    close(pilot, lead)
    round.refresh_from_db()
    gates_actions.open_by_lead(round.gate, "The guideline is clearer now.", lead)
    project = pilot.project
    [facts] = gate_facts(project, []).values()
    text = " ".join(gates.sentences(facts))
    assert "the lower bound of the 97% interval of AC1 of polarity had to be at least 0.90." in text
    assert "; the bar was not met (there is no lower bound: " in text
    assert "without meeting the bar. Reason: “The guideline is clearer now.”." in text
    [hidden] = gate_facts(project, [pilot.pk]).values()
    assert {reading.figures for reading in hidden.readings} == {None}
    assert "the bar was not met; its figures are still blind." in " ".join(gates.sentences(hidden))


def test_returning_items_have_the_numbers_of_their_answers(project: Project, lead: User, ann1: User) -> None:
    curator, person = (Member.objects.get(project=project, user=user) for user in (lead, ann1))
    for number in range(5):
        build_cluster(project, number, inputs=2)
    for unit in Unit.objects.filter(type="proposition").order_by("pk")[:6]:
        correct(unit=unit, kind="label", value=RIGHT, reason="It reads so.", by=curator)
    round = monitored(project, [person], return_share=0.5)
    answer_all(round, person, wrong_after=9)
    close_round(round=round, by=None)
    returned = list(Assignment.objects.filter(round=round, repeat=RETURNED, current_answer__isnull=False))
    right = Label.objects.filter(answer__in=[one.current_answer_id for one in returned], polarity="negative")
    n = right.count()
    assert 0 < n < len(returned)
    assert f"1 person answered {of_total(n, len(returned), 'such item')} correctly. " in said(
        project, "Accuracy during rounds"
    )
    counted = Answer.objects.filter(assignment__round=round).count() - len(returned)
    assert f"1 person gave {counted} answers to 9 units." in said(project, "Annotation rounds")


def test_suggestions_have_the_numbers_of_their_outcomes(project: Project, ann1: User, ann2: User) -> None:
    people = [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]
    round = open_with(project, people, build_suggestions(project, 3), overlap=1)
    work(round, people[0], OTHER)
    close_round(round=round, by=None)
    outcomes = SuggestionOutcome.objects.filter(field="polarity")
    shown, blind = (outcomes.filter(was_shown=each) for each in (True, False))
    assert shown
    assert blind
    text = said(project, "Corrections")
    assert f"{shown.count()} answers were given with a suggestion and {blind.count()} without (50% planned)." in text
    alike = of_total(blind.filter(same=True).count(), blind.count())
    assert f"Polarity: {shown.filter(same=True).count()} accepted, 0 edited and 0 rejected" in text
    assert f"in {of_total(shown.count(), shown.count())} with it and in {alike} without." in text


def test_means_of_systems_with_a_judge_have_both_numbers_and_intervals(
    project: Project, lead: User, evaluator: User, ann1: User
) -> None:
    runs = build_runs(project, clusters=14)
    design = close_rating_round(project, lead, [evaluator, ann1], runs, sample=10)
    judge_round(design, judge_by_quality(), judge_set=extended(design))
    assert [each.means for each in judge_facts(project)] == [()]
    compute_judges(design=design)
    figures = json.loads(JudgeFigures.objects.get().figures)
    [judge] = judge_facts(project)
    assert [means.criterion for means in judge.means] == [
        figures["names"][row["criterion"]] for row in figures["criteria"]
    ]
    text = said(project, "Models as judges")
    row = figures["criteria"][0]["systems"][0]
    values = Rating.objects.filter(text__page__source__design=design, criterion=figures["criteria"][0]["criterion"])
    alder = design.systems.get(name="Alder").number
    own = [float(value) for value, systems in values.values_list("value", "text__system_numbers") if alder in systems]
    assert row["system"] == "Alder"
    assert row["human"] == pytest.approx(sum(own) / len(own))
    assert f"Coherence (mean ratings): Alder {row['human']:.2f}, " in text
    assert f" (n = 10 sources); with 4 sources of the judge {row['value']:.2f}, " in text


def test_intervals_of_means_are_written_beside_their_figures() -> None:
    means = SystemMeans("Elm", 40, 160, 3.4, (3.1, 3.7), "", 3.5, (3.3, 3.7), "", "")
    assert system_words(means) == (
        "Elm 3.40, 95% CI [3.10, 3.70] (n = 40 sources); with 160 sources of the judge 3.50, 95% CI [3.30, 3.70]"
    )
    few = replace(means, others=0, value=None, ci=None, undefined="the judge rated no other source")
    assert system_words(few).endswith("; with the judge undefined (the judge rated no other source)")
