"""Concurrent curators never decide a unit twice: the second one sees the first decision."""

import uuid as uuids
from functools import partial

import pytest

from accounts.models import User
from api.problems import StaleRevision
from projects.acts import Request, run_once
from projects.adjudication import queries as adjudication_queries
from projects.adjudication.actions import DECIDE, adjudicate, undo
from projects.adjudication.queries import decisions_of
from projects.models import Decision, Member, Project, Round
from tests.projects.adjudication import APART, answer_by, closed_round, unit_of
from tests.projects.test_contests import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.contest]
UNITS = 12


@pytest.fixture
def three(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    Member.objects.filter(user=evaluator).update(role="annotator")
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]


@pytest.fixture
def curators(project: Project, lead: User) -> list[Member]:
    other = User.objects.create_user(email="other@example.org", name="Other")
    second = Member.objects.create(project=project, user=other, role="curator", pseudonym="R9")
    return [Member.objects.get(project=project, user=lead), second]


def decide(round: Round, row: int, curator: Member, answer: object, seen: int, act: uuids.UUID) -> None:
    """Decide as the view does: the act and its results in one transaction."""
    unit = unit_of(round, row)

    def work() -> dict[str, object]:
        return adjudicate(
            round=round,
            unit=unit,
            seen=seen,
            reason="So.",
            by=curator,
            called=lambda u: u.name if u else "",
            answer=answer,  # type: ignore[arg-type]
        )

    run_once(Request(act, str(act)), by=curator, verb=DECIDE, work=work)


def test_one_unit_is_decided_by_one_of_two_and_the_other_is_shown_it(
    project: Project, three: list[Member], curators: list[Member]
) -> None:
    round = closed_round(project, three, [APART] * UNITS)
    for row in range(UNITS):
        unit = unit_of(round, row)
        seen = max(d.pk for d in decisions_of(unit, "label"))
        answers = [answer_by(round, unit, three[n]).pk for n in (0, 1)]
        acts = [uuids.uuid4(), uuids.uuid4()]
        errors = at_once(*(partial(decide, round, row, curators[n], answers[n], seen, acts[n]) for n in (0, 1)))
        assert [type(e) for e in errors] == [StaleRevision], errors
        made = Decision.objects.filter(unit=unit, origin="decided by a curator")
        assert sorted(d.field for d in made) == ["polarity", "polarity_cue"]
        assert len({(d.decided_by_id, d.answer_id) for d in made}) == 1
        first = next(c for c in curators if c.user_id == made[0].decided_by_id)
        assert errors[0].extra["current"]["by"] == first.user.name  # type: ignore[attr-defined]
    assert adjudication_queries.queued_units(round) == []


def test_undo_and_a_new_decision_at_once_leave_one_of_both(
    project: Project, three: list[Member], curators: list[Member]
) -> None:
    """Either the undo comes first and the other curator is told so, or it finds the newer decision and keeps it."""
    round = closed_round(project, three, [APART] * 4)
    for row in range(4):
        unit, act = unit_of(round, row), uuids.uuid4()
        before = max(d.pk for d in decisions_of(unit, "label"))
        decide(round, row, curators[0], answer_by(round, unit, three[0]).pk, before, act)
        seen = max(d.pk for d in decisions_of(unit, "label"))
        errors = at_once(
            partial(undo, round=round, act=act, by=curators[0]),
            partial(decide, round, row, curators[1], answer_by(round, unit, three[1]).pk, seen, uuids.uuid4()),
        )
        assert len(errors) == 1, errors
        newest = {d.field: d for d in reversed(decisions_of(unit, "label"))}["polarity"]
        if isinstance(errors[0], StaleRevision):
            assert newest.origin == "reopened"
        else:
            assert newest.answer_id == answer_by(round, unit, three[1]).pk
