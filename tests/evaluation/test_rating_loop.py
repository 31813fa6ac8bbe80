"""The rater's loop over HTTP: its queries, and the stable order of texts on a page."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from projects.models import Project
from tests.evaluation.rating_rounds import build_runs, open_rating, rate_value

pytestmark = pytest.mark.django_db
#: As for labels, plus pages with texts; an answer reads its page and stores its ratings.
MOST_OF_NEXT, MOST_OF_ANSWER = 15, 18


def put(client: APIClient, card: dict[str, Any]) -> Any:
    body = {
        "assignment": card["assignment"],
        "revision": 0,
        "kind": "rate",
        "outcome": "answered",
        "shown": card["shown"],
        "have": [],
        "value": rate_value(card),
    }
    return client.put(f"/api/v1/answers/{uuid.uuid4()}/", body, format="json")


def test_the_annotation_loop_takes_the_same_queries_for_any_data(
    project: Project, evaluator: User, client_of: Any
) -> None:
    client = client_of(evaluator)
    member = project.members.get(user=evaluator)

    def costs(round: int) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as of_next:
            reply = client.get(f"/api/v1/rounds/{round}/next/").json()
        with CaptureQueriesContext(connection) as of_answer:
            stored = put(client, reply["fetched"][0])
        assert stored.status_code == 201, stored.json()
        walked = [q for q in of_answer.captured_queries if q["sql"].startswith('UPDATE "projects_participant"')]
        return len(of_next), len(of_answer) - len(walked)

    runs = build_runs(project, clusters=40)
    few = open_rating(project, [member], runs, name="few", sample=8)
    costs(few.pk)
    first = [costs(few.pk) for _ in range(2)]
    many = open_rating(project, [member], runs, name="many")
    costs(many.pk)
    assert [costs(many.pk) for _ in range(2)] == first
    of_next, of_answer = first[0]
    assert of_next <= MOST_OF_NEXT
    assert of_answer <= MOST_OF_ANSWER


def test_a_page_has_its_order_from_the_rows_alone(project: Project, evaluator: User, client_of: Any) -> None:
    """The order is computed from rows, so it survives a server restart in the middle of a page."""
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    address = f"/api/v1/rounds/{round.pk}/next/"
    before = client_of(evaluator).get(address).json()["fetched"]
    from evaluation.design import stored

    stored.content_by.cache_clear()
    after = client_of(evaluator).get(address).json()["fetched"]
    orders = [[[text["key"] for text in card["texts"]] for card in cards] for cards in (before, after)]
    assert orders[0] == orders[1]
    assert put(client_of(evaluator), after[0]).status_code == 201
