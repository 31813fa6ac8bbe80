"""Rolling rounds: units that become eligible while the round is open are added once, and no others."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.curation.actions import add_review
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from api.problems import Conflict, Refused
from audit.models import Entry
from projects import kinds
from projects.gold.actions import finish_round
from projects.jobs.batches import KIND, silent
from projects.jobs.running import run_job
from projects.models import Assignment, Job, Member, Notification, Participant, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds import rolling
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from tests.builders import TEXT, answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


def workers(project: Project) -> list[int]:
    return list(project.members.filter(role="annotator").order_by("pk").values_list("pk", flat=True))


def plan(project: Project, **fields: Any) -> RoundPlan:
    asked: dict[str, Any] = {"kind": "label", "purpose": "gold", "overlap": 1, "people": workers(project)}
    return RoundPlan(name="rolling", **asked | {"rolling": True} | fields)


@pytest.fixture
def round(project: Project, lead: User) -> Round:
    """An open round over a cluster of two propositions."""
    build_cluster(project, 0, inputs=1)
    return open_round(project=project, plan=plan(project), by=lead)


def take_in(round: Round) -> int:
    found = rolling.add_matching_units(round=round, by=None, progress=silent)
    round.refresh_from_db()
    return int(found["units"])


def asked(round: Round) -> list[str]:
    return list(round.assignments.order_by("position", "number").values_list("unit__key", flat=True))


def answered_all(user: User, round: Round) -> list[str]:
    """Answer until nothing is left; return the keys."""
    keys = []
    while held := next_assignments(user=user, round=round):
        keys.append(held[0].unit.key)
        answer(user, held[0], label_value())
    return keys


def test_later_units_come_after_earlier_ones(project: Project, round: Round) -> None:
    before = asked(round)
    build_cluster(project, 1, inputs=2)
    assert take_in(round) == 3
    assert round.units_count == len(before) + 3
    assert asked(round)[: len(before)] == before
    assert list(round.assignments.order_by("position").values_list("position", flat=True)) == list(range(5))
    assert take_in(round) == 0
    assert len(asked(round)) == 5


def test_people_who_had_finished_get_the_new_units(project: Project, round: Round, ann1: User, ann2: User) -> None:
    first = answered_all(ann1, round)
    assert len(first) == 2
    # A person who has come to the end and starts again.
    Participant.objects.filter(round=round, member__user=ann2).update(start=1)
    assert next_assignments(user=ann2, round=round) == []
    build_cluster(project, 1, inputs=1)
    take_in(round)
    assert len(answered_all(ann2, round)) == 2
    assert next_assignments(user=ann1, round=round) == []


def test_a_rolling_round_can_be_opened_without_units(project: Project, lead: User, ann1: User) -> None:
    with pytest.raises(Refused):
        open_round(project=project, plan=plan(project, rolling=False), by=lead)
    round = open_round(project=project, plan=plan(project), by=lead)
    assert round.units_count == 0
    assert next_assignments(user=ann1, round=round) == []
    build_cluster(project, 0, inputs=0)
    assert take_in(round) == 1
    assert len(answered_all(ann1, round)) == 1


def test_gold_of_one_round_brings_units_to_the_next(project: Project, lead: User, ann1: User) -> None:
    """Sentences of the abstracts that screening includes: the round waits and then receives them."""
    member = Member.objects.get(project=project, user=lead)
    for pmid in ("31000001", "31000002"):
        add_review(project=project, pmid=pmid, title=f"Review {pmid}", abstract=f"{TEXT} So.", sentences=[], by=member)
    sentences = open_round(project=project, plan=plan(project, kind="sentences", filters={"included": True}), by=lead)
    assert sentences.units_count == 0
    screening = build_round(
        project, [Member.objects.get(project=project, user=ann1)], kind="screen", overlap=1, name="screening"
    )
    for screened in ("include", "not relevant"):
        answer(ann1, next_assignments(user=ann1, round=screening)[0], {"screening": screened}, kind="screen")
    close_round(round=screening, by=None)
    screening.refresh_from_db()
    finish_round(round=screening, by=None)
    [job] = Job.objects.filter(kind=KIND)
    Job.objects.update(not_before=None)
    assert run_job(job.pk)
    sentences.refresh_from_db()
    assert (sentences.units_count, asked(sentences)) == (1, ["31000001"])


def test_several_changes_queue_one_job_that_takes_in_units(project: Project, round: Round, lead: User) -> None:
    member = Member.objects.get(project=project, user=lead)
    for pmid in ("31000001", "31000002"):
        add_review(project=project, pmid=pmid, title="", abstract="", sentences=[], by=member)
    assert Job.objects.filter(kind=KIND).count() == 1


def test_a_round_of_fixed_units_takes_in_no_new_units(project: Project, lead: User) -> None:
    build_cluster(project, 0, inputs=0)
    fixed = open_round(project=project, plan=plan(project, rolling=False), by=lead)
    member = Member.objects.get(project=project, user=lead)
    add_review(project=project, pmid="31000001", title="", abstract="", sentences=[], by=member)
    assert not Job.objects.filter(kind=KIND).exists()
    with pytest.raises(Refused):
        rolling.ask(round=fixed, by=lead)


def test_a_corrected_text_is_no_new_unit(project: Project, round: Round, lead: User, ann1: User) -> None:
    answered_all(ann1, round)
    member = Member.objects.get(project=project, user=lead)
    claim = Proposition.objects.filter(cluster__project=project).order_by("pk").first()
    assert claim
    supersede_text(proposition=claim, text=TEXT + " Indeed.", reason="a word was missing", by=member)
    assert take_in(round) == 0


def test_a_text_corrected_while_it_is_taken_in_is_asked_in_its_new_words(
    project: Project, round: Round, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that is removed at this moment is not added."""
    build_cluster(project, 1, inputs=2)
    first, second, third = Proposition.objects.filter(cluster__project=project).order_by("-pk")[:3][::-1]
    member, found = Member.objects.get(project=project, user=lead), rolling._new

    def meanwhile(round: Round) -> list[tuple[int, int]]:
        new = found(round)
        if first.unit_id in {unit for unit, _ in new}:
            supersede_text(proposition=first, text=TEXT + " Indeed.", reason="a word was missing", by=member)
            Unit.objects.filter(pk=third.unit_id).update(superseded_by=third.cluster.unit_id)
        return new

    monkeypatch.setattr(rolling, "_new", meanwhile)
    assert take_in(round) == 2
    now = Proposition.objects.get(cluster=first.cluster, position=0, unit__superseded_by=None)
    assert now.pk != first.pk
    taken = set(round.assignments.order_by("position").values_list("unit", flat=True)[2:])
    assert taken == {now.unit_id, second.unit_id}


def test_filters_hold_for_what_comes_later(project: Project, lead: User) -> None:
    build_cluster(project, 0, inputs=1)
    only = open_round(project=project, plan=plan(project, filters={"role": "target"}), by=lead)
    assert only.units_count == 1
    build_cluster(project, 1, inputs=3)
    assert take_in(only) == 1


def test_a_closed_round_takes_in_no_new_units(project: Project, round: Round, lead: User) -> None:
    close_round(round=round, by=lead)
    round.refresh_from_db()
    build_cluster(project, 1)
    assert take_in(round) == 0
    with pytest.raises(Conflict):
        rolling.ask(round=round, by=lead)


def test_new_units_notify_participants_and_are_logged_with_their_number(
    project: Project, round: Round, ann1: User
) -> None:
    build_cluster(project, 1, inputs=1)
    take_in(round)
    assert Notification.objects.filter(user=ann1, round=round, what="new units").count() == 1
    entry = Entry.objects.filter(verb="take in units").get()
    assert entry.after == {"units": 2}
    # Without new units nobody is notified.
    take_in(round)
    assert Notification.objects.filter(what="new units", user=ann1).count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"allocation": "dealt"},
        {"sample": 1},
        {"block_share": 0.5, "block_overlap": 2},
        {"order": "shuffled"},
        {"purpose": "practice"},
        {"purpose": "review and correct"},
    ],
)
def test_sampled_and_fixed_rounds_cannot_be_rolling(project: Project, lead: User, fields: dict[str, Any]) -> None:
    build_cluster(project, 0)
    with pytest.raises(Refused) as refused:
        open_round(project=project, plan=plan(project, **fields), by=lead)
    assert "rolling" in str(refused.value.as_json())


def test_kinds_that_create_their_units_have_no_rolling_rounds(project: Project) -> None:
    assert kinds.get("label").rolls
    assert not kinds.get("rate").rolls
    assert not kinds.get("blind_check").rolls


def test_the_lead_has_a_round_look_now_and_others_may_not(
    project: Project, round: Round, lead: User, ann1: User, client_of: ClientOf
) -> None:
    address = f"/api/v1/rounds/{round.pk}/intake/"
    assert client_of(ann1).post(address).status_code == 403
    build_cluster(project, 1, inputs=0)
    reply = client_of(lead).post(address)
    assert reply.status_code == 202
    assert run_job(reply.json()["id"])
    assert client_of(lead).get(f"/api/v1/rounds/{round.pk}/").json()["units"] == 3
    assert client_of(lead).get(f"/api/v1/rounds/{round.pk}/").json()["rolling"] is True


def test_a_rolling_round_is_planned_by_the_page(project: Project, lead: User, client_of: ClientOf) -> None:
    build_cluster(project, 0)
    body = {k: v for k, v in asdict(plan(project)).items() if v is not None and k != "order_rule"}
    reply = client_of(lead).post(f"/api/v1/projects/{project.slug}/rounds/", body, format="json")
    assert reply.status_code == 201, reply.content
    assert {"label": "Later units", "value": "added while the round is open"} in reply.json()["settings"]


def test_chunked_intake_is_complete(project: Project, round: Round, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolling, "BATCH", 2)
    for number in range(1, 4):
        build_cluster(project, number, inputs=1)
    assert take_in(round) == 6
    slots = Assignment.objects.filter(round=round).order_by("position")
    assert list(slots.values_list("position", flat=True)) == list(range(8))
