"""What runs are for: how the items of each purpose are prepared, done and stored. One module or class each."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from projects.models import Project

from ..backends.protocol import Backend, Failure, Output, Source, Summariser
from ..models import Run, RunItem, RunPurpose, Summary, Version
from ..probing.purpose import Probing
from ..runs import sources


class Work(Protocol):
    """What a chunk needs to know of a purpose. Stateless; texts of one unit are its *item*."""

    purpose: str

    def refusal(self, backend: Backend) -> str:
        """Why versions of a backend cannot do this, in words; empty where they can."""

    def places(self, project: Project, level: str) -> QuerySet[Any, tuple[int, int, int]]:
        """The units that a run is over, as `sources.places`. `Refused` where what they need is not there."""

    def items(self, version: Version, units: Sequence[int]) -> Mapping[int, Any]:
        """What the summariser is handed, by unit; without the units that there is nothing of. Constant queries."""

    def do(self, summariser: Summariser, items: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Batches of what came out: each an object with its ``unit``, or a `Failure`."""

    def store(self, made: Sequence[tuple[RunItem, Any]]) -> None:
        """Insert what came out, in the transaction that marks the items done. Constant queries."""


class Summarising:
    """Summaries are made."""

    purpose: str = RunPurpose.SUMMARIES

    def refusal(self, backend: Backend) -> str:
        return ""

    def places(self, project: Project, level: str) -> QuerySet[Any, tuple[int, int, int]]:
        return sources.some_places(project, level)

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
        _tally(made)


def _was_cut(out: Output) -> bool:
    """Whether its input did not fit, in tokens or in what an endpoint's budget is in (its record says so then)."""
    return out.tokens_cut > 0 if out.tokens_cut is not None else "cut" in out.record


def _tally(made: Sequence[tuple[RunItem, Output]]) -> None:
    """Add to the sums that the run keeps over its summaries; nothing where the backend has no tokens."""
    cut = [out.tokens_cut for _, out in made if out.tokens_cut is not None]
    items_cut = sum(_was_cut(out) for _, out in made)
    written = [out.tokens_out for _, out in made if out.tokens_out is not None]
    more: dict[str, Any] = {}
    if items_cut:
        more["items_cut"] = F("items_cut") + items_cut
    if cut:
        more["tokens_cut"] = Coalesce("tokens_cut", 0) + sum(cut)
    if written:
        more["tokens_out"] = Coalesce("tokens_out", 0) + sum(written)
    if more:
        Run.objects.filter(pk=made[0][0].run_id).update(**more)


_works: dict[str, Work] = {}


def register(work: Work) -> None:
    """Make a purpose known; `RunPurpose` names it."""
    _works[work.purpose] = work


def get(purpose: str) -> Work:
    """KeyError where nothing does it."""
    return _works[purpose]


register(Summarising())
register(Probing())
