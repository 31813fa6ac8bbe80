"""The purposes of runs: how the items of each purpose are prepared, processed and stored."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from projects.models import Project

from .. import sources
from ..backends.protocol import Backend, Failure, Output, Source, Summariser
from ..models import Run, RunItem, RunPurpose, Summary, Version
from .purpose import Probing


class Work(Protocol):
    """The interface of a purpose. Stateless. The texts of one unit are its *item*."""

    purpose: str

    def refusal(self, backend: Backend) -> str:
        """Return the reason why versions of a backend do not support this purpose, or an empty string."""

    def unit_positions(self, project: Project, level: str) -> QuerySet[Any, sources.Position]:
        """Return the units of a run, as `sources.unit_positions` does. Raise `Refused` if required data is missing."""

    def skipped(self, project: Project, level: str) -> dict[str, int]:
        """Return how many reviews or units a run over all units skips, by reason."""

    def items(self, version: Version, units: Sequence[int]) -> Mapping[int, Any]:
        """Return the summariser inputs by unit, without units that have none. The number of queries is constant."""

    def do(self, summariser: Summariser, items: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Yield batches of results: objects with a ``unit``, or a `Failure`."""

    def store(self, made: Sequence[tuple[RunItem, Any]]) -> None:
        """Insert the results, in the transaction that marks the items done. The number of queries is constant."""


def summary_of(item: RunItem, out: Output) -> Summary:
    """Return the unsaved `Summary` of an output."""
    return Summary(
        item=item,
        text=out.text,
        finish=out.finish,
        tokens_in=out.tokens_in,
        tokens_cut=out.tokens_cut,
        tokens_out=out.tokens_out,
        token_ids=None if out.token_ids is None else list(out.token_ids),
        seconds=out.seconds,
        record=dict(out.record),
        digest=sha256(out.text.encode()).hexdigest(),
    )


class Summarising:
    """The purpose of generating summaries."""

    purpose: str = RunPurpose.SUMMARIES

    def refusal(self, backend: Backend) -> str:
        return ""

    def unit_positions(self, project: Project, level: str) -> QuerySet[Any, sources.Position]:
        return sources.required_places(project, level)

    def skipped(self, project: Project, level: str) -> dict[str, int]:
        return sources.skipped(project, level)

    def items(self, version: Version, units: Sequence[int]) -> Mapping[int, Source]:
        materials = sources.materials_of(version, units)
        return {unit: material.source for unit, material in materials.items()}

    def do(self, summariser: Summariser, items: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        return summariser.summarise(items)

    def store(self, made: Sequence[tuple[RunItem, Output]]) -> None:
        Summary.objects.bulk_create(summary_of(item, out) for item, out in made)
        _add_to_counters(made)


def _was_cut(out: Output) -> bool:
    """Return whether the input was cut, in tokens, or in the unit of an endpoint's budget as recorded."""
    return out.tokens_cut > 0 if out.tokens_cut is not None else "cut" in out.record


def _add_to_counters(results: Sequence[tuple[RunItem, Output]]) -> None:
    """Add to the run's sums over its summaries. Token sums stay unchanged if the backend does not count tokens."""
    cut_counts = [out.tokens_cut for _, out in results if out.tokens_cut is not None]
    items_cut = sum(_was_cut(out) for _, out in results)
    output_counts = [out.tokens_out for _, out in results if out.tokens_out is not None]
    updates: dict[str, Any] = {}
    if items_cut:
        updates["items_cut"] = F("items_cut") + items_cut
    if cut_counts:
        updates["tokens_cut"] = Coalesce("tokens_cut", 0) + sum(cut_counts)
    if output_counts:
        updates["tokens_out"] = Coalesce("tokens_out", 0) + sum(output_counts)
    if updates:
        Run.objects.filter(pk=results[0][0].run_id).update(**updates)


_handlers: dict[str, Work] = {}


def register(work: Work) -> None:
    """Register the implementation of a purpose of `RunPurpose`."""
    _handlers[work.purpose] = work


def get(purpose: str) -> Work:
    """Return the implementation of a purpose. Raise KeyError if there is none."""
    return _handlers[purpose]


register(Summarising())
register(Probing())
