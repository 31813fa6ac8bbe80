"""Many people at the same assignments: exactly k counted answers from k people, on both databases.

Reliability rows 11, 12 and 13. The threads start at a barrier, each with its own connection.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, close_old_connections, connection

from accounts.models import User
from api.problems import Conflict, NotFound, Refused, RoundClosed
from projects.answers.queries import opinions
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.guideline_changes.actions import open_correction
from projects.guidelines.actions import write_guideline
from projects.models import Answer, Assignment, Decision, Member, Participant, Project, Round, Unit
from projects.models.round import RETURNED
from projects.queue.actions import next_assignments, submit
from projects.rounds.actions import add_person, close_round, remove_person
from projects.sheets.actions import hold_for_sheet
from tests.builders import build_cluster, build_round, label_value, submission

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.contest]
#: `make soak` sets 500.
CONTESTS = int(os.environ.get("CONTESTS", "60"))
THREADS = 8


def at_once(*acts: Callable[[], object]) -> list[BaseException]:
    """Run the functions in threads that start together and return their errors."""
    barrier = threading.Barrier(len(acts))
    errors: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        try:
            barrier.wait(timeout=30)
            act()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    close_old_connections()
    return errors


@pytest.fixture
def crowd(project: Project) -> list[Member]:
    """Eight people."""
    people = []
    for i in range(THREADS):
        user = User.objects.create_user(email=f"crowd{i}@example.org", name=f"Crowd {i}")
        people.append(Member.objects.create(project=project, user=user, role="annotator", pseudonym=f"C{i}"))
    return people


def take_and_answer(user: User, round: Round) -> None:
    for slot in next_assignments(user=user, round=round):
        submit(user=user, submission=submission(slot, label_value()))


@pytest.mark.parametrize("overlap", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.row(11, 12)
def test_concurrent_answers_give_a_unit_exactly_k_answers_from_k_people(
    project: Project, crowd: list[Member], overlap: int
) -> None:
    build_cluster(project, inputs=0)
    for contest in range(CONTESTS // 2):
        round = build_round(project, crowd, name=f"contest {contest}", overlap=overlap)
        errors = at_once(*[partial(take_and_answer, m.user, round) for m in crowd])
        assert errors == []
        counted = Assignment.objects.filter(round=round, number__gte=1)
        assert counted.count() == overlap
        assert counted.exclude(current_answer=None).count() == overlap
        assert counted.values("person").distinct().count() == overlap
        assert Answer.objects.filter(assignment__round=round).count() == overlap


@pytest.mark.row(13)
def test_one_submission_sent_eight_times_at_once_is_stored_once(project: Project, crowd: list[Member]) -> None:
    build_cluster(project, inputs=0)
    for contest in range(10):
        round = build_round(project, crowd[:1], name=f"double {contest}")
        user = crowd[0].user
        sent = submission(next_assignments(user=user, round=round)[0], label_value())
        assert at_once(*[partial(submit, user=user, submission=sent) for _ in range(THREADS)]) == []
        assert Answer.objects.filter(assignment__round=round).count() == 1


@pytest.mark.row(12)
def test_an_expired_assignment_claimed_by_many_keeps_k_answers(project: Project, crowd: list[Member]) -> None:
    """The late answer counts or is uncounted, depending on the order, but there are never k + 1."""
    build_cluster(project, inputs=0)
    surplus = 0
    for contest in range(20):
        round = build_round(project, crowd, name=f"late {contest}", overlap=1)
        late = next_assignments(user=crowd[0].user, round=round)[0]
        Assignment.objects.filter(pk=late.pk).update(leased_until="2020-01-01T00:00:00Z")
        sent = submission(late, label_value())
        errors = at_once(
            partial(submit, user=crowd[0].user, submission=sent),
            *[partial(take_and_answer, m.user, round) for m in crowd[1:]],
        )
        assert errors == []
        counted = Assignment.objects.filter(round=round, number__gte=1)
        assert counted.count() == 1
        assert counted.exclude(current_answer=None).count() == 1
        assert Answer.objects.filter(uuid=sent.uuid).exists()
        surplus += Answer.objects.filter(assignment__round=round).count() - 1
    assert 0 <= surplus <= 20


def test_a_busy_database_is_reported_and_nothing_is_stored(
    project: Project, crowd: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    build_cluster(project, inputs=0)
    round = build_round(project, crowd[:1])
    slot = next_assignments(user=crowd[0].user, round=round)[0]

    def busy(*args: object, **kwargs: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("projects.queue.assignments.top_up", busy)
    with pytest.raises(OperationalError):
        submit(user=crowd[0].user, submission=submission(slot, label_value()))
    assert not Answer.objects.exists()


def test_sheets_and_browsers_share_a_queue_without_blocking(project: Project, crowd: list[Member], lead: User) -> None:
    """Each starts at another position of the queue; without claiming in order they could deadlock."""
    for n in range(12):
        build_cluster(project, number=n, inputs=4)
    round = build_round(project, crowd, overlap=2, allocation=Round.Allocation.SHARED)
    sheets = [partial(hold_for_sheet, round=round, member=member, by=lead, limit=50) for member in crowd[1:]]
    errors = at_once(*sheets, partial(take_and_answer, crowd[0].user, round))
    assert errors == []
    held = Assignment.objects.filter(round=round, person__isnull=False)
    assert held.count() > 60
    for member in crowd:
        units = held.filter(person=member).values_list("unit", flat=True)
        assert len(units) == len(set(units)), "nobody has a unit twice"


@pytest.mark.long
def test_one_person_in_eight_tabs_is_handed_no_unit_twice_and_meets_no_error(
    project: Project, crowd: list[Member], lead: User
) -> None:
    for n in range(8):
        build_cluster(project, number=n, inputs=4)
    round = build_round(project, crowd[:1])

    def work() -> None:
        for _ in range(4):
            for slot in next_assignments(user=crowd[0].user, round=round):
                with suppress(Conflict):  # another tab was faster
                    submit(user=crowd[0].user, submission=submission(slot, label_value()))

    errors = at_once(*[work] * 7, partial(hold_for_sheet, round=round, member=crowd[0], by=lead, limit=6))
    assert errors == []
    slots = Assignment.objects.filter(round=round, person=crowd[0])
    assert slots.count() == slots.values("unit").distinct().count()
    assert Answer.objects.count() == Answer.objects.values("assignment").distinct().count() > 7


@pytest.mark.row(12, 58)
def test_joining_leaving_and_closing_lose_no_answers(project: Project, crowd: list[Member]) -> None:
    """Answers are stored and counted, or refused; nobody who left holds an assignment; gold has all counted answers."""
    for n in range(6):
        build_cluster(project, number=n, inputs=4)
    for contest in range(max(CONTESTS // 30, 2)):
        round = build_round(project, crowd, name=f"coming and going {contest}", overlap=2)

        def work(user: User, round: Round = round) -> None:
            with suppress(NotFound, RoundClosed):
                while held := next_assignments(user=user, round=round):
                    submit(user=user, submission=submission(held[0], label_value()))

        def come_and_go(round: Round = round) -> None:
            with suppress(Conflict, Refused):
                for member in crowd[:3] * 4:
                    remove_person(round=round, member=member, by=None)
                    add_person(round=round, member=member, by=None)

        def close(round: Round = round, after: float = 0.1 + 0.1 * contest) -> None:
            time.sleep(after)
            close_round(round=round, by=None)
            finish_round(round=Round.objects.get(pk=round.pk), by=None)

        errors = at_once(*[partial(work, m.user) for m in crowd[:6]], come_and_go, close)
        assert errors == []
        answered = Counter(opinions(round).values_list("assignment__unit", flat=True))
        complete = {unit for unit, n in answered.items() if n == round.overlap}
        assert complete == set(Decision.objects.filter(round=round).values_list("unit", flat=True))
        out = Participant.objects.filter(round=round, left_at__isnull=False).values("member")
        assert not Assignment.objects.counted().unanswered().filter(round=round, person__in=out).exists()


@pytest.mark.parametrize("overlap", [1, 3])
def test_people_at_once_get_no_returning_item_twice_and_units_keep_k_answers(
    project: Project, crowd: list[Member], lead: User, overlap: int
) -> None:
    for n in range(6):
        build_cluster(project, number=n, inputs=2)
    for unit in Unit.objects.filter(type="proposition").order_by("pk")[:6]:
        correct(unit=unit, kind="label", value=label_value(), reason="It reads so.", by=Member.objects.get(user=lead))
    plan = {"return_share": 0.3, "order": "shuffled", "filters": {"gold": "without"}}
    round = build_round(project, crowd, overlap=overlap, **plan)

    def work(user: User) -> None:
        while held := sent(partial(next_assignments, user=user, round=round)):
            for slot in held:
                sent(partial(submit, user=user, submission=submission(slot, label_value())))

    def sent(request: Callable[[], Any]) -> Any:
        """Send a request again after a deadlock, as clients do after status 503."""
        while True:
            try:
                return request()
            except OperationalError:
                connection.close()

    assert at_once(*[partial(work, member.user) for member in crowd]) == []
    slots = Assignment.objects.filter(round=round, number__gte=1)
    assert not slots.filter(current_answer=None).exists()
    pairs = list(slots.values_list("unit", "person"))
    assert len(pairs) == len(set(pairs)), "nobody has a unit or an item twice"
    of_units = Counter(opinions(round).values_list("assignment__unit", flat=True))
    assert of_units == dict.fromkeys(slots.filter(repeat=0).values_list("unit", flat=True), overlap)
    assert slots.filter(repeat=RETURNED).exists()
    assert len(of_units) == 12


def test_of_two_leads_who_open_a_correction_round_one_gets_the_units(project: Project, lead: User, ann1: User) -> None:
    curator, worker = (Member.objects.get(project=project, user=user) for user in (lead, ann1))
    build_cluster(project, 100, inputs=2)
    for unit in Unit.objects.filter(type="proposition", key__startswith="DEMO0100"):
        correct(unit=unit, kind="label", value=label_value(), reason="It reads so.", by=curator)
    version = write_guideline(project=project, kind="label", text="New.", by=lead, scope="all", reason="Clearer.")
    open_one = partial(open_correction, guideline=version, people=[worker.pk], by=lead)
    errors = at_once(*(partial(open_one, name=f"Round {n}") for n in range(3)))
    assert [type(error) for error in errors] == [Refused] * 2
