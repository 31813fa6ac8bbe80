"""How the text of a PICO slot relates to the target text: its form, and where it stands in it."""

import re
from collections.abc import Sequence

from measures import spans

from ..models import PicoForm

#: A marked piece: start, end, quote.
Marked = tuple[int, int, str]
_IMPLIED_ALONE = re.compile(r"\[[^\[\]]*\]")
_IMPLIED = re.compile(r"(?:(?<=\s)|^)\[[^\[\]]*\]")


def without_implied(text: str) -> str:
    """A slot's text without its [implied] parts; brackets inside a word ("rs4236601[A]") are no such part."""
    return _IMPLIED.sub("", text)


def in_words(text: str) -> str:
    """What a slot names, implied words too: "anti-VEGF agents" of "[anti-VEGF] agents"; "rs4236601[A]" stays."""
    return _IMPLIED.sub(lambda implied: implied.group()[1:-1], text).strip()


def form_of(text: str, target: str) -> tuple[PicoForm, tuple[spans.Range, ...]]:
    """The form of a slot's text and, where it is explicit, its ranges of code points in ``target``.

    Spaces around the text count neither for the form nor for the place; the text itself is stored as it was given.
    A text that occurs as whole words, if but for case, is explicit. Brackets inside a word ("rs4236601[A]") imply
    nothing.
    """
    stripped = text.strip()
    if not stripped:
        return PicoForm.BLANK, ()
    if _IMPLIED_ALONE.fullmatch(stripped):
        return PicoForm.IMPLIED, ()
    if without_implied(stripped) != stripped:
        return PicoForm.PARTLY_IMPLIED, ()
    place = spans.locate_words(target, stripped)
    return (PicoForm.EXPLICIT, (place,)) if place else (PicoForm.REWORDED, ())


def said_form(text: str, marked: Sequence[Marked], target: str) -> tuple[PicoForm, tuple[spans.Range, ...]]:
    """The form of a slot that a person gave, and its ranges: where it was marked, those; else as its text has it.

    A text that is the marked pieces is explicit whatever brackets stand in it; with [implied] parts beside them it is
    partly implied. What was marked in an earlier text of the target, and does not stand there any more, counts for
    nothing.
    """
    if not marked or any(target[start:end] != quote for start, end, quote in marked):
        return form_of(text, target)
    whole = " ".join(quote for _, _, quote in marked).strip()
    ranges = tuple((start, end) for start, end, _ in marked)
    return (PicoForm.EXPLICIT if text.strip() == whole else PicoForm.PARTLY_IMPLIED), ranges


def place_in(text: str, slot: str) -> spans.Range | None:
    """Where a slot's text stands in some text of its cluster; its [implied] parts stand nowhere."""
    return spans.locate_words(text, without_implied(slot).strip())
