"""Passwords hashed fast: what is tested is who gets in, not how slow guessing is."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def passwords_hashed_fast(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
