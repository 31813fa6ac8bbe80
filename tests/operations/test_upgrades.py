"""Databases of earlier versions: upgraded in place, or refused with the version to install first."""

from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from audit import triggers
from operations import upgrades

pytestmark = pytest.mark.django_db


def forget(*names: tuple[str, str]) -> None:
    recorder = MigrationRecorder(connection)
    for app, name in names:
        recorder.record_unapplied(app, name)


def squashed() -> dict[tuple[str, str], list[tuple[str, str]]]:
    disk = MigrationLoader(None).disk_migrations
    return {key: list(m.replaces) for key, m in disk.items() if m.replaces}


def test_a_database_of_the_last_release_needs_no_migration() -> None:
    forget(*squashed())
    assert upgrades.check_version(databases=["default"]) == []
    assert set(squashed()) <= set(MigrationLoader(connection).applied_migrations)


def test_a_database_of_an_older_version_is_refused_with_the_version_to_install_first() -> None:
    forget(*squashed(), ("projects", "0023_told_of_new_units"), ("projects", "0024_decisions_that_wait"))
    with pytest.raises(SystemCheckError) as refused:
        call_command("migrate", skip_checks=False)
    assert "lacks the migration projects.0023_told_of_new_units and 1 more" in str(refused.value)
    assert f"Upgrade to commit {upgrades.LAST_COMMIT} first" in str(refused.value)


def test_an_empty_database_is_not_taken_for_an_older_version() -> None:
    assert upgrades.unapplied_replaced([]) == []


def test_migrate_installs_triggers_that_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    triggers.remove(connection, ["projects_answer", "audit_checkpoint"])
    call_command("migrate", verbosity=0)
    assert triggers.trigger_faults(connection) == []
    call_command("migrate")
    assert "triggers" not in capsys.readouterr().out, "nothing was missing"


def test_a_migration_can_remove_triggers_until_migrate_ends() -> None:
    operation = triggers.RemoveTriggers("audit_entry", "audit_checkpoint")
    operation.database_forwards("audit", SimpleNamespace(connection=connection), None, None)
    assert len(triggers.trigger_faults(connection)) == 2
    call_command("migrate", verbosity=0)
    assert triggers.trigger_faults(connection) == []
