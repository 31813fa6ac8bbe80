"""Workers write checkpoints when many rows wait, or some for a day."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from audit.actions import create_checkpoints, create_checkpoints_if_due, head
from audit.log import record
from audit.verify import findings
from projects.models import Project

pytestmark = [pytest.mark.django_db, pytest.mark.row(57)]


def test_few_rows_that_wait_less_than_a_day_get_no_checkpoint(lead: User) -> None:
    record(actor=lead, verb="look", obj=lead)
    create_checkpoints()
    record(actor=lead, verb="look", obj=lead)
    assert not create_checkpoints_if_due()
    assert head().number == 1


@pytest.mark.parametrize("ago", [timedelta(hours=25), timedelta(days=-300)], ids=["a day ago", "by a clock set back"])
def test_waiting_rows_get_a_checkpoint_after_a_day(lead: User, ago: timedelta) -> None:
    record(actor=lead, verb="look", obj=lead)
    create_checkpoints(timezone.now() - ago)
    assert not create_checkpoints_if_due(), "nothing waits"
    record(actor=lead, verb="look", obj=lead)
    assert create_checkpoints_if_due()
    assert head().number == 2
    assert list(findings()) == []


def test_many_waiting_rows_get_a_checkpoint_including_rows_without_digest(
    lead: User, project: Project, settings: Any
) -> None:
    settings.CHECKPOINT_AFTER_ROWS = 3
    create_checkpoints()
    before = head().number
    Project.objects.bulk_create(Project(slug=f"p{n}", name="P") for n in range(2))
    assert not create_checkpoints_if_due()
    Project.objects.create(slug="p3", name="P")
    assert create_checkpoints_if_due()
    assert head().number == before + 1
    assert list(findings()) == []
