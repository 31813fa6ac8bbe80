"""What a person may set about the page, with what holds until then."""

from typing import Any

from .models import User

DEFAULTS: dict[str, Any] = {
    "single_keys": True, "theme": "auto", "pin_guideline": False, "mail": True, "introduced": [],
}  # fmt: skip
THEMES = ("auto", "light", "dark")


def of(user: User) -> dict[str, Any]:
    """All preferences of a user; keys that no longer exist are left out."""
    return {key: user.preferences.get(key, default) for key, default in DEFAULTS.items()}
