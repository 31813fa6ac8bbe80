"""What the daily clean-up deletes and keeps."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from accounts.actions import make_sign_in_link
from accounts.models import Failure, SignInLink, User
from accounts.sessions import sweep
from audit.models import Entry
from projects import tasks
from projects.management.commands import work

NOW = timezone.now()


@pytest.fixture
def rows(stranger: User) -> None:
    """Used and unused rows of each type."""
    for days in (-31, -29, 1):
        make_sign_in_link(user=stranger)
        SignInLink.objects.filter(expires_at__gt=NOW + timedelta(hours=23)).update(
            expires_at=NOW + timedelta(days=days)
        )
    for hours in (-1, 1):
        Session.objects.create(session_key=f"key{hours}", session_data="", expire_date=NOW + timedelta(hours=hours))
    for ago in (25.0, 0.1):
        Failure.objects.create(what="token", who="192.0.2.1", at=NOW - timedelta(hours=ago))
        made = AccessAttempt.objects.create(username=f"{ago}@example.org", failures_since_start=10)
        AccessAttempt.objects.filter(pk=made.pk).update(attempt_time=NOW - timedelta(hours=ago))


def left() -> list[int]:
    return [model.objects.count() for model in (SignInLink, Session, Failure, AccessAttempt)]


def test_a_sweep_deletes_expired_rows_only(rows: None) -> None:
    assert left() == [3, 2, 2, 2]
    told = Entry.objects.count()
    assert sweep() == {"sign-in links": 1, "sessions": 1, "failed attempts": 1, "locks": 1}
    assert left() == [2, 1, 1, 1]
    assert sweep() == {"sign-in links": 0, "sessions": 0, "failed attempts": 0, "locks": 0}
    assert Entry.objects.count() == told, "the log keeps what it was told"


def test_the_command_and_the_task_do_it_and_say_how_much(rows: None) -> None:
    out = StringIO()
    call_command("sweep", stdout=out)
    assert out.getvalue().splitlines() == ["sign-in links: 1", "sessions: 1", "failed attempts: 1", "locks: 1"]
    assert set(tasks.sweep().values()) == {0}


def test_a_worker_sweeps_when_it_is_due_and_outlives_a_database_that_is_away(rows: None) -> None:
    clock = work.Every(work.DAY, now=1000.0)
    assert [clock.is_due(now) for now in (1000.0, 1059.0, 1060.0, 1061.0, 1060.0 + 86_399, 1061.0 + 86_400)] == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]
    command = work.Command(stderr=StringIO())
    command.run_periodic("Daily clean-up failed", sweep)
    assert left() == [2, 1, 1, 1]

    def away(*args: Any) -> None:
        raise OperationalError("gone")

    command.run_periodic("Daily clean-up failed", away)
