"""What operators can do to accounts, and that it is written down."""

from django.test import Client

from accounts.models import User
from audit.models import Entry


def test_closing_an_account_ends_its_sessions_and_is_written_down(lead: User, stranger: User) -> None:
    User.objects.filter(pk=lead.pk).update(is_staff=True, is_superuser=True)
    operator, theirs = Client(), Client()
    operator.force_login(lead)
    theirs.force_login(stranger)
    assert theirs.get("/api/v1/me/").status_code == 200
    url = f"/admin/accounts/user/{stranger.pk}/change/"
    reply = operator.post(url, {"name": "Stranger", "email": "taken@example.org", "is_staff": "on"})
    assert reply.status_code == 302
    stranger.refresh_from_db()
    assert (stranger.is_active, stranger.is_staff, stranger.email) == (False, False, "stranger@example.org")
    assert theirs.get("/api/v1/me/").status_code == 401
    entry = Entry.objects.get()
    assert (entry.verb, entry.actor, entry.before, entry.after) == (
        "repair account", lead, {"is_active": True}, {"is_active": False},
    )  # fmt: skip


def test_the_admin_is_for_staff_only(stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    assert client.get("/admin/accounts/user/").status_code == 302


def test_the_door_of_the_admin_is_locked_like_the_other_one(lead: User) -> None:
    for n in range(10):
        address = ("lead@example.org", "LEAD@example.org")[n % 2]
        reply = Client().post("/admin/login/", {"username": address, "password": "wrong"})
    assert reply.status_code == 429
    sign_in = {"email": "lead@example.org", "password": "wrong"}
    assert Client().post("/api/v1/session/", sign_in, "application/json").status_code == 429
