"""Attention checks: a text made plainly bad stands among the others, and a page comes again at a distance.

Where they are depends on the seed alone, page by page, so that having met one says nothing of the next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from measures.sampling import Seed, T, order_key, sample, shuffled
from measures.sentences import sentence_ranges

DEGRADER = "concord-degrader 1"
"""Name of how texts are made bad, kept with a design; raised with any change of a rule."""

KEPT = 0.5
"""Of a text's words so many stay; of the others every second is dropped, every second another text's."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Check:
    """A degraded text is put on ``page``; what is degraded is the text of ``entrant``."""

    page: str
    entrant: str


def checks(entrants_by_page: Mapping[str, Sequence[str]], share: float, seed: Seed) -> list[Check]:
    """A check on a ``share`` (0..1, rounded to the nearest page) of pages, in the seed's order. Systems are taken
    equally often, as far as the pages allow."""
    if not 0 <= share <= 1:
        raise ValueError("a share lies between 0 and 1")
    pages = [page for page, entrants in entrants_by_page.items() if entrants]
    taken: dict[str, int] = {}
    found = []
    for page in sample(pages, int(len(pages) * share + 0.5), f"{seed}:checks"):
        systems = shuffled(entrants_by_page[page], f"{seed}:checked:{page}")
        entrant = min(systems, key=lambda system: taken.get(system, 0))
        taken[entrant] = taken.get(entrant, 0) + 1
        found.append(Check(page, entrant))
    return found


def with_check(order: Sequence[T], check: T, page: object, number: int, repeat: int, seed: Seed) -> list[T]:
    """The texts of a page in their ``order``, and the check among them, at a place of the seed's."""
    place = _number(seed, f"check:{page}:{number}:{repeat}") % (len(order) + 1)
    found = list(order)
    found.insert(place, check)
    return found


def repeated(pages: Sequence[T], share: float, seed: Seed, *, distance: int = 20) -> list[tuple[T, int]]:
    """(page, repeat) in the order of work: a ``share`` of the pages comes a second time (repeat 1), after at least
    ``distance`` other pages have come; fewer where the pages are too few for it."""
    able = list(pages[: max(len(pages) - distance, 0)])
    chosen = sample(able, min(int(len(pages) * share + 0.5), len(able)), f"{seed}:repeats")
    index = {page: i for i, page in enumerate(pages)}
    after: dict[int, list[T]] = {}
    for page in chosen:
        soonest = index[page] + distance
        later = _number(seed, f"again:{page}") % (len(pages) - soonest)
        after.setdefault(soonest + later, []).append(page)
    steps: list[tuple[T, int]] = []
    for i, page in enumerate(pages):
        steps.append((page, 0))
        steps.extend((again, 1) for again in after.get(i, []))
    return steps


def degraded(text: str, others: Sequence[str], seed: Seed) -> str:
    """The text made plainly bad: its sentences in another order, half of its words gone or another text's.

    ``others``: texts of other sources, whose words come in. The same for the same text, others and seed; never the
    text itself, not even but for case, spaces and stops. ValueError for a text without words.
    """
    sentences = [_WORD.findall(text[start:end]) for start, end in sentence_ranges(text)]
    sentences = [words for words in sentences if words]
    if not sentences:
        raise ValueError("a text without words cannot be made worse")
    foreign = [word for other in shuffled(dict.fromkeys(others), f"{seed}:others") for word in _WORD.findall(other)]
    count = 0
    worse: list[str] = []
    for i in shuffled(range(len(sentences)), f"{seed}:sentences"):
        words = sentences[i]
        gone = sample(range(len(words)), len(words) - int(len(words) * KEPT), f"{seed}:words:{i}")
        dropped, replaced = set(gone[::2]), set(gone[1::2])
        for j in shuffled(range(len(words)), f"{seed}:place:{i}"):
            if j in replaced and foreign:
                worse.append(foreign[_number(seed, f"foreign:{count}") % len(foreign)])
                count += 1
            elif j not in dropped and j not in replaced:
                worse.append(words[j])
    mine = [word for words in sentences for word in words]
    known = _bare(mine)
    if not worse or _bare(worse) == known:
        strange = [word for word in foreign if _bare([word]) not in ("", known)]
        # A text of one word, or of one word again and again, which nobody's order changes.
        worse = [strange[_number(seed, "strange") % len(strange)]] if strange else mine + mine
        worse = worse if _bare(worse) != known else [*mine, "of", "of", "the"]
    return " ".join(worse)


def _number(seed: Seed, name: str) -> int:
    return int.from_bytes(order_key(seed, name)[:8], "big")


def _bare(words: Sequence[str]) -> str:
    return "".join(each for each in "".join(words).casefold() if each.isalnum())
