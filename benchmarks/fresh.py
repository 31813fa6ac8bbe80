"""Compare a new round on a PostgreSQL database without planner statistics with the same round on an analysed one.

Two Concord servers use two databases of one PostgreSQL without autovacuum, and the load alternates between them. On one
of them, the statistics that Concord collects when it opens a round (`sql.planner`) are removed. No query plan of the
loop may depend on them.
"""

from contextlib import ExitStack
from dataclasses import dataclass

from tests.stages import servers

from .loop import drive, texts
from .places import Place, place
from .report import Found, quantile_ms, say

KNOWS = {"never analysed": True, "analysed": False}


@dataclass(frozen=True)
class Plan:
    """Sizes of a run. ``seconds`` is the duration of each of the ``repeats``, which alternate."""

    units: int = 20_000
    overlap: int = 3
    older: int = 10
    annotators: int = 8
    seconds: float = 4.0
    repeats: int = 4

    @classmethod
    def quick(cls) -> "Plan":
        return cls(units=4_000, seconds=2.0, repeats=2)


def run(plan: Plan) -> Found:
    found = Found()
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.postgres(fsync=True))
        except servers.Missing as missing:
            found.skipped.append(str(missing))
            return found
        contestants = {name: _contestant(stack, server, plan, never) for name, never in KNOWS.items()}
        taken: dict[tuple[str, str], list[float]] = {}
        errors = 0
        for _ in range(plan.repeats):
            for loop in ("concord", "next"):
                for name, (at, sessions, round) in contestants.items():
                    seen = drive(at, loop, sessions, round, plan.seconds)
                    taken.setdefault((loop, name), []).extend(seen["seconds"])
                    errors += len(seen["errors"])
    for loop, what in (("concord", "answer"), ("next", "next")):
        never, known = (quantile_ms(taken[loop, name], 0.95) for name in KNOWS)
        counts = " and ".join(f"{len(taken[loop, name]):,}" for name in KNOWS)
        say(f"    {what:8} p95 {never:.1f} ms never analysed, {known:.1f} ms analysed (n = {counts})")
        found.figures[what] = {"never": never, "analysed": known}
        found.at_most(f"fresh: p95 of {what}, never analysed / analysed", never / known, 2)
    found.at_most("fresh: errors", errors, 0)
    return found


def _contestant(stack: ExitStack, server: str, plan: Plan, never: bool) -> tuple[Place, list[str], int]:
    at = stack.enter_context(place("concord", server))
    sessions, round = at.call(
        "beside_older", units=plan.units, texts=texts(), people=plan.annotators, older=plan.older, overlap=plan.overlap
    )
    at.call("analysed", never=never)
    at.start()
    return at, sessions, round
