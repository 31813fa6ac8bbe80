"""Assemble the input text of a unit, and divide the token budget between its documents."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import templates
from api.parameters import Parameter, Takes
from measures.pio import parse_pio

from ..models import UnitLevel
from .protocol import InputText, Source


def shares(lengths: Sequence[int], limit: int, *, equal: bool) -> list[int]:
    """Return how many tokens to keep of each document, at most ``limit`` in total.

    By default the budget is filled from the front: documents are kept whole until it is used up. With ``equal``, each
    document gets the same share. Tokens that short documents leave unused are divided among the longer ones, and a
    remainder goes to the first of these.
    """
    token_counts, budget = [0] * len(lengths), max(limit, 0)
    if not equal:
        for i, length in enumerate(lengths):
            token_counts[i] = min(length, budget)
            budget -= token_counts[i]
        return token_counts
    unfilled = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    while unfilled:
        share, remainder = divmod(budget, len(unfilled))
        if lengths[unfilled[0]] > share:
            for rank, i in enumerate(sorted(unfilled)):
                token_counts[i] = share + (rank < remainder)
            break
        shortest = unfilled.pop(0)
        token_counts[shortest] = lengths[shortest]
        budget -= token_counts[shortest]
    return token_counts


def cut(text: str, offsets: Sequence[tuple[int, int]], tokens: int) -> str:
    """Return the beginning of a text that its first ``tokens`` tokens cover.

    ``offsets`` holds the character range of each token.
    """
    return text if tokens >= len(offsets) else text[: offsets[tokens - 1][1]].rstrip() if tokens else ""


SLOTS = ("p", "i", "c", "o")
#: The fields of a prompt template. Other text in braces is left unchanged.
NAMES = ("inputs", "background", "question", "pico", *SLOTS)
#: The fields that a unit may lack, with their names in messages. A single PICO element may be blank.
_FIELD_NAMES = {"background": "background", "question": "question", "pico": "PICO tuple"}

ORDER = Parameter(
    "order",
    Takes.CHOICE,
    "Order of the inputs",
    "as stored",
    choices=("as stored", "longest first", "shortest first", "shuffled"),
    help="shuffled: at random, seeded by the version's seed and the unit.",
)
TITLES = Parameter("titles", Takes.SWITCH, "Begin each input with its study's title", False)
PREFIX = Parameter(
    "prefix", Takes.TEXT, "Prefix", "", help="Task prefix with which the model was trained, such as summarize: for T5."
)
BACKGROUND = Parameter("background", Takes.SWITCH, "Begin with the review's background", False)
QUESTION = Parameter("question", Takes.SWITCH, "Begin with the question", False)
PAGES = Parameter(
    "pages",
    Takes.SWITCH,
    "Read whole pages instead of passages",
    False,
    help="Levels answer and question. A unit is skipped if one of its passages has no page.",
)
PICO = Parameter(
    "pico",
    Takes.SWITCH,
    "Begin each input with the PICO tuple",
    False,
    help="M3's PICO prompt: population, intervention, comparator, outcome.",
)
#: Choices of `TAGS`.
IN_BACKGROUND, EVERYWHERE, NO_TAGS = "background", "background and inputs", "none"
TAGS = Parameter(
    "tags",
    Takes.CHOICE,
    "Tags of populations, interventions and outcomes",
    IN_BACKGROUND,
    choices=(IN_BACKGROUND, EVERYWHERE, NO_TAGS),
    help="Where the current spans of MS^2's texts are marked by <pop>, <int> and <out>. MS^2's models read them in "
    "background and inputs.",
)
MS2 = "ms2"
#: The encoder attends to its padding.
AS_MS2 = "as the ms2 checkpoint"
#: The tokens that the MS^2 code adds to a tokenizer.
MS2_MARKERS = ("<background>", "</background>", "<ref>", "</ref>", "<sep>")
TAG_MARKERS = ("<pop>", "</pop>", "<int>", "</int>", "<out>", "</out>")
EVIDENCE_MARKERS = ("<evidence>", "</evidence>")
MARKERS = Parameter(
    "markers",
    Takes.CHOICE,
    "Markers",
    "none",
    choices=("none", MS2),
    help="ms2: <background>…</background> and <ref> title <sep> abstract </ref>; for a pair, <ref> with <int>, <out>, "
    "<evidence> and <sep> direction. Each marker is one token of the checkpoint. Nothing separates them, and no <s> "
    "or </s> encloses them.",
)
SEPARATOR = Parameter(
    "separator",
    Takes.TEXT,
    "Separator between inputs",
    "auto",
    help="auto: as in the model's training (<doc-sep> for PRIMERA), otherwise a space.",
)
INPUT_TOKENS = Parameter(
    "input_tokens",
    Takes.INTEGER,
    "Maximum input tokens",
    None,
    minimum=8,
    maximum=1_000_000,
    help="Empty: the limit of the model.",
)
BUDGET = Parameter(
    "budget",
    Takes.CHOICE,
    "Budget per document",
    "from the front",
    choices=("from the front", "equal shares"),
    help="equal shares: max/n tokens each; unused tokens go to the other documents.",
)
DOCUMENTS = Parameter("documents", Takes.INTEGER, "Max documents", None, minimum=1, maximum=10_000)
#: Choices of `FULL_ATTENTION`.
SEPARATORS, HEAD = "first token and separators", "background"
FULL_ATTENTION = Parameter(
    "full_attention",
    Takes.CHOICE,
    "Full attention",
    "auto",
    choices=("auto", "first token", SEPARATORS, HEAD),
    help="LED and PRIMERA: tokens with global attention. auto: the first token and PRIMERA's <doc-sep>. "
    "background: everything before the documents, as in MS^2's LED.",
)
#: Assembly parameters that every backend with text input accepts.
ASSEMBLY = (ORDER, DOCUMENTS, PAGES, TITLES, PREFIX, BACKGROUND, TAGS, QUESTION, PICO)


class Unreadable(ValueError):
    """A unit lacks a text that its version reads. The message states which."""


@dataclass(frozen=True)
class AssembledInput:
    """The assembled input: the text before the documents, and the documents in order."""

    before: str
    documents: tuple[str, ...]


def assemble(source: Source, assembly: Mapping[str, Any], *, seed: int) -> AssembledInput:
    """Assemble the texts of a unit. Missing parameters take their defaults.

    Raise `Unreadable` if the unit lacks a text that the assembly includes. Without it, the unit would be read like one
    of another version, and a table would not show the difference.
    """
    chosen = ordered(source, assembly.get("order", ORDER.default), seed=seed)[: assembly.get("documents")]
    ms2 = assembly.get("markers") == MS2
    tuple_words = format_pico(source.pico) if assembly.get("pico") else ""
    tags = assembly.get("tags", TAGS.default)
    background = source.background if tags != NO_TAGS else parse_pio(source.background).text
    if any(text.direction for text in chosen):
        # MS^2's program for tables separates the parts of a row by line ends.
        documents = [_row(text, background, ms2=ms2) for text in chosen]
        background = f"\n{background}\n" if ms2 else background
    else:
        titles = bool(assembly.get("titles"))
        documents = [_document(text, titles=titles, ms2=ms2, tagged=tags == EVERYWHERE) for text in chosen]
        background = f" {background} " if ms2 else background
    _refuse_missing(source, {name for name in _FIELD_NAMES if assembly.get(name)})
    parts = [assembly["prefix"].strip()] if assembly.get("prefix", "").strip() else []
    if assembly.get("background"):
        parts.append(f"<background>{background}</background>" if ms2 else background)
    if assembly.get("question"):
        parts.append(source.question)
    return AssembledInput(
        " ".join(parts), tuple(f"{tuple_words} {text}" if tuple_words else text for text in documents)
    )


def reads_pages(config: Mapping[str, Any]) -> bool:
    """Return whether a version reads whole pages instead of passages."""
    return bool(config.get("assembly", {}).get("pages"))


def ordered(source: Source, order: str, *, seed: int) -> tuple[InputText, ...]:
    """Return the inputs in the configured order.

    Shuffling depends on the seed and the unit only, never on the batch.
    """
    if order == "longest first":
        return tuple(sorted(source.inputs, key=lambda text: -len(text.text)))
    if order == "shortest first":
        return tuple(sorted(source.inputs, key=lambda text: len(text.text)))
    inputs = list(source.inputs)
    if order == "shuffled":
        chance(source, seed).shuffle(inputs)
    return tuple(inputs)


def chance(source: Source, seed: int) -> random.Random:
    """Return a random generator for one unit. It does not depend on other units or on their order."""
    return random.Random(f"{seed}:{source.key}")


def format_pico(pico: Mapping[str, str]) -> str:
    """Return the PICO tuple as one line, without blank elements."""
    return "; ".join(f"{slot.upper()}: {pico[slot]}" for slot in SLOTS if pico.get(slot, "").strip())


def markers_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the markers that the tokenizer of a version must have as single tokens."""
    assembly = config["assembly"]
    if assembly.get("markers") != MS2:
        return ()
    if config.get("level") == UnitLevel.PAIR:
        return (*MS2_MARKERS, *TAG_MARKERS, *EVIDENCE_MARKERS)
    return (*MS2_MARKERS, *(TAG_MARKERS if assembly.get("tags") == EVERYWHERE else ()))


def _document(text: InputText, *, titles: bool, ms2: bool, tagged: bool) -> str:
    words = (text.tagged if tagged else "") or text.text
    if ms2:
        return f"<ref> {text.title} <sep> {words} </ref>"
    return f"{text.title} {words}" if titles and text.title else words


def _row(text: InputText, pair: str, *, ms2: bool) -> str:
    """Return the row of a study at the level of pairs. ``pair``: the tagged intervention and outcome."""
    if ms2:
        return f"<ref>\n{pair}\n<evidence> {text.text} </evidence>\n<sep> {text.direction}\n</ref>"
    return f"{text.text} Effect: {text.direction}."


def _refuse_missing(source: Source, required: Iterable[str]) -> None:
    fields = {"background": source.background, "question": source.question, "pico": format_pico(source.pico)}
    if missing := [_FIELD_NAMES[name] for name in _FIELD_NAMES if name in required and not fields[name].strip()]:
        raise Unreadable(f"The unit has no {' and no '.join(missing)}, which this version requires.")


def fill(template: str, source: Source, documents: str) -> str:
    """Fill a prompt template. Only `NAMES` are replaced. Raise `Unreadable` as `assemble` does."""
    _refuse_missing(source, [name for name in _FIELD_NAMES if f"{{{name}}}" in template])
    values = {
        "inputs": documents,
        "background": source.background,
        "question": source.question,
        "pico": format_pico(source.pico),
        **{slot: source.pico.get(slot, "") for slot in SLOTS},
    }
    return templates.fill(template, values)
