"""Label rounds without cues: two values; cues are neither shown, compared nor decided."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from openpyxl.utils import get_column_letter
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cue
from api.problems import Refused
from projects.agreement.queries import report
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Decision, Member, Project, Round
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from projects.rounds.previews import settings_in_words
from tests.builders import answer, build_cluster, build_round, label_value
from tests.projects.test_sheets import Book, come_back, out

pytestmark = pytest.mark.django_db
WITHOUT = {"with_cues": False, "suggestions": True}
VALUES = ("polarity", "modality")


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def label_all(round: Round, people: list[Member], *, apart: bool = False) -> None:
    for person in people:
        while held := next_assignments(user=person.user, round=round):
            wrong = apart and person == people[-1]
            answer(person.user, held[0], label_value("positive" if wrong else "no effect"))


def test_a_card_without_cues_says_so_and_has_no_suggestions(project: Project, people: list[Member]) -> None:
    build_cluster(project, inputs=0)
    round = build_round(project, people[:1], options=WITHOUT)
    [card] = cards(round, next_assignments(user=people[0].user, round=round))
    assert (card["asks_cues"], card["candidates"]) == (False, None)
    assert {"label": "Ask for cues", "value": "no"} in settings_in_words(round)
    usual = build_round(project, people[1:], name="usual")
    [card] = cards(usual, next_assignments(user=people[1].user, round=usual))
    assert card["asks_cues"] is True


def test_a_cue_is_refused_if_the_round_does_not_ask_for_cues(project: Project, people: list[Member]) -> None:
    build_cluster(project, inputs=0)
    round = build_round(project, people[:1], options=WITHOUT)
    [slot] = next_assignments(user=people[0].user, round=round)
    with pytest.raises(Refused, match="does not ask for cues"):
        answer(people[0].user, slot, label_value(polarity_cue=[(0, 7)]))
    answer(people[0].user, slot, label_value())
    assert not Cue.objects.exists()


def test_agreement_is_of_the_values_alone(project: Project, people: list[Member]) -> None:
    build_cluster(project)
    round = build_round(project, people, options=WITHOUT, overlap=2, purpose="measure only")
    label_all(round, people)
    found = report(round)
    assert [one["name"] for one in found["measures"]] == ["polarity", "modality", "modality as a rank"]
    assert found["spans"] == []


def test_gold_sets_values_and_keeps_the_current_cue(project: Project, people: list[Member], lead: User) -> None:
    unit = build_cluster(project, inputs=0).propositions.get().unit
    by = Member.objects.get(project=project, user=lead)
    before = label_value("positive", polarity_cue=[(0, 7)], modality_cue=[(8, 16)])
    correct(unit=unit, kind="label", value=before, reason="", by=by)
    round = build_round(project, people, options=WITHOUT, overlap=2)
    label_all(round, people)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    decided = Decision.objects.filter(round=round).values_list("field", flat=True)
    assert set(decided) == set(VALUES)
    now = current_values([unit], "label")[unit.pk]
    assert now["polarity"] == "no effect"
    assert [piece["start"] for piece in now["polarity_cue"]] == [0]


def test_a_curator_decides_only_the_fields_that_were_asked(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    unit = build_cluster(project, inputs=0).propositions.get().unit
    round = build_round(project, people, options=WITHOUT, overlap=2)
    label_all(round, people, apart=True)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    client = client_of(lead)
    adjudication_detail = client.get(f"/api/v1/rounds/{round.pk}/adjudication/{unit.pk}/").json()
    assert {said["field"] for one in adjudication_detail["answers"] for said in one["said"]} == set(VALUES)
    assert adjudication_detail["own"]["asks_cues"] is False
    body = {
        "answer": adjudication_detail["answers"][0]["answer"],
        "reason": "It does not differ.",
        "seen": adjudication_detail["seen"],
        "uuid": str(uuid4()),
    }
    decided = client.post(f"/api/v1/rounds/{round.pk}/adjudication/{unit.pk}/", body, format="json")
    assert decided.status_code == 201, decided.content
    assert set(current_values([unit], "label")[unit.pk]) == set(VALUES)


def test_a_sheet_has_no_columns_of_cues_and_a_cue_that_is_given_anyway_is_refused(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    build_cluster(project, inputs=2)
    round = build_round(project, people[:1], options=WITHOUT, held_limit=3)
    client = client_of(lead)
    book = Book(out(client, round, people[0]))
    assert not any("cue" in name for name in book.letters)
    assert not any("cue" in str(row[0].value) for row in book.book["about"].iter_rows())
    for row in (2, 3, 4):
        book.fill(row, polarity="no effect", modality="moderate")
    # A cue column from another round's sheet may be empty, but a filled one is reported.
    letter = get_column_letter(book.page.max_column + 1)
    book.page[f"{letter}1"], book.page[f"{letter}3"] = "polarity_cue", "Neither"
    book.fill(4, polarity=None, modality=None, skip="unclear")
    book.page[f"{letter}4"] = "Neither"
    report, _ = come_back(client, round, book.saved())
    assert [(f["line"], f["field"], f["message"]) for f in report["faults"]["listed"]] == [
        (3, "polarity_cue", "This round does not ask for cues. Leave them out."),
        (4, "polarity_cue", "is filled in, but the unit is skipped: remove one of the two"),
    ]
    assert report["new"] == 1
    usual = build_round(project, people[1:], name="usual")
    assert {"polarity_cue", "modality_cue"} <= set(Book(out(client, usual, people[1])).letters)
