"""A worker that reads thousands of rows can still write, however often others write meanwhile.

SQLite refuses a write by a connection with a partly read result after another connection has written. Each test has
more rows than one fetch reads.
"""

import pytest
from django.utils import timezone

from accounts.models import User
from audit import row_digests
from audit.models import RowDigest
from benchmarks.inside_jobs import answered
from benchmarks.inside_rounds import grow
from projects.agreement import actions as agreement_actions
from projects.answers.queries import PART
from projects.jobs.queries import claim_next
from projects.jobs.running import RunningJob, run_job
from projects.models import Decision, Job, Member, Project, Round, StoredAgreement, Unit
from projects.rounds.actions import close_round
from tests.concurrency import competing_writes

pytestmark = pytest.mark.django_db(transaction=True)
SLUG, RATERS = "large", 2


@pytest.fixture
def round(lead: User, ann1: User, ann2: User) -> Round:
    """An answered gold-standard round whose units need several fetches."""
    grow(units=PART + 105, texts=["The drug may lower mortality in adults."], rounds=0, answered=0, slug=SLUG)
    project = Project.objects.get(slug=SLUG)
    for user in (ann1, ann2):
        Member.objects.create(project=project, user=user, role="annotator", pseudonym=user.name)
    made = Round.objects.get(pk=answered(answers=RATERS * (PART + 100), status="open", slug=SLUG))
    Round.objects.filter(pk=made.pk).update(purpose="gold")
    made.refresh_from_db()
    return made


def worked_off() -> None:
    """Run all jobs; none may be refused or retried."""
    with competing_writes():
        while (pk := claim_next()) is not None:
            run_job(pk)
    due = Job.objects.exclude(not_before__gt=timezone.now())
    assert set(due.values_list("status", "attempts", "error")) == {("done", 1, "")}


def test_gold_forms_while_others_write(round: Round, lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement_actions, "AT_ONCE", 4)
    close_round(round=round, by=lead)
    worked_off()
    assert Decision.objects.filter(round=round, field="polarity").count() == PART + 100
    assert StoredAgreement.objects.filter(round=round).exists()


def test_agreement_is_measured_while_others_write(round: Round, lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement_actions, "AT_ONCE", 4)
    monkeypatch.setattr(RunningJob, "paced", lambda job: job.progress)  # reports every part instead of two per second
    agreement_actions.request_report(round=round, by=lead)
    worked_off()
    assert StoredAgreement.objects.get(round=round).basis["answers"] == RATERS * (PART + 100)


def test_rows_get_digests_while_others_write(project: Project) -> None:
    Unit.objects.bulk_create(Unit(project=project, type="filler", key=f"f{n}") for n in range(4_100))
    with competing_writes():
        assert row_digests.store_pending_digests() >= 4_100
    label, rows = Unit._meta.label_lower, Unit.objects.filter(type="filler")
    known = {pk for made in RowDigest.objects.filter(label=label) for pk in made.digests}
    assert known >= {str(pk) for pk in rows.values_list("pk", flat=True)}
