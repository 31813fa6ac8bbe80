"""Check that a database is of a version from which this code can upgrade.

The first migration of each app replaces those of earlier versions. An installation that lacks some of these cannot
be upgraded directly.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

#: The last commit with the replaced migrations.
LAST_COMMIT = "603c496"
HINT = f"Upgrade to commit {LAST_COMMIT} first, then to this version. See Upgrading in docs/admin.md."


def known_migrations() -> set[tuple[str, str]]:
    """Return the migrations of this code and those that they replace."""
    disk = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    return set(disk) | {replaced for migration in disk.values() for replaced in migration.replaces}


def unapplied_replaced(applied: Iterable[tuple[str, str]]) -> list[str]:
    """Return the replaced migrations that an older installation lacks; empty if it can be upgraded."""
    applied = set(applied)
    missing: list[str] = []
    for key, migration in MigrationLoader(None, ignore_no_migrations=True).disk_migrations.items():
        replaced = set(migration.replaces)
        if key not in applied and replaced & applied:
            missing += [".".join(name) for name in replaced - applied]
    return sorted(missing)


def check_version(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """System check, run by ``migrate`` before it reads the migrations."""
    errors: list[CheckMessage] = []
    for alias in databases or ():
        missing = unapplied_replaced(MigrationRecorder(connections[alias]).applied_migrations())
        if missing:
            errors.append(Error(too_old("The database", missing), hint=HINT, id="operations.E001"))
    return errors


def too_old(subject: str, missing: Sequence[str]) -> str:
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"{subject} is of a version too old to upgrade directly: it lacks the migration {missing[0]}{more}."
