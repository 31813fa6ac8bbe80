"""`make test ONLY=changed`: the tests that a change affects, the closest first, in under two minutes."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from threading import Thread

from tests import engine

from . import imports, kinds, templates
from .run import BIN, ROOT, Failed, Run

#: Time limits of the tests on SQLite and PostgreSQL in seconds. Tests further from the change are skipped.
ON_SQLITE, ON_POSTGRES = 70, 35
LIVE = ("tests/processes/", "tests/browser/")
#: Files whose dependants imports do not show.
EVERYTHING = ("requirements", "pyproject.toml", "Makefile")
#: If set, only so many test modules run, one at a time, and no other check (tests/planted).
NEAREST = int(os.environ.get("NEAREST", "0"))
QUICK = "not browser and not processes and not contest and not long"
Servers = Callable[[Run], AbstractContextManager[dict[str, str]]]


def check(run: Run, servers: Servers, why_no_postgres: str) -> None:
    commit = os.environ.get("SINCE") or imports.base_commit(ROOT)
    paths = imports.changed_since(ROOT, commit)
    run.say(f"  {len(paths)} files differ from {commit[:12]}{': ' + ', '.join(paths[:8]) if paths else ''}")
    if not paths:
        return
    if unknown := [path for path in paths if path.startswith(EVERYTHING)]:
        run.not_run.append(f"{', '.join(unknown)}: imports do not show what depends on it; run make test")
    failures: list[Failed] = []
    checks = Thread(target=_check_sources, args=(run, paths, failures))
    if NEAREST:
        run.not_run.append(f"style, types and all but the {NEAREST} closest modules: NEAREST is set")
        _pages(run, paths)
    else:
        checks.start()
    try:
        _tests(run, paths, servers, why_no_postgres)
    finally:
        if not NEAREST:
            checks.join()
    if failures:
        raise failures[0]


def _check_sources(run: Run, paths: list[str], failures: list[Failed]) -> None:
    """Check style and types, and test the pages."""
    try:
        run.command(BIN / "ruff", "check", "-q", ".")
        run.command(BIN / "ruff", "format", "-q", "--check", ".")
        run.command(BIN / "mypy", ".")
        if any(path.endswith(".py") for path in paths):
            run.command(BIN / "lint-imports")
        _pages(run, paths)
        if any(_is_page(path) for path in paths):
            run.manage("frontend", "check")
    except Failed as failure:
        failures.append(failure)


def _pages(run: Run, paths: list[str]) -> None:
    """Run the page tests that depend on changed files."""
    if pages := [str(PurePosixPath(path).relative_to("frontend")) for path in paths if _is_page(path)]:
        run.manage("frontend", "related", *pages)


def _is_page(path: str) -> bool:
    return path.startswith("frontend/src/") and path.endswith((".ts", ".svelte"))


def _tests(run: Run, paths: list[str], servers: Servers, why_no_postgres: str) -> None:
    graph = imports.read(ROOT)
    affected = imports.affected_tests(graph, paths)
    selected = [path for path in affected if not path.startswith(LIVE) or path in paths]
    if skipped := [path for path in affected if path not in selected]:
        run.not_run.append(f"live: {len(skipped)} affected modules, {', '.join(skipped[:6])} ...")
    if any(_is_page(path) for path in paths):
        run.not_run.append("browser: pages have changed; make test ONLY=browser")
    if any(path.startswith(kinds.FOLDER) for path in selected):
        kinds.check(run, pace=QUICK)
        selected = [path for path in selected if not path.startswith(kinds.FOLDER)]
    if not selected:
        run.say("  The change affects no quick test.")
        return
    run.say(f"  The change affects {len(selected)} test modules, the closest first: {', '.join(selected[:4])}")
    selected = selected[: NEAREST or None]
    on_sqlite, on_postgres = (0, 0) if NEAREST else (ON_SQLITE, ON_POSTGRES)  # 0: no limit
    options = ("-n", "0" if NEAREST else "2", "--dist", "load", "--maxschedchunk", "8", "-p", "tests.stages.within")
    if why_no_postgres:
        run.not_run.append(f"PostgreSQL: {why_no_postgres}")
        run.pytest(
            *options,
            "--within",
            str(on_sqlite + on_postgres),
            "-m",
            QUICK,
            *selected,
            **templates.sqlite(run, remain=True),
        )
        return
    run.pytest(*options, "--within", str(on_sqlite), "-m", QUICK, *selected, **templates.sqlite(run, remain=True))
    engine_modules = {str(path.relative_to(ROOT)) for path in engine.modules()}
    if on_both := [path for path in selected if path in engine_modules]:
        with servers(run) as environment:
            run.pytest(
                *options,
                "--within",
                str(on_postgres),
                "-m",
                f"engine and ({QUICK} or contest)",
                *on_both,
                **environment,
            )
