"""Batches of like length that fit into memory, and what happens when one fails. Pure logic: it knows no torch."""

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..backends.protocol import BackendError, PassingError

logger = logging.getLogger(__name__)
T = TypeVar("T")
R = TypeVar("R")

#: What leaves the loop instead of being one item's failure.
_NOT_THE_ITEMS = (BackendError, PassingError)


@dataclass
class Limits:
    """How many items fitted, by (weights, bucket of lengths): a size that was too much once is not tried again."""

    sizes: dict[tuple[str, int], int] = field(default_factory=dict)

    def of(self, weights: str, length: int) -> int | None:
        """The most items of a length: what was too much for shorter texts is too much for longer ones."""
        fitting = [size for (name, bucket), size in self.sizes.items() if name == weights and bucket <= rung(length)]
        return min(fitting, default=None)

    def lower(self, weights: str, length: int, size: int) -> None:
        self.sizes[weights, rung(length)] = size


def rung(length: int) -> int:
    """The bucket of a length: the next power of two."""
    return 1 << max(length - 1, 0).bit_length()


@dataclass(frozen=True)
class Batching(Generic[T]):
    """How items are put together.

    ``length(item)``: padded tokens; only items of equal ``group(item)`` share a batch; ``tokens``: at most so many in a
    batch, padding included; ``items``: at most so many items. One item longer than ``tokens`` is a batch by itself.
    """

    length: Callable[[T], int]
    tokens: int
    items: int = 512
    group: Callable[[T], Hashable] = lambda item: 0

    def sorted(self, items: Sequence[T]) -> list[T]:
        """Group by group, longest first: what does not fit is found at once, and little is padded."""
        groups: dict[Hashable, list[T]] = {}
        for item in sorted(items, key=self.length, reverse=True):
            groups.setdefault(self.group(item), []).append(item)
        return [item for group in groups.values() for item in group]

    def head(self, waiting: Sequence[T], most: int | None) -> int:
        """How many of those waiting make the next batch: one at least."""
        longest = max(self.length(waiting[0]), 1)
        count = max(min(self.tokens // longest, self.items, most or self.items, len(waiting)), 1)
        group = self.group(waiting[0])
        return next((n for n in range(1, count) if self.group(waiting[n]) != group), count)


@dataclass(frozen=True)
class Memory:
    """What running out of memory means here. ``fatal``: an error after which this process can do nothing more."""

    out: Callable[[BaseException], bool] = lambda error: isinstance(error, MemoryError)
    free: Callable[[], None] = lambda: None
    fatal: Callable[[BaseException], bool] = lambda error: False


def run(
    items: Sequence[T], do: Callable[[list[T]], list[R]], *, batching: Batching[T], memory: Memory,
    limits: Limits, weights: str,
) -> Iterator[list[tuple[T, R | Exception]]]:  # fmt: skip
    """Do all items; each batch is yielded as it is done, with an exception for an item that failed alone.

    Out of memory: what was held is freed, the batch halved and tried again, and its size remembered in ``limits`` for
    ``weights``; one item that does not fit by itself has failed. Any other exception: the items of the batch are done
    one by one, so that the bad one fails alone.
    """
    waiting = batching.sorted(items)
    while waiting:
        count = batching.head(waiting, limits.of(weights, batching.length(waiting[0])))
        batch = waiting[:count]
        done, error = _tried(do, batch, memory)
        if error is not None and memory.out(error):
            # Outside of any except: a traceback would keep the tensors of the failed batch alive.
            error = error.with_traceback(None)
            memory.free()
            if count > 1:
                limits.lower(weights, batching.length(batch[0]), count // 2)
                continue
        waiting = waiting[count:]
        if error is None:
            yield list(zip(batch, done, strict=True))
        elif count == 1:
            yield [(batch[0], error)]
        else:
            yield from _singly(do, batch, memory)


def _singly(
    do: Callable[[list[T]], list[R]], batch: list[T], memory: Memory
) -> Iterator[list[tuple[T, R | Exception]]]:  # fmt: skip
    for item in batch:
        done, error = _tried(do, [item], memory)
        if error is not None and memory.out(error):
            memory.free()
        yield [(item, done[0] if error is None else error)]


def _tried(do: Callable[[list[T]], list[R]], batch: list[T], memory: Memory) -> tuple[list[R], Exception | None]:
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
