"""Simulated users of the drill: annotators in every open round, and leads who open and close rounds, upload sheets and
files, cancel jobs, and freeze releases. Only documented replies of the server are tolerated.
"""

import csv
import io
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from operations.simulation.annotator import Annotator, Noise
from operations.simulation.client import Client, GaveUp, NotDone
from operations.simulation.history import JobFailed, Study
from operations.simulation.transport import Broken
from tests.processes.test_kills import corpus

#: Units of a round: enough for the import of a sheet to report progress several times, so that it can be cancelled.
SAMPLE = (60, 120)
OPEN = 3
#: Errors that may happen while the site is killed and restarted.
LEFT = (GaveUp, NotDone, JobFailed, TimeoutError, Broken)
Say = Callable[[str], None]


@dataclass
class DrillState:
    """What the users share: known open rounds, unit keys, counters and failures."""

    seed: int
    open: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    number: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    done: Counter[str] = field(default_factory=Counter)
    failures: list[BaseException] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> int:
        with self._lock:
            self.number += 1
            return self.number

    def guarded(self, work: Callable[[], None]) -> threading.Thread:
        """Return a thread that repeats the work until all stop, and records what it raises."""

        def run() -> None:
            try:
                while not self.stop.is_set():
                    work()
            except BaseException as error:
                self.failures.append(error)
                self.stop.set()

        return threading.Thread(target=run)


class DrillAnnotator:
    """An annotator who works in random rounds and sometimes revises an answer."""

    def __init__(self, client: Client, number: int, rounds: DrillState) -> None:
        self.client, self.number, self.rounds = client, number, rounds
        self.rng = random.Random(f"{rounds.seed} worker {number}")

    def work(self) -> None:
        if not self.rounds.open:
            time.sleep(0.05)
            return
        with suppress(IndexError, NotDone):
            # The round was closed, or a sheet has answered in between.
            round = self.rng.choice(self.rounds.open)
            robot = Annotator(self.client, round, noise=Noise.of(0.1), seed=self.number, think=(0, 0.03))
            if self.rng.random() < 0.3:
                self._again(robot)
            robot.work(limit=self.rng.randint(3, 15), keep_going=lambda: not self.rounds.stop.is_set())

    def _again(self, robot: Annotator) -> None:
        cards = self.client.get(f"rounds/{robot.round}/recent/")["cards"]
        if cards:
            robot.answer(self.rng.choice(cards), have=[])


class DrillLead:
    """A lead who performs random actions."""

    def __init__(self, study: Study, people: list[int], number: int, rounds: DrillState, say: Say) -> None:
        self.study, self.people, self.rounds, self.say = study, people, rounds, say
        self.rng = random.Random(f"{rounds.seed} lead {number}")
        self.scenes: list[Callable[[], str]] = [
            scene
            for weight, scene in (
                (5, self.close),
                (5, self.sheet),
                (1, self.elsewhere),
                (1, self.corpus),
                (1, self.release),
            )
            for _ in range(weight)
        ]

    def work(self) -> None:
        scene = self.open if len(self.rounds.open) < OPEN else self.rng.choice(self.scenes)
        try:
            became = scene()
        except LEFT as error:
            became = f"{type(error).__name__}: {str(error)[:120]}"
        else:
            self.rounds.done[scene.__name__] += 1
        self.say(f"          lead: {scene.__name__}: {became}")
        self.rounds.stop.wait(self.rng.uniform(0, 0.5))

    def open(self) -> str:
        """Open a gold-standard round for everybody."""
        number = self.rounds.next()
        round = self.study.open_round(
            f"drill {number}",
            self.people,
            overlap=self.rng.choice((1, 1, 2, 3)),
            sample=self.rng.randint(*SAMPLE),
            seed=number,
            allocation=self.rng.choice(("pool", "pool", "dealt")),
            lease_seconds=60,
            policy={"cues": self.rng.choice(("exact", "overlap", "ignore"))},
        )
        self.rounds.open.append(round)
        return f"round {round}"

    def close(self) -> str:
        """Close a random round, even while people work in it."""
        round = self.rng.choice(self.rounds.open)
        try:
            job = self.study.lead.post(f"rounds/{round}/close/")["id"]
        except NotDone as refused:
            job = refused.status  # the other lead closed it, or the reply to an earlier request was lost
        with suppress(ValueError):
            self.rounds.open.remove(round)
        return f"round {round}, job {job}"

    def sheet(self) -> str:
        """Import a sheet of answers for one person; sometimes cancel it or close the round."""
        round, person = self.rng.choice(self.rounds.open), self.rng.choice(self.people)
        taken = self.study.lead.post(
            f"rounds/{round}/sheet/", {"person": person, "file_type": "csv", "limit": 120, "days": 1}
        )
        rows = list(csv.DictReader(io.StringIO(str(taken).removeprefix("\ufeff"))))
        if not rows:
            return f"round {round}, nobody's"
        for row in rows:
            row |= {"polarity": self.rng.choice(("positive", "negative")), "modality": "weak", "comment": "a sheet"}
        path = f"rounds/{round}/sheet/"
        job = self._confirmed(f"{path}check/", f"{path}import/", {}, as_csv(rows), {})
        return f"round {round}, {len(rows)} rows, job {job}, {self._interfere(job, round)}"

    def elsewhere(self) -> str:
        """Import ratings of three external raters."""
        number = self.rounds.next()
        rows = [
            {
                "unit": key,
                "rater": f"Rater {n}",
                "polarity": "positive",
                "polarity_cue": "",
                "modality": "weak",
                "modality_cue": "",
            }
            for key in self.rng.sample(self.rounds.keys, 30)
            for n in range(3)
        ]
        path = f"projects/{self.study.slug}/elsewhere/"
        named = {"name": f"elsewhere {number}", "purpose": "gold"}
        job = self._confirmed(f"{path}check/", f"{path}import/", {"kind": "label"}, as_csv(rows), named)
        return f"job {job}, {self._interfere(job)}"

    def corpus(self) -> str:
        """Import more clusters."""
        number = self.rounds.next()
        path = f"projects/{self.study.slug}/imports/"
        content = corpus(10).replace(b'"docid": "260000', f'"docid": "3{number:05d}'.encode())
        job = self._confirmed(path, f"{path}confirm/", {"format": "m3", "level": ""}, content, {})
        return f"job {job}, {self._interfere(job)}"

    def release(self) -> str:
        """Freeze a release."""
        version = f"1.0.{self.rounds.next()}"
        job = self.study.lead.post(f"projects/{self.study.slug}/releases/", {"version": version})["id"]
        return f"{version}, job {job}, {self._interfere(job)}"

    def _confirmed(self, check: str, confirm: str, fields: dict[str, str], content: bytes, more: dict[str, Any]) -> int:
        """Upload, wait for the check, confirm, and return the id of the import job."""
        done = self.study.wait(self.study.lead.upload(check, fields, "file.csv", content))
        return int(self.study.lead.post(confirm, {"job": done["id"]} | more)["id"])

    def _interfere(self, job: int, round: int | None = None) -> str:
        """After a pause leave the job alone, cancel it, or close the round that it writes to."""
        what = self.rng.choice(("let be", "cancelled", "cancelled", "overtaken"))
        self.rounds.stop.wait(self.rng.uniform(0, 0.8))
        if what == "cancelled":
            self.study.lead.post(f"jobs/{job}/cancel/")
        elif what == "overtaken" and round is not None:
            with suppress(NotDone):
                self.study.lead.post(f"rounds/{round}/close/")
            with suppress(ValueError):
                self.rounds.open.remove(round)
        return what


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()
