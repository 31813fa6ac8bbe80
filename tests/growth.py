"""Check that work grows almost linearly with its input.

Measures the thread's CPU time, the fastest of a few tries, without garbage collection, so that other load does not
count. Four times the input may take nine times as long; quadratic work takes sixteen times. Very short times are
ignored. A check fails only if it fails several times, because cold caches can make anything look slow once.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Seconds of CPU time below which growth is ignored.
HARMLESS = 0.01
MOST = 9.0
LOOKS = 4


@contextmanager
def _without_collector() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def seconds(work: Callable[[], object], *, enough: float = 0.0) -> float:
    """Return the CPU time of the fastest of three tries; stop early at ``enough``."""
    found: list[float] = []
    while len(found) < 3 and sum(found) < 2.0 and (not found or min(found) > enough):
        began = time.thread_time()
        work()
        found.append(time.thread_time() - began)
    return min(found)


def assert_near_linear(work: Callable[[str], object], text: Callable[[int], str], size: int) -> None:
    """Fail if work grows faster than its input of ``size`` pieces, twice and four times as many."""
    given = [text(factor * size) for factor in (1, 2, 4)]
    for _ in range(LOOKS):
        with _without_collector():
            steep = _steepness(work, given)
        if not steep:
            return
    raise AssertionError(steep)


def _steepness(work: Callable[[str], object], given: list[str]) -> str:
    """Return a message about the growth, or an empty string."""
    first = max(seconds(lambda: work(given[0]), enough=HARMLESS), HARMLESS)
    for factor, larger in ((2, given[1]), (4, given[2])):
        allowed = first * MOST * factor / 4
        took = seconds(lambda larger=larger: work(larger), enough=allowed)  # type: ignore[misc]
        if took > allowed:
            return f"{len(given[0])} characters take {first:.3f} s, {factor} times as many {took:.3f} s"
    return ""
