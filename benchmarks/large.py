"""Measure eight annotators alone and during large jobs of another project.

The jobs open a round of 200,000 units and compute the agreement of 100,000 answers. The time of the agreement page
after the round is closed is measured, too. As in ``loads``, the configuration is that of production with one worker,
annotators wait before answers, and ratios refer to the same annotators alone. A job is requested again as soon as it is
done.
"""

import http.client
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

from .beside import Alone, Measured, People, Site, measure
from .inside_jobs import SLUG
from .loop import texts
from .places import Place, on_each, place
from .report import Found, Line

#: Share of the rate that must remain, and seconds until the page of a closed round has its figures.
KEPT, PAGE = 0.8, 1.0
OPENING, MEASURING = "opening a round", "measuring agreement"
RATERS = 3
#: Seconds to wait for a job.
PATIENCE = 600.0


@dataclass(frozen=True)
class Plan(People):
    """Sizes of a run."""

    flat_out: float = 0.5
    #: Units of the round that is opened, and answers of the round whose agreement is computed.
    opened: int = 200_000
    answers: int = 100_000
    engines: tuple[str, ...] = ("sqlite", "postgres")

    @classmethod
    def quick(cls) -> "Plan":
        return cls(seconds=20.0, units=2_000, opened=40_000, answers=21_000)


class Lead:
    """The lead of the other project."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, f"/api/v1/{path}", json.dumps(body) if body else None, head)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())

    def status(self, job: int) -> str:
        """Return the status of a job, "unknown" if the server does not reply."""
        with suppress(OSError, http.client.HTTPException, ValueError):
            return str(self.send("GET", f"jobs/{job}/")[1]["status"])
        return "unknown"


class Busy:
    """Request one job after another in a thread, until stopped."""

    def __init__(self, ask: Callable[[], int], status: Callable[[int], str]) -> None:
        self.ask, self.status = ask, status
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> "Busy":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.is_set() and not self.failures:
            try:
                self._one()
            except (OSError, http.client.HTTPException, KeyError, ValueError) as error:
                self.failures.append(repr(error))

    def _one(self) -> None:
        begun, job = time.monotonic(), self.ask()
        # The last job is awaited after the measurement, because its duration is reported.
        while time.monotonic() - begun < PATIENCE:
            time.sleep(0.2)
            status = self.status(job)
            if status in ("failed", "cancelled"):
                self.failures.append(f"job {job}: {status}")
                return
            if status == "done":
                self.seconds.append(time.monotonic() - begun)
                return


class LargeSite(Site):
    """A server with a second project, whose lead requests large jobs."""

    def __init__(self, at: Place, plan: Plan) -> None:
        super().__init__(at, plan)
        self.answers = plan.answers
        self.beside_us = at.call("neighbours", texts=texts(), units=plan.opened, raters=RATERS)
        self.open_round = at.call("answered", answers=plan.answers, status="open")
        self.opened = 0
        self.job_seconds: dict[str, list[float]] = {}
        self.failures: list[str] = []

    @property
    def neighbour(self) -> Lead:
        return Lead(self.at.port, self.beside_us["token"])

    def _open(self) -> int:
        self.opened += 1
        body = {
            "name": f"large {self.opened}",
            "kind": "label",
            "purpose": "gold",
            "overlap": 1,
            "people": self.beside_us["people"],
        }
        return int(self.neighbour.send("POST", f"projects/{SLUG}/rounds/", body)[1]["job"])

    def _measure(self, round: int) -> int:
        return int(self.neighbour.send("POST", f"rounds/{round}/agreement/")[1]["id"])

    @contextmanager
    def load(self, name: str) -> Iterator[dict[str, int]]:
        ask = self._open if name == OPENING else lambda: self._measure(self.open_round)
        became: dict[str, int] = {}
        with Busy(ask, self.neighbour.status) as lead:
            yield became
        self.job_seconds[name], self.failures = lead.seconds, self.failures + lead.failures
        became["done"] = len(lead.seconds)

    def page_seconds(self) -> list[float]:
        """Return the durations of report requests for a closed round after its job; empty if the job failed."""
        round = self.at.call("answered", answers=self.answers, status="closed")
        self.at.start_production()
        try:
            job, lead, taken = self._measure(round), self.neighbour, []
            while (status := lead.status(job)) in ("queued", "running", "unknown"):
                time.sleep(0.5)
            if status != "done":
                self.failures.append(f"job {job}, of the closed round: {status}")
                return []
            for _ in range(7):
                begun = time.perf_counter()
                reply, report = lead.send("GET", f"rounds/{round}/agreement/")
                taken.append(time.perf_counter() - begun)
                if reply != 200 or not report["current"]:
                    raise RuntimeError(f"the report of a closed round: {reply}")
            return taken
        finally:
            self.at.stop()


def run(plan: Plan) -> Found:
    found = Found()
    sizes = {OPENING: f"{plan.opened:,} units", MEASURING: f"{plan.answers:,} answers"}

    def of_engine(engine: str, server: str) -> None:
        with place("concord", server) as at:
            site = LargeSite(at, plan)
            alone, measured = measure(engine, site, tuple(sizes), found)
            page = site.page_seconds()
        found.figures[engine] |= {"job seconds": site.job_seconds, "failures": site.failures, "page seconds": page}
        found.told(f"large, {engine}: nobody else", f"{alone.rate:.2f}/s, p95 {alone.p95:.0f} ms")
        for name, one in measured.items():
            found.lines.append(line(engine, f"{name}, {sizes[name]}", one, alone, site.job_seconds[name]))
        what = f"large, {engine}: report of a closed round, {sizes[MEASURING]}"
        found.at_most(what, median(page or [math.inf]), PAGE, " s")

    on_each(plan.engines, found.skipped, of_engine)
    return found


def line(engine: str, name: str, one: Measured, alone: Alone, seconds: list[float]) -> Line:
    """Return the result line of one kind of job. Without a completed job the target is not met."""
    took = f"{median(seconds):.0f} s, {len(seconds)} times" if seconds else "never done"
    reached = (
        f"{alone.kept(one):.2f}; p95 x {alone.slower(one):.2f}; errors {one.errors}, lost {one.lost}; the job: {took}"
    )
    met = alone.kept(one) >= KEPT and not one.lost and not one.errors and bool(seconds)
    return Line(f"large, {engine}: {name}", f"rate >= {KEPT}", reached, met)
