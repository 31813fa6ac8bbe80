"""Calibration: gold by a curator, practice with feedback, then the round that requires it."""

import uuid
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from evaluation.models import PageText, RatingDesign
from evaluation.protocols.parts import Criterion
from projects.adjudication.actions import DECIDE, undo
from projects.adjudication.confirmation import confirm_agreed, count_confirmable
from projects.agreement.queries import report
from projects.gold.actions import finish_round
from projects.models import Act, Member, Project, Round, Unit
from projects.practice import queries as practice_queries
from projects.queue import queries as queue_queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.evaluation.rating_rounds import build_runs, open_rating, rate_all, rate_value, submit_value

pytestmark = pytest.mark.django_db


def best(criterion: Criterion, key: str) -> str:
    return criterion.scale.options[-1].value


def worst(criterion: Criterion, key: str) -> str:
    return criterion.scale.options[0].value


def one_below(criterion: Criterion, key: str) -> str:
    options = criterion.scale.options
    return options[-2].value if criterion.scale.type == "likert" else options[-1].value


@pytest.fixture
def gold(project: Project, lead: User, ann1: User) -> Round:
    """A closed round of an expert with the best value everywhere, confirmed by a curator."""
    runs = build_runs(project, systems=("Alder", "Birch"))
    round = open_rating(project, [project.members.get(user=ann1)], runs, name="gold", purpose="gold")
    rate_all(ann1, round, best)
    close_round(round=round, by=lead)
    round.refresh_from_db()
    finish_round(round=round, by=lead)
    confirm_agreed(round=round, expected=4, reason="It reads so.", by=project.members.get(user=lead))
    return round


def practise(project: Project, member: Member, gold: Round, **more: Any) -> Round:
    runs = [system.run for system in RatingDesign.objects.get(round=gold).systems.all() if system.run]
    terms = {"pass_mark": 75, "tries": 1, "attempts": 2}
    return open_rating(project, [member], runs, name="practice", purpose="practice", terms=terms, **more)


def test_raters_are_compared_with_gold_and_admitted_when_they_pass(
    project: Project, evaluator: User, gold: Round
) -> None:
    member = project.members.get(user=evaluator)
    trial = practise(project, member, gold)
    assert trial.units_count == gold.units_count
    runs = [system.run for system in RatingDesign.objects.get(round=gold).systems.all() if system.run]
    real = open_rating(project, [member], runs, name="real", requires_practice=trial.pk)
    assert next_assignments(user=evaluator, round=real) == []
    # One scale point is within the round's tolerance; every page is correct.
    rate_all(evaluator, trial, one_below)
    assert [attempt.passed for attempt in practice_queries.attempts(trial, [member.pk])[member.pk]] == [True]
    assert next_assignments(user=evaluator, round=real) != []


def test_a_curator_confirms_agreed_values_once_and_can_undo_it(
    project: Project, lead: User, ann1: User, ann2: User
) -> None:
    people = [project.members.get(user=user) for user in (ann1, ann2)]
    curator = project.members.get(user=lead)
    round = open_rating(project, people, build_runs(project, systems=("Alder",)), name="two", purpose="gold")
    rate_all(ann1, round, best)
    other = next_assignments(user=ann2, round=round)[0]
    submit_value(ann2, other, rate_value(queue_queries.cards(round, [other])[0], worst))
    rate_all(ann2, round, best)
    with pytest.raises(Conflict, match="still open"):
        count_confirmable(round)
    close_round(round=round, by=lead)
    round.refresh_from_db()
    finish_round(round=round, by=lead)
    assert count_confirmable(round) == {"units": 3, "gold": 3, "waiting": 1}
    with pytest.raises(Conflict, match="3 units match now"):
        confirm_agreed(round=round, expected=4, reason="Both say so.", by=curator)
    done = confirm_agreed(round=round, expected=3, reason="Both say so.", by=curator)
    assert count_confirmable(round) == {"units": 0, "gold": 3, "waiting": 1}
    act = Act.objects.create(
        uuid=uuid.uuid4(), project=project, member=curator, verb=DECIDE, result=done, at=timezone.now()
    )
    undo(round=round, act=act.pk, by=curator)
    assert count_confirmable(round) == {"units": 3, "gold": 3, "waiting": 1}


def test_feedback_says_criterion_by_criterion_what_was_expected(project: Project, evaluator: User, gold: Round) -> None:
    trial = practise(project, project.members.get(user=evaluator), gold, policy={"points_apart": 0})
    slot = next_assignments(user=evaluator, round=trial)[0]
    stored = submit_value(evaluator, slot, rate_value(queue_queries.cards(trial, [slot])[0], worst)).answer
    told = practice_queries.feedback(trial, stored)
    assert (told["right"], told["tries_left"]) == (False, 0)
    assert [field["field"] for field in told["fields"]] == ["coherence", "relevance", "consistency"]
    assert all(not field["right"] and field["expected"] != field["said"] for field in told["fields"])
    assert told["fields"][0]["expected"] == "5, 5"
    assert told["fields"][0]["reason"] == "It reads so."


def test_a_practice_page_is_as_blind_as_any(project: Project, evaluator: User, gold: Round, client_of: Any) -> None:
    """The round need not be unblinded: practice reveals no systems."""
    trial = practise(project, project.members.get(user=evaluator), gold)
    body = client_of(evaluator).get(f"/api/v1/rounds/{trial.pk}/next/").content.decode()
    assert PageText.objects.order_by("pk")[0].code in body
    assert not any(name in body for name in ("Alder", "Birch"))


def test_gold_of_an_open_round_is_not_practised_with(project: Project, ann1: User, gold: Round) -> None:
    from projects.kinds import get

    options = gold.options
    pages = get("rate").narrowed(Unit.objects.filter(type="rating page"), options)
    assert pages.count() == 4
    Round.objects.filter(pk=gold.pk).update(status=Round.Status.OPEN)
    assert pages.all().count() == 0


def test_one_person_can_measure_agreement_with_themselves(project: Project, lead: User) -> None:
    """Delayed repeats: pages come later again, with their texts in another order."""
    member = project.members.get(user=lead)
    runs = build_runs(project, clusters=8)
    round = open_rating(project, [member], runs, repeat_share=0.5, repeat_distance=3)
    assert rate_all(lead, round) == 12
    repeats = report(round)["repeats"]
    assert repeats, "said of the same pages twice"
    assert [one["units"] for one in repeats["measures"]] == [16, 16, 16]
    assert all(one["all_agree"]["count"] == one["all_agree"]["of"] for one in repeats["measures"])
