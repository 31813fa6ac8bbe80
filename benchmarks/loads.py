"""Eight annotators at work, alone and beside each of the loads in ``attacks/``: what they keep of their rate.

Everything is real: gunicorn by the configuration of production, a worker, people and attackers in processes of their
own on loopback. People think before they answer, a second in the mean, which is quicker than anybody is for long; so
the rate says whether they are held up, and the p95 what they notice. Flat out, eight robots take both cores of a small
machine, and whatever else runs takes its share from them, an attacker's own processes too: that rate is told without an
aim.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from statistics import mean
from typing import Any

from tests.stages.servers import Missing

from .attacks.every import ATTACKS
from .loop import texts
from .places import ROOT, Place, place, postgres
from .report import Found, Line, say
from .watch import Closing, answers, folder_mb, watching

ALONE, AGAIN = "alone", "alone again"
RATE, P95 = 0.5, 2.0
#: How a person's pause before an answer is drawn, in seconds, and the pause of one who is flat out.
THINK, FLAT_OUT = (0.5, 1.5), (0.0, 0.0)
#: Seconds for which a round that is closed beside a load is waited for after it.
PATIENCE = 120.0


@dataclass(frozen=True)
class Plan:
    """Sizes of a run; times in seconds."""

    seconds: float = 60.0
    flat_out: float = 15.0
    #: Before anything is measured, at full speed.
    warm: float = 2.0
    annotators: int = 8
    units: int = 4_000
    engines: tuple[str, ...] = ("sqlite", "postgres")
    loads: tuple[str, ...] = tuple(ATTACKS)

    @classmethod
    def quick(cls) -> "Plan":
        return cls(seconds=15.0, flat_out=4.0, units=2_000)


@dataclass
class Measured:
    """What people had beside one load."""

    rate: float
    #: From sending each answer to its acknowledgement.
    seconds: list[float]
    flat_rate: float
    errors: int
    lost: int
    #: Answers that had not been taken when time was up.
    waiting: int
    #: Seconds until a round that was closed had its gold; None where it had none in the end.
    gold_after: float | None
    watched: dict[str, Any]
    #: MB that the load left in the temporary folder and among the uploads.
    left_mb: float
    recovers: bool
    became: dict[str, int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


def quantile_ms(seconds: list[float], share: float) -> float:
    ordered = sorted(seconds) or [0.0]
    return 1000 * ordered[int(share * (len(ordered) - 1))]


class Site:
    """A server with a worker, eight people, their lead, and a stranger."""

    def __init__(self, at: Place, plan: Plan) -> None:
        self.at, self.plan, self.measured = at, plan, 0
        cast = at.call("cast", texts=texts(), units=plan.units, people=plan.annotators)
        self.sessions, self.lead, self.stranger = cast["sessions"], cast["lead"], cast["stranger"]

    def beside(self, name: str) -> Measured:
        """Start everything anew, let the load begin, and measure."""
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
            recovers = answers(self.at.port)
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
            gold_after=gold_after, watched=watched.as_json(), left_mb=left, recovers=recovers, became=became,
            said=[*at_work["failures"], *flat_out["failures"], *at_work["errors"][:3]],
        )  # fmt: skip

    def _kept_mb(self) -> float:
        """What lies in the temporary folder and among the uploads and releases."""
        return folder_mb(self.at.temporary) + folder_mb(self.at.folder / "files")

    def _people(self, round: int, seconds: float, think: tuple[float, float]) -> Any:
        given = {
            "port": self.at.port, "sessions": self.sessions, "round": round, "seconds": seconds, "think": think,
        }  # fmt: skip
        return _json(_started("benchmarks.patient", given))

    @contextmanager
    def _load(self, name: str) -> Iterator[dict[str, int]]:
        """The load for as long as people are measured; what became of its strikes is there at the end."""
        became: dict[str, int] = {}
        if name in (ALONE, AGAIN):
            yield became
            return
        lasts = self.plan.seconds + self.plan.flat_out + 5
        attack = _started("benchmarks.attacks", {"port": self.at.port, "seconds": lasts} | self.stranger, name)
        try:
            assert attack.stderr
            while (said := attack.stderr.readline()) != "ready\n":
                if not said:
                    raise RuntimeError(f"{name}: the attack ended before it began")
            yield became
            with suppress(subprocess.TimeoutExpired):
                became |= json.loads(attack.communicate(timeout=60)[0])["became"]
        finally:
            attack.kill()
            attack.wait()


def _started(module: str, given: dict[str, Any], *arguments: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if arguments else None, text=True,
    )  # fmt: skip
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


def _of_engine(engine: str, server: str, plan: Plan, found: Found) -> None:
    with place("concord", server) as at:
        site = Site(at, plan)
        measured: dict[str, Measured] = {}
        for name in (ALONE, *plan.loads, AGAIN):
            begun = time.perf_counter()
            measured[name] = one = site.beside(name)
            tell(engine, name, one, time.perf_counter() - begun)
    found.figures[engine] = {name: asdict(one) for name, one in measured.items()}
    alone = [measured.pop(name) for name in (ALONE, AGAIN)]
    rate, flat = mean(one.rate for one in alone), mean(one.flat_rate for one in alone)
    p95 = quantile_ms([s for one in alone for s in one.seconds], 0.95)
    wrong = sum(one.lost + one.errors for one in alone)
    found.lines.append(
        Line(
            f"loads, {engine}: nobody else",
            "no error",
            f"{rate:.2f}/s, p95 {p95:.0f} ms, gold after {_seconds(alone[0])}; flat out {flat:.0f}/s",
            not wrong,
        )
    )
    for name, one in measured.items():
        found.lines.append(_line(engine, name, one, rate, p95, flat))


def _line(engine: str, name: str, one: Measured, rate: float, p95: float, flat: float) -> Line:
    """One load against the same people alone (before and after all loads)."""
    ratios = one.rate / rate, quantile_ms(one.seconds, 0.95) / p95
    reached = (
        f"{ratios[0]:.2f}, {ratios[1]:.2f}; errors {one.errors}, lost {one.lost}; gold after {_seconds(one)}; "
        f"flat out {one.flat_rate / flat:.2f}"
    )
    met = ratios[0] >= RATE and ratios[1] < P95 and not one.lost and one.recovers
    return Line(f"loads, {engine}: {name} ({ATTACKS[name].finding})", f"rate >= {RATE}, p95 < {P95:g}", reached, met)


def _seconds(one: Measured) -> str:
    return "never" if one.gold_after is None else f"{one.gold_after:.1f} s"


def tell(engine: str, name: str, one: Measured, took: float) -> None:
    watched = one.watched
    health = f"health {watched['healthy']}/{watched['healthy'] + watched['unhealthy']}"
    say(
        f"    {engine:8} {name:28} {one.rate:5.2f}/s  p50 {quantile_ms(one.seconds, 0.5):7.1f}  "
        f"p95 {quantile_ms(one.seconds, 0.95):8.1f} ms  "
        f"flat out {one.flat_rate:5.1f}/s  errors {one.errors} waiting {one.waiting} lost {one.lost}  "
        f"gold after {_seconds(one)}  {health}  web {watched['web_mb']:.0f} worker {watched['worker_mb']:.0f} "
        f"temporary {watched['temporary_mb']:.0f} left {one.left_mb:.0f} MB  ({took:.0f} s)"
    )
    for line in (
        ([str(one.became)] if one.became else []) + one.said + ([] if one.recovers else ["it does not recover"])
    ):
        say(f"      {line}")


def run(plan: Plan) -> Found:
    found = Found()
    for engine in plan.engines:
        with ExitStack() as stack:
            try:
                server = stack.enter_context(postgres()) if engine == "postgres" else ""
            except Missing as missing:
                found.skipped.append(str(missing))
                continue
            _of_engine(engine, server, plan, found)
    return found
