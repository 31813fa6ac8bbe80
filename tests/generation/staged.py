"""A summariser that tests control: it logs its units, and fails, dies or waits on request."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from api.parameters import Parameter, Takes
from generation.backends.protocol import (
    BackendError,
    Config,
    Facts,
    Failure,
    Likelihood,
    Output,
    Probed,
    ProbedUnit,
    Source,
)
from tests.concurrency import outside_the_job

Before = Callable[[Sequence[Source]], "list[Output | Failure] | None"]


class StagedBackend:
    """``diary``: a file that gets a line per unit: process, key, time. ``before`` is called with every batch and may
    raise, or return the outputs."""

    key = "staged"
    name = "Staged"
    description = "For tests."
    no_probe = "It is for tests."
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": (Parameter("weights", Takes.TEXT, "Weights", ""), Parameter("torch", Takes.SWITCH, "Torch", False)),
        "decoding": (
            Parameter("seconds", Takes.NUMBER, "Seconds an item", 0.0),
            Parameter("batch", Takes.INTEGER, "Items a batch", 4, minimum=1),
            Parameter("diary", Takes.TEXT, "Diary", ""),
        ),
    }

    def __init__(self) -> None:
        self.before: Before = lambda batch: None
        self.release = "1.0"
        self.loaded: list[str] = []
        self.closed: list[str] = []
        self.batches: list[list[str]] = []

    def needs_torch(self, config: Config) -> bool:
        return bool(config["model"]["torch"])

    def weights(self, config: Config) -> str:
        return str(config["model"]["weights"])

    def facts(self, config: Config) -> dict[str, Any]:
        return {"libraries": {"staged": self.release}}

    def load(self, config: Config, facts: Facts) -> "Staged":
        if facts != self.facts(config):
            raise BackendError(f"The version was made with staged {facts['libraries']['staged']}, not {self.release}.")
        self.loaded.append(config["model"]["weights"])
        return Staged(self, config)


class Staged:
    def __init__(self, backend: StagedBackend, config: Config) -> None:
        self.backend, self.config = backend, config

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        decoding = self.config["decoding"]
        for start in range(0, len(sources), decoding["batch"]):
            batch = sources[start : start + decoding["batch"]]
            self.backend.batches.append([source.key for source in batch])
            with outside_the_job():
                instead = self.backend.before(batch)
            for source in batch:
                time.sleep(decoding["seconds"])
                if decoding["diary"]:
                    with Path(decoding["diary"]).open("a") as diary:
                        diary.write(f"{os.getpid()} {source.key} {time.time()}\n")
            yield (
                instead
                if instead is not None
                else [
                    Output(
                        source.unit,
                        f"About {source.key}.",
                        tokens_in=9,
                        tokens_cut=len(source.key) % 2,
                        tokens_out=3,
                        token_ids=(1, 2, 3),
                        seconds=0.5,
                        record={"batch": len(batch)},
                    )
                    for source in batch
                ]
            )

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        for item in items:
            yield [ProbedUnit(item.source.unit, tuple(Likelihood((1,), (0.5,), (False,)) for _ in item.texts))]

    def close(self) -> None:
        self.backend.closed.append(self.config["model"]["weights"])
