"""Twenty people of a platform in one rating round, over HTTP: no place is lost, and nobody is paid twice."""

import csv
import io
import uuid
from collections import Counter
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from evaluation.models import PageText
from projects.models import Assignment, ParticipantLink, Project, Recruit, Round
from projects.recruitment.actions import return_late_places
from tests.evaluation.rating_rounds import PREFERENCE, build_runs, open_rating, pair_value
from tests.recruiting import QUESTION, accept, create_link, expire, no_place_is_lost, place, screen

pytestmark = pytest.mark.django_db
PLACES, UNITS = 12, 4


def rate(client: APIClient, round: Round, most: int = UNITS, careful: bool = True) -> int:
    """Compare up to ``most`` pairs. A careful person prefers the text that is not degraded."""
    for done in range(most):
        reply = client.get(f"/api/v1/rounds/{round.pk}/next/")
        assert reply.status_code == 200, reply.content
        ids = reply.json()["held"]
        if not ids:
            return done
        card = next(card for card in reply.json()["fetched"] if card["assignment"] == ids[0])
        degraded = PageText.objects.filter(code=card["texts"][0]["key"], is_check=True).exists()
        body = {
            "assignment": ids[0],
            "revision": 0,
            "kind": "compare",
            "outcome": "answered",
            "shown": card["shown"],
            "have": [],
            "active_ms": 30_000,
            "value": pair_value(card, int(degraded == careful)),
        }
        stored = client.put(f"/api/v1/answers/{uuid.uuid4()}/", body, format="json")
        assert stored.status_code == 201, stored.content
    return most


@pytest.fixture
def round(project: Project, evaluator: User) -> Round:
    runs = build_runs(project, clusters=6, systems=("Alder", "Birch", "Cedar"))
    people = [project.members.get(user=evaluator)]
    round = open_rating(project, people, runs, PREFERENCE, allocation="pool", overlap=6, options={"checks": 50})
    # Every third page is a check, so that everybody has one.
    checks = set(PageText.objects.filter(is_check=True).values_list("page__unit", flat=True))
    units = sorted(set(round.assignments.values_list("unit", flat=True)))
    others = [unit for unit in units if unit not in checks]
    assert len(others) == 2 * len(checks)
    order = [unit for n, check in enumerate(sorted(checks)) for unit in (check, *others[2 * n : 2 * n + 2])]
    for position, unit in enumerate(order):
        round.assignments.filter(unit=unit).update(position=position)
    return round


@pytest.mark.long
def test_twenty_people_of_a_platform(round: Round, lead: User, client_of: Any) -> None:
    of_lead = client_of(lead)
    settings: dict[str, Any] = {"units": UNITS, "checks_allowed": 0, "questions": [QUESTION], "pay": "2.00"}
    token = create_link(of_lead, round, capacity=PLACES, **settings, currency="GBP")
    codes: dict[str, list[str]] = {}

    def come(pid: str, *, option: int = 1, units: int = 0, careful: bool = True) -> APIClient:
        """Come by the address as a new browser; answer the questions and some units."""
        client = APIClient()
        reply = accept(client, token, pid)
        if reply.status_code == 200 and reply.json()["place"]["questions"]:
            assert screen(client, option).status_code == 200
        if reply.status_code == 200 and option:
            rate(client, round, units, careful)
        return client

    def end(client: APIClient, pid: str) -> str:
        found = place(client)
        codes.setdefault(pid, []).append(found["code"] or found["address"])
        return str(found["state"])

    for n in range(6):
        assert end(come(f"P{n}", units=UNITS), f"P{n}") == "completed"
    for n in (6, 7):  # an interruption, and another browser
        come(f"P{n}", units=1)
        assert end(come(f"P{n}", units=UNITS), f"P{n}") == "completed"
    assert end(come("P8", units=UNITS, careful=False), "P8") == "failed checks"
    for n in (9, 10, 11):
        assert end(come(f"P{n}", option=0), f"P{n}") == "screened out"
    for n in (12, 13):
        come(f"P{n}", units=1)
    expire("P12")
    expire("P13")
    assert return_late_places() == 2
    assert end(come("P12", units=UNITS), "P12") == "completed", "resumed while a place is free"
    assert come("P14", units=2).delete("/api/v1/participation/").status_code == 200
    for n in (15, 16):
        assert end(come(f"P{n}", units=UNITS), f"P{n}") == "completed"
    assert no_place_is_lost()
    for pid in ("P17", "P18", "P19", "P13", "P14"):
        refused = accept(APIClient(), token, pid)
        assert (refused.status_code, "no place" in refused.json()["detail"]) == (409, True)
    for pid in ("P0", "P8", "P9"):  # again, in another browser
        end(come(pid), pid)
    other_link = create_link(of_lead, round, capacity=5, label="second")
    assert accept(APIClient(), other_link, "P0").status_code == 409

    assert all(len(set(found)) == 1 for found in codes.values()), "always the same code"
    assert Counter(found[0][:4] for found in codes.values()) == {"DONE": 11, "http": 1, "OUT1": 3}
    shown = of_lead.get(f"/api/v1/rounds/{round.pk}/recruitments/").json()[-1]
    assert {name: shown[name] for name in ("places", "free", "in_progress", "returned")} == {
        "places": PLACES,
        "free": 0,
        "in_progress": 0,
        "returned": 2,
    }
    assert (shown["completed"], shown["failed_checks"], shown["screened_out"]) == (11, 1, 3)
    assert shown["median_per_hour"] == 60.0, "2.00 for four units of 30 s"
    assert no_place_is_lost()
    assert not Assignment.objects.filter(number__gte=1, current_answer=None, person__role="volunteer").exists()
    assert Recruit.objects.count() == 17

    link = ParticipantLink.objects.get(label="crowd")
    file = of_lead.get(f"/api/v1/rounds/{round.pk}/recruitments/{link.pk}/people/file/")
    rows = list(csv.DictReader(io.StringIO(b"".join(file).decode())))
    assert [row["external id"] for row in rows] == [f"P{n}" for n in range(17)]
    assert {row["external id"] for row in rows if row["pay"]} == {
        pid for pid, found in codes.items() if found[0].startswith("DONE")
    }
    by_id = {row["external id"]: row for row in rows}
    completed = [row for row in rows if row["state"] == "completed"]
    assert all(int(row["checks"]) == int(row["checks passed"]) > 0 for row in completed)
    assert by_id["P8"]["checks passed"] == "0"
