"""Corrections of written summaries, questions and passages: versions, who may correct, and the released file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.formats.mediqa.published import files
from annotation.models import Passage, Question, WrittenSummary
from audit.actions import create_checkpoints
from audit.models import Entry
from audit.verify import findings
from projects.gold.actions import finish_round
from projects.models import Change, Member, Project, Role
from projects.rounds.actions import close_round
from tests.annotation.test_write import PRIMARY, open_writing, people, write

__all__ = ["people"]
pytestmark = pytest.mark.django_db


def correct(client: APIClient, summary: WrittenSummary, text: str) -> Any:
    body = {"text": text, "reason": "A typo."}
    return client.post(f"/api/v1/units/{summary.unit_id}/text/", body, format="json")


def test_an_edited_summary_changes_one_value_of_the_released_file(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    before = json.loads(dict(files(project))[PRIMARY])
    summary = WrittenSummary.objects.get(question__key="1", passage=None, form="extractive")
    assert correct(client_of(lead), summary, "A spot is flat.").status_code == 201
    before["1"]["multi_ext_summ"] = "A spot is flat."
    assert json.loads(dict(files(project))[PRIMARY]) == before
    assert correct(client_of(lead), summary, "Again.").status_code == 409
    summary.refresh_from_db()
    assert summary.unit.superseded_by is not None
    assert summary.unit.superseded_by.key == f"{summary.unit.key}~2"
    create_checkpoints()
    assert not list(findings())


def test_a_text_of_a_writer_is_corrected_by_leads_and_never_by_its_author(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient], tmp_path: Path
) -> None:
    round = open_writing(project, people)
    for person in people:
        write(round, person)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    [author, other] = people
    summary = WrittenSummary.objects.get(author=author.user, question__key="1", passage=None, form="abstractive")
    Member.objects.filter(pk=other.pk).update(role=Role.CURATOR)
    assert correct(client_of(other.user), summary, "Better.").status_code == 403
    assert client_of(other.user).get(f"/api/v1/units/{summary.unit_id}/text/").status_code == 403
    Member.objects.filter(pk=author.pk).update(role=Role.LEAD)
    reply = correct(client_of(author.user), summary, "Better.")
    assert (reply.status_code, "Somebody else" in reply.json()["detail"]) == (422, True)
    assert correct(client_of(lead), summary, "Better.").status_code == 201
    new = WrittenSummary.objects.current().get(author=author.user, question__key="1", passage=None, form="abstractive")
    assert (new.version, new.text, new.answer_id) == (2, "Better.", summary.answer_id)
    assert not Entry.objects.filter(after__icontains="Better.").exists()
    # Closing again creates nothing.
    total = WrittenSummary.objects.count()
    finish_round(round=round, by=lead)
    assert WrittenSummary.objects.count() == total


def test_a_corrected_question_or_passage_is_released_and_asked_about(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    round = open_writing(project, people)
    write(round, people[0])
    client = client_of(lead)
    passage = Passage.objects.select_related("question").get(key="1_Answer2")
    before = client.get(f"/api/v1/units/{passage.unit_id}/text/").json()
    assert [(one["part"], one["version"]) for one in before] == [("passage", 1), ("page", 1), ("url", 1)]
    body = {"text": f"{before[0]['text']} New.", "part": "passage", "reason": "Cut off."}
    reply = client.post(f"/api/v1/units/{passage.unit_id}/text/", body, format="json")
    assert (reply.status_code, reply.json()) == (201, {"unit": passage.unit_id, "version": 2})
    assert json.dumps(body["text"]) in dict(files(project))[PRIMARY].decode()
    # What people wrote about the old passage is to be reviewed; later writers see the new one.
    assert Change.objects.filter(unit=passage.question.unit_id, kind="write").count() == 1
    question = Question.objects.get(key="1")
    for text, status in (("", 422), ("Is it flat?", 201), ("Is it flat?", 422)):
        sent = client.post(
            f"/api/v1/units/{question.unit_id}/text/", {"text": text, "reason": "A typo."}, format="json"
        )
        assert sent.status_code == status
    assert json.loads(dict(files(project))[PRIMARY])["1"]["question"] == "Is it flat?"
    create_checkpoints()
    assert not list(findings())
