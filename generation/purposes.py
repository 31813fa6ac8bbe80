"""What runs are for: how the items of each purpose are prepared, done and stored. One module or class each."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

from projects.models import Project

from . import sources
from .backends.protocol import Backend, Failure, Output, Source, Summariser
from .models import Purpose, RunItem, Summary, Version
from .probing import Probing


class Work(Protocol):
    """What a chunk needs to know of a purpose. Stateless; texts of one unit are its *item*."""

    purpose: str

    def refusal(self, backend: Backend) -> str:
        """Why versions of a backend cannot do this, in words; empty where they can."""

    def units(self, project: Project, level: str) -> list[int]:
        """The ids of the units that a run is over, unless it names fewer."""

    def items(self, version: Version, units: Sequence[int]) -> Mapping[int, Any]:
        """What the summariser is handed, by unit; without the units that there is nothing of. Constant queries."""

    def do(self, summariser: Summariser, items: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Batches of what came out: each an object with its ``unit``, or a `Failure`."""

    def store(self, made: Sequence[tuple[RunItem, Any]]) -> None:
        """Insert what came out, in the transaction that marks the items done. Constant queries."""


class Summarising:
    """Summaries are made."""

    purpose: str = Purpose.SUMMARIES

    def refusal(self, backend: Backend) -> str:
        return ""

    def units(self, project: Project, level: str) -> list[int]:
        return sources.some_units(project, level)

    def items(self, version: Version, units: Sequence[int]) -> Mapping[int, Source]:
        found = sources.materials(version.system.project, version.level, units)
        return {unit: material.source for unit, material in found.items()}

    def do(self, summariser: Summariser, items: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        return summariser.summarise(items)

    def store(self, made: Sequence[tuple[RunItem, Output]]) -> None:
        Summary.objects.bulk_create(
            Summary(
                item=item, text=out.text, finish=out.finish, tokens_in=out.tokens_in, tokens_cut=out.tokens_cut,
                tokens_out=out.tokens_out, token_ids=None if out.token_ids is None else list(out.token_ids),
                seconds=out.seconds, record=dict(out.record), digest=sha256(out.text.encode()).hexdigest(),
            )
            for item, out in made
        )  # fmt: skip


_works: dict[str, Work] = {}


def register(work: Work) -> None:
    """Make a purpose known; `Purpose` names it."""
    _works[work.purpose] = work


def get(purpose: str) -> Work:
    """KeyError where nothing does it."""
    return _works[purpose]


register(Summarising())
register(Probing())
