"""Choosing a round's units: filters by current values, stratified samples that repeat, totals and a preview."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cluster, Proposition, Review
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Assignment, Decision, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.planning import RoundPlan, plan_of, planned_units
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db


@pytest.fixture
def clusters(project: Project) -> list[Cluster]:
    return [build_cluster(project, number, inputs=3) for number in range(4)]


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def plan(**fields: Any) -> RoundPlan:
    whole: dict[str, Any] = {"name": "r", "kind": "label", "purpose": "gold", "overlap": 1, "people": ()} | fields
    return RoundPlan(**whole)


def chosen(project: Project, **filters: Any) -> set[int]:
    return {unit for unit, _ in planned_units(project, plan(filters=filters))}


def unit_of(cluster: Cluster, position: int) -> int:
    return cluster.propositions.get(position=position).unit_id


def test_filters_use_current_decisions(project: Project, clusters: list[Cluster], by: Member, ann1: User) -> None:
    target = clusters[0].propositions.select_related("unit").get(position=0).unit
    correct(unit=target, kind="label", value=label_value(), reason="So.", by=by)
    assert chosen(project, gold="with") == chosen(project, origin="decided by a curator") == {target.pk}
    assert len(chosen(project, gold="without")) == 15
    assert target.pk not in chosen(project, gold="without")
    assert chosen(project, origin="by majority") == set()
    assert len(chosen(project, unasked=True)) == 16  # edits on the curate page belong to no opened round

    round = build_round(project, [Member.objects.get(user=ann1)], filters={"review": "DEMO0001, DEMO0002"})
    assert round.units_count == 8
    assert len(chosen(project, unasked=True)) == 8
    slot = next_assignments(user=ann1, round=round)[0]
    answer(ann1, slot, flag=True)
    assert chosen(project, flagged=True) == {slot.unit_id}
    answer(ann1, Assignment.objects.get(pk=slot.pk), flag=False)
    assert chosen(project, flagged=True) == set()


def test_contested_units_keep_their_value(project: Project, clusters: list[Cluster], by: Member) -> None:
    target = clusters[0].propositions.select_related("unit").get(position=0).unit
    correct(unit=target, kind="label", value=label_value(), reason="So.", by=by)
    Decision.objects.create(unit=target, kind="label", field="polarity", origin="contested", decided_at=timezone.now())
    for pk in (target.pk, unit_of(clusters[1], 0)):  # contests of another kind do not count
        Decision.objects.create(unit_id=pk, kind="other", field="x", origin="contested", decided_at=timezone.now())
    assert len(chosen(project, gold="without")) == 15


def test_a_contested_unit_is_selected_until_a_newer_decision(
    project: Project, clusters: list[Cluster], by: Member, ann1: User, ann2: User
) -> None:
    people = list(Member.objects.filter(user__in=[ann1, ann2]))
    round = build_round(project, people, overlap=2, filters={"review": "DEMO0000", "role": "target"})
    for user, polarity in ((ann1, "positive"), (ann2, "negative")):
        answer(user, next_assignments(user=user, round=round)[0], label_value(polarity))
    Round.objects.filter(pk=round.pk).update(status="closed")
    finish_round(round=round, by=None)
    target = clusters[0].propositions.select_related("unit").get(position=0).unit
    assert chosen(project, contested=True) == {target.pk}
    correct(unit=target, kind="label", value=label_value("positive"), reason="So.", by=by)
    assert chosen(project, contested=True) == set()


def test_the_sampling_that_a_round_keeps_gives_the_same_units_again(
    project: Project, clusters: list[Cluster], ann1: User
) -> None:
    people = [Member.objects.get(user=ann1)]
    round = build_round(project, people, sample=8, seed=7, strata=["role", "review"], filters={"gold": "without"})
    kept = round.sampling
    again = planned_units(
        project, plan(**{name: kept[name] for name in ("sample", "seed", "strata", "filters", "order")})
    )
    slots = Assignment.objects.filter(round=round).order_by("position")
    assert [unit for unit, _ in again] == list(slots.values_list("unit", flat=True))
    other = planned_units(project, plan(sample=8, seed=8, strata=["role", "review"]))
    assert {unit for unit, _ in other} != {unit for unit, _ in again}


def test_a_shuffled_order_is_drawn_again_by_the_rule_of_its_round(
    project: Project, clusters: list[Cluster], ann1: User
) -> None:
    for number in range(8):
        unit = Unit.objects.create(project=project, type="review", key=f"26{number}")
        Review.objects.create(project=project, pmid=unit.key, unit=unit, title="Nepralin", abstract="Trials.")
    people = [Member.objects.get(user=ann1)]
    for kind in ("screen", "label"):
        round = build_round(project, people, name=kind, kind=kind, order="shuffled", seed=7)
        stored = list(Assignment.objects.filter(round=round).order_by("position").values_list("unit", flat=True))
        again = [unit for unit, _ in planned_units(project, plan_of(round, []))]
        assert again == stored != sorted(stored)
        del round.sampling["order_rule"]  # as rounds of earlier versions
        earlier = [unit for unit, _ in planned_units(project, plan_of(round, []))]
        assert earlier == (sorted(stored) if kind == "screen" else stored)


def test_each_stratum_is_sampled_in_proportion(project: Project, clusters: list[Cluster], by: Member) -> None:
    for cluster in clusters[:2]:
        for p in cluster.propositions.select_related("unit"):
            correct(unit=p.unit, kind="label", value=label_value("positive"), reason="So.", by=by)
    taken = [unit for unit, _ in planned_units(project, plan(sample=8, strata=["role", "polarity"]))]
    found = Counter(
        (bool(p.position), p.cluster.position < 2)
        for p in Proposition.objects.filter(unit__in=taken).select_related("cluster")
    )
    assert found == {(False, True): 1, (True, True): 3, (False, False): 1, (True, False): 3}


def test_totals_say_each_stratum_and_what_the_time_rests_on(
    project: Project, clusters: list[Cluster], client: APIClient, ann1: User
) -> None:
    body = {
        "name": "r",
        "kind": "label",
        "purpose": "gold",
        "overlap": 1,
        "people": [1],
        "sample": 4,
        "strata": ["role"],
    }
    totals = client.post(f"/api/v1/projects/{project.slug}/rounds/totals/", body, format="json").json()
    assert totals["strata"] == [{"name": "input", "units": 12, "taken": 3}, {"name": "target", "units": 4, "taken": 1}]
    assert (totals["seconds_an_answer"], totals["answers_timed"], totals["units"]) == (20.0, 0, 4)
    round = build_round(project, [Member.objects.get(user=ann1)])
    answer(ann1, next_assignments(user=ann1, round=round)[0], active_ms=30_000)
    totals = client.post(f"/api/v1/projects/{project.slug}/rounds/totals/", body, format="json").json()
    assert (totals["seconds_an_answer"], totals["answers_timed"], totals["minutes_each"]) == (30.0, 1, 2.0)


def test_an_unknown_stratum_is_refused_by_name(project: Project, clusters: list[Cluster], client: APIClient) -> None:
    body = {"name": "r", "kind": "label", "purpose": "gold", "overlap": 1, "people": [], "sample": 2, "strata": ["hue"]}
    reply = client.post(f"/api/v1/projects/{project.slug}/rounds/totals/", body, format="json")
    assert reply.status_code == 422
    assert "Unknown stratum 'hue'. Expected one of: polarity, modality, review, role" in str(reply.json())


def test_the_preview_shows_units_of_the_plan_as_cards_and_opens_nothing(
    project: Project, clusters: list[Cluster], client: APIClient
) -> None:
    def shown(turn: int, **fields: Any) -> list[dict[str, Any]]:
        body = {"name": "r", "kind": "label", "purpose": "gold", "overlap": 1, "people": [], "turn": turn} | fields
        reply = client.post(f"/api/v1/projects/{project.slug}/rounds/preview/", body, format="json")
        assert reply.status_code == 200, reply.json()
        found: list[dict[str, Any]] = reply.json()
        return found

    units = {shown(turn)[0]["unit"]["id"] for turn in range(16)}
    assert units == chosen(project)
    assert {shown(turn, filters={"role": "target"})[0]["role"] for turn in range(4)} == {"target"}
    assert shown(0)[0]["candidates"] is None
    assert shown(0, options={"suggestions": True})[0]["candidates"]
    assert shown(0, filters={"search": "no such words"}) == []
    assert not Round.objects.exists()
    assert not Assignment.objects.exists()


def test_choices_say_what_waits_for_each_person_in_a_fixed_number_of_queries(
    project: Project, clusters: list[Cluster], client: APIClient, ann1: User, ann2: User
) -> None:
    one, two = Member.objects.get(user=ann1), Member.objects.get(user=ann2)
    build_round(project, [one, two], name="pool", filters={"review": "DEMO0000"})
    address = f"/api/v1/projects/{project.slug}/rounds/choices/"
    with CaptureQueriesContext(connection) as few:
        found = client.get(address).json()
    waiting = {p["member"]: (p["open_answers"], p["open_rounds"]) for p in found["people"]}
    assert waiting[one.pk] == waiting[two.pk] == (2, 1)
    build_round(project, [one], name="dealt", allocation="dealt")
    with CaptureQueriesContext(connection) as more:
        found = client.get(address).json()
    waiting = {p["member"]: (p["open_answers"], p["open_rounds"]) for p in found["people"]}
    assert (waiting[one.pk], waiting[two.pk]) == ((18, 2), (2, 1))
    assert len(more) == len(few)
    label = next(kind for kind in found["kinds"] if kind["key"] == "label")
    assert label["strata"] == ["polarity", "modality", "review", "role"]
    assert [one["name"] for one in label["options"]] == ["with_cues", "suggestions"]
    cues = next(one for one in label["policy"] if one["name"] == "cues")
    assert dict(zip(cues["choices"], cues["words"], strict=True))["ignore"] == "are ignored"
    assert {"role", "search", "contested"} <= {one["name"] for one in label["filters"]}
    assert [group["title"] for group in found["groups"]] == ["Build the corpus", "Label", "Test", "Rate summaries"]
    assert {one["group"] for one in found["kinds"]} == {group["title"] for group in found["groups"]}
    assert all(one["description"] for one in [*found["kinds"], *found["groups"]])


def test_totals_say_why_fewer_units_come_again_than_asked(
    project: Project, clusters: list[Cluster], client: APIClient
) -> None:
    body = {
        "name": "r",
        "kind": "label",
        "purpose": "gold",
        "overlap": 1,
        "people": [1],
        "allocation": "dealt",
        "repeat_share": 0.5,
        "repeat_distance": 12,
    }
    address = f"/api/v1/projects/{project.slug}/rounds/totals/"
    totals = client.post(address, body, format="json").json()
    assert totals["fewer"] == [
        "Repeats: 3 instead of 8. A unit repeats after 12 others, and each person has about 16 units. Lower the "
        "distance for more."
    ]
    assert client.post(address, body | {"repeat_distance": 2}, format="json").json()["fewer"] == []
