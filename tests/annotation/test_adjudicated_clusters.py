"""Adjudication works for any kind: tuples and relations of clusters are decided and undone like labels."""

import uuid as uuids
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.completeness import missing
from annotation.models import Cluster, PicoElement
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Member, Project, Round
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round
from tests.projects.adjudication import adjudication_detail, answer_by, queue, send, take

pytestmark = pytest.mark.django_db


def pico(outcome: str) -> dict[str, Any]:
    slot = {"text": "", "fragments": []}
    return {
        "p": slot,
        "i": slot | {"text": "nepralin"},
        "c": slot | {"text": "placebo", "stands_for": ""},
        "o": slot | {"text": outcome},
    }


@pytest.fixture
def two(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2)]


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def closed(project: Project, people: list[Member], kind: str, values: list[dict[str, Any]]) -> tuple[Round, Cluster]:
    cluster = build_cluster(project)
    round = build_round(project, people, kind=kind, overlap=2)
    for person, value in zip(people, values, strict=True):
        answer(person.user, next_assignments(user=person.user, round=round)[0], value, kind=kind)
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    return round, cluster


def test_a_tuple_is_decided_by_element_and_dependent_values_follow(
    project: Project, two: list[Member], client: APIClient
) -> None:
    round, cluster = closed(project, two, "tuple", [pico("relapse"), pico("Death within a year")])
    found = adjudication_detail(client, round, cluster.unit)
    assert found["contested"] == ["o"]
    assert {s["field"]: s["contested"] for s in found["answers"][0]["said"]} == {
        "p": False,
        "i": False,
        "c": False,
        "o": True,
    }
    act = str(uuids.uuid4())
    reply = take(client, round, cluster.unit, answer_by(round, cluster.unit, two[1]), uuid=act)
    assert reply.json()["fields_decided"] == ["o"]
    assert PicoElement.objects.get(cluster=cluster, element="o").text == "Death within a year"
    assert send(client, round, "undo/", act=act).status_code == 201
    assert "o" not in current_values([cluster.unit], "tuple")[cluster.unit_id]
    assert PicoElement.objects.get(cluster=cluster, element="o").text == ""
    assert queue(client, round)["counts"]["contested"] == 1


def test_elements_that_differ_only_in_case_and_spaces_are_equal(
    project: Project, two: list[Member], client: APIClient
) -> None:
    round, cluster = closed(project, two, "tuple", [pico("relapse"), pico("Relapse ")])
    assert queue(client, round)["counts"]["waiting"] == 0
    assert not any(s["contested"] for s in adjudication_detail(client, round, cluster.unit)["answers"][0]["said"])


def test_a_relation_of_the_curator_is_missing_again_after_undo(
    project: Project, two: list[Member], client: APIClient
) -> None:
    round, cluster = closed(project, two, "discourse", [{"relation": "agreement"}, {"relation": "contradiction"}])
    act = str(uuids.uuid4())
    seen = adjudication_detail(client, round, cluster.unit)["seen"]
    body = {"uuid": act, "value": {"relation": "agreement"}, "seen": seen, "reason": "They say the same."}
    assert send(client, round, f"{cluster.unit_id}/", **body).status_code == 201

    def lacks() -> set[str]:
        return {one["kind"] for one in missing([cluster]).get(cluster.pk, [])}

    assert "discourse" not in lacks()
    send(client, round, "undo/", act=act)
    assert "discourse" in lacks()
