"""Reference labels for simulated annotators, from a file in M3's format or guessed from the text."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.kinds.cue_lexicon import find_cues
from annotation.models import Modality, Polarity
from measures import spans

Range = tuple[int, int]


@dataclass(frozen=True)
class Thought:
    """A label with its cues as ranges of code points."""

    polarity: str
    modality: str
    polarity_cue: tuple[Range, ...] = ()
    modality_cue: tuple[Range, ...] = ()

    def value(self, text: str) -> dict[str, Any]:
        """Return the value for the API, with the quotes that the server verifies."""
        return {
            "polarity": self.polarity,
            "modality": self.modality,
            "polarity_cue": _fragments(text, self.polarity_cue),
            "modality_cue": _fragments(text, self.modality_cue),
        }


def _fragments(text: str, ranges: tuple[Range, ...]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "quote": text[start:end]} for start, end in ranges]


#: Returns the reference label of a card.
Truth = Callable[[Mapping[str, Any]], Thought]


def from_file(path: Path) -> Truth:
    """Return published labels of M3's level 3 by the unit's key (``<docid>/<position>``, the target at 0).

    Units that are not in the file are guessed. Raise ValueError for a file of another format.
    """
    known: dict[str, tuple[str, str, str, str]] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            labels = [_label_of(item, "target"), *(_label_of(study, "source") for study in item["input_studies"])]
            known |= {f"{item['docid']}/{position}": one for position, one in enumerate(labels)}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is not in M3's level 3 format: {error!r}") from error

    def truth(card: Mapping[str, Any]) -> Thought:
        if card["unit"]["key"] not in known:
            return guess(card)
        polarity, modality, polarity_cue, modality_cue = known[card["unit"]["key"]]
        text = card["text"]
        if modality == Modality.NO_EVIDENCE:
            return Thought(Polarity.NOT_APPLICABLE, modality, (), _found(text, modality_cue))
        return Thought(polarity, modality, _found(text, polarity_cue), _found(text, modality_cue))

    return truth


def _label_of(record: Mapping[str, Any], who: str) -> tuple[str, str, str, str]:
    names = ("direction", "modality", "direction_span", "modality_span")
    polarity, modality, polarity_cue, modality_cue = (str(record[f"{who}_{name}"]) for name in names)
    return polarity, modality, polarity_cue, modality_cue


def _found(text: str, cue: str) -> tuple[Range, ...]:
    found = spans.locate(text, cue) if cue.strip() else None
    return tuple(found.ranges[:1]) if found else ()


_NONE = re.compile(r"(insufficient|no|lack of|limited) (reliable |good )?evidence|unclear|inconclusive", re.IGNORECASE)
_NULL = re.compile(r"\b(no|not|nor|neither|similar|comparable|without)\b", re.IGNORECASE)
_BAD = re.compile(r"\b(worse\w*|harm\w*|adverse|higher risk|increased risk|inferior)\b", re.IGNORECASE)
_WEAK = re.compile(r"\b(may|might|could|suggest\w*|seem\w*|appear\w*|possibly|probably)\b", re.IGNORECASE)
_STRONG = re.compile(r"\b(clear\w*|strong\w*|definite\w*|confirm\w*|demonstrat\w*|prove[sdn]?)\b", re.IGNORECASE)


def guess(card: Mapping[str, Any]) -> Thought:
    """Guess a label from words of the text.

    It only has to be plausible, as a reference that annotators deviate from.
    """
    text = card["text"]
    if none := _NONE.search(text):
        return Thought(Polarity.NOT_APPLICABLE, Modality.NO_EVIDENCE, (), (none.span(),))
    polarity: str = Polarity.POSITIVE
    polarity_cue = next(iter(find_cues(text)), None)
    for pattern, value in ((_NULL, Polarity.NO_EFFECT), (_BAD, Polarity.NEGATIVE)):
        if match := pattern.search(text):
            polarity, polarity_cue = value, match.span()
            break
    modality: str = Modality.MODERATE
    modality_cue = None
    for pattern, strength in ((_WEAK, Modality.WEAK), (_STRONG, Modality.STRONG)):
        if match := pattern.search(text):
            modality, modality_cue = strength, match.span()
            break
    return Thought(
        str(polarity), str(modality), (polarity_cue,) if polarity_cue else (), (modality_cue,) if modality_cue else ()
    )
