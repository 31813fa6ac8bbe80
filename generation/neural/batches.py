"""Form batches of similar length that fit into memory, and handle failed batches. This module does not use torch."""

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..backends.protocol import BackendError, PassingError

logger = logging.getLogger(__name__)
T = TypeVar("T")
R = TypeVar("R")

#: Exceptions that end the loop instead of failing a single item.
_NOT_THE_ITEMS = (BackendError, PassingError)


@dataclass
class Limits:
    """The batch sizes that fit, by (weights, length bucket), so that a size that was too large is not tried again."""

    sizes: dict[tuple[str, int], int] = field(default_factory=dict)

    def of(self, weights: str, length: int) -> int | None:
        """Return the maximum number of items of a length.

        A batch too large for shorter texts is too large for longer ones.
        """
        fitting = [
            size for (name, bucket), size in self.sizes.items() if name == weights and bucket <= length_bucket(length)
        ]
        return min(fitting, default=None)

    def lower(self, weights: str, length: int, size: int) -> None:
        self.sizes[weights, length_bucket(length)] = size


def length_bucket(length: int) -> int:
    """Return the bucket of a length: the next power of two."""
    return 1 << max(length - 1, 0).bit_length()


@dataclass(frozen=True)
class Batching(Generic[T]):
    """Rules for forming batches.

    ``length(item)`` is the padded number of tokens. Only items of equal ``group(item)`` share a batch. ``tokens`` is
    the maximum per batch, including padding, and ``items`` the maximum number of items. An item longer than ``tokens``
    forms its own batch.
    """

    length: Callable[[T], int]
    tokens: int
    items: int = 512
    group: Callable[[T], Hashable] = lambda item: 0

    def sorted(self, items: Sequence[T]) -> list[T]:
        """Return the items by group, longest first. Items that do not fit are found early, and little is padded."""
        groups: dict[Hashable, list[T]] = {}
        for item in sorted(items, key=self.length, reverse=True):
            groups.setdefault(self.group(item), []).append(item)
        return [item for group in groups.values() for item in group]

    def head(self, items: Sequence[T], max_items: int | None) -> int:
        """Return the number of waiting items in the next batch, at least one."""
        longest = max(self.length(items[0]), 1)
        count = max(min(self.tokens // longest, self.items, max_items or self.items, len(items)), 1)
        group = self.group(items[0])
        return next((n for n in range(1, count) if self.group(items[n]) != group), count)


@dataclass(frozen=True)
class Memory:
    """How to detect and handle out-of-memory errors. ``fatal`` detects errors after which the process is unusable."""

    out: Callable[[BaseException], bool] = lambda error: isinstance(error, MemoryError)
    free: Callable[[], None] = lambda: None
    fatal: Callable[[BaseException], bool] = lambda error: False


def run(
    items: Sequence[T],
    do: Callable[[list[T]], list[R]],
    *,
    batching: Batching[T],
    memory: Memory,
    limits: Limits,
    weights: str,
) -> Iterator[list[tuple[T, R | Exception]]]:
    """Process all items. Yield each batch when it is done, with an exception for each item that failed.

    After an out-of-memory error, memory is freed and the batch is halved and retried. The smaller size is stored in
    ``limits`` for ``weights``. A single item that does not fit fails. After any other exception, the items are
    processed one by one, so that only the faulty one fails.
    """
    remaining = batching.sorted(items)
    while remaining:
        count = batching.head(remaining, limits.of(weights, batching.length(remaining[0])))
        batch = remaining[:count]
        results, error = _try_batch(do, batch, memory)
        if error is not None and memory.out(error):
            # Outside the except block, because a traceback would keep the tensors of the failed batch alive.
            error = error.with_traceback(None)
            memory.free()
            if count > 1:
                limits.lower(weights, batching.length(batch[0]), count // 2)
                continue
        remaining = remaining[count:]
        if error is None:
            yield list(zip(batch, results, strict=True))
        elif count == 1:
            yield [(batch[0], error)]
        else:
            yield from _singly(do, batch, memory)


def _singly(
    do: Callable[[list[T]], list[R]], batch: list[T], memory: Memory
) -> Iterator[list[tuple[T, R | Exception]]]:
    for item in batch:
        results, error = _try_batch(do, [item], memory)
        if error is not None and memory.out(error):
            memory.free()
        yield [(item, results[0] if error is None else error)]


def _try_batch(do: Callable[[list[T]], list[R]], batch: list[T], memory: Memory) -> tuple[list[R], Exception | None]:
    try:
        return do(batch), None
    except _NOT_THE_ITEMS:
        raise
    except Exception as error:
        if memory.fatal(error):
            raise
        if not memory.out(error):
            logger.warning("A batch of %d failed.", len(batch), exc_info=True)
        failed = error
    failed.__context__ = failed.__cause__ = None
    return [], failed.with_traceback(None)
