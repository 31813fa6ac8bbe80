"""Rewriting targets kind by kind: drafts, refusals, current values, withdrawals."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.counterfactual.kind import update_counterfactuals
from annotation.models import Cluster, Counterfactual, PicoElement, PicoFragment, Rewriting
from api.problems import Refused
from measures.counterfactuals import Kind
from projects import kinds
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Decision, Member, Origin, Project, Round
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
KIND = "counterfactual"
TEXT = "Nepralin reduces relapse."
NEGATED, HEDGED = "Nepralin does not reduce relapse.", "Nepralin may reduce relapse."


@pytest.fixture
def cluster(project: Project) -> Cluster:
    return build_cluster(project, text=TEXT)


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def drafted(text: str, rule: str = "not added") -> dict[str, str]:
    return {"text": text, "origin": "drafted", "rule": rule, "reason": ""}


def without(reason: str = "no opposite") -> dict[str, str]:
    return {"text": "", "origin": "", "rule": "", "reason": reason}


def two(negation: dict[str, str], modality: dict[str, str]) -> dict[str, Any]:
    return {"negation": negation, "modality": modality}


@pytest.fixture
def asking() -> dict[str, Any]:
    return {"kind": KIND, "options": {"counterfactual_kinds": ["negation", "modality"]}}


def finished(round: Round, by: User, *values: tuple[User, dict[str, Any]]) -> None:
    for user, value in values:
        [slot] = next_assignments(user=user, round=round)
        answer(user, slot, value, kind=KIND)
    close_round(round=round, by=by)
    finish_round(round=round, by=by)


def texts() -> dict[str, str]:
    return dict(Counterfactual.objects.current().values_list("kind", "text"))


def test_only_targets_are_asked_with_their_tuple_their_label_and_drafts(
    project: Project, cluster: Cluster, people: list[Member], by: Member, asking: dict[str, Any]
) -> None:
    target = cluster.propositions.get(position=0)
    element = PicoElement.objects.get(cluster=cluster, element="o")
    PicoFragment.objects.create(element=element, position=0, start=17, end=24)
    value = label_value("positive", "moderate")
    value["polarity_cue"] = [{"start": 9, "end": 16, "quote": "reduces"}]
    correct(unit=target.unit, kind="label", value=value, reason="", by=by)
    round = build_round(project, people[:1], **asking)
    [held] = [next_assignments(user=people[0].user, round=round)]
    [card] = cards(round, held)
    assert (card["text"], card["polarity"], card["modality"]) == (TEXT, "positive", "moderate")
    assert card["polarity_cue"] == [{"start": 9, "end": 16}]
    assert [s["fragments"] for s in card["pico"] if s["element"] == "o"] == [[{"start": 17, "end": 24}]]
    assert [(a["field"], a["should"]) for a in card["asked"]] == [
        ("negation", "polarity may change, modality stays"),
        ("modality", "modality should become weak"),
    ]
    assert card["asked"][0]["drafts"][0] == {"rule": "not added", "text": NEGATED}


def test_a_round_can_hide_drafts_and_asks_for_all_kinds_by_default(
    project: Project, cluster: Cluster, people: list[Member]
) -> None:
    round = build_round(project, people[:1], kind=KIND, options={"drafts": False})
    [card] = cards(round, next_assignments(user=people[0].user, round=round))
    assert [a["field"] for a in card["asked"]] == [kind.value.replace(" ", "_") for kind in Kind]
    assert not any(a["drafts"] for a in card["asked"])


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (two(drafted(TEXT), without()), "value.negation.text"),
        (two(drafted("Quite another claim altogether, of six words."), without()), "value.negation.text"),
        ({"negation": drafted(NEGATED)}, "value.modality"),
        (two(drafted(NEGATED), without()) | {"antonym": without()}, "value.antonym"),
    ],
)
def test_invalid_counterfactuals_and_wrong_kinds_are_refused(
    project: Project, cluster: Cluster, people: list[Member], asking: dict[str, Any], value: dict[str, Any], field: str
) -> None:
    round = build_round(project, people[:1], **asking)
    [slot] = next_assignments(user=people[0].user, round=round)
    with pytest.raises(Refused) as refused:
        answer(people[0].user, slot, value, kind=KIND)
    assert [e["field"] for e in refused.value.errors or []] == [field]
    assert not Rewriting.objects.exists()


def test_decisions_are_current_by_kind_and_a_curator_decides_ties(
    project: Project, cluster: Cluster, people: list[Member], by: Member, asking: dict[str, Any]
) -> None:
    one, other = (m.user for m in people)
    round = build_round(project, people, overlap=2, **asking)
    finished(
        round,
        by.user,
        (one, two(drafted(NEGATED), drafted(HEDGED, "hedge added"))),
        (other, two(drafted("Nepralin does not reduce relapse!"), without())),
    )
    assert texts() == {"negation": NEGATED}, "the same words agree; a text and none do not"
    [contested] = Decision.objects.contested()
    assert (contested.field, contested.origin) == ("modality", Origin.CONTESTED)
    rows = list(Rewriting.objects.order_by("id").values_list("kind", "origin", "rule", "reason"))
    assert rows == [
        ("negation", "drafted", "not added", ""),
        ("modality", "drafted", "hedge added", ""),
        ("negation", "drafted", "not added", ""),
        ("modality", "", "", "no opposite"),
    ]


def test_a_curator_rewrites_and_withdraws_and_each_is_the_next_version(
    project: Project, cluster: Cluster, people: list[Member], by: Member, asking: dict[str, Any]
) -> None:
    unit = cluster.propositions.get(position=0).unit
    value = two(drafted(NEGATED), drafted(HEDGED, "hedge added")) | {
        name: without() for name in ("antonym", "no_effect", "no_evidence")
    }
    correct(unit=unit, kind=KIND, value=value, reason="", by=by)
    assert texts() == {"negation": NEGATED, "modality": HEDGED}
    correct(unit=unit, kind=KIND, value=value | {"negation": without("other")}, reason="It reads badly.", by=by)
    assert texts() == {"modality": HEDGED}
    correct(unit=unit, kind=KIND, value=value, reason="It reads well.", by=by)
    assert texts() == {"negation": NEGATED, "modality": HEDGED}
    versions = Counterfactual.objects.filter(kind="negation").order_by("version")
    assert list(versions.values_list("version", "withdrawn")) == [(1, False), (2, True), (3, False)]


def test_an_input_has_no_counterfactuals(cluster: Cluster, by: Member) -> None:
    unit = cluster.propositions.get(position=1).unit
    value = {name: without() for name in kinds.get(KIND).fields}
    with pytest.raises(Refused, match="Only targets"):
        correct(unit=unit, kind=KIND, value=value, reason="", by=by)


def test_an_answer_is_a_row_a_kind(cluster: Cluster) -> None:
    value = two(drafted(NEGATED), without())
    assert kinds.get(KIND).rows(value) == [
        {"counterfactual": "negation", "applies": "applies", **drafted(NEGATED)},
        {"counterfactual": "modality", "applies": "does not apply", **without()},
    ]
    assert kinds.get(KIND).in_words(value) == {"negation": NEGATED, "modality": "does not apply: no opposite"}


def test_a_curator_is_shown_a_target_with_its_drafts_outside_of_rounds(
    project: Project, cluster: Cluster, by: Member, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    target, source = cluster.propositions.order_by("position")[:2]
    client = client_of(by.user)
    card = client.get(f"/api/v1/units/{target.unit_id}/cards/{KIND}/").json()
    assert (card["text"], card["assignment"], card["value"]) == (TEXT, 0, None)
    assert card["asked"][0]["drafts"][0]["text"] == NEGATED
    assert client.get(f"/api/v1/units/{cluster.unit_id}/cards/{KIND}/").status_code == 404
    assert client_of(ann1).get(f"/api/v1/units/{source.unit_id}/cards/{KIND}/").status_code == 403


def test_cards_and_decisions_take_the_same_queries_for_any_number_of_targets(
    project: Project, cluster: Cluster, people: list[Member], by: Member, asking: dict[str, Any]
) -> None:
    for number in (1, 2, 3):
        build_cluster(project, number, text=TEXT)
    round = build_round(project, people[:1], held_limit=4, **asking)
    held = next_assignments(user=people[0].user, round=round)
    units = [slot.unit for slot in held]
    assert len(held) == 4
    assert _queries(lambda: cards(round, held[:1])) == _queries(lambda: cards(round, held))
    assert _queries(lambda: update_counterfactuals(units[:1])) == _queries(lambda: update_counterfactuals(units))


def _queries(work: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as queries:
        work()
    return len(queries)
