"""Which models a seal covers. Apps above register theirs, with a function that reads the content back from the rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from . import triggers
from .models import Leaf, Seal

#: How many rows are read, or marked as sealed, at a time.
BATCH = 500
FIRST = "audit.witness"
Contents = Callable[[Sequence[Any]], list[dict[str, Any]]]


@dataclass(frozen=True)
class LeafModel:
    """One model of leaves: its label, the order in which a seal takes its rows, and how a batch's content is read."""

    label: str
    model: type[Leaf]
    order: tuple[str, ...]
    contents: Contents

    def rows(self, seal: Seal | None) -> QuerySet[Any]:
        """The rows under one seal (None: not yet sealed), in sealing order."""
        manager = self.model._default_manager
        unsealed = manager.filter(seal__isnull=True)
        return (unsealed if seal is None else manager.filter(seal=seal)).order_by(*self.order)

    def name(self, row: Leaf) -> str:
        return f"{self.label} {row.pk}"


_models: dict[str, LeafModel] = {}


def register(model: type[Leaf], *, order: tuple[str, ...], contents: Contents) -> None:
    """Make a model's rows leaves. Called from ``AppConfig.ready``. ``order`` must be total and made of numbers, times
    or UUIDs, which both data bases sort alike; ``contents`` takes a batch of rows and gives one dict a row. The
    table must have its triggers: a migration of the app installs them with `triggers.Guard`."""
    label = model._meta.label_lower
    if label in _models:
        raise ValueError(f"{label} is registered as a leaf twice.")
    triggers.guard(model._meta.db_table, sealed=True)
    _models[label] = LeafModel(label, model, order, contents)


def leaf_models() -> list[LeafModel]:
    """All of them in the order in which a seal takes them: witnesses first, so that what a seal says of decisions and
    entries is not sealed before what they are about; then by label."""
    return [_models[label] for label in sorted(_models, key=lambda label: (label != FIRST, label))]


def batches(rows: QuerySet[Any], size: int = BATCH) -> Iterator[list[Any]]:
    """The rows in lists of ``size``, without holding them all."""
    walk = rows.iterator(chunk_size=size)
    while batch := list(islice(walk, size)):
        yield batch
