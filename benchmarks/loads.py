"""Measure eight annotators alone and during each attack of ``attacks/``: the share of their rate that remains."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from .attacks.every import ATTACKS
from .beside import Alone, Measured, People, Site, measure, started
from .places import on_each, place
from .report import Found, Line

RATE, P95 = 0.5, 2.0


@dataclass(frozen=True)
class Plan(People):
    """Sizes of a run."""

    engines: tuple[str, ...] = ("sqlite", "postgres")
    loads: tuple[str, ...] = tuple(ATTACKS)

    @classmethod
    def quick(cls) -> "Plan":
        return cls(seconds=15.0, flat_out=4.0, units=2_000)


class Attacked(Site):
    """A server with an attacker, the stranger."""

    @contextmanager
    def load(self, name: str) -> Iterator[dict[str, int]]:
        became: dict[str, int] = {}
        lasts = self.plan.seconds + self.plan.flat_out + 5
        attack = started("benchmarks.attacks", {"port": self.at.port, "seconds": lasts} | self.stranger, name)
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


def run(plan: Plan) -> Found:
    found = Found()

    def of_engine(engine: str, server: str) -> None:
        with place("concord", server) as at:
            alone, measured = measure(engine, Attacked(at, plan), plan.loads, found)
        reached = (
            f"{alone.rate:.2f}/s, p95 {alone.p95:.0f} ms, gold after {alone.gold}; flat out {alone.flat_rate:.0f}/s"
        )
        found.lines.append(Line(f"loads, {engine}: nobody else", "no error", reached, not alone.wrong))
        found.lines += [line(engine, name, one, alone) for name, one in measured.items()]

    on_each(plan.engines, found.skipped, of_engine)
    return found


def line(engine: str, name: str, one: Measured, alone: Alone) -> Line:
    """Return the result line of one load compared with the same annotators alone."""
    reached = (
        f"{alone.kept(one):.2f}, {alone.slower(one):.2f}; errors {one.errors}, lost {one.lost}; gold after {one.gold}; "
        f"flat out {one.flat_rate / alone.flat_rate:.2f}"
    )
    met = alone.kept(one) >= RATE and alone.slower(one) < P95 and not one.lost and one.recovers
    return Line(f"loads, {engine}: {name} ({ATTACKS[name].finding})", f"rate >= {RATE}, p95 < {P95:g}", reached, met)
