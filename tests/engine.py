"""Which tests depend on the data base's engine: those run on SQLite and on PostgreSQL, all others on PostgreSQL alone.

A test does where its matter is what the engine does, and not what Python does with rows: constraints, triggers,
transactions, locks, what many at once come to, plans and compiled statements, raw SQL, migrations, the order of rows,
snapshots, and what is sealed or released from them. Tests that have transactions of their own are among them without
being named here. A single test says so by ``@pytest.mark.engine``.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

TESTS = Path(__file__).resolve().parent
#: Whole folders, and modules of others by their names without ``test_``.
FOLDERS = ("audit", "sql")
MODULES = {
    "accounts": "signing_in sweeping throttling verified_before",
    "annotation": (
        "consistency corpus_plans counterfactual_rows curation_at_once import_limits m3_faults m3_rows supersede"
    ),
    "api": "limits",
    "config": "upgrades wrong_values",
    "evaluation": "protocols",
    "generation": "layout levels outdated probing reckoning run_hazards runs sealed_runs systems",
    "operations": "backups kinds_at_scale",
    "projects": (
        "agreement audit_trail batches choosing clock closed_rounds contests cost curators_meanwhile elsewhere "
        "fair_queue gold guidelines how_answers_came in_force inbox jobs kept_agreement loop_api meanwhile "
        "participation practice preparing questions queue review_and_correct round_shapes scale sheet_entries staleness"
    ),
    "releases": (
        "checks kept_releases needed_again provenance rebuilt_by_hand releases scale served systems_released tampering "
        "witnesses"
    ),
    # What a kill or an outage leaves behind is the engine's, and so is who comes first.
    "processes": "contention full_disk kills suspended workers",
}
#: Live tests that run on SQLite alone: what a newcomer meets there, and what knows no data base.
ON_SQLITE = {"operations": "demo", "processes": "server study"}
#: What only somebody says who writes to the engine: a module with such words is named above.
WORDS = re.compile(r"\btriggers\.|IntegrityError|transaction\.atomic|connection\.(?:vendor|cursor)|\bEXPLAIN\b")
#: What makes a single test one of them, in the text of its module.
MARKS = re.compile(r"transaction=True|transactional_db|mark\.engine")


def _named(path: PurePath, names: dict[str, str]) -> bool:
    return path.stem.removeprefix("test_") in names.get(path.parent.name, "").split()


def concerns(path: PurePath) -> bool:
    """Whether all tests of a module depend on the engine, by its folder or its name."""
    return path.parent.name in FOLDERS or _named(path, MODULES)


def on_sqlite_alone(path: PurePath) -> bool:
    return _named(path, ON_SQLITE)


def modules(*, marked: re.Pattern[str] = MARKS) -> Iterator[Path]:
    """The test modules that have, or may have, such tests: so that the others need not be collected."""
    for path in sorted(TESTS.glob("*/test_*.py")):
        if concerns(path) or marked.search(path.read_text(encoding="utf-8")):
            yield path


def alone() -> list[Path]:
    """The test modules that contend, kill and pull plugs."""
    found = sorted(TESTS.glob("*/test_*.py"))
    return [path for path in found if re.search(r"mark\.(?:contest|processes)", path.read_text(encoding="utf-8"))]
