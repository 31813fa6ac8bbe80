"""Screening retrieved reviews: two people, ties for the curator, agreement."""

from typing import Any

import pytest

from accounts.models import User
from annotation.models import Review
from annotation.pubmed.tables import Topics
from projects import kinds
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions
from projects.models import Decision, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from projects.stored_figures.actions import bring_up_to_date
from tests.builders import answer, build_round

pytestmark = pytest.mark.django_db
KIND = "screen"


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    for number, about in enumerate(("migraine", "sciatica", "gout")):
        pmid = str(26_000_000 + number)
        unit = Unit.objects.create(project=project, type="review", key=pmid, made_by=lead)
        Review.objects.create(
            project=project, pmid=pmid, unit=unit, title=f"Nepralin for {about}", abstract=f"Trials of {about}."
        )
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def said(screening: str) -> dict[str, Any]:
    return {"screening": screening}


def work(round: Round, people: list[Member], *values: tuple[str, str]) -> None:
    """Answers of both people in the order of the reviews."""
    units = dict(zip(kinds.get(KIND).units(round.project).values_list("pk", flat=True), values, strict=True))
    for which, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            answer(person.user, held[0], said(units[held[0].unit_id][which]), kind=KIND)


@pytest.fixture
def round(project: Project, people: list[Member]) -> Round:
    return build_round(project, people, kind=KIND, overlap=2, options={"inclusion_criteria": "Adults with migraine."})


def test_the_screening_card_shows_the_record_and_the_criteria(round: Round, people: list[Member]) -> None:
    held = next_assignments(user=people[0].user, round=round)
    [card, *_] = cards(round, held)
    assert {k: card[k] for k in ("pmid", "title", "abstract", "criteria")} == {
        "pmid": "26000000",
        "title": "Nepralin for migraine",
        "abstract": "Trials of migraine.",
        "criteria": "Adults with migraine.",
    }


def test_unanimous_answers_become_current_and_ties_wait_for_the_curator(
    round: Round, people: list[Member], lead: User
) -> None:
    work(round, people, ("include", "include"), ("not relevant", "not relevant"), ("not relevant", "superseded"))
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    units = list(kinds.get(KIND).units(round.project).values_list("pk", flat=True))
    origins = {unit: decision.origin for (unit, _), decision in current_decisions(units, KIND).items()}
    assert [origins.get(unit) for unit in units] == [Origin.UNANIMOUS, Origin.UNANIMOUS, None]
    assert [d.unit_id for d in Decision.objects.filter(unit__in=units).contested()] == units[2:]


def test_table_1_adds_up_by_topic(round: Round, people: list[Member], lead: User) -> None:
    """Two of three reviews are decided; the third is contested."""
    Review.objects.filter(project=round.project).update(topic="pain")
    work(round, people, ("include", "include"), ("not relevant", "not relevant"), ("superseded", "include"))
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    bring_up_to_date(round.project)
    assert Topics(round.project).rows() == [("pain", [3, 1, 1, 1, 0, 0])]


def test_people_who_give_different_reasons_agree_that_a_review_is_out() -> None:
    kind = kinds.get(KIND)
    out, other, into = said("not relevant"), said("superseded"), said("include")
    assert kind.in_words(out) == {"screening": "not relevant"}, "the pages have words of their own for it"
    assert kind.row(out) == {"screening": "not relevant", "inclusion": "exclude"}
    assert kind.distance("screening", out, out) == 0.0
    assert kind.distance("screening", out, other) == 0.5
    assert kind.distance("screening", out, into) == 1.0


def test_a_round_can_filter_reviews_by_ids_or_words(project: Project, people: list[Member]) -> None:
    kind = kinds.get(KIND)
    units = kind.units(project)
    narrow = {f.parameter.name: f.narrow for f in kind.filters}
    assert [u.key for u in narrow["search"](units, "GOUT")] == ["26000002"]
    assert [u.key for u in narrow["review"](units, "26000000, 26000002")] == ["26000000", "26000002"]
