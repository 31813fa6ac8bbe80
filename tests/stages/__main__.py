"""Runs the stages of `make test` in three parallel lanes, and prints their times and what was not run.

One lane has the stages that mostly wait (for servers, leases and pages), one the checks of the sources, and one the
quick tests. Stages that compute run at low priority beside stages that wait.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests import engine

from . import changed as changes
from . import kinds, servers, templates
from .run import BIN, DATA, LIVE, PAGES, ROOT, Failed, Run

#: Marker expressions: quick tests, tests that contend and kill, and browser tests. Only `soak` runs long tests.
QUICK = "not browser and not processes and not contest and not long"
LIVE_TESTS = "(contest or processes)"
BROWSER = "browser and not long"
CORES = str(max(2, os.cpu_count() or 2))
#: Processes of the tests on PostgreSQL: one more, because each waits for its server.
ON_POSTGRES = str(int(CORES) + 1)
#: Held by the stage that builds the pages.
_build_lock = threading.RLock()


@cache
def why_no_postgres() -> str:
    """Return why PostgreSQL is not available; empty if it is."""
    try:
        servers.postgres_bin()
    except servers.Missing as missing:
        return str(missing)
    return ""


def style(run: Run) -> None:
    run.command(BIN / "ruff", "check", ".")
    run.command(BIN / "ruff", "format", "--check", ".")


def types(run: Run) -> None:
    run.command(BIN / "mypy", ".")


def imports(run: Run) -> None:
    run.command(BIN / "lint-imports")


def schema(run: Run) -> None:
    """Check that migrations and the API schema match the code."""
    run.manage("makemigrations", "--check", "--dry-run")
    written, fresh = ROOT / "frontend" / "schema.yml", DATA / "schema.yml"
    run.manage("spectacular", "--validate", "--fail-on-warn", "--file", str(fresh))
    if written.read_bytes() != fresh.read_bytes():
        raise Failed("frontend/schema.yml is stale: run `make schema` and commit what it writes")


def frontend(run: Run) -> None:
    with _build_lock:
        run.manage("frontend", "check")
        kinds.types(run)
        run.manage("frontend", "test")
        run.manage("frontend")


@contextmanager
def postgres_and_redis(run: Run) -> Iterator[dict[str, str]]:
    """Start a PostgreSQL server with a template database and a Redis server; yield their environment variables."""
    with ExitStack() as stack:
        url = stack.enter_context(servers.postgres(near=True))
        redis = stack.enter_context(servers.redis())
        yield {"DATABASE_URL": url, "TEST_REDIS_URL": redis, **templates.postgres(run, url)}


def postgres(run: Run) -> None:
    """Run all quick tests on PostgreSQL and Redis."""
    with postgres_and_redis(run) as environment:
        run.pytest("-n", ON_POSTGRES, "--dist", "worksteal", "-m", QUICK, **environment)
        kinds.check(run, pace=QUICK, **environment)


def sqlite(run: Run) -> None:
    """Run the quick tests in `engine.EVERY_TIME` on SQLite; all quick tests if there is no PostgreSQL."""
    selection: list[str] = ["-m", QUICK]
    if not why_no_postgres():
        selection += map(str, engine.every_time(("audit", "projects")))
    template = templates.sqlite(run)
    run.pytest("-n", CORES, "--dist", "worksteal", *selection, **template)
    if why_no_postgres():
        kinds.check(run, pace=QUICK, **template)


def live(run: Run) -> None:
    """Run the tests that contend, kill processes and stop servers, on PostgreSQL."""
    if reason := why_no_postgres():
        raise servers.Missing(f"on PostgreSQL. {reason}")
    with postgres_and_redis(run) as environment:
        _live(run, f"{LIVE_TESTS} and not sqlite and not long", engine.alone(), **environment)


def live_sqlite(run: Run) -> None:
    """Run kills, the demo and one simulated study on SQLite; all of `live` if there is no PostgreSQL."""
    paths = engine.alone() if why_no_postgres() else engine.every_time(("processes", "operations"))
    _live(run, f"{LIVE_TESTS} and not long", paths, **templates.sqlite(run))


def _live(run: Run, markers: str, paths: Sequence[Path], **environment: str) -> None:
    options = ("-n", LIVE, "--dist", "worksteal", "-p", "tests.stages.longest", "--durations", "12")
    run.live(run.name, *options, "-m", markers, *map(str, paths), **environment)


def browser(run: Run) -> None:
    """Run the browser tests on the production build."""
    _browser(run, BROWSER)


def _browser(run: Run, markers: str) -> None:
    path = servers.chromium()
    with _build_lock:
        run.manage("frontend")
    environment = templates.sqlite(run) | {"CHROMIUM": path}
    run.live("browser", "-n", PAGES, "--dist", "loadfile", "-m", markers, "tests/browser", **environment)
    with _build_lock:
        pages = kinds.bundle(run)
    kinds.check(run, pace=markers, FRONTEND_DIST=pages, **environment)


def changed(run: Run) -> None:
    """Run the tests that a change since the commit SINCE (or main) affects."""
    changes.check(run, postgres_and_redis, why_no_postgres())


def soak(run: Run) -> None:
    """Run all tests on both databases, with long repetitions of kills and contention."""
    _browser(run, "browser")
    run.pytest("-n", CORES, "-m", "not browser and not processes and not contest", **templates.sqlite(run))
    run.pytest("-m", f"{LIVE_TESTS}", "-s", **templates.sqlite(run))
    with postgres_and_redis(run) as environment:
        run.pytest("-m", f"{LIVE_TESTS}", "-s", **environment)


Stage = Callable[[Run], None]
STAGES: dict[str, Stage] = {
    stage.__name__: stage
    for stage in (style, types, imports, schema, frontend, postgres, sqlite, live, live_sqlite, browser)
}
EXTRA: dict[str, Stage] = {"changed": changed, "soak": soak}
#: Stages that mostly wait. They run one after another: on two cores, more servers at once would exceed their timeouts.
WAITING = ("live", "live_sqlite", "browser")
#: Stages that read the sources.
CHECKS = ("style", "types", "imports", "schema", "frontend")


@dataclass
class Results:
    """The results of all stages."""

    runs: list[Run] = field(default_factory=list)
    #: Name, outcome, seconds and processor seconds of each stage.
    times: list[tuple[str, str, float, float]] = field(default_factory=list)
    failed_stages: list[str] = field(default_factory=list)

    def run_lane(self, names: Sequence[str], stages: dict[str, Stage], is_parallel: bool, yields: bool) -> None:
        """Run stages one after another. If the lane ``yields``, stages that compute run at low priority."""
        for name in names:
            run = Run(name, is_parallel, is_low_priority=yields and name not in WAITING)
            self.runs.append(run)
            run.say(f"\n== {name}" if not run.is_parallel else f"== {name}")
            started = time.monotonic()
            outcome = self._outcome(run, stages[name])
            seconds = time.monotonic() - started
            self.times.append((name, outcome, seconds, run.cpu_seconds))
            run.say(f"  {outcome}, {seconds:.1f} s")

    def _outcome(self, run: Run, stage: Stage) -> str:
        try:
            stage(run)
        except servers.Missing as missing:
            run.not_run.append(f"stage {run.name}: {missing}")
            return "NOT RUN"
        except Failed as failure:
            run.say(f"  FAILED: {failure}")
        except Exception as error:  # a fault in the stage itself must not stop the other stages
            run.say(f"  FAILED: {type(error).__name__}: {error}")
        else:
            return "ok"
        self.failed_stages.append(run.name)
        return "FAILED"


def main(requested: list[str]) -> int:
    stages = STAGES | EXTRA
    if unknown := set(requested) - set(stages):
        print(f"Unknown stage: {', '.join(sorted(unknown))}. Stages: {', '.join(stages)}.")
        return 2
    names = requested or list(STAGES)
    results, started = Results(), time.monotonic()
    DATA.mkdir(parents=True, exist_ok=True)
    try:
        *others, last = lanes_of(names)
        yields = any(name in WAITING for name in names)
        settings = (stages, bool(others), yields)
        threads = [threading.Thread(target=results.run_lane, args=(lane, *settings)) for lane in others]
        for thread in threads:
            thread.start()
        results.run_lane(last, *settings)
        for thread in threads:
            thread.join()
    finally:
        shutil.rmtree(DATA, ignore_errors=True)
    results.times.sort(key=lambda time: names.index(time[0]))
    return summary(results, time.monotonic() - started)


def lanes_of(names: Sequence[str]) -> list[list[str]]:
    """Return the stages of each lane that is not empty; the lane that waits is first."""
    tests = [name for name in names if name not in (*WAITING, *CHECKS)]
    lanes = [[name for name in names if name in lane] for lane in (WAITING, CHECKS)]
    return [lane for lane in (*lanes, tests) if lane]


def summary(results: Results, seconds: float) -> int:
    print("\n== summary")
    for name, outcome, duration, cpu_seconds in results.times:
        print(f"  {name:<12} {outcome:<8} {duration:7.1f} s, CPU {cpu_seconds:7.1f} s")
    total = sum(cpu_seconds for *_, cpu_seconds in results.times)
    print(f"  {'total':<12} {'':<8} {seconds:7.1f} s, CPU {total:7.1f} s")
    if not_run := [line for run in results.runs for line in run.not_run]:
        print("\n!! NOT RUN:")
        for line in dict.fromkeys(not_run):
            print(f"!!   {line}")
    for line in (line for run in results.runs for line in run.run_again):
        print(f"\n!! RUN TWICE: {line}")
    # Failures are printed last because some CI systems keep only the end of a long log.
    for line in dict.fromkeys(line for run in results.runs for line in run.failures):
        print(f"!!   {line[:300]}")
    passed, failed, skipped = (
        sum(getattr(run, name) for run in results.runs) for name in ("passed", "failed", "skipped")
    )
    failed = max(failed, len(results.failed_stages))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    # In CI a stage that could not run counts as a failure, because no one reads the summary.
    is_incomplete = os.environ.get("CI") == "true" and any(outcome == "NOT RUN" for _, outcome, *_ in results.times)
    return 1 if results.failed_stages or is_incomplete else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
