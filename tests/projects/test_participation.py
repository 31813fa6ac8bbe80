"""Participant links: creation, consent, return, withdrawal, what ends them, and what the lead sees."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects import kinds
from projects.models import Assignment, Consent, Member, ParticipantLink, Project, Round
from projects.participation.actions import make_links, text_of
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round

ClientOf = Callable[[User], APIClient]
pytestmark = pytest.mark.django_db


@pytest.fixture
def round(project: Project) -> Round:
    build_cluster(project, inputs=5)
    return build_round(project, [project.members.get(pseudonym="R1")])


@pytest.fixture
def links(round: Round) -> str:
    return f"/api/v1/rounds/{round.pk}/participant-links/"


def made(client: APIClient, links: str, *labels: str, **body: Any) -> list[dict[str, Any]]:
    reply = client.post(links, {"labels": labels or ["one"]} | body, format="json")
    assert reply.status_code == 201, reply.content
    found: list[dict[str, Any]] = reply.json()["links"]
    return found


def look(client: APIClient, token: str) -> Any:
    return client.post("/api/v1/take/look/", {"token": token}, format="json")


def accept(client: APIClient, token: str, digest: str | None = None) -> Any:
    if digest is None:
        shown = look(client, token)
        digest = shown.json()["digest"] if shown.status_code == 200 else ""
    return client.post("/api/v1/take/accept/", {"token": token, "digest": digest}, format="json")


def held_ids(client: APIClient, round: Round) -> list[int]:
    reply = client.get(f"/api/v1/rounds/{round.pk}/next/")
    assert reply.status_code == 200, reply.content
    found: list[int] = reply.json()["held"]
    return found


def rows(client: APIClient, links: str) -> dict[str, dict[str, Any]]:
    return {row["label"]: row for row in client.get(links, {"page_size": 200}).json()["results"]}


def test_a_volunteer_reads_agrees_and_works_under_a_pseudonym(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    token = made(client_of(lead), links, "Volunteer 7")[0]["token"]
    client = APIClient()
    shown = look(client, token).json()
    assert (shown["name"], shown["project_name"], shown["agreed"]) == ("round", "Eye", False)
    assert "Withdrawing" in shown["html"]
    reply = accept(client, token)
    assert reply.status_code == 200
    session = reply.json()["session"]
    member = Member.objects.get(role="volunteer")
    assert session["projects"] == []
    assert (session["user"]["name"], session["user"]["is_guest"]) == (member.pseudonym, True)
    assert not member.user.has_usable_password()
    assert held_ids(client, round)
    work = client.get("/api/v1/my-work/").json()
    assert [row["id"] for row in work] == [round.pk]
    assert list(Entry.objects.order_by("id").values_list("verb", flat=True))[-5:] == [
        "make participant link",
        "add member",
        "give consent",
        "join round",
        "sign in",
    ]


def test_the_consent_is_stored_verbatim_and_cannot_be_changed(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    text = "Read *this*.\n\n  It has <b>marks</b>, “quotes” and an é."
    token = made(client_of(lead), links, text=text)[0]["token"]
    assert accept(APIClient(), token).status_code == 200
    stored = Consent.objects.get()
    assert (stored.what, stored.text) == ("given", text)
    assert stored.digest == stored.link.agreed
    with pytest.raises(IntegrityError), transaction.atomic():
        Consent.objects.update(text="another")


def test_the_same_link_in_another_browser_is_the_same_person(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    token = made(client_of(lead), links)[0]["token"]
    first, second = APIClient(), APIClient()
    accept(first, token)
    begun = held_ids(first, round)
    assert look(second, token).json()["agreed"] is True
    assert accept(second, token, digest="").status_code == 200, "no second consent to the same text"
    assert held_ids(second, round) == begun
    assert (Consent.objects.count(), Member.objects.filter(role="volunteer").count()) == (1, 1)


def test_each_browser_that_accepts_a_shared_link_is_a_new_volunteer(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    token = made(client_of(lead), links, "class", capacity=3)[0]["token"]
    browsers = [APIClient() for _ in range(3)]
    own = [accept(browser, token).json()["token"] for browser in browsers]
    assert len(set(own)) == 3
    assert Member.objects.filter(role="volunteer").count() == 3
    # The same browser by the shared link: still the same person, and no second link.
    assert accept(browsers[0], token).json()["token"] == ""
    # Another device by the personal link.
    device = APIClient()
    assert accept(device, own[1], digest="").status_code == 200
    assert device.get("/api/v1/session/").json() == browsers[1].get("/api/v1/session/").json()
    assert look(APIClient(), token).json()["full"] is True
    refused = accept(APIClient(), token)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/conflict")
    assert Member.objects.filter(role="volunteer").count() == 3


def test_nobody_starts_without_accepting_the_shown_consent_text(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    token = made(client_of(lead), links)[0]["token"]
    client = APIClient()
    assert accept(client, token, digest="").json()["type"] == "/problems/consent-needed"
    assert accept(client, token, digest="0" * 64).json()["type"] == "/problems/text-changed"
    assert client.get("/api/v1/session/").status_code == 401
    assert not User.objects.filter(guest_until__isnull=False).exists()
    assert ParticipantLink.objects.get().used == 0


def test_a_changed_consent_text_must_be_accepted_before_further_work(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    client, of_lead = APIClient(), client_of(lead)
    token = made(of_lead, links)[0]["token"]
    accept(client, token)
    held_ids(client, round)
    address = f"/api/v1/rounds/{round.pk}/consent-text/"
    assert of_lead.put(address, {"text": "Another text."}, format="json").status_code == 200
    for refused in (client.get(f"/api/v1/rounds/{round.pk}/next/"), accept(APIClient(), token, digest="")):
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/consent-needed")
    assert rows(of_lead, links)["one"]["state"] == "asked again"
    now = client.get("/api/v1/participation/").json()
    assert (now["agreed"], now["html"].strip()) == (False, "<p>Another text.</p>")
    assert client.post("/api/v1/participation/", {"digest": now["digest"]}, format="json").json()["agreed"] is True
    assert held_ids(client, round)
    assert [c.text for c in Consent.objects.order_by("pk")][1:] == ["Another text."]


def test_withdrawing_frees_open_assignments_and_keeps_answers(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    client, of_lead = APIClient(), client_of(lead)
    accept(client, made(of_lead, links)[0]["token"])
    held = held_ids(client, round)
    member = Member.objects.get(role="volunteer")
    answer(member.user, Assignment.objects.get(pk=held[0]))
    freed = client.delete("/api/v1/participation/").json()["freed"]
    assert freed == len(hand_of(member))
    assert client.get(f"/api/v1/rounds/{round.pk}/next/").status_code == 404
    assert client.delete("/api/v1/participation/").status_code == 409
    row = rows(of_lead, links)["one"]
    assert (row["state"], row["answered"], row["agreed_at"]) == ("withdrawn", 1, None)
    assert list(Consent.objects.order_by("pk").values_list("what", flat=True)) == ["given", "withdrawn"]
    # After a withdrawal the same person may consent again.
    digest = client.get("/api/v1/participation/").json()["digest"]
    assert client.post("/api/v1/participation/", {"digest": digest}, format="json").status_code == 200
    assert held_ids(client, round)
    assert rows(of_lead, links)["one"]["state"] == "working"


def hand_of(member: Member) -> list[Assignment]:
    """Return retired assignments that the person had not answered."""
    return list(Assignment.objects.filter(person=member, current_answer=None, number__lt=0))


@pytest.mark.row(43)
def test_expired_revoked_and_unknown_links_get_the_same_reply_at_once(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    of_lead = client_of(lead)
    revoked, expired = made(of_lead, links, "a", "b")
    browsers = APIClient(), APIClient()
    for browser, link in zip(browsers, (revoked, expired), strict=True):
        accept(browser, link["token"])
        held_ids(browser, round)
    assert of_lead.delete(f"{links}{revoked['id']}/").status_code == 204
    past = timezone.now() - timedelta(seconds=1)
    ParticipantLink.objects.filter(pk=expired["id"]).update(expires_at=past)
    User.objects.filter(memberships__participant_link=expired["id"]).update(guest_until=past)
    for browser in browsers:
        assert browser.get(f"/api/v1/rounds/{round.pk}/next/").status_code == 401
        assert browser.get("/api/v1/session/").status_code == 401
    replies = [accept(APIClient(), token) for token in (revoked["token"], expired["token"], "unknown")]
    assert {reply.status_code for reply in replies} == {410}
    assert len({reply.content for reply in replies}) == 1
    shown = rows(of_lead, links)
    assert (shown["a"]["state"], shown["b"]["state"]) == ("revoked", "expired")
    assert not Assignment.objects.filter(person__participant_link=revoked["id"], number__gte=1).exists(), "freed"
    # Extending affects one of them only.
    assert of_lead.patch(f"{links}{expired['id']}/", {"days": 3}, format="json").json()["state"] == "agreed"
    assert of_lead.patch(f"{links}{revoked['id']}/", {"days": 3}, format="json").status_code == 409
    assert held_ids(browsers[1], round)


def test_revoking_a_shared_link_ends_everybody_who_came_by_it(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    of_lead, browsers = client_of(lead), [APIClient(), APIClient()]
    shared = made(of_lead, links, "class", capacity=5)[0]
    own = [accept(browser, shared["token"]).json()["token"] for browser in browsers]
    assert of_lead.delete(f"{links}{shared['id']}/").status_code == 204
    assert {browser.get("/api/v1/my-work/").status_code for browser in browsers} == {401}
    assert {accept(APIClient(), token).status_code for token in (shared["token"], *own)} == {410}
    assert {row["state"] for row in rows(of_lead, links).values()} == {"revoked"}


@pytest.mark.row(43)
def test_only_hashes_of_tokens_are_kept_and_none_is_logged(
    round: Round, links: str, lead: User, client_of: ClientOf, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    of_lead = client_of(lead)
    token = made(of_lead, links, "class", capacity=2)[0]["token"]
    own = accept(APIClient(), token).json()["token"]
    accept(APIClient(), own)
    stored = str(list(ParticipantLink.objects.values())) + str(list(Entry.objects.values()))
    assert caplog.records
    for secret in (token, own):
        assert secret not in stored
        assert secret not in caplog.text
        assert secret not in of_lead.get(links).content.decode()


def test_accepting_without_the_csrf_token_is_a_csrf_problem(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    token = made(client_of(lead), links)[0]["token"]
    reply = APIClient(enforce_csrf_checks=True).post("/api/v1/take/accept/", {"token": token}, format="json")
    assert (reply.status_code, reply.json()["type"]) == (403, "/problems/csrf")


def test_a_late_volunteer_gets_a_share_of_a_fixed_allocation(project: Project, lead: User, client_of: ClientOf) -> None:
    build_cluster(project, inputs=5)
    round = build_round(project, [project.members.get(pseudonym="R1")], allocation="dealt")
    client, of_lead = APIClient(), client_of(lead)
    links = f"/api/v1/rounds/{round.pk}/participant-links/"
    accept(client, made(of_lead, links)[0]["token"])
    member = Member.objects.get(role="volunteer")
    assert Assignment.objects.filter(person=member).count() == 3
    while slots := held_ids(client, round):
        answer(member.user, Assignment.objects.get(pk=slots[0]))
    row = rows(of_lead, links)["one"]
    assert (row["state"], row["answered"]) == ("done", 3)


def test_a_volunteer_cannot_join_other_rounds_or_get_another_role(
    project: Project, round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    of_lead = client_of(lead)
    accept(APIClient(), made(of_lead, links)[0]["token"])
    member = Member.objects.get(role="volunteer")
    other = build_round(project, [project.members.get(pseudonym="R2")], name="other")
    asked = {"member": member.pk}
    assert of_lead.post(f"/api/v1/rounds/{other.pk}/people/", asked, format="json").status_code == 422
    plan = {"name": "n", "kind": "label", "purpose": "gold", "overlap": 1, "people": [member.pk]}
    assert of_lead.post("/api/v1/projects/eye/rounds/", plan, format="json").status_code == 422
    address = f"/api/v1/projects/eye/members/{member.pk}/"
    assert of_lead.patch(address, {"role": "lead"}, format="json").status_code == 422
    mine = f"/api/v1/projects/eye/members/{project.members.get(pseudonym='R2').pk}/"
    assert of_lead.patch(mine, {"role": "volunteer"}, format="json").status_code == 422
    invited = {"email": "x@example.org", "role": "volunteer"}
    assert of_lead.post("/api/v1/projects/eye/invitations/", invited, format="json").status_code == 422
    shown = of_lead.get("/api/v1/projects/eye/members/").json()["results"]
    assert [(m["name"], m["email"]) for m in shown if m["id"] == member.pk] == [(member.pseudonym, None)]


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        ({"labels": ["a", "b", " a "]}, "labels.2", "Line 3: the label 'a' occurs twice"),
        ({"labels": ["new", "there"]}, "labels.1", "Line 2: this round already has a link named 'there'"),
        ({"labels": ["x" * 81]}, "labels.0", "80"),
        ({"labels": []}, "labels", "at least 1"),
        ({"labels": ["a"], "capacity": 0}, "capacity", "1"),
        ({"labels": ["a"], "days": 366}, "days", "365"),
    ],
)
def test_faulty_labels_are_named_by_line_and_create_no_link(
    round: Round, links: str, lead: User, client_of: ClientOf, body: dict[str, Any], field: str, says: str
) -> None:
    made(client_of(lead), links, "there")
    reply = client_of(lead).post(links, body, format="json")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, field)
    assert says in reply.json()["errors"][0]["message"]
    assert ParticipantLink.objects.count() == 1


def test_a_closed_round_makes_no_links_and_takes_no_volunteers(
    round: Round, links: str, lead: User, client_of: ClientOf
) -> None:
    token = made(client_of(lead), links)[0]["token"]
    close_round(round=round, by=lead)
    assert client_of(lead).post(links, {"labels": ["late"]}, format="json").status_code == 409
    assert look(APIClient(), token).json()["closed"] is True
    assert accept(APIClient(), token).status_code == 409
    assert not Member.objects.filter(role="volunteer").exists()


def test_the_list_costs_the_same_however_many_links(
    round: Round, links: str, lead: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    of_lead = client_of(lead)
    tokens = [link["token"] for link in made(of_lead, links, *[f"v{n}" for n in range(20)])]
    for token in tokens[:5]:
        browser = APIClient()
        accept(browser, token)
        held_ids(browser, round)
    with django_assert_num_queries(10):
        assert len(rows(of_lead, links)) == 20
    assert {row["state"] for row in rows(of_lead, links).values()} == {"agreed", "not opened"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("capacity", "browsers", "people"), [(3, 8, 3), (1, 6, 1)])
def test_concurrent_volunteers_do_not_exceed_the_places(
    project: Project, lead: User, capacity: int, browsers: int, people: int
) -> None:
    build_cluster(project, inputs=2)
    round = build_round(project, [project.members.get(pseudonym="R1")])
    token = make_links(round=round, by=lead, labels=["class"], capacity=capacity)[0][1]
    clients = [APIClient() for _ in range(browsers)]
    digest = look(clients[0], token).json()["digest"]
    start, statuses = threading.Barrier(browsers), []

    def press(client: APIClient) -> None:
        try:
            start.wait(timeout=30)
            statuses.append(accept(client, token, digest).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    # A personal link is the same person in every browser; of a shared one's the last come too late.
    assert sorted(statuses) == ([200] * browsers if capacity == 1 else [200] * capacity + [409] * (browsers - capacity))
    assert Member.objects.filter(role="volunteer").count() == people
    assert Consent.objects.count() == people
    assert ParticipantLink.objects.get(parent=None).used == capacity


def test_the_consent_text_names_the_task_of_the_round(project: Project) -> None:
    build_cluster(project)
    round = build_round(project, [project.members.get(pseudonym="R1")])
    assert f"Your task in this round: **{kinds.get('label').title}**" in text_of(round)
