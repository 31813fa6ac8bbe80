"""Protections of rows are verified: changed, disabled or bypassed triggers are reported."""

from collections.abc import Callable

import pytest
from django.db import connection

from accounts.models import User
from audit.log import record
from audit.models import Entry
from audit.verify import findings

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only")
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="of SQLite only")
Run = Callable[[str], None]


@pytest.fixture
def run() -> Run:
    def execute(sql: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

    return execute


def found() -> list[str]:
    return [f.detail for f in findings() if f.what == "protection"]


@on_postgresql
@pytest.mark.row(57)
@pytest.mark.parametrize("function", ["append_only", "append_only_but_seal"])
def test_a_trigger_function_that_allows_changes_is_found(function: str, run: Run, lead: User) -> None:
    record(actor=lead, verb="look", obj=lead)
    run(
        f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
    )
    table = "audit_checkpoint" if function == "append_only" else "audit_entry"
    assert f"table {table}: triggers that prevent changes differ from those that Concord installs" in found()


@on_postgresql
@pytest.mark.row(57)
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE audit_entry DISABLE TRIGGER append_only_audit_entry_row",
        "ALTER TABLE audit_entry ENABLE REPLICA TRIGGER append_only_audit_entry_row",
        "DROP TRIGGER append_only_audit_entry_row ON audit_entry; CREATE TRIGGER append_only_audit_entry_row "
        "BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW WHEN (OLD.id < 0) EXECUTE FUNCTION append_only_but_seal()",
        "DROP TRIGGER append_only_audit_entry_row ON audit_entry; CREATE TRIGGER append_only_audit_entry_row "
        "BEFORE UPDATE OF at OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION append_only_but_seal()",
        "DROP TRIGGER append_only_audit_entry_row ON audit_entry; CREATE TRIGGER append_only_audit_entry_row "
        "BEFORE DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION append_only_but_seal()",
        "CREATE RULE away AS ON INSERT TO audit_entry DO INSTEAD NOTHING",
        "CREATE TRIGGER aside BEFORE UPDATE ON audit_entry FOR EACH ROW "
        "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "SET LOCAL session_replication_role = 'replica'",
    ],
)
def test_a_trigger_that_no_longer_fires_or_is_undone_by_another_is_found(change: str, run: Run) -> None:
    assert found() == []
    run(change)
    assert len(found()) == 1


@on_sqlite
@pytest.mark.row(57)
def test_a_trigger_with_another_text_and_one_that_is_not_ours_are_found(run: Run) -> None:
    name = "append_only_audit_entry_delete"
    run(f"DROP TRIGGER {name}")
    run(f"CREATE TRIGGER {name} BEFORE DELETE ON audit_entry WHEN OLD.id < 0 BEGIN SELECT RAISE(ABORT, 'no'); END")
    run("CREATE TRIGGER aside BEFORE INSERT ON projects_answer BEGIN SELECT RAISE(IGNORE); END")
    run("CREATE TEMP TRIGGER here BEFORE INSERT ON projects_decision BEGIN SELECT RAISE(IGNORE); END")
    assert found() == [
        "table audit_entry: triggers that prevent changes differ from those that Concord installs",
        "table projects_answer: the trigger aside was not installed by Concord",
        "table projects_decision: the trigger here was not installed by Concord",
    ]
    run("DROP TRIGGER temp.here")


def test_unchanged_triggers_have_no_faults(lead: User) -> None:
    record(actor=lead, verb="look", obj=lead)
    assert Entry.objects.exists()
    assert found() == []
