"""Registry of the models that audit checkpoints cover. Apps register a model with a function that reads its content."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from .models import Checkpoint, Leaf

#: Number of rows that are read or updated at a time.
BATCH = 500
#: Label of `RowDigest`, under its first name, which decides its place in the order of leaves.
ROW_DIGESTS = "audit.witness"
Contents = Callable[[Sequence[Any]], list[dict[str, Any]]]


@dataclass(frozen=True)
class LeafModel:
    """A model of leaves: label, order of its rows in a checkpoint, and the function that reads their content.

    The label orders the models in a checkpoint. It stays when a model is renamed, so that old checkpoints verify.
    """

    label: str
    model: type[Leaf]
    order: tuple[str, ...]
    contents: Contents

    def rows(self, checkpoint: Checkpoint | None) -> QuerySet[Any]:
        """Return the rows of a checkpoint in order, or the rows without one if ``checkpoint`` is None."""
        manager = self.model._default_manager
        uncovered = manager.filter(checkpoint__isnull=True)
        return (uncovered if checkpoint is None else manager.filter(checkpoint=checkpoint)).order_by(*self.order)

    def name(self, row: Leaf) -> str:
        return f"{self.model._meta.label_lower} {row.pk}"


_models: dict[str, LeafModel] = {}


def register(model: type[Leaf], *, order: tuple[str, ...], contents: Contents, label: str = "") -> None:
    """Register a model of leaves. Called from ``AppConfig.ready``. ``label``: its label before it was renamed.

    ``order`` must be a total order over numbers, times or UUIDs, which both databases sort equally. ``contents``
    returns one dict per row of a batch. ``migrate`` installs the triggers of the table.
    """
    label = label or model._meta.label_lower
    if label in _models:
        raise ValueError(f"The model {label} is already registered for audit checkpoints.")
    _models[label] = LeafModel(label, model, order, contents)


def leaf_models() -> list[LeafModel]:
    """Return all models of leaves in the order of a checkpoint: `RowDigest` first, then by label.

    With this order, decisions and entries are not covered before the rows that they refer to.
    """
    return [_models[label] for label in sorted(_models, key=lambda label: (label != ROW_DIGESTS, label))]


def batches(rows: QuerySet[Any], size: int = BATCH) -> Iterator[list[Any]]:
    """Yield the rows in lists of ``size``, without loading all of them."""
    iterator = rows.iterator(chunk_size=size)
    while batch := list(islice(iterator, size)):
        yield batch
