"""datasheet.md and heds3.md answer from rows, then from the lead's settings, else NOT PROVIDED."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from projects.models import Project
from releases.citation.actions import change_citation
from releases.citation.edition import Edition
from releases.citation.questions import DATASHEET, HEDS
from releases.formats.datasheet import datasheet
from releases.formats.heds import heds
from releases.formats.notes import LevelFigures, Notes
from releases.methods.facts.study import study_facts

pytestmark = pytest.mark.django_db
EDITION = Edition("1.0.0", "2026-01-02T03:04:05.000000+00:00", "10.5281/zenodo.1")


def answers(project: Project) -> dict[str, str]:
    figures = LevelFigures("proposition", "m3/level3.jsonl")
    figures.add(review="1", target="two words", inputs=[("7", "one")])
    study = study_facts(project, levels=[figures.as_json()])
    text = datasheet(study, EDITION, Notes(levels=[figures]), ["splits/main.csv"])
    parts = text.split("\n**")[1:]
    return {question: answer.strip() for question, answer in (part.split("**\n", 1) for part in parts)}


def test_every_question_is_answered_once(project: Project) -> None:
    assert list(answers(project)) == [question.text for question in DATASHEET]


def test_rows_answer_first_then_the_lead_and_the_rest_is_not_provided(project: Project, lead: User) -> None:
    given = {"datasheet.ethics": "Approved in 2025.", "datasheet.count": "More to come."}
    change_citation(project=project, by=lead, creators=[{"family": "Lead", "affiliation": "Melbourne"}], answers=given)
    found = answers(project)
    assert found["Who created it, and on behalf of whom?"] == "Lead (Melbourne)"
    assert found["How many instances are there of each type?"].startswith("1 target of level proposition")
    assert found["How many instances are there of each type?"].endswith("More to come.")
    assert found["Was there an ethical review?"].startswith("Approved in 2025.")
    assert found["Is there an erratum?"].startswith("NOT PROVIDED")
    assert "splits/main.csv" in found["Are there recommended splits?"]
    assert found["How is it distributed, and does it have a DOI?"] == "DOI 10.5281/zenodo.1."


def test_without_a_released_rating_round_there_is_no_sheet_of_an_evaluation(project: Project) -> None:
    assert list(heds(study_facts(project))) == []


def test_answers_belong_to_known_questions(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)
    address = "/api/v1/projects/eye/citation/"
    assert [q["id"] for q in client.get(address).json()["questions"]] == [q.id for q in (*DATASHEET, *HEDS)]
    refused = client.patch(address, {"answers": {"datasheet.colour": "Red."}}, format="json")
    assert [error["field"] for error in refused.json()["errors"]] == ["answers.datasheet.colour"]
