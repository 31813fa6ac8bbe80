"""Run the commands of a stage, print their output and count their tests."""

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
    # Write bytecode even if the machine disables it, because a run starts several hundred processes.
    **{k: v for k, v in os.environ.items() if k not in NOT_INHERITED},
    "DEBUG": "1",
    "READ_DOT_ENV": "0",
    "DATA_DIR": str(DATA),
    "PYTHONPATH": str(ROOT),
    # Every core already has a process; threads of torch and NumPy would only compete with it.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # How often the contention and kill tests repeat.
    "CONTESTS": os.environ.get("CONTESTS", "20"),
    "KILLS": os.environ.get("KILLS", "4"),
}
#: Number of pytest processes for live tests. These mostly wait: for servers to start and leases to expire.
LIVE = "4"
#: Number of pytest processes, each with its own browser and server.
PAGES = "3"
_print_lock = threading.Lock()


class Failed(Exception):
    """A command of a stage failed."""


@dataclass
class Run:
    """The progress of a stage.

    ``is_parallel``: other stages run at the same time. ``is_low_priority``: the stage yields the processors to them.
    """

    name: str = ""
    is_parallel: bool = False
    is_low_priority: bool = False
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    not_run: list[str] = field(default_factory=list)
    run_again: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    #: Processor time of the commands and their children in seconds, without the servers of the stage.
    cpu_seconds: float = 0.0

    @property
    def data(self) -> Path:
        """A folder for this stage only, because test databases of parallel stages have the same file names."""
        folder = DATA / "stages" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def say(self, line: str) -> None:
        with _print_lock:
            print(f"{self.name + ':':<12}{line}" if self.is_parallel else line, flush=True)

    def command(self, *command: str | Path, **environment: str) -> None:
        """Run a command and count the tests that pytest or Vitest reports. Raises `Failed`."""
        argv = [str(part) for part in command]
        self.say(f"  $ {' '.join(argv).replace(str(BIN) + os.sep, '').replace(str(ROOT) + os.sep, '')}")
        nice = ["nice", "-n", "10"] if self.is_low_priority else []
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
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        if process.returncode:
            raise Failed(f"{argv[0]} ended with {process.returncode}")

    def _count(self, line: str) -> None:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if re.search(r"\d+ (passed|failed|error).* in [\d.]+s", line) or re.match(r"\s+Tests\s", line):
            for number, outcome in re.findall(r"(\d+) (passed|failed|errors?|skipped)", line):
                name = "failed" if outcome.startswith("error") else outcome
                setattr(self, name, getattr(self, name) + int(number))
        if line.startswith("SKIPPED"):
            self.not_run.append(line.strip())
        if re.match(r"\s*(FAILED|FAIL|ERROR) ", line):
            self.failures.append(f"{self.name}: {line.strip()}")

    def pytest(self, *arguments: str, **environment: str) -> None:
        """Run quick tests. At low priority they are retried like live tests, because they may time out."""
        if self.is_low_priority:
            self.live(self.name, *arguments, **environment)
            return
        self.command(BIN / "pytest", "-q", "-p", "no:cacheprovider", *arguments, **environment)

    def live(self, name: str, *arguments: str, **environment: str) -> None:
        """Run tests that depend on real time, and run failed tests once more, one at a time.

        The summary names the tests that passed only the second time.
        """
        cache = f"cache_dir={self.data / 'cache' / name}"
        before = self.failed
        try:
            self.command(BIN / "pytest", "-q", "-o", cache, *arguments, **environment)
        except Failed:
            xdist = ("-n", "--dist")
            one_process = [
                argument
                for argument, previous in zip(arguments, ("", *arguments), strict=False)
                if argument not in xdist and previous not in xdist
            ]
            self.command(
                BIN / "pytest",
                "-q",
                "-o",
                cache,
                "--last-failed",
                "--last-failed-no-failures=none",
                *one_process,
                **environment,
            )
            self.run_again.append(f"{name}: {self.failed - before} failed, then passed when run again")
            self.failed = before

    def manage(self, *arguments: str, **environment: str) -> None:
        self.command(sys.executable, "manage.py", *arguments, **environment)
