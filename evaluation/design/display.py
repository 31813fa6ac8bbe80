"""One form for all texts of a round, so that typography gives no system away. What was written stays beside it."""

import re
from collections.abc import Iterable, Sequence

#: Marks between sentences that some models write.
_BREAKS = re.compile(r"\s*<\s*(?:n|q|/s|s|pad|unk|sep)\s*>\s*", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_BEFORE = re.compile(r"\s+([,.;:!?%)\]}»\u201d\u2019])")
_AFTER = re.compile(r"([(\[{«\u201c\u2018])\s+")
#: Apostrophes and hyphens that tokenisers set apart: "patient 's", "long - term".
_APART = re.compile(r"(?<=\w)\s+('s|'t|'re|'ve|'ll|'d|'m|n't)\b")
_HYPHEN = re.compile(r"(?<=\w)\s+-\s+(?=\w)")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2019": "'", "\u2018": "'", "`": "'", "\u00a0": " "})
#: Where a sentence begins: not after a letter by itself, nor after words that are cut short ("H. pylori", "e.g.").
_STARTS = re.compile(r"(?:^|(?<=[\w)\]%\"]{2}[.!?])\s+)([a-zà-öø-ÿ])")
_SHORT = re.compile(r"(?:\b(?:vs|al|fig|no|ca|cf|approx|dr|st|incl|resp)\.)\s+$", re.IGNORECASE)
#: A system writes without capitals where so large a share of its texts has none.
MOSTLY = 0.9


def writes_without_capitals(texts: Sequence[str]) -> bool:
    """Whether a system's texts hardly ever have a capital letter."""
    lowered = sum(text == text.lower() for text in texts)
    return bool(texts) and lowered >= MOSTLY * len(texts)


def lowers(by_system: Iterable[Sequence[str]]) -> bool:
    """Whether texts of a round are shown without capitals but those of sentences: one system writes so."""
    return any(writes_without_capitals(texts) for texts in by_system)


def one_form(text: str, *, lowered: bool) -> str:
    """A text as raters are shown it: spaces, quotation marks and marks between sentences alike for all; ``lowered``:
    capitals at the beginning of sentences only. The same again for what it gave."""
    text = _BREAKS.sub(" ", text).translate(_QUOTES)
    text = _SPACES.sub(" ", text).strip()
    text = _APART.sub(r"\1", _AFTER.sub(r"\1", _BEFORE.sub(r"\1", text)))
    text = _HYPHEN.sub("-", text)
    if lowered:
        text = text.lower()
    return _STARTS.sub(_begun, text)


def _begun(found: re.Match[str]) -> str:
    """The first letter of a sentence as a capital."""
    if _SHORT.search(found.string, 0, found.start(1)):
        return found.group(0)
    return found.group(0)[:-1] + found.group(1).upper()
