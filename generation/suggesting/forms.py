"""What a chat model is asked for each task: the data that it reads, the form of its answer, and the value of it.

An answer quotes words instead of counting characters. A quote must occur exactly once in the text; an answer that does
not fit is invalid, and is never repaired.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import EvidenceMark, Modality, Polarity, RhetoricalClass
from projects.kinds import Value

Json = dict[str, Any]
Card = Mapping[str, Any]
ELEMENTS = {"p": "population", "i": "intervention", "c": "comparator", "o": "outcome"}
SPANS = ("population_spans", "intervention_spans", "outcome_spans")


class InvalidAnswer(Exception):
    """The answer of a model does not fit. The message says why, in words that a model can follow."""


class Form(ABC):
    """One task as a question to a chat model. ``answer`` is an example of the JSON object that is expected."""

    #: Explanation of the JSON object.
    explanation: str

    @abstractmethod
    def data(self, card: Card) -> Json:
        """Return what the model reads of a card."""

    @abstractmethod
    def value(self, answer: Json, card: Card) -> Value:
        """Return the value of an answer, unchecked. Raise `InvalidAnswer`."""


class LabelForm(Form):
    explanation = (
        f'{{"polarity": one of {list(Polarity.values)}, "modality": one of {list(Modality.values)}, '
        '"polarity_cue": [words that show the polarity], "modality_cue": [words that show the modality]}. '
        'The polarity is "n/a" exactly if the modality is "no evidence". A cue is a list of pieces copied exactly from '
        "the text, in order; [] if there is none."
    )

    def data(self, card: Card) -> Json:
        return {"text": card["text"]} | {ELEMENTS[one["element"]]: one["text"] for one in card["pico"]}

    def value(self, answer: Json, card: Card) -> Value:
        keys(answer, ("polarity", "modality", "polarity_cue", "modality_cue"))
        text, asks = card["text"], card["asks_cues"]
        cues = {name: fragments(text, answer[name], name) if asks else [] for name in ("polarity_cue", "modality_cue")}
        return {"polarity": answer["polarity"], "modality": answer["modality"], **cues}


class PicoForm(Form):
    explanation = (
        '{"tuples": [{"p": …, "i": …, "c": …, "o": …}]}, one tuple for each proposition of the sentence: population, '
        "intervention, comparator and outcome. Each is a list of pieces copied exactly from the text, in order; [] if "
        "it is not stated."
    )

    def data(self, card: Card) -> Json:
        return {"text": card["text"], "title of the review": card["title"]}

    def value(self, answer: Json, card: Card) -> Value:
        keys(answer, ("tuples",))
        rows = []
        for n, row in enumerate(listed(answer["tuples"], "tuples")):
            keys(row, tuple(ELEMENTS))
            rows.append({name: _element(card["text"], row[name], f"tuples.{n}.{name}") for name in ELEMENTS})
        return {"tuples": rows}


class EntityForm(Form):
    explanation = (
        '{"population_spans": […], "intervention_spans": […], "outcome_spans": […]}: all spans of the abstract that '
        "name a population, an intervention or an outcome. Each span is copied exactly from the text. If the words "
        'occur several times, give {"quote": words, "occurrence": 2} for the second occurrence.'
    )

    def data(self, card: Card) -> Json:
        return {"title": card["title"], "text": card["text"]}

    def value(self, answer: Json, card: Card) -> Value:
        keys(answer, SPANS)
        return {
            name: [located(card["text"], one, f"{name}.{n}") for n, one in enumerate(listed(answer[name], name))]
            for name in SPANS
        }


class SentencesForm(Form):
    explanation = (
        'For the task "sentence_classes": {"classes": {"1": class, "2": class, …}} with the class of every sentence, '
        f'one of {list(RhetoricalClass.values)}. For the task "evidence_sentences": {{"picked": [numbers of the '
        "sentences with evidence]}."
    )

    def data(self, card: Card) -> Json:
        sentences = {str(one["number"]): one["text"] for one in card["sentences"]}
        return {"task": card["task"], "title": card["title"], "sentences": sentences}

    def value(self, answer: Json, card: Card) -> Value:
        numbers = [one["number"] for one in card["sentences"]]
        if card["task"] == "sentence_classes":
            keys(answer, ("classes",))
            classes = answer["classes"]
            if not isinstance(classes, dict) or set(classes) != {str(n) for n in numbers}:
                raise InvalidAnswer(f"classes must have exactly the keys 1 to {len(numbers)}.")
            return {"sentence_classes": [{"number": n, "said": classes[str(n)]} for n in numbers]}
        keys(answer, ("picked",))
        picked = listed(answer["picked"], "picked")
        if not all(type(n) is int and n in numbers for n in picked):
            raise InvalidAnswer(f"picked must be numbers of sentences, from 1 to {len(numbers)}.")
        marks = [{"number": n, "said": EvidenceMark.PICKED if n in picked else EvidenceMark.NEITHER} for n in numbers]
        return {"evidence_sentences": {"dropped": "", "sentences": marks}}


FORMS: Mapping[str, Form] = {
    "label": LabelForm(),
    "pico": PicoForm(),
    "entity": EntityForm(),
    "sentences": SentencesForm(),
}


def keys(answer: Any, names: Sequence[str]) -> None:
    """Raise `InvalidAnswer` unless the answer is an object with exactly these keys."""
    if not isinstance(answer, dict) or set(answer) != set(names):
        raise InvalidAnswer(f"Expected an object with the keys {', '.join(names)}, and no others.")


def listed(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidAnswer(f"{name} must be a list.")
    return value


def located(text: str, quote: Any, name: str) -> Json:
    """Return the only place of a quote, or the numbered one, as a fragment. Raise `InvalidAnswer`."""
    number = None
    if isinstance(quote, dict):
        keys(quote, ("quote", "occurrence"))
        quote, number = quote["quote"], quote["occurrence"]
    if not isinstance(quote, str) or not quote.strip():
        raise InvalidAnswer(f"{name} must be words of the text.")
    starts = [at for at in range(len(text)) if text.startswith(quote, at)]
    if number is None and len(starts) > 1:
        raise InvalidAnswer(f"{name}: {quote!r} occurs {len(starts)} times in the text. Quote more words.")
    if not starts or (number is not None and not (type(number) is int and 1 <= number <= len(starts))):
        raise InvalidAnswer(f"{name}: {quote!r} does not occur in the text{'' if number is None else ' so often'}.")
    start = starts[0 if number is None else number - 1]
    return {"start": start, "end": start + len(quote), "quote": quote}


def fragments(text: str, quotes: Any, name: str) -> list[Json]:
    return [located(text, quote, f"{name}.{n}") for n, quote in enumerate(listed(quotes, name))]


def _element(text: str, quotes: Any, name: str) -> Json:
    pieces = fragments(text, quotes, name)
    return {"text": " ".join(piece["quote"] for piece in pieces), "fragments": pieces}
