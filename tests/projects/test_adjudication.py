"""Adjudication: a curator adopts an answer or writes a value for open units, gives a reason, and may undo it."""

import uuid as uuids
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from api.fields import LARGEST
from audit.models import Entry
from audit.verify import findings
from projects.curation.actions import curation_round
from projects.gold.queries import current_values
from projects.models import Answer, Decision, Member, Project, Remark, Round
from tests.builders import label_value
from tests.projects.adjudication import (
    AGREED,
    APART,
    API,
    adjudication_detail,
    answer_by,
    closed_round,
    queue,
    send,
    take,
    unit_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    Member.objects.filter(user=evaluator).update(role="annotator")
    return [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]


@pytest.fixture
def round(project: Project, three: list[Member]) -> Round:
    """One unit contested, one agreed and flagged, one agreed."""
    return closed_round(project, three, [APART, AGREED, AGREED], flag=[1])


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def current(round: Round, row: int = 0) -> dict[str, Any]:
    unit = unit_of(round, row)
    return current_values([unit], "label")[unit.pk]


def test_the_queue_has_what_is_contested_first_and_then_what_is_flagged(round: Round, client: APIClient) -> None:
    found = queue(client, round)
    assert [(r["unit"], r["contested"], r["flagged"]) for r in found["rows"]] == [
        (unit_of(round).pk, ["polarity", "polarity_cue"], False),
        (unit_of(round, 1).pk, [], True),
    ]
    assert found["counts"] == {"waiting": 2, "contested": 1, "flagged": 1, "decided": 0}
    assert [r["unit"] for r in queue(client, round, show="flagged")["rows"]] == [unit_of(round, 1).pk]
    assert [r["unit"] for r in queue(client, round, after=unit_of(round).pk)["rows"]] == [unit_of(round, 1).pk]


def test_my_work_and_the_round_count_the_units_of_the_queue(
    project: Project, client: APIClient, three: list[Member]
) -> None:
    round = closed_round(project, three, [APART, AGREED, AGREED], flag=[0, 1])

    def counts() -> list[int]:
        [mine] = client.get(f"{API}/my-work/adjudication/").json() or [{"units": 0}]
        progress = client.get(f"{API}/rounds/{round.pk}/progress/").json()
        return [queue(client, round)["counts"]["waiting"], mine["units"], progress["to_adjudicate"]]

    assert counts() == [2, 2, 2], "one is contested and flagged, one is flagged"
    take(client, round, unit_of(round), answer_by(round, unit_of(round), three[0]), reason="So.")
    assert counts() == [1, 1, 1]
    take(client, round, unit_of(round, 1), answer_by(round, unit_of(round, 1), three[0]), reason="So.")
    assert counts() == [0, 0, 0]


def test_answers_stand_side_by_side_with_what_is_contested_and_without_names(round: Round, client: APIClient) -> None:
    found = adjudication_detail(client, round, unit_of(round))
    assert len(found["answers"]) == 3
    said = {f["field"]: (f["value"], f["contested"]) for f in found["answers"][0]["said"]}
    assert said["polarity"][1]
    assert not said["modality"][1]
    assert {a["card"]["value"]["polarity"] for a in found["answers"]} == {"positive", "no effect", "negative"}
    assert found["own"]["value"] is None
    assert found["contested"] == ["polarity", "polarity_cue"]
    assert {(a["name"], a["pseudonym"]) for a in found["answers"]} == {(None, None)}
    assert "Ann1" not in str(found)
    assert {a["name"] for a in adjudication_detail(client, round, unit_of(round), names=True)["answers"]} == {
        "Ann1",
        "Ann2",
        "Evaluator",
    }


def test_a_difference_decided_by_majority_is_not_marked(
    project: Project, three: list[Member], client: APIClient
) -> None:
    outvoted = [label_value("positive", "strong"), label_value("positive", "strong"), label_value("negative", "weak")]
    round = closed_round(project, three, [outvoted, APART])

    def marked(row: int) -> list[set[str]]:
        found = adjudication_detail(client, round, unit_of(round, row))
        return [{said["field"] for said in one["said"] if said["contested"]} for one in found["answers"]]

    assert marked(0) == [set()] * 3
    assert marked(1) == [{"polarity", "polarity_cue"}] * 3
    assert take(client, round, unit_of(round, 1), answer_by(round, unit_of(round, 1), three[0])).status_code == 201
    assert marked(1) == [set()] * 3


def test_an_adopted_answer_is_current_under_its_rater_and_nothing_else_changes(
    round: Round, client: APIClient, three: list[Member], lead: User
) -> None:
    before = list(Decision.objects.exclude(unit=unit_of(round)).order_by("pk").values_list("pk", "digest"))
    answers = Answer.objects.count()
    theirs = answer_by(round, unit_of(round), three[1])
    reply = take(client, round, unit_of(round), theirs)
    assert (reply.status_code, reply.json()["fields_decided"]) == (201, ["polarity", "polarity_cue"])
    made = Decision.objects.filter(unit=unit_of(round), origin="decided by a curator")
    assert {(d.answer_id, d.decided_by_id, d.reason, d.round_id) for d in made} == {
        (theirs.pk, lead.pk, "The cue decides.", round.pk)
    }
    assert current(round)["polarity"] == "no effect"
    # Unanimous decisions are kept.
    origins = dict(Decision.objects.filter(unit=unit_of(round)).current().values_list("field", "origin"))
    assert origins["modality"] == "unanimous"
    assert Answer.objects.count() == answers
    others = Decision.objects.exclude(unit=unit_of(round)).order_by("pk").values_list("pk", "digest")
    assert list(others) == before
    assert queue(client, round)["counts"] == {"waiting": 1, "contested": 0, "flagged": 1, "decided": 1}
    assert queue(client, round)["reasons"] == ["The cue decides."]
    assert Entry.objects.get(verb="adjudicate", after__answer=str(theirs.pk)).reason == "The cue decides."
    assert list(findings()) == []


def test_a_value_of_the_curator_is_stored_as_their_answer(round: Round, client: APIClient, lead: User) -> None:
    unit = unit_of(round)
    written = label_value("positive", "weak")
    seen = adjudication_detail(client, round, unit)["seen"]
    assert send(client, round, f"{unit.pk}/", value=written, seen=seen, reason="None is right.").status_code == 201
    assert (current(round)["polarity"], current(round)["modality"]) == ("positive", "weak")
    made = Decision.objects.filter(unit=unit, origin="decided by a curator")
    assert {d.answer.author.user_id for d in made if d.answer} == {lead.pk}
    assert {d.round_id for d in made} == {round.pk}
    assert queue(client, round)["counts"]["decided"] == 1


def test_choosing_the_value_before_a_contest_resolves_the_contest(
    round: Round, client: APIClient, project: Project, three: list[Member], lead: User
) -> None:
    """A later round contests what an earlier one decided; choosing the earlier value again is a decision too."""
    unit = unit_of(round)
    take(client, round, unit, answer_by(round, unit, three[0]))
    Decision.objects.create(
        unit=unit, kind="label", field="polarity", origin="contested", round=round, decided_at=timezone.now()
    )
    assert queue(client, round)["counts"]["contested"] == 1
    seen = adjudication_detail(client, round, unit)["seen"]
    send(client, round, f"{unit.pk}/", value=label_value("positive"), seen=seen, reason="It stands.")
    assert queue(client, round)["counts"]["contested"] == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": "  "}, "reason"),
        ({"answer": None}, "answer"),
        ({"answer": str(uuids.uuid4())}, "answer"),
        ({"value": label_value()}, "answer"),
    ],
)
def test_a_reason_and_one_answer_are_obligatory(
    round: Round, client: APIClient, three: list[Member], body: dict[str, Any], field: str
) -> None:
    unit = unit_of(round)
    whole = {"answer": str(answer_by(round, unit, three[0]).pk), "seen": LARGEST, "reason": "So."} | body
    reply = send(client, round, f"{unit.pk}/", **{k: v for k, v in whole.items() if v is not None})
    assert reply.status_code in (400, 422), reply.json()
    assert field in str(reply.json()["errors"])
    assert not Decision.objects.filter(origin="decided by a curator").exists()


def test_a_value_that_its_kind_refuses_is_refused_by_field(round: Round, client: APIClient) -> None:
    reply = send(client, round, f"{unit_of(round).pk}/", value=label_value("n/a"), seen=LARGEST, reason="So.")
    assert reply.status_code in (400, 422)
    assert not Decision.objects.filter(origin="decided by a curator").exists()


def test_a_repeated_request_makes_no_further_decisions(round: Round, client: APIClient, three: list[Member]) -> None:
    unit, once = unit_of(round), str(uuids.uuid4())
    body = {"uuid": once, "answer": str(answer_by(round, unit, three[0]).pk), "seen": LARGEST, "reason": "So."}
    replies = [send(client, round, f"{unit.pk}/", **body) for _ in range(2)]
    assert [r.status_code for r in replies] == [201, 201]
    assert Decision.objects.filter(origin="decided by a curator").count() == 2


def test_the_second_curator_is_shown_the_first_decision(
    round: Round, client: APIClient, three: list[Member], client_of: Callable[[User], APIClient], project: Project
) -> None:
    unit = unit_of(round)
    other = User.objects.create_user(email="other@example.org", name="Other")
    Member.objects.create(project=project, user=other, role="curator", pseudonym="R9")
    seen = adjudication_detail(client, round, unit)["seen"]
    take(client_of(other), round, unit, answer_by(round, unit, three[2]))
    late = take(client, round, unit, answer_by(round, unit, three[0]), seen=seen)
    assert late.status_code == 409
    decided = late.json()["current"]
    assert (decided["by"], decided["reason"]) == ("Other", "The cue decides.")
    assert {"field": "polarity", "value": "negative"} in decided["said"]
    assert current(round)["polarity"] == "negative"


def test_deciding_a_flagged_unit_settles_its_flag_with_the_reason(
    round: Round, client: APIClient, three: list[Member]
) -> None:
    unit = unit_of(round, 1)
    mine = answer_by(round, unit, three[0])
    reply = take(client, round, unit, mine, reason="Guideline 4.")
    assert (reply.status_code, reply.json()["fields_decided"]) == (201, [])
    assert [(r.act, r.text) for r in Remark.objects.filter(answer=mine)] == [("settled", "Guideline 4.")]
    assert queue(client, round)["counts"]["flagged"] == 0


def test_undo_brings_back_what_was_before_and_the_history_keeps_all(
    round: Round, client: APIClient, three: list[Member]
) -> None:
    unit, act = unit_of(round), str(uuids.uuid4())
    take(client, round, unit, answer_by(round, unit, three[0]), uuid=act)
    assert send(client, round, "undo/", act=act).json() == {"units": 1, "kept": 0}
    assert "polarity" not in current(round)
    assert queue(client, round)["counts"] == {"waiting": 2, "contested": 1, "flagged": 1, "decided": 0}
    history = [
        (d["field"], d["origin"])
        for d in adjudication_detail(client, round, unit)["history"]
        if d["field"] == "polarity"
    ]
    assert history == [("polarity", "reopened"), ("polarity", "decided by a curator"), ("polarity", "contested")]
    assert send(client, round, "undo/", act=act).status_code == 409
    take(client, round, unit, answer_by(round, unit, three[1]))
    assert current(round)["polarity"] == "no effect"
    assert list(findings()) == []


def test_undo_of_a_settled_flag_raises_it_again(round: Round, client: APIClient, three: list[Member]) -> None:
    unit, act = unit_of(round, 1), str(uuids.uuid4())
    take(client, round, unit, answer_by(round, unit, three[0]), uuid=act)
    assert send(client, round, "undo/", act=act).status_code == 201
    assert queue(client, round)["counts"]["flagged"] == 1
    assert send(client, round, "undo/", act=act).status_code == 409


def test_a_decision_is_reopened_with_a_reason_and_waits_again(
    round: Round, client: APIClient, three: list[Member]
) -> None:
    unit = unit_of(round)
    take(client, round, unit, answer_by(round, unit, three[0]))
    seen = adjudication_detail(client, round, unit)["seen"]
    assert send(client, round, f"{unit.pk}/reopen/", seen=seen, reason="The guideline changed.").status_code == 201
    assert queue(client, round)["rows"][0]["contested"] == ["polarity", "polarity_cue"]
    assert "polarity" not in current(round)
    again = adjudication_detail(client, round, unit)["seen"]
    assert send(client, round, f"{unit.pk}/reopen/", seen=again, reason="Twice.").status_code == 409


def test_undo_restores_the_value_of_an_earlier_round(round: Round, client: APIClient, three: list[Member]) -> None:
    """A flagged, unanimous unit gets another value, which is then undone."""
    unit, act = unit_of(round, 1), str(uuids.uuid4())
    seen = adjudication_detail(client, round, unit)["seen"]
    send(client, round, f"{unit.pk}/", uuid=act, value=label_value("positive"), seen=seen, reason="So.")
    assert current(round, 1)["polarity"] == "positive"
    send(client, round, "undo/", act=act)
    assert current(round, 1)["polarity"] == "negative"
    origins = dict(Decision.objects.filter(unit=unit).current().values_list("field", "origin"))
    assert origins["polarity"] == "unanimous"
    assert queue(client, round)["counts"]["contested"] == 1  # the other unit's


@pytest.mark.parametrize("purpose", ["measure only", "practice"])
def test_a_round_that_makes_no_gold_is_not_adjudicated(
    project: Project, three: list[Member], client: APIClient, purpose: str
) -> None:
    round = closed_round(project, three, [APART])
    Round.objects.filter(pk=round.pk).update(purpose=purpose)
    unit = unit_of(round)
    body = {"answer": str(answer_by(round, unit, three[0]).pk), "seen": LARGEST, "reason": "So."}
    assert send(client, round, f"{unit.pk}/", **body).status_code == 422
    assert client.get(f"{API}/rounds/{round.pk}/adjudication/{unit.pk}/").status_code == 422
    assert not Decision.objects.filter(origin="decided by a curator").exists()


def test_an_open_round_is_neither_adjudicated_nor_read(
    project: Project, three: list[Member], client: APIClient
) -> None:
    round = closed_round(project, three, [APART])
    Round.objects.filter(pk=round.pk).update(status="open")
    unit = unit_of(round)
    body = {"answer": str(answer_by(round, unit, three[0]).pk), "seen": LARGEST, "reason": "So."}
    assert send(client, round, f"{unit.pk}/", **body).status_code == 409
    # A curator who takes part in the round must not see other answers.
    assert client.get(f"{API}/rounds/{round.pk}/adjudication/{unit.pk}/").status_code == 409


def test_repeats_do_not_count_as_second_answers(project: Project, three: list[Member], client: APIClient) -> None:
    round = closed_round(project, three, [APART])
    unit = unit_of(round)
    Answer.objects.get(pk=answer_by(round, unit, three[2]).pk).assignment.__class__.objects.filter(
        round=round, unit=unit, person=three[2]
    ).update(repeat=1)
    found = adjudication_detail(client, round, unit)
    assert len(found["answers"]) == 2
    assert take(client, round, unit, answer_by(round, unit, three[2])).status_code == 422


@pytest.mark.parametrize("who", ["ann1", "viewer"])
def test_only_leads_and_curators_adjudicate(
    round: Round, project: Project, ann1: User, three: list[Member], client_of: Callable[[User], APIClient], who: str
) -> None:
    user = ann1
    if who == "viewer":
        user = User.objects.create_user(email="viewer@example.org", name="Viewer")
        Member.objects.create(project=project, user=user, role="viewer", pseudonym="R8")
    client, unit = client_of(user), unit_of(round)
    body = {"answer": str(answer_by(round, unit, three[0]).pk), "seen": LARGEST, "reason": "So."}
    assert send(client, round, f"{unit.pk}/", **body).status_code == 403
    assert send(client, round, "at-once/", agreement=0.5, units=1, reason="So.").status_code == 403
    assert send(client, round, "undo/", act=str(uuids.uuid4())).status_code == 403
    assert client.get(f"{API}/rounds/{round.pk}/adjudication/").status_code == 403
    assert client.get(f"{API}/rounds/{round.pk}/adjudication/{unit.pk}/").status_code == 403
    assert client.get(f"{API}/rounds/{round.pk}/adjudication/at-once/").status_code == 403


def test_a_unit_of_another_round_and_an_act_of_another_do_not_exist_here(
    round: Round, project: Project, three: list[Member], client: APIClient
) -> None:
    stranger = curation_round(project=project, kind="label", by=None)
    assert client.get(f"{API}/rounds/{stranger.pk}/adjudication/{unit_of(round).pk}/").status_code == 404
    act = str(uuids.uuid4())
    take(client, round, unit_of(round), answer_by(round, unit_of(round), three[0]), uuid=act)
    Round.objects.filter(pk=stranger.pk).update(status="closed", purpose="gold")
    assert send(client, stranger, "undo/", act=act).status_code == 404


def test_the_adjudication_queue_and_a_unit_take_fixed_queries(
    project: Project, three: list[Member], client: APIClient
) -> None:
    round = closed_round(project, three, [APART] * 8, flag=[0, 3, 5])

    def queries(ask: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as asked:
            ask()
        return len(asked)

    few = queries(lambda: queue(client, round, show="flagged"))
    assert queries(lambda: queue(client, round)) == few <= 12
    one = queries(lambda: adjudication_detail(client, round, unit_of(round)))
    for person in three[:2]:
        take(client, round, unit_of(round, 1), answer_by(round, unit_of(round, 1), person))
    assert queries(lambda: adjudication_detail(client, round, unit_of(round, 2))) == one <= 25
    assert queries(lambda: client.get(f"{API}/rounds/{round.pk}/adjudication/at-once/")) <= 12
