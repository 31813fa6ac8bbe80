"""One stage's commands: run, echoed line by line, and counted."""

import os
import re
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
DATA = Path(tempfile.gettempdir()) / f"concord-test-{os.getpid()}"
NOT_INHERITED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PYTHONDONTWRITEBYTECODE")
ENVIRONMENT = {
    # Compiled modules are kept, whatever the machine says: several hundred processes start in a run.
    **{k: v for k, v in os.environ.items() if k not in NOT_INHERITED},
    "DEBUG": "1",
    "READ_DOT_ENV": "0",
    "DATA_DIR": str(DATA),
    "PYTHONPATH": str(ROOT),
    # There are as many processes as processors: threads of torch and NumPy beside them only wait for each other.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # How often eight threads meet for one unit's slots, and how often the web server is killed (see tests/).
    "CONTESTS": os.environ.get("CONTESTS", "30"),
    "KILLS": os.environ.get("KILLS", "6"),
}
#: So many live tests at once on two cores: they wait for servers to start, leases to lapse and pauses to end.
LIVE = "4"
#: So many browsers: they wait for servers and for pages to be drawn, and each has a house of its own.
PAGES = "3"
_printing = threading.Lock()


class Failed(Exception):
    """A check of a stage did not pass."""


@dataclass
class Run:
    """What a stage has come to so far. ``beside``: whether other stages run at the same time; ``patient``: whether it
    leaves the machine to them where they want it."""

    name: str = ""
    beside: bool = False
    patient: bool = False
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    not_run: list[str] = field(default_factory=list)
    run_again: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    #: Seconds of processor time, of the commands and all that they started and waited for (no servers of the stage).
    computed: float = 0.0

    @property
    def data(self) -> Path:
        """A folder of the stage's own: the files of test data bases are named by the number of a process alone, and
        stages run beside one another."""
        folder = DATA / "stages" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def say(self, line: str) -> None:
        with _printing:
            print(f"{self.name + ':' if self.beside else '':<12}{line}" if self.beside else line, flush=True)

    def command(self, *command: str | Path, **environment: str) -> None:
        """Run a command; count what pytest and Vitest say; raise `Failed` when it fails."""
        argv = [str(part) for part in command]
        self.say(f"  $ {' '.join(argv).replace(str(BIN) + os.sep, '').replace(str(ROOT) + os.sep, '')}")
        nice = ["nice", "-n", "10"] if self.patient else []
        env = ENVIRONMENT | {"DATA_DIR": str(self.data)} | environment
        process = subprocess.Popen(
            [*nice, *argv],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout
        for line in process.stdout:
            self.say(f"    {line.rstrip()}")
            self._count(line)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.computed += usage.ru_utime + usage.ru_stime
        if process.returncode:
            raise Failed(f"{argv[0]} ended with {process.returncode}")

    def _count(self, line: str) -> None:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if re.search(r"\d+ (passed|failed|error).* in [\d.]+s", line) or re.match(r"\s+Tests\s", line):
            for number, what in re.findall(r"(\d+) (passed|failed|errors?|skipped)", line):
                name = "failed" if what.startswith("error") else what
                setattr(self, name, getattr(self, name) + int(number))
        if line.startswith("SKIPPED"):
            self.not_run.append(line.strip())
        if re.match(r"\s*(FAILED|FAIL|ERROR) ", line):
            self.failures.append(f"{self.name}: {line.strip()}")

    def pytest(self, *arguments: str, **environment: str) -> None:
        """Quick tests. Beside live ones, to which they give way, a clock in them may lie as in those."""
        if self.patient:
            self.live(self.name, *arguments, **environment)
            return
        self.command(BIN / "pytest", "-q", "-p", "no:cacheprovider", *arguments, **environment)

    def live(self, name: str, *arguments: str, **environment: str) -> None:
        """Tests against live processes and a browser. Their clocks are real: one that fails on a machine that was
        busy is run once more, by itself, and the summary names it; failing twice is failing."""
        cache = f"cache_dir={self.data / 'cache' / name}"
        before = self.failed
        try:
            self.command(BIN / "pytest", "-q", "-o", cache, *arguments, **environment)
        except Failed:
            with_value = ("-n", "--dist")
            alone = [
                a
                for a, before_it in zip(arguments, ("", *arguments), strict=False)
                if a not in with_value and before_it not in with_value
            ]
            self.command(
                BIN / "pytest",
                "-q",
                "-o",
                cache,
                "--last-failed",
                "--last-failed-no-failures=none",
                *alone,
                **environment,
            )
            self.run_again.append(f"{name}: {self.failed - before} failed, and passed when run again alone: see above")
            self.failed = before

    def manage(self, *arguments: str, **environment: str) -> None:
        self.command(sys.executable, "manage.py", *arguments, **environment)
