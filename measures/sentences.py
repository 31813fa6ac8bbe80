"""Split English biomedical text into sentences and tokens, deterministically and without downloaded models.

A sentence ends at a full stop, ``?`` or ``!`` before white space, including closing quotes, brackets and citation marks
after it. Exceptions are stops of abbreviations, initials ("E. coli", "J. Smith") and list numbers, stops in brackets,
and stops before a lower-case word. A line break always ends a sentence. Text without a space after the stop
("improved.The") is not split. Ranges are half-open and count code points of the unchanged text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from .spans import Range

SPLITTER = "concord-sentences 1"
"""Version of these rules, stored with every figure that depends on them; increased with any change of a rule."""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NEVER = _words(
    "e.g eg i.e ie vs v.s cf fig figs eq eqs eqn ref refs tab dr drs prof mr mrs ms messrs st approx ca viz resp"
    " suppl supp vol pp ed eds dept nos var subsp ssp f.sp resp. incl excl esp"
)
"""Abbreviations that never end a sentence."""

_SELDOM = _words(
    "al etc inc ltd co corp sp spp min max mins hr hrs wk wks mo mos yr yrs sec avg std dev univ jan feb mar apr jun"
    " jul aug sep sept oct nov dec int"
)
"""Abbreviations that end a sentence only before a word of `_OPENERS`, like "U.S.", "i.v.", "b.i.d." and "Ph.D."."""

_OPENERS = _words(
    "a additionally after all also although among an and as at background based because before besides between both"
    " but by compared conclusion conclusions consequently conversely data design despite due during each either"
    " evidence finally findings five for four from further furthermore future given hence here high however if"
    " importantly in interestingly interpretation interventions it its low main many measurements meta-analysis"
    " meta-analyses methods more moreover most much neither nevertheless no none nonetheless nor objective objectives"
    " of on one only or other our outcome outcomes overall participants patients publication purpose randomized"
    " recent results seven several similarly since six so some studies study subjects such ten that the their there"
    " therefore these they this those though three thus to treatment twelve two under unlike until using we what when"
    " whereas whether which while with within women men children"
)
"""Words that, if capitalised, begin a sentence after a possible abbreviation."""

_LETTERED = _words(
    "vitamin vitamins hepatitis group groups type types grade stage class arm arms phase category influenza factor"
    " cohort panel table figure part step protein immunoglobulin score site level condition"
)
"""Words before a single capital that make it a name at the end of a sentence ("hepatitis B."), not an initial."""

_LINE = re.compile(r"[^\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]+")
_STOP = re.compile(
    r"(?:(?<![.?!\u2026])[.?!\u2026]++|(?<=[a-z)\]])\.\d{1,3}(?:[,\u2013-]\d{1,3})*)"  # also "improved.12,13 The"
    r"[\"'\u2019\u201d\u00bb)\]}]*+"
    r"(?:\s?\[\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3})*\])*"
    r"(?:\s?</[a-z]{1,12}>)*"  # MS^2's tags, which often close after the stop
    r"(?=\s)"
)
_DOTTED = re.compile(r"(?:[A-Za-z]{1,2}\.)+[A-Za-z]{1,2}")
_LIST_NUMBER = re.compile(r"[(\[]?(?:\d{1,2}|[ivx]{1,4}|[A-Za-z])")
_NEXT = re.compile(r"(?:\s*</?[a-z]{1,12}>)*\s*[\"'\u2018\u201c\u00ab(\[{]*([\w'-]*|.)", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{"}


def sentence_ranges(text: str) -> tuple[Range, ...]:
    """Return sentence ranges (n,) in order, without overlaps and without white space at either end.

    Every other character is in exactly one range. A text of white space has no sentence.
    """
    ranges: list[Range] = []
    for line in _LINE.finditer(text):
        begin = line.start()
        for end in (*_ends(text, line.start(), line.end()), line.end()):
            piece = text[begin:end]
            left, right = len(piece) - len(piece.lstrip()), len(piece.rstrip())
            if left < right:
                ranges.append((begin + left, begin + right))
            begin = end
    return tuple(ranges)


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences, the unchanged slices of ``sentence_ranges``."""
    return tuple(text[start:end] for start, end in sentence_ranges(text))


def _ends(text: str, start: int, stop: int) -> list[int]:
    """Return the ends of all sentences of one line except the last."""
    line = text[start:stop]
    bracketed = _bracketed(line)
    ends = []
    begin = 0
    for hit in _STOP.finditer(line):
        i = bisect_left(bracketed, (hit.start(), 0)) - 1
        if i >= 0 and hit.end() <= bracketed[i][1]:
            continue
        if _is_end(line, begin, hit):
            ends.append(start + hit.end())
            begin = hit.end()
    return ends


def _is_end(line: str, begin: int, hit: re.Match[str]) -> bool:
    """Whether this stop ends the sentence that began at ``begin``."""
    follows = _NEXT.match(line, hit.end())
    word = follows.group(1) if follows else ""
    if not word or not _can_begin(word):
        return False
    if not hit.group().startswith(".") or hit.group().startswith(".."):
        return True
    before = line[begin : hit.start()]
    token = _last_word(before)
    bare = token.lstrip("([{\"'\u2018\u201c")
    if not token:  # a separate stop, as in tokenized text
        return bool(before.strip())
    if before.strip() == token and _LIST_NUMBER.fullmatch(token):
        return False
    opens = word.lower() in _OPENERS and word[0].isupper()
    low = bare.lower()
    if low in _NEVER:
        return False
    if low == "0" and word[0].isdigit():  # as in "p < 0. 05"
        return False
    if low in ("no", "p", "n") and word[0].isdigit():
        return False
    if low in _SELDOM or _DOTTED.fullmatch(bare):
        return opens
    if len(bare) == 1 and bare.isalpha() and bare.isupper():
        return opens or _names_a_letter(before[: len(before) - len(token)].rsplit(None, 2)[-2:])
    return True


def _names_a_letter(words: list[str]) -> bool:
    """Whether a single capital after these words is a name: "hepatitis B.", "A and B."."""
    if not words:
        return False
    if words[-1].lower() in ("and", "or"):
        return len(words) > 1 and len(words[0]) == 1 and words[0].isupper()
    return words[-1].lower() in _LETTERED


def _can_begin(word: str) -> bool:
    """Whether a word can begin a sentence.

    Digits, "\u03b2", mTOR, pH, miR-21 and p53 can; plain lower-case words cannot.
    """
    first = word[0]
    if not first.islower() or not first.isascii():
        return True
    return any(c.isupper() or c.isdigit() for c in word)


def _last_word(before: str) -> str:
    return before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else ""


def _bracketed(line: str) -> list[Range]:
    """Return the ranges between matching brackets. An unmatched bracket is ignored."""
    spans: list[Range] = []
    open_at: list[int] = []
    for i, character in enumerate(line):
        if character in "([{":
            open_at.append(i)
        elif character in ")]}":
            # a limited depth keeps the time linear
            for depth in range(len(open_at) - 1, max(-1, len(open_at) - 9), -1):
                if line[open_at[depth]] == _PAIRS[character]:
                    spans.append((open_at[depth], i))
                    del open_at[depth:]
                    break
    # Inner pairs are within outer ones, so only the outermost are kept.
    outer: list[Range] = []
    for low, high in sorted(spans):
        if not outer or low > outer[-1][1]:
            outer.append((low, high))
    return outer


TOKENIZER = "concord-tokens 1"
"""Version of the token rule, stored with every figure that depends on it."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)+(?!\w)|\w+|\S")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a text: ``ranges`` (n,) half-open ranges of code points, ``keys`` (n,) case-folded for comparison."""

    ranges: tuple[Range, ...]
    keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def covering(self, first: int, n: int) -> Range:
        """Return the range of the text that covers ``n`` tokens from token ``first``; n >= 1."""
        return self.ranges[first][0], self.ranges[first + n - 1][1]


def tokens_of(text: str) -> Tokens:
    """Split a text into numbers with decimals ("0.05", "1,200"), runs of letters and digits, and single other
    characters.

    Unlike ROUGE's tokens these keep all characters except white space: "\\u03b2", "\\u2265" and "<". Case is ignored.
    """
    hits = [(hit.span(), hit.group().casefold()) for hit in _TOKEN.finditer(text)]
    return Tokens(tuple(span for span, _ in hits), tuple(key for _, key in hits))


def ngrams(keys: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Return all max(0, len - n + 1) n-grams in order. Raise ValueError for n < 1."""
    if n < 1:
        raise ValueError("an n-gram has at least one token")
    return list(zip(*(keys[i:] for i in range(n)), strict=False))
