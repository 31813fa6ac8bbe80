"""Operators' changes to accounts are logged."""

import pytest
from django.test import Client

from accounts.models import User
from audit.models import Entry

FORM = "application/x-www-form-urlencoded"


def test_closing_an_account_ends_its_sessions_and_is_written_down(lead: User, stranger: User) -> None:
    User.objects.filter(pk=lead.pk).update(is_staff=True, is_superuser=True)
    operator, theirs = Client(), Client()
    operator.force_login(lead)
    theirs.force_login(stranger)
    assert theirs.get("/api/v1/me/").status_code == 200
    url = f"/admin/accounts/user/{stranger.pk}/change/"
    reply = operator.post(url, "name=Stranger&email=taken%40example.org&is_staff=on", FORM)
    assert reply.status_code == 302
    stranger.refresh_from_db()
    assert (stranger.is_active, stranger.is_staff, stranger.email) == (False, False, "stranger@example.org")
    assert theirs.get("/api/v1/me/").status_code == 401
    entry = Entry.objects.get()
    assert (entry.verb, entry.actor, entry.before, entry.after) == (
        "repair account",
        lead,
        {"is_active": True},
        {"is_active": False},
    )


def test_the_admin_is_for_staff_only(stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    assert client.get("/admin/accounts/user/").status_code == 302


@pytest.mark.row(42)
def test_the_admin_has_no_sign_in_form_of_its_own(lead: User) -> None:
    """Guesses there would be counted by account only, so one address could try many accounts."""
    assert Client().post("/admin/login/", f"username={lead.email}&password=x", FORM).status_code == 405
    assert Client().get("/admin/accounts/user/", follow=False)["Location"].startswith("/admin/login/?next=")
    door = Client().get("/admin/login/?next=/admin/accounts/user/")
    assert (door.status_code, door["Location"]) == (302, "/sign-in?to=%2Fadmin%2Faccounts%2Fuser%2F")
    for elsewhere in ("https://evil.example.org/", "//evil.example.org/admin/", "/projects"):
        assert Client().get("/admin/login/", {"next": elsewhere})["Location"] == "/sign-in?to=%2Fadmin%2F"


def test_people_without_admin_rights_get_an_explanation(lead: User, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    reply = client.get("/admin/", follow=True)
    assert (reply.status_code, reply["Content-Type"]) == (403, "text/plain")
    assert "for administrators" in reply.content.decode()
    User.objects.filter(pk=lead.pk).update(is_staff=True, is_superuser=True)
    client.force_login(lead)
    assert client.get("/admin/login/?next=/admin/accounts/user/")["Location"] == "/admin/accounts/user/"
