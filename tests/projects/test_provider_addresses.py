"""Which addresses an identity provider may assert."""

import pytest
from django.http import HttpRequest

from accounts.models import User
from projects.people.provider import NoAccount, Person, enter_by_provider

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "email", ["eve@\u212aings.example.org", "\u212aate@kings.example.org", "k\u0131m@kings.example.org"]
)
def test_unicode_look_alikes_of_an_address_match_no_account(email: str, settings: object) -> None:
    settings.OIDC_NEW_ACCOUNTS_FROM = ["kings.example.org"]  # type: ignore[attr-defined]
    for name in ("kate", "kim"):
        User.objects.create_user(email=f"{name}@kings.example.org", name=name)
    with pytest.raises(NoAccount):
        enter_by_provider(request=HttpRequest(), person=Person("https://id.example.org", "eve", email, "Eve"))
    assert User.objects.count() == 2
