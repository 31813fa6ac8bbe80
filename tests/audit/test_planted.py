"""Every change past the application is reported, and normal work is not."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, transaction

from accounts.models import User
from annotation.curation.actions import add_inputs, remove_input
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster, Counterfactual, Proposition
from audit import triggers
from audit.actions import create_checkpoints
from audit.models import RowDigest
from audit.verify import findings
from generation.runs.actions import embargo_run
from projects.agreement import actions as agreement_actions
from projects.answers import integrity
from projects.curation.actions import correct
from projects.inbox.actions import remark
from projects.jobs.queries import claim_next
from projects.jobs.running import run_job
from projects.models import Consent, Member, ParticipantLink, Project, Round
from projects.people.actions import change_project, remove_member
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.publishing.actions import freeze
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.audit.tampering import TAMPERINGS, tamper
from tests.builders import answer, build_round, label_value
from tests.generation.builders import build_run, build_version

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row(57)]


def found() -> list[str]:
    return [str(finding) for finding in findings()]


def named() -> set[str]:
    return {finding.what for finding in findings()}


@pytest.fixture
def worked(project: Project, lead: User, ann1: User, tmp_path: Path) -> Project:
    """A project with rows of every type, all in checkpoints."""
    import_records(
        project,
        write(tmp_path / "level3.jsonl", [cluster(f"26258610_{n}", [source(), source(pmid="112")]) for n in (0, 1)]),
    )
    import_records(
        project, write(tmp_path / "level1.jsonl", [plain("26258610", "A review.", ("111", "An abstract."))]), level="1"
    )
    claims = list(Proposition.objects.order_by("pk"))
    by, member = Member.objects.get(user=lead), Member.objects.get(user=ann1)
    round = build_round(project, [member], order="corpus")
    for _ in range(4):
        answer(ann1, next_assignments(user=ann1, round=round)[0], label_value())
    said = answer(
        ann1, next_assignments(user=ann1, round=round)[0], label_value("positive"), flag=True, comment="?"
    ).answer
    remark(answer=said, act="reply", text="Well seen.", by=by)
    close_round(round=round, by=lead)
    while (pk := claim_next()) is not None:
        run_job(pk)
    supersede_text(proposition=claims[-1], text="Nepralin reduces relapse.", reason="A typing error.", by=by)
    Counterfactual.objects.create(
        target=claims[0], kind="negation", text="It does not.", imported=project.imports.first()
    )
    link = ParticipantLink.objects.create(
        round=round,
        token_hash="0",
        label="A",
        consent_text="Yes?",
        agreed="0",
        created_by=lead,
        expires_at=said.received_at,
    )
    Consent.objects.create(link=link, member=member, what="given", text="Yes?", digest="0", at=said.received_at)
    run = build_run(build_version(project), {c.unit_id: "It helps." for c in Cluster.objects.all()})
    embargo_run(run=run, members=[member], by=lead)
    agreement_actions.compute_and_store(round=round, progress=lambda done, total, note: None)
    freeze(project=project, version="1.0.0", by=lead)
    assert found() == []
    return project


def test_every_planted_change_is_found_and_named(worked: Project) -> None:
    assert len(TAMPERINGS) >= 12
    for tampering in TAMPERINGS:
        with transaction.atomic():
            names = tamper(tampering)
            assert names, f"{tampering.name}: there is no row for it"
            assert named() >= set(names.values()), tampering.name
            transaction.set_rollback(True)
    names = tamper()
    assert named() >= set(names.values())


def test_later_work_causes_no_audit_findings(worked: Project, lead: User, ann1: User) -> None:
    by = Member.objects.get(user=lead)
    claim = Proposition.objects.current().filter(position=1).select_related("unit").order_by("pk")[0]
    supersede_text(proposition=claim, text="Nepralin might reduce relapse.", reason="A typing error.", by=by)
    whole = Cluster.objects.select_related("unit").order_by("pk")[0]
    value = {s: {"text": "another", "fragments": []} for s in "pio"} | {
        "c": {"text": "placebo", "stands_for": "", "fragments": []}
    }
    correct(unit=whole.unit, kind="tuple", value=value, reason="Another tuple.", by=by)
    change_project(project=worked, by=lead, name="Another", publish_comments=True)
    remove_member(member=Member.objects.get(user=ann1), by=lead)
    ann1.name = "Another Name"
    ann1.is_active = False
    ann1.save()
    assert found() == []
    create_checkpoints()
    assert found() == []


def test_an_input_removed_by_a_curator_is_no_finding_but_a_deleted_one_is(worked: Project, lead: User) -> None:
    by, whole = Member.objects.get(user=lead), Cluster.objects.order_by("pk")[0]
    rows = [{"pmid": f"12{n}", "text": "Nothing was found.", "label": None} for n in range(2)]
    with transaction.atomic():
        one, other = add_inputs(cluster=whole, rows=rows, reason="", by=by, batch=uuid4())
    create_checkpoints()
    remove_input(proposition=one, reason="Typed twice.", by=by)
    assert found() == []
    with triggers.suspend_triggers(connection):
        Proposition.objects.filter(pk=other.pk).delete()
    assert found() == [f"annotation.proposition {other.pk}: the row is missing"]


def test_rows_of_the_previous_version_are_covered_by_their_first_checkpoint(worked: Project) -> None:
    with triggers.suspend_triggers(connection):
        RowDigest.objects.all().delete()
    assert RowDigest.objects.count() == 0
    create_checkpoints()
    Proposition.objects.filter(pk=Proposition.objects.earliest("pk").pk).update(text="forged")
    assert f"annotation.proposition {Proposition.objects.earliest('pk').pk}" in named()


def test_an_answer_put_into_a_finished_round_is_found(worked: Project, ann1: User) -> None:
    round = Round.objects.get(name="round")
    empty = round.assignments.filter(current_answer=None, number__gte=1).order_by("pk")[0]
    member = Member.objects.get(user=ann1)
    Round.objects.filter(pk=round.pk).update(status="open")
    round.assignments.filter(pk=empty.pk).update(person=member)
    empty.refresh_from_db()
    answer(ann1, empty, label_value())
    Round.objects.filter(pk=round.pk).update(status="closed")
    assert {f"projects.round {round.pk}", f"projects.assignment {empty.pk}"} <= named()


def test_a_round_that_an_earlier_version_finished_is_settled_later(worked: Project) -> None:
    with triggers.suspend_triggers(connection):
        integrity.finish_entries().delete()
        RowDigest.objects.all().delete()
    Round.objects.update(closed_at="2020-01-01T00:00:00Z")
    assert integrity.store_finished_earlier() == 1
    assert integrity.store_finished_earlier() == 0
    assert integrity.finish_entries().count() == 1


def test_each_row_has_one_digest_after_several_checkpoints(worked: Project) -> None:
    create_checkpoints()
    rows: list[str] = []
    for made in RowDigest.objects.all():
        rows += [f"{made.label} {pk}" for pk in made.digests]
    assert len(rows) == len(set(rows))
