"""Eight annotators at work, alone and beside the large jobs of another project: opening a round of 200,000 units, and
measuring the agreement of 100,000 answers. And how long the page of that agreement takes once the round is closed.

As in ``loads``: production's configuration with one worker, people who think before they answer, and ratios against the
same people alone, before and after. A job is asked for again as soon as it is done, for as long as people are measured.
"""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from tests.stages.servers import Missing

from .inside_jobs import SLUG
from .loads import AGAIN, ALONE, PATIENCE, Measured, Site, quantile_ms, tell
from .loads import Plan as Loads
from .loop import texts
from .places import Place, place, postgres
from .report import Found, Line

#: Of the rate that the same people have alone; seconds until the page of a closed round has its figures.
KEPT, PAGE = 0.8, 1.0
OPENING, MEASURING = "opening a round", "measuring agreement"
RATERS = 3


@dataclass(frozen=True)
class Plan:
    """Sizes of a run; times in seconds."""

    seconds: float = 60.0
    annotators: int = 8
    #: Of the people who are measured, and of the project beside them.
    own_units: int = 4_000
    units: int = 200_000
    answers: int = 100_000
    engines: tuple[str, ...] = ("sqlite", "postgres")

    @classmethod
    def quick(cls) -> "Plan":
        return cls(seconds=20.0, own_units=2_000, units=40_000, answers=21_000)


class Lead:
    """The lead of the project beside."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, f"/api/v1/{path}", json.dumps(body) if body else None, head)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())

    def status(self, job: int) -> str:
        """Of a job; "unknown" where the site does not reply."""
        with suppress(OSError, http.client.HTTPException, ValueError):
            return str(self.send("GET", f"jobs/{job}/")[1]["status"])
        return "unknown"


class Busy:
    """A lead who asks for one job after the other, until told to stop."""

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
        # The last one is waited for, though nobody is measured any more: how long it takes is told.
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
    """A site with a project beside the people who are measured, whose lead has large jobs."""

    def __init__(self, at: Place, plan: Plan) -> None:
        loads = Loads(seconds=plan.seconds, flat_out=0.5, annotators=plan.annotators, units=plan.own_units)
        super().__init__(at, loads)
        self.size = plan
        self.beside_us = at.call("neighbours", texts=texts(), units=plan.units, raters=RATERS)
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
            "name": f"large {self.opened}", "kind": "label", "purpose": "gold", "overlap": 1,
            "people": self.beside_us["people"],
        }  # fmt: skip
        return int(self.neighbour.send("POST", f"projects/{SLUG}/rounds/", body)[1]["job"])

    def _measure(self, round: int) -> int:
        return int(self.neighbour.send("POST", f"rounds/{round}/agreement/")[1]["id"])

    @contextmanager
    def _load(self, name: str) -> Iterator[dict[str, int]]:
        if name in (ALONE, AGAIN):
            yield {}
            return
        ask = self._open if name == OPENING else lambda: self._measure(self.open_round)
        became: dict[str, int] = {}
        with Busy(ask, self.neighbour.status) as lead:
            yield became
        self.job_seconds[name], self.failures = lead.seconds, self.failures + lead.failures
        became["done"] = len(lead.seconds)

    def page_seconds(self) -> list[float]:
        """What the report of a closed round takes by the API, once its job has measured it."""
        round = self.at.call("answered", answers=self.size.answers, status="closed")
        self.at.start_production()
        try:
            job, lead = self._measure(round), self.neighbour
            while (status := lead.status(job)) in ("queued", "running", "unknown"):
                time.sleep(0.5)
            taken = []
            for _ in range(7 if status == "done" else 0):
                begun = time.perf_counter()
                reply, report = lead.send("GET", f"rounds/{round}/agreement/")
                taken.append(time.perf_counter() - begun)
                if reply != 200 or not report["current"]:
                    raise RuntimeError(f"the report of a closed round: {reply}")
            return taken
        finally:
            self.at.stop()


def _of_engine(engine: str, server: str, plan: Plan, found: Found) -> None:
    with place("concord", server) as at:
        site = LargeSite(at, plan)
        measured: dict[str, Measured] = {}
        for name in (ALONE, OPENING, MEASURING, AGAIN):
            begun = time.perf_counter()
            measured[name] = one = site.beside(name)
            tell(engine, name, one, time.perf_counter() - begun)
        page = site.page_seconds()
    found.figures[engine] = {name: asdict(one) for name, one in measured.items()}
    found.figures[engine] |= {"job seconds": site.job_seconds, "failures": site.failures, "page seconds": page}
    alone = [measured.pop(name) for name in (ALONE, AGAIN)]
    rate = mean(one.rate for one in alone)
    p95 = quantile_ms([s for one in alone for s in one.seconds], 0.95)
    found.told(f"large, {engine}: nobody else", f"{rate:.2f}/s, p95 {p95:.0f} ms")
    sizes = {OPENING: f"{plan.units:,} units", MEASURING: f"{plan.answers:,} answers"}
    for name, one in measured.items():
        found.lines.append(line(engine, f"{name}, {sizes[name]}", one, rate, p95, site.job_seconds[name]))
    found.at_most(f"large, {engine}: report of a closed round, {plan.answers:,} answers", median(page), PAGE, " s")


def line(engine: str, name: str, one: Measured, rate: float, p95: float, seconds: list[float]) -> Line:
    """What people keep beside one kind of job; a job that was not done once shows nothing."""
    share, slower = one.rate / rate, quantile_ms(one.seconds, 0.95) / p95
    took = f"{median(seconds):.0f} s, {len(seconds)} times" if seconds else "never done"
    reached = f"{share:.2f}; p95 x {slower:.2f}; errors {one.errors}, lost {one.lost}; the job: {took}"
    met = share >= KEPT and not one.lost and not one.errors and bool(seconds)
    return Line(f"large, {engine}: {name}", f"rate >= {KEPT}", reached, met)


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
