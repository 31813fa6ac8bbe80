"""Create links for recruitment platforms and use them over HTTP, as people and leads do."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.test import APIClient

from projects.models import ParticipantLink, Recruit, Round

PID, STUDY, SESSION = "5f3c9b2a1d", "study-1", "session-1"
ENDS = {"completed_end": "DONE1", "screened_out_end": "OUT1", "failed_checks_end": "https://app.prolific.com/x?cc=F1"}
QUESTION = {"question": "Do you read English?", "options": ["No", "A little", "Fluently"], "accepted": [1, 2]}


def create_link(lead: APIClient, round: Round, capacity: int = 3, **settings: Any) -> str:
    reply = post_link(lead, round, capacity, **settings)
    assert reply.status_code == 201, reply.content
    return str(reply.json()["links"][0]["token"])


def post_link(lead: APIClient, round: Round, capacity: int = 3, label: str = "crowd", **settings: Any) -> Any:
    recruitment = {"platform": "prolific", "units": 2, **ENDS} | settings
    body = {"labels": [label], "capacity": capacity, "recruitment": recruitment}
    return lead.post(f"/api/v1/rounds/{round.pk}/participant-links/", body, format="json")


def query_of(pid: str = PID, session: str = SESSION) -> dict[str, str]:
    return {"PROLIFIC_PID": pid, "STUDY_ID": STUDY, "SESSION_ID": session}


def look(client: APIClient, token: str, query: dict[str, str]) -> Any:
    return client.post("/api/v1/take/look/", {"token": token, "query": query}, format="json")


def accept(client: APIClient, token: str, pid: str = PID, **query: str) -> Any:
    parameters = query or query_of(pid)
    digest = look(client, token, parameters).json().get("digest", "")
    body = {"token": token, "digest": digest, "query": parameters}
    return client.post("/api/v1/take/accept/", body, format="json")


def held(client: APIClient, round: Round) -> list[int]:
    reply = client.get(f"/api/v1/rounds/{round.pk}/next/")
    assert reply.status_code == 200, reply.content
    ids: list[int] = reply.json()["held"]
    return ids


def place(client: APIClient) -> dict[str, Any]:
    reply = client.post("/api/v1/participation/place/")
    assert reply.status_code == 200, reply.content
    found: dict[str, Any] = reply.json()
    return found


def screen(client: APIClient, *chosen: int) -> Any:
    return client.put("/api/v1/participation/place/", {"chosen": chosen}, format="json")


def people(lead: APIClient, round: Round) -> dict[str, dict[str, Any]]:
    """Return the lead's rows by external id."""
    link = ParticipantLink.objects.get(round=round, parent=None)
    reply = lead.get(f"/api/v1/rounds/{round.pk}/recruitments/{link.pk}/people/")
    assert reply.status_code == 200, reply.content
    return {row["external_id"]: row for row in reply.json()["results"]}


def counts(lead: APIClient, round: Round) -> dict[str, Any]:
    found: dict[str, Any] = lead.get(f"/api/v1/rounds/{round.pk}/recruitments/").json()[0]
    return found


def no_place_is_lost() -> bool:
    """Return whether each link counts exactly the people who hold a place."""
    links = ParticipantLink.objects.filter(recruitment__isnull=False)
    return all(
        link.used
        == Recruit.objects.filter(
            recruitment__link=link, state__in=["in progress", "completed", "failed checks"]
        ).count()
        for link in links
    )


def expire(pid: str) -> None:
    late = timezone.now() - timedelta(seconds=1)
    Recruit.objects.filter(external__external_id=pid).update(due_at=late)
