"""Which tests depend on the database engine.

`make test` runs all tests on PostgreSQL and those of `EVERY_TIME` on SQLite too; `make soak` runs all on both.
`make test ONLY=changed` runs on SQLite, and the tests named here on PostgreSQL too.

A test depends on the engine if it is about constraints, triggers, transactions, locks, concurrency, query plans,
compiled statements, raw SQL, migrations, row order or snapshots. Tests that have transactions of their own count
without being named here; a single test is marked ``@pytest.mark.engine``.
"""

import re
from collections.abc import Container, Iterator
from pathlib import Path, PurePath

TESTS = Path(__file__).resolve().parent
#: Whole folders, and test modules by name without ``test_``.
FOLDERS = ("audit", "sql")
MODULES = {
    "accounts": "signing_in sweeping throttling",
    "annotation": (
        "consistency corpus_plans counterfactual_rows curation_at_once import_limits m3_faults m3_rows material ms2"
        " mslr supersede"
    ),
    "api": "limits",
    "benchmarks": "lists",
    "config": "upgrades wrong_values",
    "evaluation": "protocols",
    "generation": "embargoed_runs exposure layout levels outdated probing reckoning run_hazards runs systems",
    "operations": "backups kinds_at_scale upgrades",
    "projects": (
        "agreement audit_trail batches choosing clock closed_rounds contests cost curators_meanwhile elsewhere "
        "fair_queue gold guidelines how_answers_came current inbox jobs kept_agreement loop_api meanwhile "
        "participation practice preparing questions queue review_and_correct round_shapes scale sheet_entries "
        "staleness suggestions"
    ),
    "releases": (
        "checks kept_releases needed_again origins provenance rebuilt_by_hand releases scale served splits_released "
        "systems_released tampering whole_release witnesses"
    ),
    # What a kill or an outage leaves behind depends on the engine.
    "processes": "contention full_disk kills suspended workers",
}
#: Modules that `make test` runs on SQLite too: append-only tables, jobs, the annotation loop and kills.
EVERY_TIME = {"audit": "append_only", "projects": "loop_api jobs", "processes": "kills"}
#: Live tests that run on SQLite only: the first steps of a new user, and tests without a database.
ON_SQLITE = {"operations": "demo", "processes": "server study"}
#: Words of tests that access the engine directly: modules with them must be named above.
WORDS = re.compile(r"\btriggers\.|IntegrityError|transaction\.atomic|connection\.(?:vendor|cursor)|\bEXPLAIN\b")
#: What marks a single test as dependent on the engine.
MARKS = re.compile(r"transaction=True|transactional_db|mark\.engine")


def _named(path: PurePath, names: dict[str, str]) -> bool:
    return path.stem.removeprefix("test_") in names.get(path.parent.name, "").split()


def concerns(path: PurePath) -> bool:
    """Return whether all tests of a module depend on the engine."""
    return path.parent.name in FOLDERS or _named(path, MODULES)


def on_sqlite_alone(path: PurePath) -> bool:
    return _named(path, ON_SQLITE)


def every_time(folders: Container[str]) -> list[Path]:
    """Return the test modules of these folders that `make test` also runs on SQLite."""
    found = [path for path in sorted(TESTS.glob("*/test_*.py")) if path.parent.name in folders]
    return [path for path in found if _named(path, EVERY_TIME) or on_sqlite_alone(path)]


def modules(*, marked: re.Pattern[str] = MARKS) -> Iterator[Path]:
    """Yield the test modules that may contain tests of the engine, so that others need not be collected."""
    for path in sorted(TESTS.glob("*/test_*.py")):
        if concerns(path) or marked.search(path.read_text(encoding="utf-8")):
            yield path


def alone() -> list[Path]:
    """Return the test modules with contention, kills and outages."""
    found = sorted(TESTS.glob("*/test_*.py"))
    return [path for path in found if re.search(r"mark\.(?:contest|processes)", path.read_text(encoding="utf-8"))]
