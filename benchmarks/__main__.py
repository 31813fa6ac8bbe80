"""`python -m benchmarks [NAME ...] [--quick]`: run benchmarks, print a table of results, and write them to a file."""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from . import (
    agreement,
    coverage,
    fresh,
    gate,
    generation,
    large,
    lists,
    loads,
    loop,
    moving,
    overlap,
    pages,
    probe,
    ratings,
    results,
    start,
)
from .attacks.every import ATTACKS
from .places import ROOT
from .report import Found, keep, say, table

M3 = ROOT.parent / "shared" / "data" / "m3" / "level3.jsonl"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of: {', '.join(RUNS)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    parser.add_argument("--full", action="store_true", help="generation: 200 items of a bart-base, not 24")
    parser.add_argument("--m3", type=Path, default=M3, help="M3's level 3; left out where the file is not there")
    parser.add_argument("--units", type=int, help="loop: of the smaller corpus; loads: of a round; large: opened")
    parser.add_argument("--large", type=int, help="loop: units of the larger corpus; 0 leaves it out")
    parser.add_argument("--annotators", type=int, nargs="+", help="loop: at work at a time")
    parser.add_argument("--seconds", type=float, help="loop, loads, large: of one measurement")
    parser.add_argument("--repeats", type=int, help="loop: measurements of each")
    parser.add_argument("--engines", nargs="+", choices=["sqlite", "postgres"], help="loop, loads, large: databases")
    parser.add_argument("--loads", nargs="+", choices=list(ATTACKS), help="loads: which of them")
    parser.add_argument("--propositions", type=int, help="importing, exporting: how many; 20,000")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "benchmarks", help="folder of the JSON file")
    return parser.parse_args()


def _loop(given: argparse.Namespace) -> Found:
    plan = loop.Plan.quick() if given.quick else loop.Plan()
    changes = {k: getattr(given, k) for k in ("units", "large", "seconds", "repeats")}
    changes |= {k: tuple(v) if (v := getattr(given, k)) else None for k in ("annotators", "engines")}
    return loop.run(replace(plan, **{k: v for k, v in changes.items() if v is not None}))


def _loads(given: argparse.Namespace) -> Found:
    plan = loads.Plan.quick() if given.quick else loads.Plan()
    changes = {"seconds": given.seconds, "units": given.units}
    changes |= {k: tuple(v) if (v := getattr(given, k)) else None for k in ("engines", "loads")}
    return loads.run(replace(plan, **{k: v for k, v in changes.items() if v is not None}))


def _large(given: argparse.Namespace) -> Found:
    plan = large.Plan.quick() if given.quick else large.Plan()
    changes = {"seconds": given.seconds, "opened": given.units}
    changes |= {"engines": tuple(given.engines) if given.engines else None}
    return large.run(replace(plan, **{k: v for k, v in changes.items() if v is not None}))


def _agreement(given: argparse.Namespace) -> Found:
    return agreement.run(agreement.Plan.quick() if given.quick else agreement.Plan())


def _importing(given: argparse.Namespace) -> Found:
    return moving.importing(given.propositions or (4_000 if given.quick else 20_000), given.m3)


def _exporting(given: argparse.Namespace) -> Found:
    return moving.exporting(given.propositions or (4_000 if given.quick else 20_000))


def _generation(given: argparse.Namespace) -> Found:
    plan = generation.Plan
    return generation.run(plan.quick() if given.quick else plan.full() if given.full else plan())


def _overlap(given: argparse.Namespace) -> Found:
    return overlap.run(given.m3, n_reviews=4, repeats=1) if given.quick else overlap.run(given.m3)


RUNS: dict[str, Callable[[argparse.Namespace], Found]] = {
    "loop": _loop,
    "loads": _loads,
    "fresh": lambda given: fresh.run(fresh.Plan.quick() if given.quick else fresh.Plan()),
    "large": _large,
    "lists": lambda given: lists.run(lists.Plan.quick() if given.quick else lists.Plan()),
    "agreement": _agreement,
    "coverage": lambda given: coverage.run(coverage.Plan.quick() if given.quick else coverage.Plan()),
    "gate": lambda given: gate.run(gate.Plan.quick() if given.quick else gate.Plan()),
    "importing": _importing,
    "exporting": _exporting,
    "overlap": _overlap,
    "generation": _generation,
    "probe": lambda given: probe.run(probe.Plan.quick() if given.quick else probe.Plan()),
    "ratings": lambda given: ratings.run(ratings.Plan.quick() if given.quick else ratings.Plan()),
    "results": lambda given: results.run(results.Plan.quick() if given.quick else results.Plan()),
    "pages": lambda given: pages.run(),
    "start": lambda given: start.run(),
}


def main() -> None:
    given = options()
    if unknown := set(given.names) - set(RUNS):
        raise SystemExit(f"There is no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(RUNS)}.")
    results = {}
    for name in given.names or RUNS:
        say(f"{name} ...")
        begun = time.perf_counter()
        results[name] = RUNS[name](given)
        say(f"  {name}: {time.perf_counter() - begun:.0f} s\n")
    say(table([line for found in results.values() for line in found.lines]))
    for found in results.values():
        for reason in found.skipped:
            say(f"NOT MEASURED: {reason}")
    shown = {k: str(v) if isinstance(v, Path) else v for k, v in vars(given).items() if k != "out"}
    path = keep(given.out, results, {**shown, "m3": given.m3.name})
    quick = " --quick" if given.quick else " --full" if given.full else ""
    say(f"\nTo repeat: python -m benchmarks {' '.join(given.names)}{quick}. Figures: {path}")


if __name__ == "__main__":
    main()
