"""Benchmark of the Results pages about ratings, with 100,000 ratings, compared with a round of 1,000.

Rounds are closed and unblinded, and a worker has stored their figures, which the pages read. One round has many texts
and few raters; another has few texts with 400 raters each, as in crowdsourcing. Every page is requested over HTTP from
the production server by a lead with a token.
"""

import http.client
import time
from contextlib import closing
from dataclasses import dataclass
from statistics import median
from typing import Any

from .loop import texts
from .places import Place, on_each, place
from .report import Found, say

#: Maximum seconds of a page, of examples, and of the file of all ratings.
PAGE, EXAMPLES, FILE = 2.0, 1.0, 30.0
#: Summaries on a page of examples.
SHOWN = 10
#: One rating of the shipped protocol.
RATED_LOW = "criterion=coherence&value=2"
WIDE, DEEP, FEW = "many texts", "many raters", "reference"


@dataclass(frozen=True)
class Plan:
    """Sizes of a run. ``few`` is the number of ratings in the reference round."""

    ratings: int = 100_000
    few: int = 1_000
    systems: int = 8
    crowd: int = 400
    replicates: int = 1_000
    repeats: int = 5
    engines: tuple[str, ...] = ("sqlite", "postgres")

    @classmethod
    def quick(cls) -> "Plan":
        return cls(ratings=12_000, few=600, systems=4, crowd=100, replicates=100, repeats=3, engines=("sqlite",))

    def rounds(self) -> dict[str, dict[str, int]]:
        """Return slug -> parameters of its round."""
        return {
            FEW: {"ratings": self.few, "systems": self.systems, "raters": 4},
            WIDE: {"ratings": self.ratings, "systems": self.systems, "raters": 4},
            DEEP: {"ratings": self.ratings, "systems": 4, "raters": self.crowd},
        }


def pages_of(slug: str, round: int) -> dict[str, tuple[str, float]]:
    """Return page name -> (path, maximum seconds)."""
    of_round, examples = f"rounds/{round}/ratings/", f"rounds/{round}/ratings/examples/"
    return {
        "tables": (f"projects/{slug}/results/", PAGE),
        "table as LaTeX": (f"projects/{slug}/results/ratings/latex/", PAGE),
        "rounds": (f"projects/{slug}/ratings/", PAGE),
        "figures of the round": (of_round, PAGE),
        "examples": (f"{examples}?page_size={SHOWN}", EXAMPLES),
        "examples with a rating": (
            f"{examples}?page_size={SHOWN}&system=system+1&criterion=coherence&value=2",
            EXAMPLES,
        ),
        "all ratings as CSV": (f"{of_round}file/", FILE),
    }


def run(plan: Plan) -> Found:
    found = Found()

    def of_engine(engine: str, server: str) -> None:
        with place("concord", server) as at:
            made = {
                slug: at.call("rated", slug=slug.replace(" ", "-"), texts=texts(), replicates=plan.replicates, **sizes)
                for slug, sizes in plan.rounds().items()
            }
            for name, one in made.items():
                what = f"results, {engine}, {name}: figures of {one['ratings']:,} ratings"
                found.told(what, f"{one['seconds']:.1f} s")
            at.start_production()
            taken = {name: _times(at, name.replace(" ", "-"), one, plan.repeats) for name, one in made.items()}
        found.figures[engine] = {"made": made, "seconds": taken}
        _tell(found, engine, taken, made)

    on_each(plan.engines, found.skipped, of_engine)
    return found


def _times(at: Place, slug: str, one: dict[str, Any], repeats: int) -> dict[str, float]:
    """Return the median seconds of each page."""
    taken = {}
    for name, (path, _) in pages_of(slug, one["round"]).items():
        _seconds(at, one["token"], path)  # warm-up, not measured
        taken[name] = median(_seconds(at, one["token"], path) for _ in range(repeats))
    return taken


def _seconds(at: Place, token: str, path: str) -> float:
    """Return the seconds until the whole page has arrived."""
    with closing(http.client.HTTPConnection("127.0.0.1", at.port, timeout=600)) as connection:
        begun = time.perf_counter()
        connection.request("GET", f"/api/v1/{path}", headers={"Authorization": f"Bearer {token}"})
        reply = connection.getresponse()
        size = len(reply.read())
        taken = time.perf_counter() - begun
        if reply.status != 200 or not size:
            raise RuntimeError(f"{path}: {reply.status}")
        return taken


def _tell(found: Found, engine: str, taken: dict[str, dict[str, float]], made: dict[str, Any]) -> None:
    for name in (WIDE, DEEP):
        for page, seconds in taken[name].items():
            ratio, bound = seconds / taken[FEW][page], pages_of("", 0)[page][1]
            what = f"results, {engine}, {made[name]['ratings']:,} ratings, {name}: {page}"
            found.at_most(what, seconds, bound, " s")
            found.told(f"{what} / of {made[FEW]['ratings']:,}", f"{ratio:.1f}")
            say(f"    {what}: {1000 * seconds:.0f} ms, {ratio:.1f} times the reference")
