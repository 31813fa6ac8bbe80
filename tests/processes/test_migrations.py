"""Migrations of a database from the first version (reliability row 35).

`release_rows.jsonl` has rows of the first version, migrated by the last release; see `make_rows.py`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.processes.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.row(35)]
FIRST = Path(__file__).parent / "release_rows.jsonl"
Rows = dict[str, dict[str, dict[str, str]]]
#: Irreversible migrations, with reasons: earlier schemas have no place for their data. Restore a backup instead.
ONE_WAY: dict[str, str] = {}
#: (table, column) whose existing values a migration changes, with reasons.
REWRITTEN: dict[tuple[str, str], str] = {}
#: Tables that a migration renames, by their first name.
RENAMED = {
    "annotation_picoslot": "annotation_picoelement",
    "annotation_tupleslot": "annotation_tupleelement",
    "annotation_splitslot": "annotation_splitelement",
    "annotation_pubmedturn": "annotation_pubmedratelimit",
    "annotation_study_reviews": "annotation_inclusion",
    "projects_keptagreement": "projects_storedagreement",
    "audit_seal": "audit_checkpoint",
    "audit_witness": "audit_rowdigest",
    "generation_seal": "generation_embargo",
}


def old(site: Site, verb: str, **arguments: Any) -> Any:
    return site.call(verb, module="old_database", **arguments)


@pytest.fixture
def first(make_site: Callable[..., Site]) -> Site:
    """A site with the first version's database."""
    site = make_site(empty=True)
    assert old(site, "load", path=str(FIRST)) > 200
    return site


def same(before: Rows, after: Rows, kept: str) -> None:
    """Assert that every row of ``before`` is kept with the values of all remaining columns."""
    wrong = []
    for table, rows in before.items():
        renamed = table if table in after else RENAMED.get(table, table)
        assert renamed in after or not rows, f"{kept}: table {table} is gone"
        for key, values in rows.items():
            now = after[renamed].get(key)
            if now is None:
                wrong.append(f"{table} {key} is gone")
                continue
            wrong += [
                f"{table} {key} {name}: {value} became {now[name]}"
                for name, value in values.items()
                if name in now and now[name] != value and (table, name) not in REWRITTEN
            ]
    assert not wrong, (kept, len(wrong), wrong[:5])


@pytest.mark.long
def test_a_full_database_goes_forward_back_and_forward_without_losses(
    first: Site, make_site: Callable[..., Site]
) -> None:
    before = old(first, "rows")
    assert {"projects_answer", "projects_decision", "audit_entry", "annotation_label"} <= set(before)
    first.manage("migrate", "-v0")
    same(before, old(first, "rows"), "forward")
    assert "none changed" in first.manage("verify_audit")
    works_on(make_site(like=first))
    plan = old(first, "ahead", path=str(FIRST))
    assert set(plan["one_way"]) == set(ONE_WAY), (
        "say in ONE_WAY, and in the notes on upgrading, why there is no way back"
    )
    if plan["one_way"]:
        return
    with FIRST.open() as lines:
        wanted = list(json.loads(next(lines))["migrations"].items())
    old(first, "migrate", targets=wanted)
    same(before, old(first, "rows"), "back")
    first.manage("migrate", "-v0")
    same(before, old(first, "rows"), "forward again")
    assert "none changed" in first.manage("verify_audit")


def works_on(migrated: Site) -> None:
    """The open round still offers cards, accepts answers, and is closed with gold."""
    done = old(migrated, "resume", project="eye", round="pool")
    assert done["answered"] > 0
    assert done["status"] == "closed"
    assert done["decisions"] > 0
    assert "none changed" in migrated.manage("verify_audit")


@pytest.mark.long
def test_a_migration_that_is_killed_leaves_its_database_as_it_was_before_it(first: Site) -> None:
    before = old(first, "rows")
    many = len(old(first, "ahead", path=str(FIRST))["new"])
    applied = 0
    for number in sorted({1, (many + 1) // 2, many}) if many else ():
        with pytest.raises(AssertionError, match="SIGKILL"):
            old(first, "die_in", number=number - applied)
        applied = number - 1
        same(before, old(first, "rows"), f"killed in migration {number}")
    first.manage("migrate", "-v0")
    same(before, old(first, "rows"), "forward after all")
    assert "none changed" in first.manage("verify_audit")


@pytest.mark.long
@pytest.mark.row(46)
def test_an_older_backup_is_migrated_forward_and_missing_releases_are_named(
    first: Site, make_site: Callable[..., Site], tmp_path: Path
) -> None:
    before = old(first, "rows")
    first.manage("backup", "--out", str(tmp_path / "old.tar.gz"))
    new = make_site()
    with pytest.raises(AssertionError) as refused:
        new.manage("restore", str(tmp_path / "old.tar.gz"))
    assert "manifest.json: missing" in str(refused.value), "the first version's rows come without files"
    assert "Restored, but 1 check failed" in str(refused.value)
    same(before, old(new, "rows"), "restored")
    assert "none changed" in new.manage("verify_audit")
