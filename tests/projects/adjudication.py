"""Build closed rounds that wait for a curator, and call the adjudication API."""

import uuid as uuids
from collections.abc import Sequence
from typing import Any

from rest_framework.test import APIClient

from projects.gold.actions import finish_round
from projects.models import Answer, Assignment, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round, label_value

API = "/api/v1"
#: Three answers with different polarities, so that no aggregation decides.
APART = [label_value("positive"), label_value("no effect"), label_value("negative")]
AGREED = [label_value("negative")] * 3


def closed_round(
    project: Project,
    people: Sequence[Member],
    units: Sequence[Sequence[dict[str, Any]]],
    *,
    flag: Sequence[int] = (),
    **plan: Any,
) -> Round:
    """Return a closed, finished round over one proposition per row of ``units``; each person answers with their
    column's value. ``flag``: rows that the first person flags."""
    for n in range(len(units)):
        build_cluster(project, number=n, inputs=0)
    round = build_round(project, list(people), overlap=len(people), **{"name": "first labels"} | plan)
    order = list(Unit.objects.filter(type="proposition", project=project).order_by("pk").values_list("pk", flat=True))
    for i, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            row = order.index(held[0].unit_id)
            answer(person.user, held[0], units[row][i], flag=bool(i == 0 and row in flag))
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    return round


def unit_of(round: Round, row: int = 0) -> Unit:
    slots = Assignment.objects.filter(round=round, repeat=0).order_by("position")
    return Unit.objects.get(pk=list(dict.fromkeys(slots.values_list("unit", flat=True)))[row])


def answer_by(round: Round, unit: Unit, person: Member) -> Answer:
    return Answer.objects.get(assignment__round=round, assignment__unit=unit, author=person)


def queue(client: APIClient, round: Round, **query: Any) -> dict[str, Any]:
    reply = client.get(f"{API}/rounds/{round.pk}/adjudication/", query)
    assert reply.status_code == 200, reply.json()
    found: dict[str, Any] = reply.json()
    return found


def adjudication_detail(client: APIClient, round: Round, unit: Unit, **query: Any) -> dict[str, Any]:
    reply = client.get(f"{API}/rounds/{round.pk}/adjudication/{unit.pk}/", query)
    assert reply.status_code == 200, reply.json()
    found: dict[str, Any] = reply.json()
    return found


def send(client: APIClient, round: Round, below: str, **body: Any) -> Any:
    """Post with a new UUID unless one is given."""
    whole = {"uuid": str(uuids.uuid4())} | body
    return client.post(f"{API}/rounds/{round.pk}/adjudication/{below}", whole, format="json")


def take(client: APIClient, round: Round, unit: Unit, answer: Answer, **body: Any) -> Any:
    """Adopt an answer as shown now."""
    seen = adjudication_detail(client, round, unit)["seen"]
    whole = {"answer": str(answer.pk), "seen": seen, "reason": "The cue decides."} | body
    return send(client, round, f"{unit.pk}/", **whole)
