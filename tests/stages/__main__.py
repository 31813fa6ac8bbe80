"""The stages; each prints its time, and what was not run is said loudly at the end.

They run in lanes, side by side: those that mostly wait (servers that start, leases that lapse, pages that are drawn),
the checks of the sources, of which each keeps one processor busy, and the tests. What computes gives way to what waits.
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

#: Tests by pace: the many quick ones, those that contend and kill, and those in a browser. `soak` runs the long ones.
QUICK = "not browser and not processes and not contest and not long"
ALONE = "(contest or processes)"
BROWSER = "browser and not long"
CORES = str(max(2, os.cpu_count() or 2))
#: Where one packs and builds the pages, the others wait for that.
_packing = threading.RLock()


@cache
def without_postgres() -> str:
    """Why PostgreSQL cannot be had here; empty where it can."""
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
    with _packing:
        run.manage("frontend", "check")
        kinds.types(run)
        run.manage("frontend", "test")
        run.manage("frontend")


@contextmanager
def both(run: Run) -> Iterator[dict[str, str]]:
    """A PostgreSQL with a template in it, and a Redis, of the stage's own: what the environment says of them."""
    with ExitStack() as stack:
        url = stack.enter_context(servers.postgres(near=True))
        redis = stack.enter_context(servers.redis())
        yield {"DATABASE_URL": url, "TEST_REDIS_URL": redis, **templates.postgres(run, url)}


def postgres(run: Run) -> None:
    """Every quick test, on PostgreSQL and, those that concern jobs, on Redis."""
    with both(run) as environment:
        run.pytest("-n", CORES, "--dist", "worksteal", "-m", QUICK, **environment)
        kinds.check(run, pace=QUICK, **environment)


def sqlite(run: Run) -> None:
    """A few quick tests on SQLite too (`engine.EVERY_TIME`); all of them where there is no PostgreSQL."""
    chosen: list[str] = ["-m", QUICK]
    if not without_postgres():
        chosen += map(str, engine.every_time(("audit", "projects")))
    template = templates.sqlite(run)
    run.pytest("-n", CORES, "--dist", "worksteal", *chosen, **template)
    if without_postgres():
        kinds.check(run, pace=QUICK, **template)


def live(run: Run) -> None:
    """Tests that contend, kill and pull plugs, on PostgreSQL: most of them, for most have their matter there."""
    if why := without_postgres():
        raise servers.Missing(f"on PostgreSQL. {why}")
    with both(run) as environment:
        _live(run, f"{ALONE} and not sqlite and not long", engine.alone(), **environment)


def live_sqlite(run: Run) -> None:
    """Kills and workers on SQLite, and what runs there alone; all of `live` where there is no PostgreSQL."""
    paths = engine.alone() if without_postgres() else engine.every_time(("processes", "operations"))
    _live(run, f"{ALONE} and not long", paths, **templates.sqlite(run))


def _live(run: Run, chosen: str, paths: Sequence[Path], **environment: str) -> None:
    side_by_side = ("-n", LIVE, "--dist", "worksteal", "-p", "tests.stages.longest", "--durations", "12")
    run.live(run.name, *side_by_side, "-m", chosen, *map(str, paths), **environment)


def browser(run: Run) -> None:
    """The journeys of people through the real pages, on the production bundle."""
    _browser(run, BROWSER)


def _browser(run: Run, chosen: str) -> None:
    path = servers.chromium()
    with _packing:
        run.manage("frontend")
    environment = templates.sqlite(run) | {"CHROMIUM": path}
    run.live("browser", "-n", PAGES, "--dist", "loadfile", "-m", chosen, "tests/browser", **environment)
    with _packing:
        pages = kinds.bundle(run)
    kinds.check(run, pace=chosen, FRONTEND_DIST=pages, **environment)


def changed(run: Run) -> None:
    """What a change touches, since the commit SINCE (else since main): see `changes`."""
    changes.check(run, both, without_postgres())


def soak(run: Run) -> None:
    """Everything on both, what contends and kills for long, and every page."""
    _browser(run, "browser")
    run.pytest("-n", CORES, "-m", "not browser and not processes and not contest", **templates.sqlite(run))
    run.pytest("-m", f"{ALONE}", "-s", **templates.sqlite(run))
    with both(run) as environment:
        run.pytest("-m", f"{ALONE}", "-s", **environment)


Stage = Callable[[Run], None]
STAGES: dict[str, Stage] = {
    stage.__name__: stage
    for stage in (style, types, imports, schema, frontend, postgres, sqlite, live, live_sqlite, browser)
}
EXTRA: dict[str, Stage] = {"changed": changed, "soak": soak}
#: Those that mostly wait. One after the other: on two cores a browser beside servers that are killed, or twice as many
#: servers at once, makes the clocks of all lie.
BESIDE = ("live", "live_sqlite", "browser")
#: Those that read the sources, one after the other.
CHECKS = ("style", "types", "imports", "schema", "frontend")


@dataclass
class Came:
    """What all stages came to."""

    runs: list[Run] = field(default_factory=list)
    times: list[tuple[str, str, float, float]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def of(self, names: Sequence[str], every: dict[str, Stage], beside: bool, gives_way: bool) -> None:
        """Run stages one after the other, ``beside`` others or not; what computes ``gives_way`` to what waits."""
        for name in names:
            run = Run(name, beside, patient=gives_way and name not in BESIDE)
            self.runs.append(run)
            run.say(f"\n== {name}" if not run.beside else f"== {name}")
            started = time.monotonic()
            word = self._outcome(run, every[name])
            seconds = time.monotonic() - started
            self.times.append((name, word, seconds, run.computed))
            run.say(f"  {word}, {seconds:.1f} s")

    def _outcome(self, run: Run, stage: Stage) -> str:
        try:
            stage(run)
        except servers.Missing as missing:
            run.not_run.append(f"stage {run.name}: {missing}")
            return "NOT RUN"
        except Failed as failure:
            run.say(f"  FAILED: {failure}")
        except Exception as error:  # of a stage itself: the others go on
            run.say(f"  FAILED: {type(error).__name__}: {error}")
        else:
            return "ok"
        self.broken.append(run.name)
        return "FAILED"


def main(chosen: list[str]) -> int:
    every = STAGES | EXTRA
    if unknown := set(chosen) - set(every):
        print(f"No such stage: {', '.join(sorted(unknown))}. There are: {', '.join(every)}.")
        return 2
    names = chosen or list(STAGES)
    came, began = Came(), time.monotonic()
    DATA.mkdir(parents=True, exist_ok=True)
    try:
        *others, own = lanes_of(names)
        gives_way = any(name in BESIDE for name in names)
        threads = [threading.Thread(target=came.of, args=(lane, every, bool(others), gives_way)) for lane in others]
        for thread in threads:
            thread.start()
        came.of(own, every, bool(others), gives_way)
        for thread in threads:
            thread.join()
    finally:
        shutil.rmtree(DATA, ignore_errors=True)
    came.times.sort(key=lambda time: names.index(time[0]))
    return summary(came, time.monotonic() - began)


def lanes_of(names: Sequence[str]) -> list[list[str]]:
    """The stages that run one after the other, for each lane that has any; what waits begins first."""
    tests = [name for name in names if name not in (*BESIDE, *CHECKS)]
    lanes = [[name for name in names if name in lane] for lane in (BESIDE, CHECKS)]
    return [lane for lane in (*lanes, tests) if lane]


def summary(came: Came, seconds: float) -> int:
    print("\n== summary")
    for name, word, took, computed in came.times:
        print(f"  {name:<12} {word:<8} {took:7.1f} s, of a processor {computed:7.1f} s")
    computed = sum(computed for *_, computed in came.times)
    print(f"  {'total':<12} {'':<8} {seconds:7.1f} s, of a processor {computed:7.1f} s")
    if not_run := [line for run in came.runs for line in run.not_run]:
        print("\n!! NOT RUN:")
        for line in dict.fromkeys(not_run):
            print(f"!!   {line}")
    for line in (line for run in came.runs for line in run.run_again):
        print(f"\n!! RUN TWICE: {line}")
    # Last, because of a long log often only the end is kept.
    for line in dict.fromkeys(line for run in came.runs for line in run.failures):
        print(f"!!   {line[:300]}")
    passed, failed, skipped = (sum(getattr(run, name) for run in came.runs) for name in ("passed", "failed", "skipped"))
    failed = max(failed, len(came.broken))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    # A stage that could not be run is a failure where nobody is there to read about it.
    unattended = os.environ.get("CI") == "true" and any(word == "NOT RUN" for _, word, *_ in came.times)
    return 1 if came.broken or unattended else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
