"""How many tokens of each document are read when not all fit."""

from collections.abc import Sequence


def shares(lengths: Sequence[int], most: int, *, equal: bool) -> list[int]:
    """Tokens kept of documents of these lengths, ``most`` together.

    From the front: the first documents whole, until there is no more room. ``equal``: as many of each, and what short
    ones leave goes to the longer ones; what does not divide goes to the first of these.
    """
    kept, room = [0] * len(lengths), max(most, 0)
    if not equal:
        for i, length in enumerate(lengths):
            kept[i] = min(length, room)
            room -= kept[i]
        return kept
    waiting = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    while waiting:
        share, over = divmod(room, len(waiting))
        if lengths[waiting[0]] > share:
            for rank, i in enumerate(sorted(waiting)):
                kept[i] = share + (rank < over)
            break
        first = waiting.pop(0)
        kept[first] = lengths[first]
        room -= kept[first]
    return kept


def cut(text: str, offsets: Sequence[tuple[int, int]], tokens: int) -> str:
    """The beginning of a text that its first tokens cover; ``offsets``: where each token begins and ends in it."""
    return text if tokens >= len(offsets) else text[: offsets[tokens - 1][1]].rstrip() if tokens else ""
