"""Every number of the methods text equals an independent count, and HEDS and the datasheet have the same numbers."""

from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.models import Hit, Search
from projects.adjudication.queries import queued_units
from projects.agreement.queries import report
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.guidelines.actions import write_guideline
from projects.models import (
    Admission,
    Consent,
    Decision,
    Member,
    ParticipantLink,
    Project,
    QuestionTry,
    Recruitment,
    Round,
    Unit,
)
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.citation.actions import change_citation
from releases.methods.facts.study import StudyFacts, study_facts
from releases.methods.markdown import markdown
from releases.methods.sections import document
from tests.builders import answer, build_cluster, build_round, build_split, label_value, skip

pytestmark = pytest.mark.django_db


def paragraphs(project: Project) -> dict[str, str]:
    """Return the text of each section, by its title."""
    return {section.title: "\n".join(section.paragraphs) for section in document(study_facts(project)).sections}


def member(project: Project, user: User) -> Member:
    return Member.objects.get(project=project, user=user)


def labelled(project: Project, people: list[Member], differ: int = 0, name: str = "round", **plan: Any) -> Round:
    """Open a round, answer every unit alike except the first ``differ`` ones, and close it."""
    round = build_round(project, people, name=name, overlap=len(people), **plan)
    units = list(round.assignments.order_by("position").values_list("unit", flat=True).distinct())
    other = set(dict.fromkeys(units[:differ]))
    for n, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            is_other = n == 0 and held[0].unit_id in other
            answer(person.user, held[0], label_value("positive" if is_other else "no effect"))
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    return round


def test_rounds_agreement_and_adjudication_have_the_numbers_of_the_rows(
    project: Project, lead: User, ann1: User, ann2: User
) -> None:
    for n in range(4):
        build_cluster(project, n)
    people = [member(project, user) for user in (ann1, ann2)]
    pilot = labelled(project, people, 3, "pilot", purpose="measure only", sample=8, seed=11, order="shuffled")
    final = labelled(project, people, 2, "final", seed=12)
    facts = study_facts(project)
    text = paragraphs(project)

    assert (
        "In the round “pilot” (task “Label propositions”, to measure agreement), 2 people gave 16 answers to 8 units."
        in text["Annotation rounds"]
    )
    assert "a random sample of 8 units of the task, drawn with the seed 11" in text["Annotation rounds"]
    assert "in an order shuffled with the seed 11" in text["Annotation rounds"]
    assert "2 people gave 24 answers to 12 units." in text["Annotation rounds"]
    assert (
        f"1 version: 1 of {date.today():%-d %b %Y} (SHA-256 {pilot.guideline.digest[:12]})" in text["Annotation rounds"]
    )
    [polarity] = [each for each in report(pilot)["measures"] if each["name"] == "polarity"]
    assert (
        f"agreement on polarity was {polarity['coefficients']['ac1']['value']:.2f} by Gwet's AC1" in text["Agreement"]
    )
    assert (
        f"n = 8 units from {polarity['reviews']} reviews, 16 ratings by 2 raters; all raters agreed on 5 of 8 units"
        in text["Agreement"]
    )
    assert len(queued_units(final)) == 2
    decisions = Decision.objects.filter(round=final)
    total, contested = decisions.count(), decisions.filter(origin="contested").count()
    assert (
        f"{total} values were aggregated: {total - contested} unanimous and {contested} contested"
        in text["Adjudication"]
    )
    assert [round.name for round in facts.rounds] == ["pilot", "final"]

    first = Unit.objects.get(pk=queued_units(final)[0].unit)
    correct(unit=first, kind="label", value=label_value(), reason="It says so.", by=member(project, lead))
    assert "1 curator entered or corrected 1 value outside of rounds." in paragraphs(project)["Adjudication"]
    assert "3 people answered: 1 lead and 2 annotators." in paragraphs(project)["People"]


def test_a_guideline_change_says_how_many_were_revisited_and_changed(project: Project, lead: User, ann1: User) -> None:
    for n in range(2):
        build_cluster(project, n)
    labelled(project, [member(project, ann1)])
    concerns = [{"field": "modality", "values": ["moderate"]}]
    write_guideline(
        project=project, kind="label", text="New.", by=lead, scope="values", concerns=concerns, reason="Hedges count."
    )
    first = Unit.objects.filter(type="proposition")[0]
    correct(unit=first, kind="label", value=label_value(modality="weak"), reason="So.", by=member(project, lead))
    said = paragraphs(project)["Guideline changes"]
    assert "concerned modality (Moderate). Reason: “Hedges count.”." in said
    assert "It concerned 6 units; 1 unit was revisited, and 1 unit has another value since." in said
    assert "Changes: modality from Moderate to Weak in 1 unit." in said


def test_an_undefined_value_says_why(project: Project, ann1: User, ann2: User) -> None:
    build_cluster(project)
    labelled(project, [member(project, ann1)], purpose="measure only", name="alone")
    assert "undefined" in paragraphs(project)["Agreement"]


def test_a_correction_round_says_how_many_values_changed(project: Project, lead: User, ann1: User) -> None:
    build_cluster(project, inputs=3)
    for unit in Unit.objects.filter(type="proposition"):
        correct(unit=unit, kind="label", value=label_value(), reason="So.", by=member(project, lead))
    round = build_round(project, [member(project, ann1)], purpose="review and correct")
    for n in range(4):
        [held, *_] = next_assignments(user=ann1, round=round)
        shown = list(held.unit.decisions.values_list("pk", flat=True))
        answer(ann1, held, label_value("positive" if n == 0 else "no effect"), references=shown)
    close_round(round=round, by=None)
    said = paragraphs(project)["Corrections"]
    assert said.startswith(
        "In “round”, people saw 4 current values, and corrected 1 of 4 (25.0%): polarity 1 of 4 (25.0%)"
    )


def test_open_rounds_and_skips(project: Project, ann1: User) -> None:
    build_cluster(project)
    round = build_round(project, [member(project, ann1)])
    assert (
        "The round “round” (task “Label propositions”, to form the gold standard) has 3 units and no answers yet."
        in (paragraphs(project)["Annotation rounds"])
    )
    [held, *_] = next_assignments(user=ann1, round=round)
    skip(ann1, held)
    answer(ann1, next_assignments(user=ann1, round=round)[0])
    text = paragraphs(project)
    assert "1 person gave 1 answer to 3 units. It was opened on" in text["Annotation rounds"]
    assert "Units were skipped 1 time" in text["Annotation rounds"]
    assert "Agreement" not in text


def test_searches_and_their_outcomes(project: Project) -> None:
    search = Search.objects.create(
        project=project, query="eyes [ti]", translation="eyes[Title]", found=6, state="done", date_from=date(2010, 1, 1)
    )
    outcomes = ["new", "new", "new", "known", "missing", "unfit"]
    Hit.objects.bulk_create(
        Hit(search=search, position=n, pmid=str(n), outcome=outcome) for n, outcome in enumerate(outcomes, 1)
    )
    said = paragraphs(project)["Search and screening"]
    on = f"{search.created_at:%-d %b %Y}"
    for sentence in (
        f"PubMed was searched on {on} with the query “eyes [ti]” (published from 2010).",
        "PubMed interpreted the query as “eyes[Title]”.",
        "It found 6 records; 3 were retrieved, 1 was already in the data set, 1 was no longer in PubMed and 1 could",
        "6 records found by 1 PubMed search (not retrieved: 1 already in the project, 1 no longer in PubMed, 1 could",
    ):
        assert sentence in said


def test_training_consent_and_pay(project: Project, lead: User, ann1: User, ann2: User) -> None:
    build_cluster(project, inputs=1)
    for unit in Unit.objects.filter(type="proposition"):
        correct(unit=unit, kind="label", value=label_value(), reason="So.", by=member(project, lead))
    people = [member(project, user) for user in (ann1, ann2)]
    terms = {"pass_mark": 80, "tries": 1, "attempts": 1}
    practice = build_round(project, people, name="practice", purpose="practice", terms=terms)
    for person, polarity in zip(people, ("no effect", "positive"), strict=True):
        while held := next_assignments(user=person.user, round=practice):
            answer(person.user, held[0], label_value(polarity))
    work = build_round(project, people, name="work", requires_practice=practice.pk)
    Admission.objects.create(round=work, member=people[1], by=lead, at=timezone.now())
    QuestionTry.objects.create(
        round=work, member=people[0], number=1, chosen=[], right=0, passed=True, at=timezone.now()
    )
    later = timezone.now()
    link = ParticipantLink.objects.create(
        round=work, token_hash="x", label="crowd", capacity=5, consent_text="Yes?", created_by=lead, expires_at=later
    )
    Consent.objects.create(link=link, member=people[0], what="given", text="Yes?", digest="d", at=timezone.now())
    Recruitment.objects.create(link=link, platform="prolific", parameters={}, ends={}, pay="3.50", currency="GBP")
    text = paragraphs(project)
    assert "2 people took part and 1 passed. A pass was required for the round “work”." in text["Training of people"]
    assert "The pass mark was 80% of the units, in 1 attempt." in text["Training of people"]
    assert "1 person answered 0 questions about the guideline" in text["Training of people"]
    assert "A lead admitted 1 person without a pass." in text["Training of people"]
    assert "Prolific recruited people for the round “work”, with 5 places; 0 were completed." in text["People"]
    assert "Each completed place was paid GBP 3.50." in text["People"]
    assert "1 person agreed to a consent text before working." in text["People"]


def test_the_answers_of_the_datasheet_fill_gaps(project: Project, lead: User, ann1: User) -> None:
    build_cluster(project)
    labelled(project, [member(project, ann1)])
    before = document(study_facts(project))
    assert "Ethical approval" in {gap.what for gap in before.gaps}
    given = {"datasheet.ethics": "Approved in 2025.", "heds.3.2.3": "Students of the lab."}
    change_citation(project=project, by=lead, answers=given, language="en")
    after = document(study_facts(project))
    assert {gap.what for gap in before.gaps} - {gap.what for gap in after.gaps} == {
        "Ethical approval",
        "Recruitment of people",
        "Language of the texts (BCP 47)",
    }
    assert "Ethical approval: Approved in 2025." in markdown(after)


def test_an_empty_project_reports_nothing_that_it_did_not_do(project: Project) -> None:
    text = paragraphs(project)
    assert list(text) == ["Data set", "Release and checks"]
    assert text["Data set"].count("NOT PROVIDED") == 3
    assert "0 people" not in "".join(text.values())


def test_splits_and_their_leakage(project: Project) -> None:
    clusters = [build_cluster(project, n).key for n in range(3)]
    build_split(project, {clusters[0]: "train", clusters[1]: "train", clusters[2]: "test"})
    said = paragraphs(project)["Data splits"]
    assert "divides 3 clusters into train (2 units from 2 reviews) and test (1 unit from 1 review)." in said
    assert "The parts were imported from a file." in said


def test_the_number_of_queries_grows_with_rounds_only(project: Project, ann1: User, ann2: User) -> None:
    people = [member(project, user) for user in (ann1, ann2)]
    build_cluster(project)
    labelled(project, people)

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            facts: StudyFacts = study_facts(project)
        assert facts.data.corpus.clusters
        return len(seen)

    few = queries()
    for n in range(1, 5):
        build_cluster(project, n)
    assert queries() <= few
