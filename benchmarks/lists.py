"""Measure all GET requests of the pages in projects of three sizes, on both databases.

Requests are sent within one process, so that statements can be counted. Seconds are processor time of the process and
its PostgreSQL backend, which does not depend on other load. Memory is the peak of a request over idle.
"""

from dataclasses import dataclass
from typing import Any

from .places import on_each, place
from .report import Found, say

#: Maximum seconds and megabytes of a request at the largest size.
SECONDS, MEGABYTES = 1.0, 200.0
#: Maximum growth of a request's seconds relative to the project's growth, applied above the second value in seconds.
STEEP, HARMLESS = 1.5, 0.1


@dataclass(frozen=True)
class Plan:
    """Numbers of clusters of the projects. Each cluster has five answers, findings, flags and stale labels."""

    clusters: tuple[int, ...] = (2_000, 7_000, 20_000)
    engines: tuple[str, ...] = ("sqlite", "postgres")

    @classmethod
    def quick(cls) -> "Plan":
        return cls(clusters=(200, 2_000), engines=("sqlite",))


def run(plan: Plan) -> Found:
    found = Found()

    def of_engine(engine: str, server: str) -> None:
        asked: dict[int, dict[str, Any]] = {}
        for clusters in plan.clusters:
            with place("concord", server) as at:
                ids = at.call("large_project", slug="lists", clusters=clusters)
                stored = at.call("store_figures", slug="lists")
                asked[clusters] = {one["name"]: one for one in at.call("ask_all", ids=ids)}
                checked = at.call("check_consistency", slug="lists")
            what = f"lists, {engine}, {clusters:,} clusters: consistency check"
            found.told(what, f"{checked['cpu']:.1f} s, {checked['mb']:.0f} MB")
            what = f"lists, {engine}, {clusters:,} clusters: stored figures"
            found.told(what, f"{stored['cpu']:.1f} s, {stored['mb']:.0f} MB")
        found.figures[engine] = asked
        _tell(found, engine, asked)

    on_each(plan.engines, found.skipped, of_engine)
    return found


def _tell(found: Found, engine: str, asked: dict[int, dict[str, Any]]) -> None:
    sizes = sorted(asked)
    first, last = sizes[0], sizes[-1]
    for name, one in sorted(asked[last].items(), key=lambda item: -item[1]["cpu"]):
        seconds = " / ".join(f"{asked[size][name]['cpu']:.3f}" for size in sizes)
        say(f"    {engine}: {seconds} s, {one['queries']} queries, {one['mb']:.0f} MB: {name}")
    worst = max(asked[last].values(), key=lambda one: one["cpu"])
    found.at_most(
        f"lists, {engine}, {last:,} clusters: slowest request ({worst['request']})", worst["cpu"], SECONDS, " s"
    )
    largest = max(asked[last].values(), key=lambda one: one["mb"])
    found.at_most(f"lists, {engine}: most memory of a request ({largest['request']})", largest["mb"], MEGABYTES, " MB")
    growth = {
        one["request"]: one["cpu"] / max(asked[first][name]["cpu"], HARMLESS * first / last)
        for name, one in asked[last].items()
        if one["cpu"] > HARMLESS
    }
    if growth:
        steepest = max(growth, key=lambda name: growth[name])
        what = f"lists, {engine}: growth of seconds / of clusters, at most ({steepest})"
        found.at_most(what, growth[steepest] * first / last, STEEP)
    failed = [one["request"] for one in asked[last].values() if one["status"] >= 500]
    found.at_most(f"lists, {engine}: requests that failed", len(failed), 0)
