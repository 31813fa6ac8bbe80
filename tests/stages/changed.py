"""`make test ONLY=changed`: what a change touches, nearest first, in less than three minutes; it says what it left."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from threading import Thread

from tests import engine

from . import imports, kinds, templates
from .run import BIN, ROOT, Failed, Run

#: Seconds that the tests have on each engine. What is further from the change is left, and named.
FIRST, SECOND = 70, 35
LIVE = ("tests/processes/", "tests/browser/")
#: Where these change, imports tell nothing of what depends on them.
EVERYTHING = ("requirements", "pyproject.toml", "Makefile")
#: So many modules at most, and nothing beside them: for who looks for one fault (tests/planted).
NEAREST = int(os.environ.get("NEAREST", "0"))
QUICK = "not browser and not processes and not contest and not long"
Servers = Callable[[Run], AbstractContextManager[dict[str, str]]]


def check(run: Run, servers: Servers, without_postgres: str) -> None:
    commit = os.environ.get("SINCE") or imports.beginning(ROOT)
    paths = imports.changed_since(ROOT, commit)
    run.say(f"  {len(paths)} files differ from {commit[:12]}{': ' + ', '.join(paths[:8]) if paths else ''}")
    if not paths:
        return
    if told := [path for path in paths if path.startswith(EVERYTHING)]:
        run.not_run.append(f"{', '.join(told)}: imports do not tell what depends on it; run make test")
    failures: list[Failed] = []
    beside = Thread(target=_side, args=(run, paths, failures))
    if NEAREST:
        run.not_run.append(f"all but the {NEAREST} nearest modules, style and types: NEAREST is set")
        _pages(run, paths)
    else:
        beside.start()
    try:
        _tests(run, paths, servers, without_postgres)
    finally:
        if not NEAREST:
            beside.join()
    if failures:
        raise failures[0]


def _side(run: Run, paths: list[str], failures: list[Failed]) -> None:
    """Style, types and the pages: quick, and apart from the tests."""
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
    """The tests of what depends on the pages that have changed."""
    if pages := [str(PurePosixPath(path).relative_to("frontend")) for path in paths if _is_page(path)]:
        run.manage("frontend", "related", *pages)


def _is_page(path: str) -> bool:
    return path.startswith("frontend/src/") and path.endswith((".ts", ".svelte"))


def _tests(run: Run, paths: list[str], servers: Servers, without_postgres: str) -> None:
    graph = imports.read(ROOT)
    found = imports.touched(graph, paths)
    own = {path for path in found if path in paths}
    chosen = [path for path in found if not path.startswith(LIVE) or path in own]
    if left := [path for path in found if path not in chosen]:
        run.not_run.append(f"live: {len(left)} modules that the change touches, {', '.join(left[:6])} ...")
    if any(_is_page(path) for path in paths):
        run.not_run.append("browser: pages have changed; make test ONLY=browser")
    if any(path.startswith(kinds.FOLDER) for path in chosen):
        kinds.check(run, pace=QUICK)
        chosen = [path for path in chosen if not path.startswith(kinds.FOLDER)]
    if not chosen:
        run.say("  No quick test is touched.")
        return
    run.say(f"  {len(chosen)} test modules are touched, the nearest first: {', '.join(chosen[:4])}")
    chosen = chosen[: NEAREST or None]
    first, second = (0, 0) if NEAREST else (FIRST, SECOND)  # 0: without end
    how = ("-n", "0" if NEAREST else "2", "--dist", "load", "--maxschedchunk", "8", "-p", "tests.stages.within")
    if without_postgres:
        run.not_run.append(f"PostgreSQL: {without_postgres}")
        run.pytest(*how, "--within", str(first + second), "-m", QUICK, *chosen, **templates.sqlite(run, remain=True))
        return
    run.pytest(*how, "--within", str(first), "-m", QUICK, *chosen, **templates.sqlite(run, remain=True))
    of_engine = {str(path.relative_to(ROOT)) for path in engine.modules()}
    if both := [path for path in chosen if path in of_engine]:
        with servers(run) as environment:
            run.pytest(*how, "--within", str(second), "-m", f"engine and ({QUICK} or contest)", *both, **environment)
