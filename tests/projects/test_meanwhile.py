"""Changes between reading and writing: nothing is written that relies on outdated data.

Reliability row 58. Where timing matters, one thread is paused at a function while another continues, each with its
own connection.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import User
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from api.problems import Conflict, NotFound, Refused, RoundClosed
from projects.answers.queries import counted
from projects.gold.actions import finish_round
from projects.models import Answer, Assignment, Decision, Member, Participant, Project, Round
from projects.people.actions import remove_member
from projects.queue import actions as queue_actions
from projects.queue import assignments
from projects.queue.actions import Submitted, next_assignments, submit
from projects.rounds import actions as rounds_actions
from projects.rounds.actions import add_person, close_round, remove_person
from tests.builders import answer, build_cluster, build_round, label_value, submission
from tests.concurrency import Background, paused_before

at_once = pytest.mark.django_db(transaction=True)
row = pytest.mark.row(58)
closing = pytest.mark.row(21, 58)
ON_POSTGRES = connection.vendor == "postgresql"


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    build_cluster(project, inputs=3)
    return [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]


def once(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], object]) -> None:
    """Call something just before a function runs for the first time, as another request would."""
    real = getattr(owner, name)

    def first(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(owner, name, real)
        act()
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, first)


def close_and_form_gold(round: Round) -> None:
    close_round(round=round, by=None)
    finish_round(round=Round.objects.get(pk=round.pk), by=None)


def check_gold(round: Round) -> None:
    """Gold has used all counted answers."""
    units = {a.assignment.unit_id for a in counted(round).select_related("assignment")}
    assert units == set(Decision.objects.filter(round=round).values_list("unit", flat=True))


@at_once
@closing
@pytest.mark.contest
def test_a_round_that_is_closed_while_an_answer_is_stored_waits_for_it_and_gold_has_it(
    project: Project, people: list[Member]
) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    with paused_before(assignments, "top_up") as pause:  # the answer is stored, but not committed
        late = Background(lambda: submit(user=people[0].user, submission=submission(slot, label_value())))
        assert pause.reached.wait(10)
        closing = Background(lambda: close_and_form_gold(round))
        assert not closing.has_ended(0.3)
    stored: Submitted = late.end()
    closing.end()
    assert stored.answer.assignment.number == 1
    assert Decision.objects.filter(round=round, answer=stored.answer).exists()
    check_gold(round)


@at_once
@closing
@pytest.mark.contest
@pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite whoever writes is alone")
def test_an_answer_stored_during_closing_is_in_gold_or_refused(project: Project, people: list[Member]) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    with transaction.atomic():
        Assignment.objects.filter(pk=slot.pk).update(leased_until=slot.leased_until)
        late = Background(lambda: submit(user=people[0].user, submission=submission(slot, label_value())))
        assert not late.has_ended(0.3)
        closing = Background(lambda: close_and_form_gold(round))
        closing.has_ended(0.3)
    closing.end()
    if late.has_ended(10) and late.error is None:
        assert Decision.objects.filter(round=round, answer=late.result.answer).exists()
    check_gold(round)


@at_once
@closing
@pytest.mark.contest
@pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite whoever writes is alone")
def test_an_answer_that_comes_while_the_round_is_being_closed_is_refused(
    project: Project, people: list[Member]
) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    with transaction.atomic():
        close_round(round=round, by=None)
        late = Background(lambda: submit(user=people[0].user, submission=submission(slot, label_value())))
        assert not late.has_ended(0.3)
    with pytest.raises(RoundClosed):
        late.end()
    assert not Answer.objects.exists()


@pytest.mark.django_db
@row
@pytest.mark.parametrize("revision", [0, 1], ids=["a first answer", "a correction"])
def test_nothing_is_stored_for_a_person_removed_during_the_request(
    project: Project, people: list[Member], monkeypatch: pytest.MonkeyPatch, revision: int
) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    if revision:
        answer(people[0].user, slot)
    sent = submission(slot, label_value("negative"), revision=revision)
    once(monkeypatch, queue_actions, "_validate_value", lambda: remove_person(round=round, member=people[0], by=None))
    with pytest.raises(NotFound):
        submit(user=people[0].user, submission=sent)
    assert Answer.objects.count() == revision
    assert not Assignment.objects.filter(round=round, person=people[0], number__gte=1, current_answer=None).exists()


@pytest.mark.django_db
@row
def test_a_reply_says_uncounted_if_another_person_got_the_assignment_meanwhile(
    project: Project, people: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    Assignment.objects.filter(pk=slot.pk).update(leased_until="2020-01-01T00:00:00Z")
    once(monkeypatch, queue_actions, "_validate_value", lambda: next_assignments(user=people[1].user, round=round))
    stored = submit(user=people[0].user, submission=submission(slot, label_value()))
    assert stored.answer.assignment.is_retired
    assert stored.answer.assignment.number == Assignment.objects.get(pk=slot.pk).number
    assert Assignment.objects.get(round=round, unit=slot.unit_id, number=1).person == people[1]


@pytest.mark.django_db
@row
def test_an_assignment_moved_to_a_late_participant_meanwhile_is_theirs(
    project: Project, people: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    round = build_round(project, people[:2], allocation="dealt")
    # All are one person's, so that the joiner's come from there, whatever the deal.
    Assignment.objects.filter(round=round).update(person=people[0])
    slot = Assignment.objects.filter(round=round).order_by("-position")[0]
    once(monkeypatch, queue_actions, "_validate_value", lambda: add_person(round=round, member=people[2], by=None))
    with pytest.raises(NotFound):
        submit(user=people[0].user, submission=submission(slot, label_value()))
    slot.refresh_from_db()
    assert (slot.person, slot.current_answer) == (people[2], None)


@at_once
@row
@pytest.mark.contest
def test_people_removed_during_a_transfer_keep_no_assignments(project: Project, people: list[Member]) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    for begin in (
        lambda: submit(user=people[0].user, submission=submission(slot, label_value())),
        lambda: next_assignments(user=people[0].user, round=round),
    ):
        with paused_before(assignments, "_renew") as pause:
            late = Background(begin)
            assert pause.reached.wait(10)
            leaving = Background(lambda: remove_person(round=round, member=people[0], by=None))
            leaving.has_ended(0.3)
        late.end()
        leaving.end()
        assert not Assignment.objects.counted().unanswered().filter(round=round, person=people[0]).exists()
        Participant.objects.filter(round=round, member=people[0]).update(left_at=None)


@pytest.mark.django_db
@row
def test_an_answer_to_a_constantly_changing_assignment_is_a_conflict(
    project: Project, people: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    round = build_round(project, people)
    slot = next_assignments(user=people[0].user, round=round)[0]
    monkeypatch.setattr(type(queue_actions._MOVE), "run", lambda self, **values: 0)
    with pytest.raises(Conflict, match="Send the answer again"):
        submit(user=people[0].user, submission=submission(slot, label_value()))
    assert not Answer.objects.exists()


@pytest.mark.django_db
@row
def test_nobody_joins_a_round_that_was_closed_since_it_was_looked_at(project: Project, people: list[Member]) -> None:
    round = build_round(project, people[:1])
    close_round(round=Round.objects.get(pk=round.pk), by=None)
    with pytest.raises(Conflict, match="closed"):
        add_person(round=round, member=people[1], by=None)
    assert not Participant.objects.filter(member=people[1]).exists()


@pytest.mark.django_db
@row
def test_nobody_joins_who_has_left_the_project_since_it_was_looked_at(
    project: Project, people: list[Member], lead: User
) -> None:
    round = build_round(project, people[:1])
    remove_member(member=Member.objects.get(pk=people[1].pk), by=lead)
    with pytest.raises(Refused):
        add_person(round=round, member=people[1], by=None)
    assert not Participant.objects.filter(member=people[1]).exists()


@at_once
@row
@pytest.mark.contest
@pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite whoever writes is alone")
def test_leaving_the_project_while_joining_a_round_ends_both(
    project: Project, people: list[Member], lead: User
) -> None:
    round = build_round(project, people[:1], allocation="dealt")
    with paused_before(rounds_actions, "_share") as place:
        joining = Background(lambda: add_person(round=round, member=people[1], by=None))
        assert place.reached.wait(10)
        leaving = Background(lambda: remove_member(member=people[1], by=lead))
        leaving.has_ended(0.3)
    joining.end()
    leaving.end()
    assert Participant.objects.get(member=people[1]).left_at
    assert not Assignment.objects.counted().filter(round=round, person=people[1]).exists()


@at_once
@row
@pytest.mark.contest
@pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite whoever writes is alone")
def test_a_round_that_is_closed_while_a_text_is_corrected_is_closed_before_it_or_after_it(
    project: Project, people: list[Member]
) -> None:
    round = build_round(project, people[:1])
    while held := next_assignments(user=people[0].user, round=round):
        answer(people[0].user, held[0])
    old = Proposition.objects.select_related("unit").get(cluster__project=project, position=1)
    with paused_before(assignments, "create_replacement") as pause:
        correcting = Background(
            lambda: supersede_text(proposition=old, text="Another text.", reason="Typo.", by=people[1])
        )
        assert pause.reached.wait(10)
        closing = Background(lambda: close_and_form_gold(round))
        closing.has_ended(0.3)
    correcting.end()
    closing.end()
    check_gold(round)
