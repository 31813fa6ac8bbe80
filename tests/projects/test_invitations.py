"""Invitations: single use, expiring, stored as hashes, bound to one address, and of no use for another account."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects.models import Invitation, Project

ClientOf = Callable[[User], APIClient]
INVITATIONS = "/api/v1/projects/eye/invitations/"
PASSWORD = "correct horse battery staple"


def invited(client: APIClient, email: str = "new@example.org", **body: Any) -> dict[str, Any]:
    reply = client.post(INVITATIONS, {"email": email, "role": "annotator"} | body, format="json")
    assert reply.status_code == 201, reply.content
    return dict(reply.json())


def accept(client: APIClient, token: str, **body: Any) -> Any:
    return client.post("/api/v1/invitations/accept/", {"token": token} | body, format="json")


def look(client: APIClient, token: str) -> Any:
    return client.post("/api/v1/invitations/look/", {"token": token}, format="json")


NEW = {"name": "Newcomer", "password": PASSWORD}


def test_somebody_new_joins_with_name_and_password_and_is_signed_in(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    made = invited(client_of(lead), email="New@Example.org")
    client = APIClient()
    assert look(client, made["token"]).json() == {
        "project": "Eye",
        "role": "annotator",
        "email": "new@example.org",
        "invited_by": "Lead",
        "signed_in": False,
    }
    reply = accept(client, made["token"], **NEW)
    assert reply.status_code == 200
    assert reply.json()["projects"] == [
        {"slug": "eye", "name": "Eye", "role": "annotator", "illustrative": False, "may": ["work in rounds"]}
    ]
    assert client.get("/api/v1/session/").json() == reply.json()
    sign_in = {"email": "new@example.org", "password": PASSWORD}
    assert APIClient().post("/api/v1/session/", sign_in, format="json").status_code == 200
    verbs = ["invite", "create account", "add member", "accept invitation", "sign in", "sign in"]
    assert list(Entry.objects.order_by("id").values_list("verb", flat=True)) == verbs


@pytest.mark.row(43)
def test_an_invitation_is_good_once(project: Project, lead: User, client_of: ClientOf) -> None:
    made = invited(client_of(lead))
    client = APIClient()
    assert accept(client, made["token"], **NEW).status_code == 200
    assert accept(client, made["token"]).status_code == 410
    assert accept(APIClient(), made["token"], **NEW).status_code == 410
    assert look(APIClient(), made["token"]).status_code == 410


@pytest.mark.row(43)
def test_expired_revoked_and_unknown_invitations_get_the_same_reply(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    revoked, expired = invited(client, "a@example.org"), invited(client, "b@example.org")
    assert client.delete(f"{INVITATIONS}{revoked['id']}/").status_code == 204
    Invitation.objects.filter(pk=expired["id"]).update(expires_at=timezone.now() - timedelta(seconds=1))
    replies = [accept(APIClient(), token, **NEW) for token in (revoked["token"], expired["token"], "unknown")]
    assert {r.status_code for r in replies} == {410}
    assert len({r.content for r in replies}) == 1
    assert {row["state"] for row in client.get(INVITATIONS).json()["results"]} == {"revoked", "expired"}


@pytest.mark.row(43)
def test_inviting_again_revokes_the_earlier_token(project: Project, lead: User, client_of: ClientOf) -> None:
    first = invited(client_of(lead))
    second = invited(client_of(lead), email="NEW@example.org", role="curator")
    assert accept(APIClient(), first["token"], **NEW).status_code == 410
    assert accept(APIClient(), second["token"], **NEW).json()["projects"][0]["role"] == "curator"


@pytest.mark.row(43)
def test_only_the_hash_of_its_token_is_kept(project: Project, lead: User, client_of: ClientOf) -> None:
    made = invited(client_of(lead))
    stored = str(list(Invitation.objects.values())) + str(list(Entry.objects.values()))
    assert made["token"] not in stored
    assert "token" not in client_of(lead).get(INVITATIONS).json()["results"][0]


@pytest.mark.row(43)
def test_a_lead_cannot_accept_an_invitation_of_another_account(
    project: Project, lead: User, stranger: User, client_of: ClientOf
) -> None:
    made = invited(client_of(lead), email="Stranger@example.org")
    before = User.objects.values().get(pk=stranger.pk)
    anonymous = accept(APIClient(), made["token"], **NEW)
    assert (anonymous.status_code, anonymous.json()["type"]) == (401, "/problems/sign-in-needed")
    as_lead = accept(client_of(lead), made["token"], **NEW)
    assert (as_lead.status_code, as_lead.json()["type"]) == (409, "/problems/other-account")
    assert User.objects.values().get(pk=stranger.pk) == before
    assert not project.members.filter(user=stranger).exists()
    # The owner can still accept it while signed in.
    mine = client_of(stranger)
    assert look(mine, made["token"]).json()["signed_in"] is True
    assert accept(mine, made["token"]).json()["projects"][0]["slug"] == "eye"


@pytest.mark.row(43)
def test_an_invitation_cannot_be_accepted_from_another_account(
    project: Project, lead: User, stranger: User, client_of: ClientOf
) -> None:
    made = invited(client_of(lead))
    reply = accept(client_of(stranger), made["token"], **NEW)
    assert (reply.status_code, reply.json()["type"]) == (409, "/problems/other-account")
    assert not User.objects.filter(email="new@example.org").exists()


@pytest.mark.parametrize(
    "body",
    [{}, {"name": "Newcomer"}, {"name": " ", "password": PASSWORD}, {"name": "Newcomer", "password": "12345678"}],
)
def test_accepting_without_name_or_good_password_keeps_the_invitation(
    project: Project, lead: User, client_of: ClientOf, body: dict[str, str]
) -> None:
    made = invited(client_of(lead))
    assert accept(APIClient(), made["token"], **body).status_code == 422
    assert not User.objects.filter(email="new@example.org").exists()
    assert accept(APIClient(), made["token"], **NEW).status_code == 200


@pytest.mark.parametrize("extra", [{"role": "lead"}, {"is_staff": True}, {"email": "other@example.org"}])
def test_accepting_cannot_set_role_rights_or_address(
    project: Project, lead: User, client_of: ClientOf, extra: dict[str, Any]
) -> None:
    made = invited(client_of(lead))
    assert accept(APIClient(), made["token"], **NEW, **extra).status_code == 422
    assert not User.objects.filter(is_staff=True).exists()


def test_a_member_is_not_invited_again(project: Project, lead: User, client_of: ClientOf) -> None:
    reply = client_of(lead).post(INVITATIONS, {"email": "ANN1@example.org", "role": "viewer"}, format="json")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "email")


def test_an_accepted_invitation_is_not_revoked(project: Project, lead: User, client_of: ClientOf) -> None:
    made = invited(client_of(lead))
    accept(APIClient(), made["token"], **NEW)
    assert client_of(lead).delete(f"{INVITATIONS}{made['id']}/").status_code == 409


@pytest.mark.row(43)
def test_the_token_of_an_invitation_is_not_logged(
    project: Project, lead: User, client_of: ClientOf, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = invited(client_of(lead))
    look(APIClient(), made["token"])
    accept(APIClient(), made["token"], **NEW)
    accept(APIClient(), made["token"], **NEW)
    assert caplog.records
    assert made["token"] not in caplog.text
    assert PASSWORD not in caplog.text


def test_accepting_without_the_csrf_token_is_a_csrf_problem(project: Project, lead: User, client_of: ClientOf) -> None:
    made = invited(client_of(lead))
    reply = accept(APIClient(enforce_csrf_checks=True), made["token"], **NEW)
    assert (reply.status_code, reply.json()["type"]) == (403, "/problems/csrf")


def test_the_list_costs_the_same_however_many_invitations(
    project: Project, lead: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    client = client_of(lead)
    for n in range(20):
        invited(client, email=f"p{n}@example.org")
    with django_assert_num_queries(5):
        assert len(client.get(INVITATIONS).json()["results"]) == 20


@pytest.mark.django_db(transaction=True)
def test_concurrent_uses_of_a_token_join_one_person(
    project: Project, lead: User, stranger: User, client_of: ClientOf
) -> None:
    made = invited(client_of(lead), email="stranger@example.org")
    clients = [client_of(stranger) for _ in range(6)]
    start, statuses = threading.Barrier(len(clients)), []

    def press(client: APIClient) -> None:
        try:
            start.wait()
            statuses.append(accept(client, made["token"]).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 410, 410, 410, 410, 410]
    assert project.members.filter(user=stranger).count() == 1


def show_link(client: APIClient, invitation: int) -> Any:
    return client.post(f"{INVITATIONS}{invitation}/link/")


def test_the_link_of_an_open_invitation_can_be_shown_again(project: Project, lead: User, client_of: ClientOf) -> None:
    made = invited(client_of(lead))
    assert show_link(client_of(lead), made["id"]).json() == {"token": made["token"]}
    assert made["token"] not in Invitation.objects.get().encrypted_token


@pytest.mark.parametrize("end", ["accepted", "revoked", "expired"])
def test_the_link_of_an_ended_invitation_is_not_shown(
    project: Project, lead: User, client_of: ClientOf, end: str
) -> None:
    made = invited(client_of(lead))
    if end == "accepted":
        assert accept(APIClient(), made["token"], **NEW).status_code == 200
    elif end == "revoked":
        client_of(lead).delete(f"{INVITATIONS}{made['id']}/")
    else:
        Invitation.objects.update(expires_at=timezone.now())
    assert show_link(client_of(lead), made["id"]).status_code == 409
    if end != "expired":
        assert Invitation.objects.get().encrypted_token == ""


def test_an_invitation_made_before_links_could_be_shown_again_says_what_to_do(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    made = invited(client_of(lead))
    Invitation.objects.update(encrypted_token="")
    reply = show_link(client_of(lead), made["id"])
    assert reply.status_code == 409
    assert "Invite the person again" in reply.json()["detail"]
