"""Normalise the form of texts, so that their typography does not reveal a system."""

import re
from collections.abc import Iterable, Sequence

#: Sentence separators that some models write.
_BREAKS = re.compile(r"\s*<\s*(?:n|q|/s|s|pad|unk|sep)\s*>\s*", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_BEFORE = re.compile(r"\s+([,.;:!?%)\]}»\u201d\u2019])")
_AFTER = re.compile(r"([(\[{«\u201c\u2018])\s+")
#: Apostrophes and hyphens that tokenisers separate by spaces: "patient 's", "long - term".
_APART = re.compile(r"(?<=\w)\s+('s|'t|'re|'ve|'ll|'d|'m|n't)\b")
_HYPHEN = re.compile(r"(?<=\w)\s+-\s+(?=\w)")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2019": "'", "\u2018": "'", "`": "'", "\u00a0": " "})
#: Start of a sentence. Excludes text after a single letter ("H. pylori") or after an abbreviation ("e.g.").
_STARTS = re.compile(r"(?:^|(?<=[\w)\]%\"]{2}[.!?])\s+)([a-zà-öø-ÿ])")
_SHORT = re.compile(r"(?:\b(?:vs|al|fig|no|ca|cf|approx|dr|st|incl|resp)\.)\s+$", re.IGNORECASE)
#: A system counts as writing without capitals if at least this share of its texts has none.
MOSTLY = 0.9


def writes_without_capitals(texts: Sequence[str]) -> bool:
    """Whether almost none of a system's texts contains a capital letter."""
    lowered = sum(text == text.lower() for text in texts)
    return bool(texts) and lowered >= MOSTLY * len(texts)


def lowers(by_system: Iterable[Sequence[str]]) -> bool:
    """Whether a round shows its texts without capitals inside sentences, because one system writes that way."""
    return any(writes_without_capitals(texts) for texts in by_system)


def one_form(text: str, *, lowered: bool) -> str:
    """Return a text in the form that raters see.

    Spaces, quotation marks and sentence separators are normalised. With ``lowered``, only the first letter of a
    sentence is a capital. Idempotent.
    """
    text = _BREAKS.sub(" ", text).translate(_QUOTES)
    text = _SPACES.sub(" ", text).strip()
    text = _APART.sub(r"\1", _AFTER.sub(r"\1", _BEFORE.sub(r"\1", text)))
    text = _HYPHEN.sub("-", text)
    if lowered:
        text = text.lower()
    return _STARTS.sub(_begun, text)


def _begun(found: re.Match[str]) -> str:
    """Return the match with the first letter of the sentence as a capital."""
    if _SHORT.search(found.string, 0, found.start(1)):
        return found.group(0)
    return found.group(0)[:-1] + found.group(1).upper()
