"""Attention checks (obviously degraded texts) and repeated pages.

The seed determines their positions, page by page, so that raters cannot predict the next check.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from measures.sampling import Seed, T, order_key, sample, shuffled
from measures.sentences import sentence_ranges

DEGRADER = "concord-degrader 1"
"""Version of the degradation rules, stored with a design; increased with any change of a rule."""

KEPT = 0.5
"""Share of words that are kept. Half of the other words are dropped, half are replaced by words of other texts."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Check(Generic[T]):
    """An attention check on ``page``: a degraded text of ``system``."""

    page: str
    system: T


def checks(systems_by_page: Mapping[str, Sequence[T]], share: float, seed: Seed) -> list[Check[T]]:
    """Return checks on a ``share`` (0..1, rounded to the nearest page) of pages, in the seed's order.

    The numbers of checks of any two systems differ by at most one, if the pages permit.
    """
    if not 0 <= share <= 1:
        raise ValueError("a share lies between 0 and 1")
    pages = [page for page, systems in systems_by_page.items() if systems]
    chosen: Counter[T] = Counter()
    planned = []
    for page in sample(pages, int(len(pages) * share + 0.5), f"{seed}:checks"):
        systems = shuffled(systems_by_page[page], f"{seed}:checked:{page}")
        system = min(systems, key=lambda system: chosen[system])
        chosen[system] += 1
        planned.append(Check(page, system))
    return planned


def with_check(order: Sequence[T], check: T, page: object, number: int, repeat: int, seed: Seed) -> list[T]:
    """Return the texts of a page in their ``order``, with the check inserted at a position drawn by the seed."""
    place = drawn_number(seed, f"check:{page}:{number}:{repeat}") % (len(order) + 1)
    pages = list(order)
    pages.insert(place, check)
    return pages


def repeated(pages: Sequence[T], share: float, seed: Seed, *, distance: int = 20) -> list[tuple[T, int]]:
    """Return (page, repeat) in working order. A ``share`` of the pages is repeated (repeat 1).

    A repeat comes at least ``distance`` pages after the first occurrence. There are fewer repeats if the pages are too
    few.
    """
    able = list(pages[: max(len(pages) - distance, 0)])
    chosen = sample(able, min(int(len(pages) * share + 0.5), len(able)), f"{seed}:repeats")
    index = {page: i for i, page in enumerate(pages)}
    after: dict[int, list[T]] = {}
    for page in chosen:
        soonest = index[page] + distance
        later = drawn_number(seed, f"again:{page}") % (len(pages) - soonest)
        after.setdefault(soonest + later, []).append(page)
    steps: list[tuple[T, int]] = []
    for i, page in enumerate(pages):
        steps.append((page, 0))
        steps.extend((again, 1) for again in after.get(i, []))
    return steps


def degraded(text: str, others: Sequence[str], seed: Seed) -> str:
    """Return an obviously degraded text: sentences reordered, half of the words dropped or replaced.

    ``others`` holds texts of other sources, which supply the replacements. The result is deterministic. It always
    differs from the text by more than case, spaces and punctuation. Raise ValueError for a text without words.
    """
    sentences = [_WORD.findall(text[start:end]) for start, end in sentence_ranges(text)]
    sentences = [words for words in sentences if words]
    if not sentences:
        raise ValueError("a text without words cannot be degraded")
    foreign = [word for other in shuffled(dict.fromkeys(others), f"{seed}:others") for word in _WORD.findall(other)]
    count = 0
    worse: list[str] = []
    for i in shuffled(range(len(sentences)), f"{seed}:sentences"):
        words = sentences[i]
        gone = sample(range(len(words)), len(words) - int(len(words) * KEPT), f"{seed}:words:{i}")
        dropped, replaced = set(gone[::2]), set(gone[1::2])
        for j in shuffled(range(len(words)), f"{seed}:place:{i}"):
            if j in replaced and foreign:
                worse.append(foreign[drawn_number(seed, f"foreign:{count}") % len(foreign)])
                count += 1
            elif j not in dropped and j not in replaced:
                worse.append(words[j])
    own_words = [word for words in sentences for word in words]
    known = _bare(own_words)
    if not worse or _bare(worse) == known:
        foreign_words = [word for word in foreign if _bare([word]) not in ("", known)]
        # Reordering does not change a text that consists of one word or of repetitions of one word.
        worse = (
            [foreign_words[drawn_number(seed, "strange") % len(foreign_words)]]
            if foreign_words
            else own_words + own_words
        )
        worse = worse if _bare(worse) != known else [*own_words, "of", "of", "the"]
    return " ".join(worse)


def drawn_number(seed: Seed, name: str) -> int:
    """Return a 64-bit number drawn by the seed."""
    return int.from_bytes(order_key(seed, name)[:8], "big")


def _bare(words: Sequence[str]) -> str:
    return "".join(each for each in "".join(words).casefold() if each.isalnum())
