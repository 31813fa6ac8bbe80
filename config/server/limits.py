"""How long a client may take and how much it may leave lying, in seconds and bytes. docs/admin.md tells people."""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Least:
    """The pace that a client must keep: ``rate`` bytes a second over any ``patience`` seconds."""

    patience: float
    rate: float


@dataclass(frozen=True)
class Limits:
    """Those of one web process."""

    #: Request line and headers, and how long they may take together.
    head: int = 64 * 1024
    head_seconds: float = 15.0
    #: A body up to this length is waited for in memory, without a thread; Django reads no longer one into memory either
    #: (DATA_UPLOAD_MAX_MEMORY_SIZE). What is longer, and every form with files, is read by the application as it comes.
    whole: int = 2_621_440
    body: Least = field(default_factory=lambda: Least(patience=30.0, rate=500.0))
    upload: Least = field(default_factory=lambda: Least(patience=30.0, rate=16_000.0))
    #: Of a reply so much is made ahead of the client that takes it, and so much before others have their turn.
    ahead: int = 256 * 1024
    turn: int = 2**20
    reply: Least = field(default_factory=lambda: Least(patience=60.0, rate=1_000.0))
    #: After a refusal the rest of a body is thrown away for a moment, so that its sender reads why it was refused.
    farewell_seconds: float = 5.0
    farewell: int = 256 * 2**20
    #: Bytes of all clients together that wait for the rest; and what a client may always leave lying.
    lying: int = 64 * 2**20
    little: int = 64 * 1024


class Pace:
    """How long a client has: ``patience`` seconds, more for every byte that moves, never more than ``patience``."""

    def __init__(self, least: Least) -> None:
        self._least = least
        self._at = time.monotonic()
        self.until = self._at + least.patience

    def moved(self, size: int) -> None:
        """So many bytes went in or out."""
        self._at = time.monotonic()
        self.until = min(self.until + size / self._least.rate, self._at + self._least.patience)

    def resume(self) -> None:
        """The time since the last bytes was ours, not the client's."""
        now = time.monotonic()
        self.until += now - self._at
        self._at = now

    @property
    def left(self) -> float:
        """Seconds; negative once they are over."""
        return self.until - time.monotonic()


def seconds(most: float) -> Pace:
    """So long, whatever moves."""
    return Pace(Least(most, float("inf")))
