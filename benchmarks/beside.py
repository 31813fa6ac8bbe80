"""Measure eight annotators alone and during another load: the share of their answer rate that remains.

The setup is that of production: gunicorn with its configuration, a worker, and clients in a separate process on
loopback. Annotators wait one second on average before an answer, faster than people do for long. The rate therefore
shows whether they are slowed down, and the p95 what they notice. At full speed, eight clients use both cores of a small
machine, so any load takes a share. That rate is reported without a target.
"""

import json
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from statistics import mean
from typing import Any

from .loop import texts
from .places import ROOT, Place
from .report import Found, quantile_ms, say
from .watch import Closing, answers, folder_mb, watching

ALONE, AGAIN = "alone", "alone again"
#: Range of the delay before an answer, in seconds, for annotators with and without delay.
THINK, FLAT_OUT = (0.5, 1.5), (0.0, 0.0)
#: Seconds to wait, after the load, for a round that is closed during the load.
PATIENCE = 120.0


@dataclass(frozen=True)
class People:
    """The measured annotators; times in seconds."""

    seconds: float = 60.0
    flat_out: float = 15.0
    #: Warm-up at full speed before the measurement.
    warm: float = 2.0
    annotators: int = 8
    #: Units of each round.
    units: int = 4_000


@dataclass
class Measured:
    """Results of the annotators during one load."""

    rate: float
    #: Times from sending an answer to its acknowledgement.
    seconds: list[float]
    flat_rate: float
    errors: int
    lost: int
    #: Answers that were not accepted at the end.
    waiting: int
    #: Seconds until the closed round had its gold, or None.
    gold_after: float | None
    watched: dict[str, Any]
    #: MB that the load left in the temporary folder and among the uploads.
    left_mb: float
    recovers: bool
    became: dict[str, int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    @property
    def gold(self) -> str:
        return "never" if self.gold_after is None else f"{self.gold_after:.1f} s"


@dataclass(frozen=True)
class Alone:
    """Results of the same annotators alone, before and after all loads."""

    rate: float
    p95: float
    flat_rate: float
    #: Number of lost answers and errors.
    wrong: int
    gold: str = ""

    def kept(self, one: Measured) -> float:
        """Return the share of the rate that remains."""
        return one.rate / self.rate

    def slower(self, one: Measured) -> float:
        return quantile_ms(one.seconds, 0.95) / self.p95


class Site(ABC):
    """A server with a worker, eight annotators, their lead, and a stranger."""

    def __init__(self, at: Place, plan: People) -> None:
        self.at, self.plan, self.measured = at, plan, 0
        cast = at.call("cast", texts=texts(), units=plan.units, people=plan.annotators)
        self.sessions, self.lead, self.stranger = cast["sessions"], cast["lead"], cast["stranger"]

    @abstractmethod
    def load(self, name: str) -> AbstractContextManager[dict[str, int]]:
        """Apply the load while the block runs. The yielded dict holds the load's results at the end."""

    @contextmanager
    def _load(self, name: str) -> Iterator[dict[str, int]]:
        if name in (ALONE, AGAIN):
            yield {}
            return
        with self.load(name) as became:
            yield became

    def beside(self, name: str) -> Measured:
        """Restart all processes, start the load, and measure."""
        self.measured += 1
        plan, sizes = self.plan, {"units": self.plan.units, "people": self.plan.annotators}
        made = self.at.call("before_load", number=self.measured, rounds=3, **sizes)
        warm, calm, quick = made["rounds"]
        before = self._kept_mb()
        self.at.start_production()
        try:
            self._people(warm, plan.warm, FLAT_OUT)
            with watching(self.at) as watched, self._load(name) as became:
                closing = Closing(self.at.port, self.lead, made["to_close"], plan.seconds + PATIENCE)
                closing.start_in(plan.seconds / 6)
                at_work = self._people(calm, plan.seconds, THINK)
                flat_out = self._people(quick, plan.flat_out, FLAT_OUT)
            gold_after = closing.result()
            recovers = answers(self.at.web_port)
            left = self._kept_mb() - before
        finally:
            self.at.stop()
        stored = set(self.at.call("kept", rounds=[calm, quick]))
        acknowledged = at_work["acknowledged"] + flat_out["acknowledged"]
        return Measured(
            rate=len(at_work["acknowledged"]) / at_work["wall"],
            seconds=at_work["seconds"],
            flat_rate=len(flat_out["acknowledged"]) / flat_out["wall"],
            errors=len(at_work["errors"]),
            lost=sum(key not in stored for key in acknowledged),
            waiting=at_work["waiting"],
            gold_after=gold_after,
            watched=watched.as_json(),
            left_mb=left,
            recovers=recovers,
            became=became,
            said=[*at_work["failures"], *flat_out["failures"], *at_work["errors"][:3]],
        )

    def _kept_mb(self) -> float:
        """Return the MB in the temporary folder and among the uploads and releases."""
        return folder_mb(self.at.temporary) + folder_mb(self.at.folder / "files")

    def _people(self, round: int, seconds: float, think: tuple[float, float]) -> Any:
        given = {"port": self.at.port, "sessions": self.sessions, "round": round, "seconds": seconds, "think": think}
        return _json(started("benchmarks.patient", given))


def started(module: str, given: dict[str, Any], *arguments: str) -> "subprocess.Popen[str]":
    """Start a module in a separate process, which reads ``given`` as JSON."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if arguments else None,
        text=True,
    )
    assert process.stdin
    process.stdin.write(json.dumps(given))
    process.stdin.close()
    process.stdin = None
    return process


def _json(process: "subprocess.Popen[str]") -> Any:
    try:
        out, _ = process.communicate()
    finally:
        process.kill()
    if process.returncode:
        raise RuntimeError(f"the robots ended with {process.returncode}")
    return json.loads(out)


def measure(engine: str, site: Site, loads: Sequence[str], found: Found) -> tuple[Alone, dict[str, Measured]]:
    """Measure the annotators alone and during each load. Report all figures and store them by engine."""
    measured: dict[str, Measured] = {}
    for name in (ALONE, *loads, AGAIN):
        begun = time.perf_counter()
        measured[name] = one = site.beside(name)
        _tell(engine, name, one, time.perf_counter() - begun)
    found.figures[engine] = {name: asdict(one) for name, one in measured.items()}
    both = [measured.pop(name) for name in (ALONE, AGAIN)]
    p95 = quantile_ms([s for one in both for s in one.seconds], 0.95)
    rate, flat = mean(one.rate for one in both), mean(one.flat_rate for one in both)
    return Alone(rate, p95, flat, sum(one.lost + one.errors for one in both), both[0].gold), measured


def _tell(engine: str, name: str, one: Measured, took: float) -> None:
    watched = one.watched
    health = f"health {watched['healthy']}/{watched['healthy'] + watched['unhealthy']}"
    say(
        f"    {engine:8} {name:28} {one.rate:5.2f}/s  p50 {quantile_ms(one.seconds, 0.5):7.1f}  "
        f"p95 {quantile_ms(one.seconds, 0.95):8.1f} ms  "
        f"flat out {one.flat_rate:5.1f}/s  errors {one.errors} waiting {one.waiting} lost {one.lost}  "
        f"gold after {one.gold}  {health}  web {watched['web_mb']:.0f} worker {watched['worker_mb']:.0f} "
        f"temporary {watched['temporary_mb']:.0f} left {one.left_mb:.0f} MB  ({took:.0f} s)"
    )
    for line in (
        ([str(one.became)] if one.became else []) + one.said + ([] if one.recovers else ["it does not recover"])
    ):
        say(f"      {line}")
