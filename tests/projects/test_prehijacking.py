"""Account pre-hijacking: a stranger who created the account first loses it when its owner comes.

Covers the five attacks of Sudhodanan and Paverd (USENIX Security 2022), and addresses asserted by an identity
provider (reliability row 50).
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command
from django.test import RequestFactory
from rest_framework.exceptions import NotAuthenticated
from rest_framework.test import APIClient

from accounts import actions
from accounts.models import ApiToken, ProviderIdentity, User
from accounts.sessions import SessionStore
from audit.actions import create_checkpoints
from audit.models import Entry
from projects.external_ratings.raters import RATERS, members_of_raters
from projects.models import Member, Project
from projects.people.provider import NoAccount, OtherPerson, Person, enter_by_provider
from sql.bulk import BulkWriter

pytestmark = [pytest.mark.django_db, pytest.mark.row(50)]
ClientOf = Callable[[User], APIClient]
ISSUER = "https://id.example.org"
VICTIM = "vera@lab.example.org"
SECRET = "the stranger's own password"
VERA = Person(ISSUER, "vera-1", "Vera@lab.example.org", "Vera Victim")


def browser(person: Person) -> tuple[User, APIClient]:
    """Sign in by the provider; return the account and the browser."""
    request: Any = RequestFactory().get("/")
    request.session, request.user = SessionStore(), AnonymousUser()
    user = enter_by_provider(request=request, person=person)
    request.session.save()
    client = APIClient()
    client.cookies["sessionid"] = request.session.session_key
    return user, client


def sign_in(email: str = VICTIM, password: str = SECRET) -> APIClient | None:
    client = APIClient()
    reply = client.post("/api/v1/session/", {"email": email, "password": password}, format="json")
    return client if reply.status_code == 200 else None


def bearer(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def is_in(client: APIClient) -> bool:
    return bool(client.get("/api/v1/me/").status_code == 200)


@pytest.fixture
def taken(stranger: User, client_of: ClientOf) -> APIClient:
    """The stranger's browser: he has invited the victim's address to his project and accepted himself."""
    mine, theirs = client_of(stranger), APIClient()
    slug = mine.post("/api/v1/projects/", {"name": "Trap"}, format="json").json()["slug"]
    invited = mine.post(f"/api/v1/projects/{slug}/invitations/", {"email": VICTIM, "role": "annotator"}, format="json")
    accepted = {"token": invited.json()["token"], "name": "Not Vera", "password": SECRET}
    assert theirs.post("/api/v1/invitations/accept/", accepted, format="json").status_code == 200
    return theirs


def test_signing_in_by_a_provider_removes_a_strangers_password(taken: APIClient) -> None:
    assert sign_in() is not None
    user, vera = browser(VERA)
    assert sign_in() is None
    told = vera.get("/api/v1/me/").json()
    assert (told["email"], told["name"], told["has_password"]) == (VICTIM, "Vera Victim", False)
    assert told["notice"]["by"] == "provider"
    assert told["email_verified_at"]
    # She sets a password; her second visit ends nothing.
    assert vera.post("/api/v1/me/password/", {"new": "a password of Vera's"}, format="json").status_code == 204
    assert is_in(vera)
    browser(VERA)
    assert sign_in(password="a password of Vera's") is not None
    assert Entry.objects.filter(verb="verify address").count() == 1
    assert user.memberships.count() == 1, "a place in the stranger's project is no way in, and hers to leave"


def test_unexpired_sessions_of_the_stranger_are_ended(taken: APIClient) -> None:
    assert is_in(taken)
    _, vera = browser(VERA)
    assert not is_in(taken)
    assert is_in(vera)


def test_tokens_links_and_identities_of_the_stranger_give_no_access(taken: APIClient) -> None:
    """Tokens, one-time links and the stranger's identity at the provider lose the account."""
    token = taken.post("/api/v1/me/tokens/", {"name": "later"}, format="json").json()["token"]
    account = User.objects.get(email=VICTIM)
    link = actions.make_sign_in_link(user=account)
    ProviderIdentity.objects.create(user=account, issuer=ISSUER, subject="stranger-1")
    assert is_in(bearer(token))
    browser(VERA)
    assert not is_in(bearer(token))
    assert APIClient().post("/api/v1/session/link/", {"token": link}, format="json").status_code == 410
    with pytest.raises(NoAccount):
        browser(Person(ISSUER, "stranger-1", "stranger@elsewhere.example.org"))
    assert list(account.provider_identities.values_list("subject", flat=True)) == ["vera-1"]


def test_an_address_cannot_be_changed(taken: APIClient) -> None:
    for body in ({"email": "x@example.org"}, {"email": VICTIM}):
        assert taken.patch("/api/v1/me/", body, format="json").status_code == 422
    assert User.objects.filter(email=VICTIM).count() == 1


def test_an_invitation_does_not_take_over_a_provider_account(stranger: User, client_of: ClientOf) -> None:
    """The other way round: an account by the provider, then a password by somebody with a link."""
    User.objects.create_user(email=VICTIM, name="Vera")
    browser(VERA)
    mine = client_of(stranger)
    slug = mine.post("/api/v1/projects/", {"name": "Trap"}, format="json").json()["slug"]
    invited = mine.post(f"/api/v1/projects/{slug}/invitations/", {"email": VICTIM, "role": "viewer"}, format="json")
    accepted = {"token": invited.json()["token"], "name": "Not Vera", "password": SECRET}
    assert APIClient().post("/api/v1/invitations/accept/", accepted, format="json").status_code == 401
    assert sign_in() is None


def test_a_link_of_the_operator_ends_access_of_the_stranger(taken: APIClient) -> None:
    token = taken.post("/api/v1/me/tokens/", {"name": "later"}, format="json").json()["token"]
    other = actions.make_sign_in_link(user=User.objects.get(email=VICTIM))
    link = actions.make_sign_in_link(user=User.objects.get(email=VICTIM))
    vera = APIClient()
    told = vera.post("/api/v1/session/link/", {"token": link}, format="json").json()
    assert told["user"]["notice"]["by"] == "link"
    assert is_in(vera)
    assert (sign_in(), is_in(taken), is_in(bearer(token))) == (None, False, False)
    assert APIClient().post("/api/v1/session/link/", {"token": other}, format="json").status_code == 410


def test_the_verification_of_an_address_is_in_the_audit_log(taken: APIClient) -> None:
    taken.post("/api/v1/me/tokens/", {"name": "later"}, format="json")
    user, _ = browser(VERA)
    entry = Entry.objects.get(verb="verify address")
    assert (entry.actor, entry.object_id) == (user, str(user.pk))
    assert entry.before == {"name": "Not Vera"}
    assert entry.after == {
        "by": "provider",
        "name": "Vera Victim",
        "ended": {"password": True, "tokens": 1, "links": 0, "identities": 0},
    }
    create_checkpoints()
    entry.refresh_from_db()
    assert entry.checkpoint is not None


def test_the_notice_is_shown_until_it_is_read_and_to_nobody_whose_account_was_empty(taken: APIClient) -> None:
    _, vera = browser(VERA)
    assert vera.get("/api/v1/session/").json()["user"]["notice"]
    assert vera.patch("/api/v1/me/", {"notice_read": True}, format="json").json()["notice"] is None
    assert vera.get("/api/v1/session/").json()["user"]["notice"] is None
    User.objects.create_user(email="new@lab.example.org", name="New")
    _, new = browser(Person(ISSUER, "new-1", "new@lab.example.org"))
    assert new.get("/api/v1/me/").json()["notice"] is None


def test_another_provider_identity_with_the_same_address_is_refused(taken: APIClient) -> None:
    """Two subjects with one address, or an address that was reassigned."""
    browser(VERA)
    with pytest.raises(OtherPerson):
        browser(Person(ISSUER, "vera-2", VICTIM))
    out = call_command("forget_provider", "VERA@lab.example.org")
    assert out is None
    browser(Person(ISSUER, "vera-2", VICTIM))
    with pytest.raises(OtherPerson):
        browser(VERA)
    for arguments in ((), ("nobody@example.org",), (VICTIM, "--all")):
        with pytest.raises(CommandError):
            call_command("forget_provider", *arguments)
    call_command("forget_provider", "--all")
    assert not ProviderIdentity.objects.exists()
    assert Entry.objects.filter(verb="forget provider").count() == 2


def test_a_person_whose_address_changes_at_the_provider_keeps_the_account(taken: APIClient) -> None:
    user, _ = browser(VERA)
    married = Person(ISSUER, "vera-1", "vera.v@lab.example.org")
    assert browser(married)[0] == user
    user.refresh_from_db()
    assert user.email == "vera.v@lab.example.org"
    # The old address is free for another person.
    with pytest.raises(NoAccount):
        browser(Person(ISSUER, "new-1", VICTIM))


def test_a_new_address_that_another_account_has_gives_no_way_into_that_account(taken: APIClient, lead: User) -> None:
    user, _ = browser(VERA)
    again, _ = browser(Person(ISSUER, "vera-1", lead.email))
    assert again == user
    assert {u.email for u in User.objects.filter(pk__in=[user.pk, lead.pk])} == {VICTIM, lead.email}


def test_a_closed_account_stays_closed_and_unverified(taken: APIClient) -> None:
    User.objects.filter(email=VICTIM).update(is_active=False)
    with pytest.raises(NoAccount):
        browser(VERA)
    assert not Entry.objects.filter(verb="verify address").exists()
    assert not ProviderIdentity.objects.exists()


def test_an_operators_account_is_verified_and_keeps_its_password(db: None) -> None:
    User.objects.create_superuser(email=VICTIM, password=SECRET, name="Vera")
    browser(VERA)
    assert sign_in() is not None


def test_pending_requests_of_ended_sessions_leave_nothing(taken: APIClient, rf: Any) -> None:
    """Requests that were authorised just before see the account as it was then and change nothing afterwards."""
    his = User.objects.get(email=VICTIM)
    browser(VERA)
    request = rf.post("/")
    request.session, request.user = SessionStore(), his
    his.check_password(SECRET)
    with pytest.raises(NotAuthenticated):
        actions.make_token(user=his, name="late")
    with pytest.raises(NotAuthenticated):
        actions.set_password(request=request, user=his, current=SECRET, new="another of the stranger's")
    with pytest.raises(NotAuthenticated):
        actions.end_other_sessions(request=request, user=his)
    assert not ApiToken.objects.filter(revoked_at=None).exists()
    assert (sign_in(), sign_in(password="another of the stranger's")) == (None, None)


def test_rehashing_at_sign_in_does_not_restore_a_removed_password(taken: APIClient, settings: Any) -> None:
    his = User.objects.get(email=VICTIM)
    browser(VERA)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", *settings.PASSWORD_HASHERS]
    assert his.check_password(SECRET), "as he loaded it, before"
    assert sign_in() is None


def test_the_owner_of_the_address_can_end_other_sessions(taken: APIClient) -> None:
    """Also on request, for example after leaving a browser signed in."""
    user, vera = browser(VERA)
    _, elsewhere = browser(VERA)
    token = elsewhere.post("/api/v1/me/tokens/", {"name": "later"}, format="json").json()["token"]
    assert bearer(token).delete("/api/v1/me/sessions/").status_code == 403
    assert bearer(token).delete("/api/v1/me/tokens/").status_code == 403
    assert vera.delete("/api/v1/me/sessions/").status_code == 204
    assert (is_in(vera), is_in(elsewhere), is_in(bearer(token))) == (True, False, False)
    assert Entry.objects.filter(actor=user).order_by("-id")[0].verb == "end other sessions"


def test_tokens_end_with_a_changed_password(taken: APIClient) -> None:
    _, vera = browser(VERA)
    token = vera.post("/api/v1/me/tokens/", {"name": "later"}, format="json").json()["token"]
    assert vera.post("/api/v1/me/password/", {"new": "a password of Vera's"}, format="json").status_code == 204
    assert not is_in(bearer(token))


def test_the_address_of_an_external_rater_gives_no_access(
    project: Project, lead: User, stranger: User, client_of: ClientOf
) -> None:
    """The address of an external rater can be derived from project number and name."""
    import uuid

    address = f"rater-{uuid.uuid5(RATERS, f'{project.pk} anna')}@elsewhere.invalid"
    mine = client_of(stranger)
    slug = mine.post("/api/v1/projects/", {"name": "Trap"}, format="json").json()["slug"]
    for email in (address, "volunteer-1@participants.invalid", "k\u0131m@example.org"):
        body = {"email": email, "role": "viewer"}
        assert mine.post(f"/api/v1/projects/{slug}/invitations/", body, format="json").status_code == 422, email
    User.objects.create_user(email=address, name="taken before that was refused", password=SECRET)
    members_of_raters(project, ["anna"], rows := BulkWriter())
    rows.write()
    assert Member.objects.get(project=project, rater="anna").user_id is None
    assert not Member.objects.filter(project=project, user__email=address).exists()
