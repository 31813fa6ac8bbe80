"""The pages of Results that are about people's ratings, of 100,000 of them, against those of a round of 1,000.

Rounds are closed and unblinded, and a worker has stored their figures: pages read what is stored. One round has many
texts of few raters, another few texts of 400 raters each, as a crowd gives them. Every page is asked for over HTTP of
the server of production, by a lead with a token.
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

#: Seconds until a page has what it shows, and until the file of all ratings has come.
PAGE, EXAMPLES, FILE = 2.0, 1.0, 30.0
#: Summaries on a page of examples.
SHOWN = 10
#: One rating of the protocol that ships.
RATED_LOW = "criterion=coherence&value=2"
WIDE, DEEP, FEW = "many texts", "many raters", "reference"


@dataclass(frozen=True)
class Plan:
    """Sizes of a run; ``few``: ratings of the round that is the reference."""

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
        """Slug -> what its round is made of."""
        return {
            FEW: {"ratings": self.few, "systems": self.systems, "raters": 4},
            WIDE: {"ratings": self.ratings, "systems": self.systems, "raters": 4},
            DEEP: {"ratings": self.ratings, "systems": 4, "raters": self.crowd},
        }


def pages_of(slug: str, round: int) -> dict[str, tuple[str, float]]:
    """What a page is called -> where it is, and in how many seconds it is to be there."""
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
    """Page -> the median of its seconds."""
    taken = {}
    for name, (path, _) in pages_of(slug, one["round"]).items():
        _seconds(at, one["token"], path)  # what is read for the first time only is not measured
        taken[name] = median(_seconds(at, one["token"], path) for _ in range(repeats))
    return taken


def _seconds(at: Place, token: str, path: str) -> float:
    """Until all of a page has come."""
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
