"""Search highlights: split a text into matching and other pieces, starting shortly before the first match."""

import unicodedata
from collections.abc import Iterator
from typing import Any

from sql.expressions import fold_case

#: Approximate number of characters shown before the first match. Earlier text is cut off between two words.
BEFORE = 60


def pieces(text: str, words: str) -> list[dict[str, Any]]:
    """Return the text as pieces with matches marked.

    Matching is case-folded, as in the search. Empty if there is no match.
    """
    needle = fold_case(words.strip())
    matches = list(_hits(text, needle)) if needle else []
    if not matches:
        return []
    begin = _beginning(text, matches[0][0])
    out = [{"text": "\u2026 ", "hit": False}] if begin else []
    for start, end in matches:
        out += [{"text": text[begin:start], "hit": False}, {"text": text[start:end], "hit": True}]
        begin = end
    return [piece for piece in [*out, {"text": text[begin:], "hit": False}] if piece["text"]]


def _hits(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the matches. Folding can change the length of a letter, so offsets are mapped back."""
    letters = list(_letters(text))
    ranges = [(start, end) for start, end, folded_letter in letters for _ in folded_letter]
    folded_text = "".join(folded_letter for _, _, folded_letter in letters)
    start_at = folded_text.find(needle)
    while start_at >= 0:
        yield ranges[start_at][0], ranges[start_at + len(needle) - 1][1]
        start_at = folded_text.find(needle, start_at + len(needle))


def _letters(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, folded text) of each letter with its combining accents."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, at, fold_case(text[start:at])
            start = at


def _beginning(text: str, hit: int) -> int:
    return text.rfind(" ", 0, hit - BEFORE) + 1 if hit > BEFORE + 20 else 0
