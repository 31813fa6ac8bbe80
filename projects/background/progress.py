"""How far work is, told to whoever watches."""

from collections.abc import Callable

#: How much is done, of how much where that is known, and what is being done.
Progress = Callable[[int, int | None, str], None]


def silent(done: int, total: int | None, note: str) -> None:
    """Progress that nobody watches."""
