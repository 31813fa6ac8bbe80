"""The annotator's loop over HTTP: one request per unit, a fixed number of queries, helpful problems."""

import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cluster
from projects.models import Answer, Assignment, Member, Project, Round
from projects.queue.serializers import CARDS
from tests.builders import TEXT, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db


@pytest.fixture
def round(project: Project, ann1: User) -> Round:
    for number in range(4):
        build_cluster(project, number)
    return build_round(project, [Member.objects.get(project=project, user=ann1)])


@pytest.fixture
def client(ann1: User) -> APIClient:
    client = APIClient()
    client.force_login(ann1)
    return client


def body_of(card: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "assignment": card["assignment"],
        "revision": card["revision"],
        "kind": "label",
        "outcome": "answered",
        "shown": card["shown"],
        "active_ms": 4200,
        "comment": "",
        "flag": False,
        "value": label_value(),
        "have": [],
    } | fields


def put(client: APIClient, body: dict[str, Any], key: uuid.UUID | None = None) -> Any:
    return client.put(f"/api/v1/answers/{key or uuid.uuid4()}/", json.dumps(body), content_type="application/json")


def test_a_card_matches_the_schema_and_shows_no_label(round: Round, client: APIClient) -> None:
    reply = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
    assert reply["held"] == [c["assignment"] for c in reply["fetched"]]
    assert reply["progress"] == {"done": 0, "total": 12, "is_upper_bound": False}
    for card in reply["fetched"]:
        serializer = CARDS["label"](data=card)
        assert serializer.is_valid(), serializer.errors
        assert set(card) == set(CARDS["label"]().fields) - {"is_suggestion"}
        assert card["value"] is None
    first = reply["fetched"][0]
    assert first["text"] == TEXT
    assert first["context"] == {"key": "DEMO0000_0", "index": 1, "size": 3}
    i = next(element for element in first["pico"] if element["element"] == "i")
    assert TEXT[i["fragments"][0]["start"] : i["fragments"][0]["end"]] == "nepralin"


def test_after_the_first_unit_there_is_one_request_a_unit(round: Round, client: APIClient) -> None:
    reply = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
    cards = {c["assignment"]: c for c in reply["fetched"]}
    held, requests = reply["held"], 0
    while held:
        answered = put(client, body_of(cards[held[0]], have=list(cards)))
        requests += 1
        assert answered.status_code == 201, answered.json()
        held = answered.json()["held"]
        cards |= {c["assignment"]: c for c in answered.json()["fetched"]}
    assert requests == 12
    assert Answer.objects.count() == 12


def test_the_loop_costs_a_fixed_number_of_queries(
    round: Round, client: APIClient, project: Project, ann1: User
) -> None:
    def cost() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as of_next:
            reply = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
        held = [c["assignment"] for c in reply["fetched"]]
        with CaptureQueriesContext(connection) as of_answer:
            stored = put(client, body_of(reply["fetched"][0], have=held))
        assert stored.status_code == 201
        # A person's position is stored once in several answers.
        walked = [q for q in of_answer.captured_queries if q["sql"].startswith('UPDATE "projects_participant"')]
        return len(of_next), len(of_answer) - len(walked)

    cost()  # the first call fills caches such as content types
    first = [cost() for _ in range(3)]
    for number in range(10, 60):
        build_cluster(project, number)
    later = build_round(project, [Member.objects.get(project=project, user=ann1)], name="larger")
    round = later
    cost()
    assert [cost() for _ in range(3)] == first
    assert first[0] == (QUERIES_OF_NEXT, QUERIES_OF_ANSWER)


#: Session and user, round, participation, held assignments, progress, and cards of the label kind.
QUERIES_OF_NEXT = 12
QUERIES_OF_ANSWER = 12


@pytest.mark.row(13)
def test_a_replay_answers_200_with_the_same_answer(round: Round, client: APIClient) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    key, body = uuid.uuid4(), body_of(card)
    first, again = put(client, body, key), put(client, body, key)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["answer"] == again.json()["answer"]
    assert Answer.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "status", "problem", "field"),
    [
        ({"value": label_value("n/a", "weak")}, 422, "refused", "value.polarity"),
        ({"value": label_value("positive", "no evidence")}, 422, "refused", "value.polarity"),
        ({"value": label_value("good")}, 422, "refused", "value.polarity"),
        ({"value": None}, 422, "refused", "value"),
        ({"outcome": "skipped", "value": None, "reason": "because"}, 422, "refused", "reason"),
        ({"kind": "knitting"}, 422, "refused", "kind"),
        ({"assignment": 999_999}, 404, "not-found", None),
    ],
)
def test_a_refusal_names_the_field_and_stores_nothing(
    round: Round, client: APIClient, change: dict[str, Any], status: int, problem: str, field: str | None
) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    reply = put(client, body_of(card, **change))
    assert reply.status_code == status, reply.json()
    assert reply["Content-Type"] == "application/problem+json"
    assert reply.json()["type"] == f"/problems/{problem}"
    if field:
        assert field in [e["field"] for e in reply.json()["errors"]]
    assert not Answer.objects.exists()


@pytest.mark.parametrize(
    "cue",
    [
        [{"start": 0, "end": 7, "quote": "neither"}],
        [{"start": 0, "end": 500, "quote": TEXT}],
        [{"start": 20, "end": 27, "quote": TEXT[20:27]}, {"start": 0, "end": 7, "quote": "Neither"}],
        [{"start": 5, "end": 5, "quote": "x"}],
    ],
)
def test_a_cue_that_the_text_does_not_have_is_refused(round: Round, client: APIClient, cue: list[Any]) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    reply = put(client, body_of(card, value=label_value() | {"polarity_cue": cue}))
    assert reply.status_code == 422
    assert any(e["field"].startswith("value.polarity_cue") for e in reply.json()["errors"])


def test_a_two_piece_cue_is_stored_piece_by_piece(round: Round, client: APIClient) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    value = label_value(polarity_cue=[(0, 7), (33, 62)])
    assert put(client, body_of(card, value=value)).status_code == 201
    cue = Answer.objects.get().label.cues.get()
    assert [f.quote for f in cue.fragments.all()] == [TEXT[0:7], TEXT[33:62]]
    recent = client.get(f"/api/v1/rounds/{round.pk}/recent/").json()["cards"]
    assert recent[0]["value"] == value
    assert recent[0]["revision"] == 1


def test_strangers_and_colleagues_cannot_use_a_persons_assignments(
    round: Round, stranger: User, ann2: User, client: APIClient
) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    for user in (stranger, ann2):
        other = APIClient()
        other.force_login(user)
        assert other.get(f"/api/v1/rounds/{round.pk}/next/").status_code == 404
        assert put(other, body_of(card)).status_code == 404
    assert APIClient().get(f"/api/v1/rounds/{round.pk}/next/").status_code == 401


@pytest.mark.row(28)
def test_a_malformed_body_is_a_problem_and_no_traceback(round: Round, client: APIClient) -> None:
    for body in ("", "{", "[]", '"x"', "{}", '{"kind": ["label"]}', '{"kind": "label", "value": 3}'):
        reply = client.put(f"/api/v1/answers/{uuid.uuid4()}/", body, content_type="application/json")
        assert reply.status_code in (400, 422), body
        assert reply["Content-Type"] == "application/problem+json"


def test_my_work_says_what_is_left_and_what_was_done_today(round: Round, client: APIClient) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    put(client, body_of(card))
    (row,) = client.get("/api/v1/my-work/").json()
    assert (row["answered"], row["left"], row["today"], row["active_seconds"]) == (1, 11, 1, 4.2)


def test_no_card_says_how_many_others_answered(round: Round, project: Project, client: APIClient) -> None:
    """Rater isolation: a card contains nothing about other people's assignments."""
    text = client.get(f"/api/v1/rounds/{round.pk}/next/").content.decode()
    assert Assignment.objects.filter(round=round).count() == 12
    for word in ("person", "pseudonym", "overlap", "number"):
        assert f'"{word}"' not in text
    assert Cluster.objects.count() == 4


@pytest.mark.row(16)
@pytest.mark.parametrize("revision", ["missing", None, -1, "new"])
def test_an_answer_that_does_not_say_which_revision_it_has_seen_is_refused(
    round: Round, client: APIClient, revision: Any
) -> None:
    """The revision is a required field of the body, as If-Match is elsewhere."""
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    body = body_of(card, revision=revision)
    if revision == "missing":
        del body["revision"]
    reply = put(client, body)
    assert reply.status_code == 422, reply.json()
    assert [e["field"] for e in reply.json()["errors"]] == ["revision"]
    assert not Answer.objects.exists()


def test_an_answer_about_a_text_revision_that_does_not_exist_is_refused(round: Round, client: APIClient) -> None:
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    refused = put(client, body_of(card, shown=card["shown"] + 1))
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "shown")
    assert not Answer.objects.exists()
    assert put(client, body_of(card)).status_code == 201
