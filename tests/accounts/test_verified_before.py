"""Which accounts that were there before count as verified: those alone in which nobody else can have left a way in."""

from importlib import import_module

import pytest
from django.apps import apps

from accounts.models import User
from audit.log import record

pytestmark = [pytest.mark.django_db, pytest.mark.row(50)]


def test_the_log_tells_which_accounts_are_verified() -> None:
    acts: dict[str, list[tuple[str, dict[str, str] | None]]] = {
        "by-provider": [("create account", {"by": "provider"})],
        "seeded-then-link": [("make sign-in link", None), ("sign in", {"by": "link"})],
        "invited": [("create account", None), ("sign in", {"by": "invitation"})],
        "invited-then-provider": [("create account", None), ("sign in", {"by": "provider"})],
        "invited-then-link": [("create account", None), ("sign in", {"by": "link"})],
        "unknown-then-password": [("sign in", {"by": "password"})],
        "superuser": [],
        "superuser-once-invited": [("create account", None)],
        "closed": [("create account", {"by": "provider"})],
        "guest": [("sign in", {"by": "link"})],
    }
    for name, done in acts.items():
        user = User.objects.create_user(
            email=f"{name}@example.org",
            name=name,
            is_active=name != "closed",
            is_superuser=name.startswith("superuser"),
        )
        for verb, after in done:
            record(actor=user, verb=verb, obj=user, after=after)
    User.objects.filter(name="guest").update(guest_until="2030-01-01T00:00:00Z")
    import_module("accounts.migrations.0005_verified_addresses").recall(apps, None)
    verified = User.objects.exclude(email_verified_at=None).order_by("name").values_list("name", flat=True)
    assert list(verified) == ["by-provider", "seeded-then-link", "superuser"]
