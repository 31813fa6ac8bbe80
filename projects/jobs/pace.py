"""Rate of running work, measured over its last minute."""

import time
from collections.abc import Callable

#: Seconds over which the rate is measured. It is longer if fewer than two reports fall into it.
WINDOW = 60.0
#: The rate is known after this number of seconds.
KNOWN_AFTER = 2.0
#: Seconds between two reports that are kept, so that their number is bounded.
APART = 1.0


class Pace:
    """The recent reports of some work. Work that continues may start lower: its rate is then measured anew."""

    def __init__(self, done: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples = [(clock(), done)]

    def add(self, done: int) -> None:
        """Add a report: the number of items done so far."""
        now = self._clock()
        if done < self._samples[-1][1]:
            self._samples = [(now, done)]
            return
        # The thread that renews a lease reads the list at any time, so it is replaced, never changed.
        samples = self._samples[:-1] if len(self._samples) > 1 and now - self._samples[-2][0] < APART else self._samples
        start = max((n for n, (at, _) in enumerate(samples) if at <= now - WINDOW), default=0)
        self._samples = [*samples[start:], (now, done)]

    def per_second(self) -> float | None:
        """Return the items per second until now, or None while it is unknown or no item was finished."""
        samples, now = self._samples, self._clock()
        (began, first), (_, last) = samples[0], samples[-1]
        elapsed = now - began
        return (last - first) / elapsed if last > first and elapsed >= KNOWN_AFTER else None

    def seconds_left(self, total: int) -> float | None:
        """Return the estimated seconds until ``total`` items are done; None while the rate is unknown."""
        rate = self.per_second()
        return None if rate is None else max(total - self._samples[-1][1], 0) / rate
