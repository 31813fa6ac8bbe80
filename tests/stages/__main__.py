"""The stages in order; each prints its time, and what could not be run is said loudly at the end."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from . import servers

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
DATA = Path(tempfile.gettempdir()) / f"concord-test-{os.getpid()}"
ENVIRONMENT = {
    **{k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")},
    "DEBUG": "1",
    "READ_DOT_ENV": "0",
    "DATA_DIR": str(DATA),
    "PYTHONPATH": str(ROOT),
    # How often eight threads meet for one unit's slots, and how often the web server is killed (see tests/).
    "CONTESTS": os.environ.get("CONTESTS", "120"),
    "KILLS": os.environ.get("KILLS", "6"),
}
#: Tests by pace: the many quick ones run side by side; those that contend and kill run by themselves.
QUICK = "not browser and not processes and not contest"
ALONE = "contest or processes"
#: So many of them at once on two cores: they wait for servers to start, leases to lapse and pauses to end.
LIVE = "3"
#: The longest, run on one data base here and on both by `make soak`: migrations, backups and the drill where a lab has
#: its years of work, the demonstration where a newcomer meets it.
ON_POSTGRES_ONLY = tuple(f"--ignore=tests/processes/test_{name}.py" for name in ("migrations", "backup", "drill"))
ON_SQLITE_ONLY = ("--ignore=tests/config/test_demo.py", "--ignore=tests/processes/test_study.py")


class Failed(Exception):
    """A check of a stage did not pass."""


@dataclass
class Run:
    """What the run has come to so far."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    not_run: list[str] = field(default_factory=list)
    run_again: list[str] = field(default_factory=list)

    def command(self, *command: str | Path, **environment: str) -> None:
        """Run a command; count what pytest and Vitest say; raise `Failed` when it fails."""
        argv = [str(part) for part in command]
        print(f"  $ {' '.join(argv).replace(str(BIN) + os.sep, '').replace(str(ROOT) + os.sep, '')}", flush=True)
        process = subprocess.Popen(
            argv, cwd=ROOT, env=ENVIRONMENT | environment, stdin=subprocess.DEVNULL, text=True, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            print(f"    {line}", end="", flush=True)
            self._count(line)
        if process.wait():
            raise Failed(f"{argv[0]} ended with {process.returncode}")

    def _count(self, line: str) -> None:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if re.search(r"\d+ (passed|failed|error).* in [\d.]+s", line) or re.match(r"\s+Tests\s", line):
            for number, what in re.findall(r"(\d+) (passed|failed|errors?|skipped)", line):
                name = "failed" if what.startswith("error") else what
                setattr(self, name, getattr(self, name) + int(number))
        if line.startswith("SKIPPED"):
            self.not_run.append(line.strip())

    def pytest(self, *arguments: str, **environment: str) -> None:
        self.command(BIN / "pytest", "-q", "-p", "no:cacheprovider", *arguments, **environment)

    def live(self, name: str, *arguments: str, **environment: str) -> None:
        """Tests against live processes and a browser. Their clocks are real: one that fails on a machine that was
        busy is run once more, by itself, and the summary names it; failing twice is failing."""
        cache = f"cache_dir={DATA / 'cache' / name}"
        before = self.failed
        try:
            self.command(BIN / "pytest", "-q", "-o", cache, *arguments, **environment)
        except Failed:
            alone = [a for a in arguments if a not in ("-n", "2", LIVE, "--dist", "loadfile")]
            self.command(BIN / "pytest", "-q", "-o", cache, "--last-failed", "--last-failed-no-failures=none",
                         *alone, **environment)  # fmt: skip
            self.run_again.append(f"{name}: {self.failed - before} failed, and passed when run again alone: see above")
            self.failed = before

    def manage(self, *arguments: str) -> None:
        self.command(sys.executable, "manage.py", *arguments)


def style(run: Run) -> None:
    run.command(BIN / "ruff", "check", ".")
    run.command(BIN / "ruff", "format", "--check", ".")


def types(run: Run) -> None:
    run.command(BIN / "mypy", ".")


def imports(run: Run) -> None:
    run.command(BIN / "lint-imports")


def schema(run: Run) -> None:
    """Migrations and the API description are those of the code; the typed client is that of the description."""
    run.manage("makemigrations", "--check", "--dry-run")
    written, fresh = ROOT / "frontend" / "schema.yml", DATA / "schema.yml"
    run.manage("spectacular", "--validate", "--fail-on-warn", "--file", str(fresh))
    if written.read_bytes() != fresh.read_bytes():
        raise Failed("frontend/schema.yml is stale: run `make schema` and commit what it writes")
    types_file = ROOT / "frontend" / "src" / "api" / "schema.d.ts"
    before = types_file.read_bytes()
    run.manage("frontend", "api")
    if types_file.read_bytes() != before:
        types_file.write_bytes(before)
        raise Failed("frontend/src/api/schema.d.ts is stale: run `make schema` and commit what it writes")


def frontend(run: Run) -> None:
    run.manage("frontend", "check")
    run.manage("frontend", "test")
    run.manage("frontend")


def sqlite(run: Run) -> None:
    run.pytest("-n", "2", "-m", QUICK)
    run.live("sqlite", "-n", LIVE, "--dist", "loadfile", "-m", ALONE, *ON_POSTGRES_ONLY)


def postgres(run: Run) -> None:
    """The same tests on PostgreSQL, and on Redis those that concern jobs."""
    with ExitStack() as stack:
        url = stack.enter_context(servers.postgres())
        redis = stack.enter_context(servers.redis())
        both = {"DATABASE_URL": url, "TEST_REDIS_URL": redis}
        # What knows no data base is not run twice: it would show nothing.
        run.pytest("-n", "2", "-m", QUICK, "--with-data-base", **both)
        run.live("postgres", "-n", LIVE, "--dist", "loadfile", "-m", ALONE, *ON_SQLITE_ONLY, **both)


def browser(run: Run) -> None:
    """The real pages, on the production bundle."""
    path = servers.chromium()
    run.manage("frontend")
    run.live("browser", "-n", "2", "--dist", "loadfile", "-m", "browser", "tests/browser", CHROMIUM=path)


def soak(run: Run) -> None:
    run.pytest("-m", ALONE, "-s")
    with ExitStack() as stack:
        both = {
            "DATABASE_URL": stack.enter_context(servers.postgres()),
            "TEST_REDIS_URL": stack.enter_context(servers.redis()),
        }
        run.pytest("-m", ALONE, "-s", **both)


STAGES: dict[str, Callable[[Run], None]] = {
    stage.__name__: stage for stage in (style, types, imports, schema, frontend, sqlite, postgres, browser)
}
EXTRA: dict[str, Callable[[Run], None]] = {"soak": soak}


def main(chosen: list[str]) -> int:
    every = STAGES | EXTRA
    if unknown := set(chosen) - set(every):
        print(f"No such stage: {', '.join(sorted(unknown))}. There are: {', '.join(every)}.")
        return 2
    run, broken, times = Run(), [], []
    DATA.mkdir(parents=True, exist_ok=True)
    try:
        for name in chosen or list(STAGES):
            print(f"\n== {name}", flush=True)
            started = time.monotonic()
            try:
                every[name](run)
                word = "ok"
            except servers.Missing as missing:
                run.not_run.append(f"stage {name}: {missing}")
                word = "NOT RUN"
            except Failed as failure:
                print(f"  FAILED: {failure}", flush=True)
                broken.append(name)
                word = "FAILED"
            times.append((name, word, time.monotonic() - started))
    finally:
        shutil.rmtree(DATA, ignore_errors=True)
    return summary(run, broken, times)


def summary(run: Run, broken: list[str], times: list[tuple[str, str, float]]) -> int:
    print("\n== summary")
    for name, word, seconds in times:
        print(f"  {name:<10} {word:<8} {seconds:7.1f} s")
    print(f"  {'total':<10} {'':<8} {sum(t for _, _, t in times):7.1f} s")
    if run.not_run:
        print("\n!! NOT RUN:")
        for line in dict.fromkeys(run.not_run):
            print(f"!!   {line}")
    for line in run.run_again:
        print(f"\n!! RUN TWICE: {line}")
    failed = max(run.failed, len(broken))
    print(f"\n{run.passed} passed, {failed} failed, {run.skipped} skipped")
    # A stage that could not be run is a failure where nobody is there to read about it.
    unattended = os.environ.get("CI") == "true" and any(word == "NOT RUN" for _, word, _ in times)
    return 1 if broken or unattended else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
