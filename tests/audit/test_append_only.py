"""The database refuses to change append-only rows."""

import pytest
from django.db import DatabaseError, connection, transaction

from accounts.models import User
from annotation.models import Cue, Label
from audit import triggers
from audit.actions import create_checkpoints
from audit.log import record
from audit.models import Checkpoint, Entry
from projects.gold import actions as gold_actions
from projects.models import Answer, Decision, Guideline, Project
from projects.queue import actions as queue_actions
from tests.builders import answer, build_cluster, build_round, label_value


def refused(sql: str, *params: int) -> None:
    with (
        pytest.raises(DatabaseError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, params)


@pytest.fixture
def answered(project: Project, ann1: User) -> Answer:
    build_cluster(project, inputs=0)
    round = build_round(project, [project.members.get(user=ann1)])
    (slot,) = queue_actions.next_assignments(user=ann1, round=round)
    stored: Answer = answer(ann1, slot, label_value(polarity_cue=[(0, 7)])).answer
    return stored


@pytest.mark.row(23)
def test_an_entry_is_neither_changed_nor_deleted(lead: User) -> None:
    entry = record(actor=lead, verb="look", obj=lead)
    refused("UPDATE audit_entry SET reason = 'forged' WHERE id = %s", entry.pk)
    refused("DELETE FROM audit_entry WHERE id = %s", entry.pk)
    assert Entry.objects.get(pk=entry.pk).reason == ""


def test_setting_the_checkpoint_is_the_only_change_of_a_row_and_happens_once(lead: User) -> None:
    entry = record(actor=lead, verb="look", obj=lead)
    create_checkpoints()
    checkpoint = Checkpoint.objects.get()
    assert Entry.objects.get(pk=entry.pk).checkpoint == checkpoint
    refused("UPDATE audit_entry SET seal_id = NULL WHERE id = %s", entry.pk)
    refused("UPDATE audit_entry SET seal_id = %s WHERE id = %s", checkpoint.pk, entry.pk)
    other = record(actor=lead, verb="look", obj=lead)
    refused("UPDATE audit_entry SET seal_id = %s, verb = 'forged' WHERE id = %s", checkpoint.pk, other.pk)


@pytest.mark.row(23)
def test_a_checkpoint_is_neither_changed_nor_deleted(lead: User) -> None:
    record(actor=lead, verb="look", obj=lead)
    create_checkpoints()
    refused("UPDATE audit_checkpoint SET leaves = 2")
    refused("DELETE FROM audit_checkpoint")


@pytest.mark.row(23)
def test_an_answer_and_its_typed_rows_are_insert_only(answered: Answer) -> None:
    cue = Cue.objects.get()
    refused("UPDATE projects_answer SET comment = 'forged'")
    refused("DELETE FROM projects_answer")
    refused("UPDATE annotation_label SET polarity = 'positive'")
    refused("DELETE FROM annotation_label")
    refused("UPDATE annotation_cue SET text = 'forged'")
    refused("UPDATE annotation_cuefragment SET start = 1 WHERE cue_id = %s", cue.pk)
    refused("DELETE FROM annotation_cuefragment")
    assert Label.objects.get().polarity == "no effect"


@pytest.mark.row(23)
def test_a_decision_and_a_guideline_are_insert_only(answered: Answer) -> None:
    gold_actions.insert_decisions(
        [
            Decision(
                unit=answered.assignment.unit,
                kind="label",
                field="polarity",
                origin="single",
                answer=answered,
                decided_at=answered.received_at,
            )
        ]
    )
    refused("UPDATE projects_decision SET origin = 'unanimous'")
    refused("DELETE FROM projects_decision")
    refused("UPDATE projects_guideline SET text = 'forged'")
    assert Guideline.objects.count() == 1


@pytest.mark.django_db
def test_every_guarded_table_has_its_triggers_after_all_migrations() -> None:
    assert {"audit_entry", "audit_checkpoint", "projects_answer", "annotation_label"} <= set(triggers.guarded_tables())
    assert triggers.trigger_faults(connection) == []


@pytest.mark.django_db
def test_a_missing_trigger_is_found() -> None:
    triggers.remove(connection, ["audit_checkpoint"])
    assert triggers.trigger_faults(connection) == ["table audit_checkpoint: triggers that prevent changes are missing"]
    triggers.install(connection, ["audit_checkpoint"], is_leaf=False)
    assert triggers.trigger_faults(connection) == []


def test_triggers_step_aside_and_come_back_as_they_were(lead: User) -> None:
    record(actor=lead, verb="look", obj=lead)
    with triggers.suspend_triggers(connection):
        Entry.objects.all().delete()
    assert triggers.trigger_faults(connection) == []
    entry = record(actor=lead, verb="look", obj=lead)
    refused("DELETE FROM audit_entry WHERE id = %s", entry.pk)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite knows no TRUNCATE")
@pytest.mark.row(23)
def test_a_table_is_not_truncated() -> None:
    refused("TRUNCATE audit_entry CASCADE")
