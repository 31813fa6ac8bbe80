"""With the clock set back, the last write still wins: revisions and decisions are ordered by number (row 36)."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from audit.actions import create_checkpoints
from audit.verify import findings
from projects.curation.actions import correct
from projects.gold.queries import current_values
from projects.jobs import jobs
from projects.jobs.queries import claim_next, fresh_job, is_responding
from projects.jobs.running import _claim, run_job
from projects.models import Job, JobStatus, Member, Project, Unit
from projects.queue.actions import next_assignments
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = [pytest.mark.django_db, pytest.mark.row(36)]


@pytest.fixture
def set_back(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """``set_back()`` sets the clock back by an hour."""
    now = timezone.now

    def change() -> None:
        monkeypatch.setattr(timezone, "now", lambda: now() - timedelta(hours=1))

    return change


def test_a_later_correction_is_the_newer_revision_if_the_clock_was_set_back(
    project: Project, ann1: User, set_back: Callable[[], None]
) -> None:
    build_cluster(project)
    round = build_round(project, [project.members.get(user=ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    first = answer(ann1, slot, label_value("positive")).answer
    set_back()
    slot.refresh_from_db()
    second = answer(ann1, slot, label_value("negative")).answer
    slot.refresh_from_db()
    assert second.received_at < first.received_at
    assert (slot.current_answer_id, second.revision, slot.revision) == (second.pk, 2, 2)
    create_checkpoints()
    assert list(findings()) == []


def test_the_newest_decision_is_the_one_written_last(
    project: Project, lead: User, set_back: Callable[[], None]
) -> None:
    build_cluster(project)
    unit = Unit.objects.filter(project=project, type="proposition").order_by("pk")[0]
    by = Member.objects.get(project=project, user=lead)
    correct(unit=unit, kind="label", value=label_value("positive"), reason="First.", by=by)
    set_back()
    correct(unit=unit, kind="label", value=label_value("negative"), reason="Second.", by=by)
    assert current_values([unit], "label")[unit.pk]["polarity"] == "negative"


def test_a_job_of_a_dead_worker_is_claimed_at_once_if_the_clock_is_set_back(
    project: Project, set_back: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jobs.handlers, "clocked", lambda job: {})
    left = jobs.enqueue(project=project, kind="clocked", params={}, by=None)
    assert _claim(left.pk, timezone.now()) is not None
    assert claim_next() is None
    assert is_responding(fresh_job(left), timezone.now())
    set_back()
    assert not is_responding(fresh_job(left), timezone.now())
    assert claim_next() == left.pk
    assert run_job(left.pk)
    job = Job.objects.get()
    assert job.status == JobStatus.DONE
    assert job.started_at is not None
    assert job.finished_at is not None
    assert job.finished_at >= job.started_at


def test_held_assignments_stay_and_the_next_card_comes_after_the_clock_is_set_back(
    project: Project, ann1: User, set_back: Callable[[], None]
) -> None:
    build_cluster(project)
    round = build_round(project, [project.members.get(user=ann1)])
    before = [slot.pk for slot in next_assignments(user=ann1, round=round)]
    set_back()
    assert [slot.pk for slot in next_assignments(user=ann1, round=round)] == before
    stored = answer(ann1, next_assignments(user=ann1, round=round)[0])
    assert stored.held
