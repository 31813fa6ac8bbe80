"""Rating how well passages answer their questions: cards, imported ratings, gold, agreement, the released file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from annotation.formats.mediqa.published import files
from annotation.imports.actions import check_files, import_files
from annotation.models import Passage
from annotation.questions.ratings import FIELD, KIND, with_current_rating
from projects import kinds
from projects.agreement.queries import report as agreement_report
from projects.gold.actions import finish_round
from projects.models import Decision, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.uploads.files import Source
from tests.annotation.test_mediqa import NINE, PASSAGES, QUESTIONS
from tests.builders import answer, build_round

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
PRIMARY = "question_driven_answer_summarization_primary_dataset.json"


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, tmp_path: Path) -> list[Member]:
    (tmp_path / PRIMARY).write_bytes(NINE[PRIMARY])
    checked = check_files(project=project, format="mediqa-ans", sources=[Source.of(tmp_path / PRIMARY)])
    import_files(project=project, format="mediqa-ans", checked=checked, by=None)
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def rate(round: Round, people: list[Member], ratings: dict[str, tuple[str, str]]) -> None:
    for which, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            answer(person.user, held[0], {FIELD: ratings[held[0].unit.key][which]}, kind=KIND)


def current() -> dict[str, int]:
    return dict(with_current_rating(Passage.objects.all()).values_list("key", "current_rating"))


def test_a_card_shows_the_question_and_the_passage(project: Project, people: list[Member]) -> None:
    round = build_round(project, people, kind=KIND, overlap=2)
    kind = kinds.get(KIND)
    slot = round.assignments.filter(unit__key="3_Answer1").select_related("unit").first()
    assert slot
    card = kind.card(slot, kind.load([slot], round), round)
    assert card["question"] == QUESTIONS["3"]
    assert (card["text"], card["url"], card["is_page"]) == (*PASSAGES["3_Answer1"][1:4:2], False)


def test_people_decide_and_the_released_rating_follows(project: Project, people: list[Member]) -> None:
    before = json.loads(dict(files(project))[PRIMARY])
    round = build_round(project, people, kind=KIND, overlap=2)
    rate(
        round,
        people,
        {
            "1_Answer2": ("related", "related"),
            "1_Answer10": ("excellent", "excellent"),
            "3_Answer1": ("incorrect", "excellent"),
        },
    )
    measure = agreement_report(round)["measures"][0]
    assert (measure["name"], measure["all_agree"]) == (FIELD, {"count": 2, "of": 3})
    close_round(round=round, by=people[0].user)
    finish_round(round=round, by=people[0].user)
    # People disagree on the third, so its imported rating stays current.
    assert current() == {"1_Answer2": 2, "1_Answer10": 4, "3_Answer1": 4}
    origins = Decision.objects.filter(kind=KIND, field=FIELD).order_by("pk").values_list("unit__key", "origin")
    assert {origin for key, origin in origins if key == "3_Answer1"} == {Origin.IMPORTED, Origin.CONTESTED}
    before["1"]["answers"]["1_Answer2"]["rating"] = "2-Related"
    assert json.loads(dict(files(project))[PRIMARY]) == before


def test_later_rounds_choose_passages_by_their_current_rating(project: Project, people: list[Member]) -> None:
    kind = kinds.get(KIND)
    [rated] = [one for one in kind.filters if one.parameter.name == "rated"]

    def chosen(rating: str) -> list[str]:
        return list(rated.narrow(kind.units(project), rating).values_list("key", flat=True))

    assert (chosen("incomplete"), chosen("excellent")) == (["1_Answer2"], ["1_Answer10", "3_Answer1"])
    round = build_round(project, people, kind=KIND, overlap=2)
    rate(round, people, dict.fromkeys(PASSAGES, ("incomplete", "incomplete")))
    close_round(round=round, by=people[0].user)
    finish_round(round=round, by=people[0].user)
    assert (chosen("incomplete"), chosen("excellent")) == (["1_Answer2", "1_Answer10", "3_Answer1"], [])


def test_cards_take_the_same_number_of_queries_for_any_number(
    project: Project, people: list[Member], django_assert_num_queries: Callable[..., Any]
) -> None:
    round = build_round(project, people, kind=KIND, overlap=2)
    kind = kinds.get(KIND)
    held = list(round.assignments.select_related("unit"))
    for some in (held[:1], held):
        with django_assert_num_queries(2):
            batch = kind.load(some, round)
            assert all(kind.card(one, batch, round)["text"] for one in some)


def test_passages_of_one_question_are_one_cluster_of_an_interval(project: Project, people: list[Member]) -> None:
    units = Unit.objects.filter(type="passage")
    assert sorted(kinds.get(KIND).reviews([unit.pk for unit in units]).values()) == ["1", "1", "3"]
