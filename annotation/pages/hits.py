"""Where a text holds what was searched for: from a little before the first hit, in pieces that are hits or not."""

import unicodedata
from collections.abc import Iterator
from typing import Any

from sql.search import folded

#: About so much is shown before the first hit; a text that begins later is cut there, between two words.
BEFORE = 60


def pieces(text: str, words: str) -> list[dict[str, Any]]:
    """The text in pieces, hits told from the rest, as the search finds them: folded. Empty where there is none."""
    wanted = folded(words.strip())
    found = list(_hits(text, wanted)) if wanted else []
    if not found:
        return []
    begin = _beginning(text, found[0][0])
    said = [{"text": "\u2026 ", "hit": False}] if begin else []
    for start, end in found:
        said += [{"text": text[begin:start], "hit": False}, {"text": text[start:end], "hit": True}]
        begin = end
    return [piece for piece in [*said, {"text": text[begin:], "hit": False}] if piece["text"]]


def _hits(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Ranges of the text. Folding makes letters longer or shorter, so each folded one knows where it comes from."""
    letters = list(_letters(text))
    places = [(start, end) for start, end, said in letters for _ in said]
    whole = "".join(said for _, _, said in letters)
    at = whole.find(wanted)
    while at >= 0:
        yield places[at][0], places[at + len(wanted) - 1][1]
        at = whole.find(wanted, at + len(wanted))


def _letters(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, folded) of each letter with the accents that follow it."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, at, folded(text[start:at])
            start = at


def _beginning(text: str, hit: int) -> int:
    return text.rfind(" ", 0, hit - BEFORE) + 1 if hit > BEFORE + 20 else 0
