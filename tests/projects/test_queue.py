"""The queue: assignments, held assignments, leases, skips, uncounted answers."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from api.problems import NotFound, RoundClosed, StaleRevision, UuidReused
from projects.answers.queries import counted
from projects.models import Answer, Assignment, Member, Project, Round
from projects.models.round import HELD_LIMIT
from projects.queue.actions import next_assignments, submit
from projects.rounds.actions import add_person, close_round, remove_person
from tests.builders import answer, build_cluster, build_round, label_value, skip, submission

pytestmark = pytest.mark.django_db


def member(project: Project, user: User) -> Member:
    return Member.objects.get(project=project, user=user)


@pytest.fixture
def corpus(project: Project) -> Project:
    for number in range(3):
        build_cluster(project, number)
    return project


def walk(user: User, round: Round, limit: int = 100) -> list[str]:
    """Answer everything that is offered; return the unit keys in order."""
    keys: list[str] = []
    while (held := next_assignments(user=user, round=round)) and len(keys) < limit:
        keys.append(held[0].unit.key)
        answer(user, held[0])
    return keys


def test_a_person_holds_two_assignments_and_a_repeated_request_claims_no_more(corpus: Project, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)])
    first = next_assignments(user=ann1, round=round)
    assert len(first) == HELD_LIMIT
    assert [s.pk for s in next_assignments(user=ann1, round=round)] == [s.pk for s in first]
    assert Assignment.objects.filter(person__user=ann1).count() == HELD_LIMIT


def test_a_round_may_let_people_hold_more_to_work_offline_and_each_unit_still_has_its_k(
    corpus: Project, ann1: User, ann2: User
) -> None:
    people = [member(corpus, ann1), member(corpus, ann2)]
    round = build_round(corpus, people, held_limit=6, lease_seconds=3600)
    mine, theirs = next_assignments(user=ann1, round=round), next_assignments(user=ann2, round=round)
    assert (len(mine), len(theirs)) == (6, 3), "of nine units, asked of one person each"
    assert not {s.unit_id for s in mine} & {s.unit_id for s in theirs}
    assert [s.pk for s in next_assignments(user=ann1, round=round)] == [s.pk for s in mine]
    # All at once, as an outbox sends them after an outage; nobody holds more than the limit.
    for slot in mine:
        assert answer(ann1, slot).answer.outcome == "answered"
    assert next_assignments(user=ann1, round=round) == []
    # What was held too long goes to another person.
    Assignment.objects.filter(person__user=ann2).update(leased_until=timezone.now() - timedelta(seconds=1))
    assert {s.unit_id for s in next_assignments(user=ann1, round=round)} == {s.unit_id for s in theirs}


def test_propositions_of_one_cluster_come_together_in_their_order(corpus: Project, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)], order="shuffled", seed=5)
    keys = walk(ann1, round)
    assert len(keys) == 9
    for i in range(0, 9, 3):
        cluster = keys[i].split("/")[0]
        assert keys[i : i + 3] == [f"{cluster}/{n}" for n in range(3)]


def test_each_unit_gets_exactly_k_answers_from_k_people(corpus: Project, lead: User, ann1: User, ann2: User) -> None:
    people = [member(corpus, u) for u in (lead, ann1, ann2)]
    round = build_round(corpus, people, overlap=2)
    done = {user: walk(user, round) for user in (ann1, lead, ann2)}
    assert sum(map(len, done.values())) == 18
    assert all(len(keys) == len(set(keys)) for keys in done.values())
    answered = Assignment.objects.filter(round=round, number__gte=1).exclude(current_answer=None)
    assert answered.count() == 18
    assert next_assignments(user=ann1, round=round) == []


def test_people_start_at_different_positions_of_the_queue(corpus: Project, ann1: User, ann2: User) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)], overlap=1)
    one = next_assignments(user=ann1, round=round)[0]
    two = next_assignments(user=ann2, round=round)[0]
    assert (one.position, two.position) == (0, 4)
    assert sorted(walk(ann1, round) + walk(ann2, round)) == sorted(
        round.assignments.values_list("unit__key", flat=True)
    )


def test_a_fixed_allocation_gives_everyone_an_equal_and_stable_share(
    corpus: Project, lead: User, ann1: User, ann2: User
) -> None:
    people = [member(corpus, u) for u in (lead, ann1, ann2)]
    round = build_round(corpus, people, overlap=2, allocation="dealt", seed=7)
    loads = [Assignment.objects.filter(round=round, person=p).count() for p in people]
    assert loads == [6, 6, 6]
    assert len(walk(ann1, round)) == 6
    assert next_assignments(user=ann1, round=round) == []


@pytest.mark.row(13)
def test_the_same_bytes_again_return_the_stored_answer(corpus: Project, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    sent = submission(slot, label_value())
    first, again = submit(user=ann1, submission=sent), submit(user=ann1, submission=sent)
    assert first.new
    assert not again.new
    assert again.answer.pk == first.answer.pk
    assert [s.pk for s in again.held] == [s.pk for s in first.held]
    assert Answer.objects.count() == 1


@pytest.mark.row(14)
def test_the_same_identifier_with_other_bytes_is_refused_and_deletes_nothing(corpus: Project, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    stored = answer(ann1, slot).answer
    with pytest.raises(UuidReused):
        submit(user=ann1, submission=submission(slot, label_value("positive"), uuid=stored.uuid))
    assert Answer.objects.get().label.polarity == "no effect"


@pytest.mark.row(15, 20)
def test_a_stale_revision_is_refused_with_the_newer_value(corpus: Project, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    answer(ann1, slot, label_value("positive"))
    with pytest.raises(StaleRevision) as refused:
        answer(ann1, slot, label_value("negative"), revision=0)
    assert refused.value.extra["current"]["revision"] == 1
    assert refused.value.extra["current"]["value"]["polarity"] == "positive"
    assert Answer.objects.count() == 1


def test_a_correction_is_a_new_revision_and_the_old_one_stays(corpus: Project, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    answer(ann1, slot, label_value("positive"))
    answer(ann1, slot, label_value("negative"), revision=1)
    slot.refresh_from_db()
    assert slot.revision == 2
    assert slot.current_answer is not None
    assert slot.current_answer.label.polarity == "negative"
    assert [a.label.polarity for a in slot.answers.order_by("revision")] == ["positive", "negative"]


def test_an_expired_lease_only_makes_an_assignment_claimable(corpus: Project, ann1: User, ann2: User) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)])
    slot = next_assignments(user=ann1, round=round)[0]
    Assignment.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    assert answer(ann1, slot).answer.assignment.number == 1
    slot.refresh_from_db()
    assert not slot.is_retired


def test_a_late_answer_to_a_reassigned_unit_is_stored_as_uncounted(corpus: Project, ann1: User, ann2: User) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)])
    slot = next_assignments(user=ann1, round=round)[0]
    Assignment.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    taken = next_assignments(user=ann2, round=round)
    assert slot.unit_id in {s.unit_id for s in taken}
    late = answer(ann1, slot)
    late.answer.assignment.refresh_from_db()
    assert late.answer.assignment.is_retired
    fresh = Assignment.objects.get(round=round, unit=slot.unit_id, number=1)
    assert fresh.person == member(corpus, ann2)
    assert slot.unit_id not in {s.unit_id for s in next_assignments(user=ann1, round=round)}
    answer(ann2, fresh)
    assert [found.author_id for found in counted(round)] == [member(corpus, ann2).pk], "a surplus counts nowhere"


def test_a_skip_frees_the_assignment_for_other_people_only(corpus: Project, ann1: User, ann2: User) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)])
    slot = next_assignments(user=ann1, round=round)[0]
    skip(ann1, slot)
    assert slot.unit.key not in walk(ann1, round)
    assert slot.unit.key in walk(ann2, round)


def test_an_answer_after_a_skip_counts_while_the_assignment_is_free(corpus: Project, ann1: User, ann2: User) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)])
    slot = next_assignments(user=ann1, round=round)[0]
    skip(ann1, slot)
    answer(ann1, slot, revision=1)
    slot.refresh_from_db()
    assert slot.number == 1
    counted = Assignment.objects.filter(round=round, unit=slot.unit_id, number__gte=1)
    assert [s.pk for s in counted] == [slot.pk]


@pytest.mark.parametrize("seed", range(24))  # where one person's assignments come last in the queue, too
def test_a_late_participant_of_a_fixed_allocation_gets_an_even_share_of_open_units(
    corpus: Project, lead: User, ann1: User, ann2: User, seed: int
) -> None:
    round = build_round(corpus, [member(corpus, lead), member(corpus, ann1)], allocation="dealt", seed=seed)
    add_person(round=round, member=member(corpus, ann2), by=lead)
    loads = {u: Assignment.objects.filter(round=round, person__user=u).count() for u in (lead, ann1, ann2)}
    assert sorted(loads.values()) == [3, 3, 3]


def test_unanswered_assignments_of_former_members_are_freed(
    corpus: Project, lead: User, ann1: User, ann2: User
) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)], allocation="dealt")
    held = next_assignments(user=ann1, round=round)
    answer(ann1, held[0])
    remove_person(round=round, member=member(corpus, ann1), by=lead)
    with pytest.raises(NotFound):
        next_assignments(user=ann1, round=round)
    walk(ann2, round)
    assert Assignment.objects.filter(round=round, number__gte=1, current_answer=None).count() == 0
    assert Assignment.objects.filter(round=round, number__gte=1, person__user=ann1).count() == 1


@pytest.mark.row(21)
def test_a_closed_round_takes_no_answer(corpus: Project, lead: User, ann1: User) -> None:
    round = build_round(corpus, [member(corpus, ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    close_round(round=round, by=lead)
    with pytest.raises(RoundClosed):
        answer(ann1, slot)
    assert Answer.objects.count() == 0


def test_another_persons_assignment_is_not_found(corpus: Project, ann1: User, ann2: User) -> None:
    round = build_round(corpus, [member(corpus, ann1), member(corpus, ann2)])
    slot = next_assignments(user=ann1, round=round)[0]
    with pytest.raises(NotFound):
        answer(ann2, slot)


def test_a_seed_gives_the_same_sample_and_another_seed_another(corpus: Project, ann1: User) -> None:
    people = [member(corpus, ann1)]

    def keys(name: str, seed: int) -> list[str]:
        round = build_round(corpus, people, name=name, sample=5, seed=seed, order="shuffled")
        return list(round.assignments.order_by("position").values_list("unit__key", flat=True))

    assert keys("a", 1) == keys("b", 1)
    assert keys("c", 1) != keys("d", 2)
