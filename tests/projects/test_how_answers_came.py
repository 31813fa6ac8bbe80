"""The origin of an answer is stored, protected by checkpoints, and released."""

import csv
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from rest_framework.test import APIClient

from accounts.actions import make_token
from accounts.models import User
from audit import triggers
from audit.verify import findings
from projects.curation.actions import correct
from projects.external_ratings.actions import import_ratings
from projects.jobs.running import run_job
from projects.models import Answer, Assignment, Member, Project, Round
from projects.queue.actions import next_assignments
from projects.sheets.actions import start_import
from projects.uploads.files import Source
from releases.publishing.actions import write_release
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = [pytest.mark.django_db, pytest.mark.row(56)]
RATINGS = "unit,rater,polarity,polarity_cue,modality,modality_cue\n"
KEYS = "assignment,revision,shown,unit,polarity,polarity_cue,modality,modality_cue,skip,flag,comment\n"


def came() -> set[str]:
    return set(Answer.objects.values_list("came_by", flat=True))


@pytest.fixture
def round(project: Project, ann1: User) -> Round:
    build_cluster(project, inputs=1)
    return build_round(project, [project.members.get(user=ann1)], allocation="dealt")


def put(client: APIClient, slot: Assignment, **more: str) -> None:
    body = {
        "assignment": slot.pk,
        "revision": 0,
        "kind": "label",
        "outcome": "answered",
        "shown": 1,
        "value": label_value(),
        "have": [],
    }
    reply = client.put(f"/api/v1/answers/{uuid4()}/", body | more, format="json")
    assert reply.status_code == 201, reply.content


def test_answers_record_whether_they_came_by_browser_or_token(
    round: Round, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    first, second = next_assignments(user=ann1, round=round)
    put(client_of(ann1), first)
    assert came() == {"browser"}
    _, secret = make_token(user=ann1, name="script")
    put(APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}"), second)
    assert came() == {"browser", "token"}


def test_answers_record_that_they_came_by_sheet_import_or_correction(
    round: Round, ann1: User, lead: User, project: Project, tmp_path: Path
) -> None:
    slot = Assignment.objects.filter(round=round).select_related("unit").first()
    assert slot
    sheet = KEYS + f"{slot.pk},0,1,{slot.unit.key},positive,,weak,,,,\n"
    run_job(start_import(round=round, file=SimpleUploadedFile("a.csv", sheet.encode()), by=lead).pk)
    assert came() == {"sheet"}

    ratings = tmp_path / "ratings.csv"
    ratings.write_text(RATINGS + f"{slot.unit.key},Dr A,positive,,weak,\n")
    import_ratings(
        project=project, kind="label", source=Source.of(ratings), round_name="elsewhere", purpose="gold", by=lead
    )
    assert came() == {"sheet", "import"}
    brought = Answer.objects.select_related("entry").get(came_by="import").entry
    assert brought
    assert (brought.verb, brought.actor) == ("import answers", lead)

    correct(unit=slot.unit, kind="label", value=label_value(), reason="", by=Member.objects.get(user=lead))
    assert came() == {"sheet", "import", "correction"}
    assert list(findings()) == []


@pytest.mark.parametrize("column", ["came_by = 'browser'", "entry_id = NULL, came_by = ''"])
def test_a_changed_origin_of_an_answer_is_found(round: Round, ann1: User, lead: User, column: str) -> None:
    slot = Assignment.objects.filter(round=round).select_related("unit").first()
    assert slot
    sheet = KEYS + f"{slot.pk},0,1,{slot.unit.key},positive,,weak,,,,\n"
    run_job(start_import(round=round, file=SimpleUploadedFile("a.csv", sheet.encode()), by=lead).pk)
    with triggers.suspend_triggers(connection), connection.cursor() as cursor:
        cursor.execute(f"UPDATE projects_answer SET {column}")
    assert f"projects.answer {Answer.objects.get().pk}" in [f.what for f in findings()]


def test_answers_with_exchanged_assignments_are_found_without_a_checkpoint(round: Round, ann1: User) -> None:
    for slot in next_assignments(user=ann1, round=round):
        answer(ann1, slot)
    one, other = Assignment.objects.filter(round=round).order_by("pk")
    Assignment.objects.filter(pk=one.pk).update(number=5)
    Assignment.objects.filter(pk=other.pk).update(unit=one.unit_id, number=6, person=None, current_answer=None)
    Assignment.objects.filter(pk=one.pk).update(unit=other.unit_id)
    assert {f"projects.answer {pk}" for pk in Answer.objects.values_list("pk", flat=True)} <= {
        f.what for f in findings()
    }


@pytest.mark.django_db(transaction=True)
def test_a_release_names_the_origin_and_the_importer_of_each_answer(
    round: Round, ann1: User, lead: User, project: Project, tmp_path: Path
) -> None:
    first, second = next_assignments(user=ann1, round=round)
    answer(ann1, first)
    sheet = KEYS + f"{second.pk},0,1,{second.unit.key},positive,,weak,,,,\n"
    run_job(start_import(round=round, file=SimpleUploadedFile("a.csv", sheet.encode()), by=lead).pk)
    write_release(project=project, version="1.0.0", out=tmp_path / "out")
    with (tmp_path / "out/answers/label.csv").open(encoding="utf-8", newline="") as file:
        rows = [(r["rater"], r["came_by"], r["brought_by"]) for r in csv.DictReader(file)]
    assert rows == [("R1", "browser", ""), ("R1", "sheet", "R0")]
