"""Checkpoints form one chain, whoever writes them, and forgeries are named."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import User
from audit import actions, triggers
from audit.actions import create_checkpoints, head
from audit.digests import digest_of
from audit.log import record
from audit.models import Checkpoint, Entry
from audit.row_digests import TrackedModel, store_pending_digests, tracked_models
from audit.verify import findings
from projects.models import Answer, Project
from projects.queue import actions as queue_actions
from tests.builders import answer, build_cluster, build_round, label_value


def found() -> list[str]:
    return [str(finding) for finding in findings()]


@contextmanager
def forging(*tables: str, is_leaf: bool = True) -> Iterator[Any]:
    """Suspend the triggers, as somebody with the database password can."""
    triggers.remove(connection, tables)
    with connection.cursor() as cursor:
        yield cursor
    triggers.install(connection, tables, is_leaf=is_leaf)


@pytest.fixture
def entries(lead: User) -> list[Entry]:
    return [record(actor=lead, verb="look", obj=lead, after={"n": n, "x": 1e22, "é": -0.0}) for n in range(5)]


def test_checkpoints_cover_all_rows_in_one_verifiable_chain(entries: list[Entry], lead: User) -> None:
    first = create_checkpoints()
    record(actor=lead, verb="look", obj=lead)
    second = create_checkpoints()
    assert (first.number, second.number) == (1, 2)
    assert list(Checkpoint.objects.values_list("number", "leaves")) == [(1, 5), (2, 1)]
    assert Checkpoint.objects.get(number=2).previous == first.digest
    assert found() == []


def test_a_second_checkpoint_without_new_rows_changes_nothing(entries: list[Entry]) -> None:
    assert create_checkpoints() == create_checkpoints() == head()
    assert Checkpoint.objects.count() == 1


def test_a_checkpoint_needs_one_query_per_unchanged_table(
    db: None, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    with django_assert_num_queries(1 + len(tracked_models())):
        assert store_pending_digests() == 0


def test_many_rows_give_several_checkpoints(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "CHECKPOINT_SIZE", 2)
    assert create_checkpoints().number == 3
    assert found() == []


@pytest.mark.row(23)
def test_a_changed_row_is_named(entries: list[Entry]) -> None:
    create_checkpoints()
    with forging("audit_entry") as cursor:
        cursor.execute("UPDATE audit_entry SET verb = 'forged' WHERE id = %s", [entries[2].pk])
    assert found() == [f"audit.entry {entries[2].pk}: the content does not match its digest: it was changed"]


def test_a_row_changed_before_its_first_checkpoint_is_named(entries: list[Entry]) -> None:
    with forging("audit_entry") as cursor:
        cursor.execute("UPDATE audit_entry SET reason = 'forged' WHERE id = %s", [entries[0].pk])
    assert found() == [f"audit.entry {entries[0].pk}: the content does not match its digest: it was changed"]
    create_checkpoints()
    assert len(found()) == 1


@pytest.mark.row(23)
def test_a_row_changed_with_its_digest_breaks_its_checkpoint(entries: list[Entry]) -> None:
    from audit.digests import digest_of
    from audit.log import entry_content

    create_checkpoints()
    forged = Entry.objects.get(pk=entries[1].pk)
    forged.verb = "forged"
    digest = digest_of(entry_content(forged))
    with forging("audit_entry") as cursor:
        cursor.execute("UPDATE audit_entry SET verb = 'forged', digest = %s WHERE id = %s", [digest, forged.pk])
    assert [line.split(":")[0] for line in found()] == ["checkpoint 1"]


@pytest.mark.row(23)
def test_a_deleted_row_is_found_by_its_checkpoint(entries: list[Entry]) -> None:
    create_checkpoints()
    with forging("audit_entry") as cursor:
        cursor.execute("DELETE FROM audit_entry WHERE id = %s", [entries[1].pk])
    assert found() == ["checkpoint 1: it covers 5 rows, but 4 exist"]


def test_a_backdated_checkpoint_is_found(entries: list[Entry]) -> None:
    create_checkpoints()
    earlier = Checkpoint.objects.get().created_at - timedelta(days=1)
    with triggers.suspend_triggers(connection):
        Checkpoint.objects.update(created_at=earlier)
    assert [line.split(":")[0] for line in found()] == ["checkpoint 1"]


def test_a_truncated_chain_is_found_by_a_recorded_head(entries: list[Entry], lead: User) -> None:
    create_checkpoints()
    record(actor=lead, verb="look", obj=lead)
    noted = create_checkpoints().digest
    with triggers.suspend_triggers(connection):
        Entry.objects.filter(checkpoint__number=2).delete()
        Checkpoint.objects.filter(number=2).delete()
    assert found() == []
    assert [f.what for f in findings(expected_head=noted)] == ["chain"]


def test_a_forged_label_of_an_answer_is_found_through_its_answer(project: Project, ann1: User) -> None:
    build_cluster(project, inputs=0)
    round = build_round(project, [project.members.get(user=ann1)])
    (slot,) = queue_actions.next_assignments(user=ann1, round=round)
    answer(ann1, slot, label_value(polarity_cue=[(0, 7)]))
    create_checkpoints()
    assert found() == []
    with forging("annotation_label", is_leaf=False) as cursor:
        cursor.execute("UPDATE annotation_label SET polarity = 'positive'")
    name = f"projects.answer {Answer.objects.get().pk}"
    assert f"{name}: the content does not match its digest: it was changed" in found()


def test_the_command_prints_the_head_and_fails_on_a_finding(entries: list[Entry]) -> None:
    last = create_checkpoints()
    out, err = StringIO(), StringIO()
    call_command("verify_audit", stdout=out, stderr=err)
    assert last.digest in out.getvalue()
    with forging("audit_entry") as cursor:
        cursor.execute("UPDATE audit_entry SET verb = 'forged' WHERE id = %s", [entries[0].pk])
    with pytest.raises(CommandError, match="1 finding"):
        call_command("verify_audit", stdout=out, stderr=err)
    assert f"audit.entry {entries[0].pk}" in err.getvalue()


@pytest.mark.django_db(transaction=True)
def test_concurrent_checkpoints_make_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "CHECKPOINT_SIZE", 7)
    for n in range(60):
        record(actor=None, verb="look", object_type="thing", object_id=n)
    start, errors = threading.Barrier(4), []

    def seal() -> None:
        try:
            start.wait()
            create_checkpoints()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=seal) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert list(Checkpoint.objects.values_list("number", flat=True)) == list(range(1, Checkpoint.objects.count() + 1))
    assert sum(Checkpoint.objects.values_list("leaves", flat=True)) == 60
    assert not Entry.objects.filter(checkpoint=None).exists()
    assert found() == []


def test_a_renamed_column_keeps_its_name_in_digests(entries: list[Entry]) -> None:
    before = TrackedModel("audit.entry", Entry)
    after = TrackedModel("audit.record", Entry, renamed={"actor_id": "by_id"})
    ids, names = [entry.pk for entry in entries], ["by_id" if n == "actor_id" else n for n in before.names]
    assert after.names == names
    assert after.knows(names)
    assert not after.knows(before.names)
    by_id = {e.pk: digest_of({"by_id": e.actor_id, "verb": e.verb}) for e in entries}
    assert after.digests(ids, ["by_id", "verb"]) == by_id
    assert after.object_types == {"entry", "record"}
