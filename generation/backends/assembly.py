"""From a unit's texts to what a model reads: order, background, question, PICO, markers, separators, templates.

Pure text. How many tokens each document may have is cut by whoever has the tokenizer.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from api import templates
from api.parameters import Parameter, Takes

from .protocol import InputText, Source

SLOTS = ("p", "i", "c", "o")
#: The names that a template may use; everything else in braces stays as it is.
NAMES = ("inputs", "background", "question", "pico", *SLOTS)
#: What a unit has or has not. (A slot of a tuple may well be blank.)
_WHOLE = {"background": "background", "question": "question", "pico": "PICO tuple"}

ORDER = Parameter("order", Takes.CHOICE, "Order of the inputs", "as stored", choices=("as stored", "longest first",
                  "shortest first", "shuffled"), help="Shuffled: by the seed and the unit.")  # fmt: skip
TITLES = Parameter("titles", Takes.SWITCH, "Begin each input with its study's title", False)
PREFIX = Parameter("prefix", Takes.TEXT, "Begin with these words", "",
                   help="As T5 was trained to be told what to do: summarize:")  # fmt: skip
BACKGROUND = Parameter("background", Takes.SWITCH, "Begin with the review's background", False)
QUESTION = Parameter("question", Takes.SWITCH, "Begin with the question", False)
PICO = Parameter("pico", Takes.SWITCH, "Begin each input with the PICO tuple", False,
                 help="M3's PICO prompt: population, intervention, comparator, outcome.")  # fmt: skip
MS2 = "ms2"
#: The encoder reads its padding.
AS_MS2 = "as the ms2 checkpoint"
#: The tokens that MS^2's code adds to a tokenizer.
MS2_MARKERS = ("<background>", "</background>", "<ref>", "</ref>", "<sep>")
MARKERS = Parameter("markers", Takes.CHOICE, "Markers", "none", choices=("none", MS2),
                    help="ms2: <background>…</background> and <ref> title <sep> abstract </ref>, each marker one token "
                    "of the checkpoint's, with nothing between them and no <s> or </s> around them.")  # fmt: skip
SEPARATOR = Parameter("separator", Takes.TEXT, "Separator between inputs", "auto",
                      help="auto: what the model was trained with (<doc-sep> for PRIMERA), else a space.")  # fmt: skip
INPUT_TOKENS = Parameter("input_tokens", Takes.INTEGER, "Tokens read at most", None, minimum=8, maximum=1_000_000,
                         help="Empty: as many as the model takes.")  # fmt: skip
BUDGET = Parameter("budget", Takes.CHOICE, "Budget per document", "from the front",
                   choices=("from the front", "equal shares"),
                   help="Equal shares: max/n tokens each; what short ones leave goes to the others.")  # fmt: skip
DOCUMENTS = Parameter("documents", Takes.INTEGER, "Max documents", None, minimum=1, maximum=10_000)
#: Choices of `FULL_ATTENTION`.
SEPARATORS, HEAD = "first token and separators", "background"
FULL_ATTENTION = Parameter(
    "full_attention", Takes.CHOICE, "Full attention", "auto", choices=("auto", "first token", SEPARATORS, HEAD),
    help="LED and PRIMERA: what is attended to from everywhere. auto: the first token and PRIMERA's <doc-sep>. "
    "background: all that stands before the documents, as in MS^2's LED.",
)  # fmt: skip
#: What every backend that reads text takes.
ASSEMBLY = (ORDER, DOCUMENTS, TITLES, PREFIX, BACKGROUND, QUESTION, PICO)


class Unreadable(ValueError):
    """A unit that cannot be read as its version says, and why, in words."""


@dataclass(frozen=True)
class Assembled:
    """What is read: what comes before the documents, and the documents, in order."""

    before: str
    documents: tuple[str, ...]


def assemble(source: Source, assembly: Mapping[str, Any], *, seed: int) -> Assembled:
    """Put a unit's texts together as an assembly says; parameters that it lacks have their defaults.

    Raises `Unreadable` where the unit lacks what the assembly begins with: read without it, it would be what another
    version reads, and a table would not show it.
    """
    chosen = ordered(source, assembly.get("order", ORDER.default), seed=seed)[: assembly.get("documents")]
    ms2 = assembly.get("markers") == MS2
    tuple_words = pico_words(source.pico) if assembly.get("pico") else ""
    documents = (_document(text, titles=bool(assembly.get("titles")), ms2=ms2) for text in chosen)
    _refuse_lacking(source, {name for name in _WHOLE if assembly.get(name)})
    before = [assembly["prefix"].strip()] if assembly.get("prefix", "").strip() else []
    if assembly.get("background"):
        before.append(f"<background> {source.background} </background>" if ms2 else source.background)
    if assembly.get("question"):
        before.append(source.question)
    return Assembled(" ".join(before), tuple(f"{tuple_words} {text}" if tuple_words else text for text in documents))


def ordered(source: Source, order: str, *, seed: int) -> tuple[InputText, ...]:
    """The inputs in the order asked for. Shuffling depends on the seed and the unit alone, never on the batch."""
    if order == "longest first":
        return tuple(sorted(source.inputs, key=lambda text: -len(text.text)))
    if order == "shortest first":
        return tuple(sorted(source.inputs, key=lambda text: len(text.text)))
    inputs = list(source.inputs)
    if order == "shuffled":
        chance(source, seed).shuffle(inputs)
    return tuple(inputs)


def chance(source: Source, seed: int) -> random.Random:
    """Random numbers of one unit: the same whatever else is run, and in whatever order."""
    return random.Random(f"{seed}:{source.key}")


def pico_words(pico: Mapping[str, str]) -> str:
    """The tuple in one line, without the slots that are blank."""
    return "; ".join(f"{slot.upper()}: {pico[slot]}" for slot in SLOTS if pico.get(slot, "").strip())


def _document(text: InputText, *, titles: bool, ms2: bool) -> str:
    if ms2:
        return f"<ref> {text.title} <sep> {text.text} </ref>"
    return f"{text.title} {text.text}" if titles and text.title else text.text


def _refuse_lacking(source: Source, asked: Iterable[str]) -> None:
    has = {"background": source.background, "question": source.question, "pico": pico_words(source.pico)}
    if lacking := [_WHOLE[name] for name in _WHOLE if name in asked and not has[name].strip()]:
        raise Unreadable(f"The unit has no {' and no '.join(lacking)}, which the version reads.")


def fill(template: str, source: Source, documents: str) -> str:
    """A prompt from a template: only `NAMES` are replaced. Raises `Unreadable` as `assemble` does."""
    _refuse_lacking(source, [name for name in _WHOLE if f"{{{name}}}" in template])
    values = {
        "inputs": documents, "background": source.background, "question": source.question,
        "pico": pico_words(source.pico), **{slot: source.pico.get(slot, "") for slot in SLOTS},
    }  # fmt: skip
    return templates.fill(template, values)
