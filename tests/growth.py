"""How work grows with what it is given: near to linear, whoever chose the text.

CPU time of this thread, the least of some tries: other work on the machine does not count. Four times the text may
take nine times as long, where a quadratic one takes sixteen times; what takes next to nothing may grow as it likes.
"""

import time
from collections.abc import Callable

#: Seconds of CPU below which growth says nothing.
HARMLESS = 0.01
MOST = 9.0


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
    first = max(seconds(lambda: work(given[0])), HARMLESS)
    for factor, larger in ((2, given[1]), (4, given[2])):
        allowed = first * MOST * factor / 4
        took = seconds(lambda larger=larger: work(larger), enough=allowed)  # type: ignore[misc]
        assert took <= allowed, f"{len(given[0])} characters take {first:.3f} s, {factor} times as many {took:.3f} s"
