"""Upgrades warn about migrations that cannot be reversed, as the guide says."""

import re
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db.migrations import Migration, RunPython
from django.db.migrations.loader import MigrationLoader

CHANGELOG = (Path(settings.ROOT) / "CHANGELOG.md").read_text(encoding="utf-8")


def one_way(migrations: dict[tuple[str, str], Migration]) -> set[str]:
    return {f"{app}.{name}" for (app, name), m in migrations.items() if not all(o.reversible for o in m.operations)}


def test_irreversible_migrations_are_in_the_changelog() -> None:
    ours = {app.label for app in apps.get_app_configs() if Path(app.path).is_relative_to(settings.ROOT)}
    disk = {k: m for k, m in MigrationLoader(None).disk_migrations.items() if k[0] in ours}
    assert len(disk) >= 7
    told = set(re.findall(r"`(\w+\.\d{4}_\w+)`", "".join(re.findall(r"\*\*One way\*\*.*", CHANGELOG))))
    assert one_way(disk) == told


def test_irreversible_migrations_are_recognised() -> None:
    class Migration0002(Migration):
        operations = [RunPython(lambda apps, editor: None)]

    assert one_way({("projects", "0002_lost"): Migration0002("0002_lost", "projects")}) == {"projects.0002_lost"}
