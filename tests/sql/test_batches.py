"""A reader can write between batches, although others write too."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.models import User
from sql.batches import in_batches

pytestmark = pytest.mark.django_db(transaction=True)


def rename(email: str) -> None:
    try:
        User.objects.filter(email=email).update(name="Changed")
    finally:
        connection.close()


def test_both_a_reader_and_others_can_write_between_batches() -> None:
    emails = [f"{n}@example.org" for n in range(6)]
    for email in emails:
        User.objects.create_user(email=email, name="New")
    rows = User.objects.filter(email__in=emails).order_by("-email")
    read = []
    with ThreadPoolExecutor(1) as others:
        for batch in in_batches(rows, 2):
            read += [user.email for user in batch]
            others.submit(rename, "0@example.org").result()
            User.objects.filter(email="1@example.org").update(name="Mine")
    assert read == sorted(emails, reverse=True)
