"""How work grows with what it is given: near to linear, whoever chose the text.

CPU time of this thread, the least of some tries, without the collector of garbage: other work on the machine does not
count. Four times the text may take nine times as long, where a quadratic one takes sixteen times; what takes next to
nothing may grow as it likes. Caches that others empty meanwhile can make anything look steep once, so what is steep
is so in every one of some looks.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Seconds of CPU below which growth says nothing.
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
    """CPU time of the fastest of three tries; the first that takes no more than ``enough`` is the last."""
    found: list[float] = []
    while len(found) < 3 and sum(found) < 2.0 and (not found or min(found) > enough):
        began = time.thread_time()
        work()
        found.append(time.thread_time() - began)
    return min(found)


def refuse_steep(work: Callable[[str], object], text: Callable[[int], str], size: int) -> None:
    """Fail where work grows faster than its text, of ``size`` pieces, twice as many and four times as many."""
    given = [text(factor * size) for factor in (1, 2, 4)]
    for _ in range(LOOKS):
        with _without_collector():
            steep = _steepness(work, given)
        if not steep:
            return
    raise AssertionError(steep)


def _steepness(work: Callable[[str], object], given: list[str]) -> str:
    """What is steep about it; empty where nothing is."""
    first = max(seconds(lambda: work(given[0]), enough=HARMLESS), HARMLESS)
    for factor, larger in ((2, given[1]), (4, given[2])):
        allowed = first * MOST * factor / 4
        took = seconds(lambda larger=larger: work(larger), enough=allowed)  # type: ignore[misc]
        if took > allowed:
            return f"{len(given[0])} characters take {first:.3f} s, {factor} times as many {took:.3f} s"
    return ""
