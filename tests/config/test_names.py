"""Names and e-mail addresses are shown only to roles that may see them.

Every route is requested as every role, and the replies are searched for data of others (reliability row 51).
"""

import io
import re
import zipfile
from typing import Any

import pytest
from django.http.response import HttpResponseBase
from rest_framework.test import APIClient

from accounts.models import User
from generation.models import Run
from projects.inbox.actions import remark
from projects.models import Member, Role
from projects.models.project import MAY
from projects.participation.actions import make_links, revoke_link
from projects.people.actions import change_role
from projects.people.invitations import invite, revoke
from tests.builders import label_value
from tests.config.other_project import EXTERNAL_ID, OtherProject
from tests.config.routes import API, CASES, api_routes, ask, client_of, no_ids

pytestmark = [pytest.mark.django_db, pytest.mark.row(51)]
LABEL = "Ada Lovelace, ada@patients.example.org"
#: An invitation is shown to the holder of its token.
BY_TOKEN = {"invitations/look/", "invitations/accept/"}


@pytest.fixture
def told(other: OtherProject, settings: Any) -> OtherProject:
    """A project whose owner appears in every object, with people invited, removed, and joined by link."""
    owner = other.project.members.get(user=other.owner)
    Run.objects.filter(version__system__project=other.project).update(started_by=other.owner)
    change_role(member=other.worker, role=Role.LEAD, by=other.owner)
    change_role(member=other.worker, role=Role.ANNOTATOR, by=other.owner)
    revoke(
        invitation=invite(project=other.project, email="gone@example.org", role="viewer", by=other.owner)[0],
        by=other.owner,
    )
    revoke_link(link=make_links(round=other.round, by=other.owner, labels=[LABEL])[0][0], by=other.owner)
    remark(answer=other.answer, act="reply", text="Look at the comparator.", by=owner)
    body = {"kind": "label", "value": label_value(), "reason": "Read again."}
    corrected = client_of(other.owner).post(
        f"/{API}units/{other.answer.assignment.unit_id}/corrections/", body, format="json"
    )
    assert corrected.status_code in (200, 201), corrected.content
    return other


def who_asks(other: OtherProject, role: Role) -> tuple[APIClient, User]:
    """Return a new client in that role; annotators work in the round, volunteers joined by link."""
    if role == Role.VOLUNTEER:
        token, client = make_links(round=other.round, by=other.owner, labels=["one more"])[0][1], APIClient()
        shown = client.post(f"/{API}take/look/", {"token": token}, format="json").json()
        accepted = {"token": token, "digest": shown["digest"]}
        reply = client.post(f"/{API}take/accept/", accepted, format="json")
        return client, User.objects.get(pk=reply.json()["session"]["user"]["id"])
    user = User.objects.create_user(email=f"{role}@here.example.org", name=f"Robin {role.title()}son")
    if role == Role.ANNOTATOR:
        # Others reply to this person's answers.
        Member.objects.filter(pk=other.worker.pk).update(user=user)
    else:
        Member.objects.create(project=other.project, user=user, role=role, pseudonym="R-NEW1")
    return client_of(user), user


def secrets_for(user: User, other: OtherProject, role: Role) -> dict[str, str]:
    """Return forbidden strings -> what they are."""
    found = [(email, "an address") for email in User.objects.exclude(pk=user.pk).values_list("email", flat=True)]
    found += [
        (email, "an address") for email in (other.invitation.email, "gone@example.org", "ada@patients.example.org")
    ]
    if role not in MAY["manage participant links"]:
        found.append((EXTERNAL_ID, "an id on a recruitment platform"))
    if role not in MAY["see names"]:
        found += [(user.name, "a name") for user in (other.owner, other.worker.user)]
    return {text.lower(): what for text, what in found}


def body_of(reply: HttpResponseBase) -> str:
    sent = b"".join(reply) if reply.streaming else reply.content  # type: ignore[attr-defined]
    if sent[:2] == b"PK":
        packed = zipfile.ZipFile(io.BytesIO(sent))
        sent = b"\n".join(packed.read(name) for name in packed.namelist())
    return sent.decode("utf-8", "replace")


#: Reads first, before anything is deleted.
READ_THEN_WRITE = ({"get"}, {"post", "put", "patch"}, {"delete"})


def found_by(other: OtherProject, role: Role, rounds: tuple[set[str], ...] = READ_THEN_WRITE) -> list[str]:
    """Return every foreign name and address in the replies to this role, by method and route."""
    client, user = who_asks(other, role)
    secrets = secrets_for(user, other, role)
    pattern = re.compile("|".join(re.escape(secret) for secret in secrets))
    out, read = set(), 0
    for methods in rounds:
        for route in api_routes():
            address = route.address({"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other))
            for method in sorted(methods & route.methods):
                # Otherwise the following replies would be empty.
                if (method, route.pattern) == ("delete", "session/") or route.pattern in BY_TOKEN:
                    continue
                said = body_of(ask(client, method, address, other)).lower()
                read += len(said)
                out |= {f"{method} {route.pattern}: {secrets[match]}" for match in pattern.findall(said)}
    assert read > 20_000, "something was read"
    return sorted(out)


#: `make test` requests all routes in two roles, `make soak` in all.
ROLES = [
    role if role in (Role.EVALUATOR, Role.VOLUNTEER) else pytest.param(role, marks=pytest.mark.long)
    for role in Role
    if role != Role.LEAD
]


@pytest.mark.parametrize("role", ROLES)
def test_nobody_reads_names_and_addresses_that_the_role_does_not_allow(told: OtherProject, role: Role) -> None:
    assert found_by(told, role) == []


@pytest.mark.parametrize("role", [Role.ANNOTATOR, pytest.param(Role.VIEWER, marks=pytest.mark.long)])
def test_a_name_that_leaks_would_be_found(told: OtherProject, role: Role) -> None:
    told.project.description = f"Ask {told.owner.name}."
    told.project.save()
    assert "get projects/<slug:slug>/: a name" in found_by(told, role, ({"get"},))


@pytest.mark.parametrize("role", [pytest.param(Role.CURATOR, marks=pytest.mark.long), Role.VOLUNTEER])
def test_an_address_that_leaks_would_be_found(told: OtherProject, role: Role) -> None:
    told.round.name = f"for {told.owner.email}"
    told.round.save()
    assert "get rounds/<int:round_id>/: an address" in found_by(told, role, ({"get"},))


def test_a_lead_reads_names_and_addresses(told: OtherProject) -> None:
    """Otherwise the tests above would pass because nothing is shown to anybody."""
    lead = client_of(told.owner)
    log = lead.get(f"/{API}projects/{told.project.slug}/audit/").json()["results"]
    said = str([(entry["before"], entry["after"]) for entry in log])
    assert all(text in said for text in (told.invitation.email, "gone@example.org", LABEL))
    lists = [f"projects/{told.project.slug}/{what}/" for what in ("releases", "members", "imports")]
    for address in (*lists, f"versions/{told.run.version_id}/", f"runs/{told.run.pk}/"):
        assert told.owner.name in lead.get(f"/{API}{address}").content.decode(), address


def test_no_digest_confirms_a_guess_of_data_hidden_from_curators(told: OtherProject) -> None:
    """Otherwise the digest of an entry could confirm a guessed address."""
    curator = client_of(User.objects.create_user(email="cora@here.example.org", name="Cora"))
    Member.objects.create(project=told.project, user=User.objects.get(name="Cora"), role="curator", pseudonym="R-NEW1")
    log = curator.get(f"/{API}projects/{told.project.slug}/audit/").json()["results"]
    invited = [entry for entry in log if entry["verb"] == "invite"]
    assert {(entry["after"]["email"], entry["digest"]) for entry in invited} == {(None, "")}
    assert all(entry["digest"] for entry in log if entry["verb"] == "change role")
