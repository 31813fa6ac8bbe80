"""Compare the annotation loop of Concord with that of the reference app in ``reference/``, in one run.

Both run under gunicorn with the same workers and threads, on the same kind of database with the same settings. Both
servers stay up and the load alternates, so that other load on the machine affects both.
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from .places import ROOT, Place, on_each, place
from .report import Found, quantile_ms, say

VOCABULARY = """
    treatment with the new agent reduced mortality in adult patients compared placebo there was no significant
    difference between groups quality of life may improve evidence is limited trials were small risk ratio confidence
    interval adverse events occurred more often nevertheless the effect on pain at twelve weeks remains uncertain
"""
WORDS = VOCABULARY.split()


@dataclass(frozen=True)
class Plan:
    """Sizes of a run."""

    units: int = 2_000
    large: int = 200_000
    annotators: tuple[int, ...] = (1, 8, 32)
    seconds: float = 4.0
    repeats: int = 3
    engines: tuple[str, ...] = ("sqlite", "postgres")

    @classmethod
    def quick(cls) -> "Plan":
        return cls(large=20_000, annotators=(8,), seconds=2.0, repeats=2)


@dataclass
class Taken:
    """Results of the repeats of one measurement."""

    rates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    annotations: int = 0
    duplicates: int = 0
    lost: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "annotations": self.annotations,
            "rates": self.rates,
            "rate": median(self.rates),
            **{f"p{share}_ms": quantile_ms(self.seconds, share / 100) for share in (50, 95, 99)},
            "cpu_ms": median(self.cpu_ms),
            "errors": self.errors[:5],
            "error_count": len(self.errors),
            "duplicates": self.duplicates,
            "lost": self.lost,
        }


def texts() -> list[str]:
    """Return random sentences with the length of M3's."""
    rng = random.Random(1)
    made = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(12, 40))) for _ in range(500)]
    return [f"The {text}." for text in made]


class Contestant:
    """An application with its server. It opens a round for each measurement."""

    def __init__(self, name: str, at: Place, sessions: list[str]) -> None:
        self.name, self.at, self.sessions = name, at, sessions
        self.rounds = 0

    def measure(self, units: int, annotators: int, seconds: float, into: Taken) -> None:
        self.rounds += 1
        round = self.at.call(
            "open_round",
            number=self.rounds,
            units=units,
            people=annotators,
            **({} if self.name == "concord" else {"texts": texts()}),
        )
        self._drive(round, annotators, min(0.3, seconds / 4))  # warm up connections, plans and caches
        before = self.at.cpu_seconds()
        seen = self._drive(round, annotators, seconds)
        spent = self.at.cpu_seconds() - before
        count = len(seen["acknowledged"])
        if not count:
            raise RuntimeError(f"{self.name}: nothing was acknowledged: {seen['errors'][:3]}")
        there = Counter(self.at.call("stored", round=round))
        into.annotations += count
        into.rates.append(count / seen["wall"])
        into.seconds += seen["seconds"]
        into.cpu_ms.append(1000 * spent / count)
        into.errors += seen["errors"]
        into.duplicates += sum(n - 1 for n in Counter(seen["units"]).values())
        into.lost += sum(1 for key in seen["acknowledged"] if key not in there)

    def _drive(self, round: int, annotators: int, seconds: float) -> Any:
        return drive(self.at, self.name, self.sessions[:annotators], round, seconds)


def drive(at: Place, loop: str, sessions: list[str], round: int, seconds: float) -> Any:
    """Run one of `load.LOOPS` for ``seconds`` in a separate process and return its results."""
    given = {"loop": loop, "port": at.port, "sessions": sessions, "round": round, "seconds": seconds}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        cwd=ROOT,
        input=json.dumps(given),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def _contestant(stack: ExitStack, name: str, server: str, plan: Plan, units: int, rounds: int) -> Contestant:
    at = stack.enter_context(place(name, server))
    size = {"rounds": rounds, "answered": max(1, units // 100)} if name == "concord" else {}
    begun = time.perf_counter()
    at.call("grow", units=units, texts=texts(), **size)
    sessions = at.call("people", count=max(plan.annotators))
    say(f"    {name}: {units:,} units, made in {time.perf_counter() - begun:.0f} s")
    at.start()
    return Contestant(name, at, sessions)


def _of_engine(engine: str, server: str, plan: Plan, found: Found) -> None:
    with ExitStack() as stack:
        bare = _contestant(stack, "reference", server, plan, plan.units, 0)
        ours = _contestant(stack, "concord", server, plan, plan.units, 0)
        large = _contestant(stack, "concord", server, plan, plan.large, 49) if plan.large else None
        for annotators in plan.annotators:
            taken = {"reference": Taken(), "concord": Taken(), "large": Taken()}
            for _ in range(plan.repeats):
                bare.measure(plan.units, annotators, plan.seconds, taken["reference"])
                ours.measure(plan.units, annotators, plan.seconds, taken["concord"])
                if large:
                    # In a round over all units, the queue, indexes and other rows are 100 times as large.
                    large.measure(plan.large, annotators, plan.seconds, taken["large"])
            if not large:
                del taken["large"]
            _tell(f"{engine}, {annotators} annotators", taken, found)


def _tell(title: str, taken: dict[str, Taken], found: Found) -> None:
    figures = {name: one.as_json() for name, one in taken.items()}
    found.figures[title] = figures
    for name, one in figures.items():
        say(
            f"    {title:26} {name:10} {one['rate']:6.0f}/s  p50 {one['p50_ms']:6.1f}  p95 {one['p95_ms']:6.1f} ms  "
            f"CPU {one['cpu_ms']:5.2f} ms  errors {one['error_count']}  duplicates {one['duplicates']}  "
            f"lost {one['lost']}"
        )
    bare, ours = figures["reference"], figures["concord"]
    pairs = zip(taken["concord"].rates, taken["reference"].rates, strict=True)
    ratios = [a / b for a, b in pairs]
    figures["ratio"] = {"rate": median(ratios), "rates": ratios, "p95": ours["p95_ms"] / bare["p95_ms"]}
    found.at_least(f"loop, {title}: rate / bare app's", median(ratios), 0.5)
    found.at_most(f"loop, {title}: p95 / bare app's", ours["p95_ms"] / bare["p95_ms"], 3)
    wrong = sum(figures[n][k] for n in taken if n != "reference" for k in ("error_count", "duplicates", "lost"))
    found.at_most(f"loop, {title}: errors + duplicates + lost", wrong, 0)
    if "large" in taken:
        against = [a / b for a, b in zip(taken["large"].rates, taken["concord"].rates, strict=True)]
        figures["ratio"]["large"] = median(against)
        found.at_least(f"loop, {title}: rate at the larger size / at the smaller", median(against), 0.9)
    for one in figures.values():
        for error in one.get("errors", []):
            say(f"      error: {error}")


def run(plan: Plan) -> Found:
    found = Found(figures={"sizes": {"units": plan.units, "large": plan.large}})
    on_each(plan.engines, found.skipped, lambda engine, server: _of_engine(engine, server, plan, found))
    return found
