"""M3's Tables 3 and 5 from raw judgements (Otmakhova et al. 2022, *M3: Multi-level dataset for multi-document
summarisation of medical studies*, Findings of EMNLP).

What a table prints is derived, never asked: PICO is the same where every stated slot is; polarity has its own N/A, and
so its own denominator; all is correct where PICO, modality and polarity are, all is wrong where none of them is, and a
polarity that is N/A counts as not correct in both. Hallucination and repetition do not enter. No evidence is the
judgement that the output makes no claim, which is another thing than a polarity that is N/A: `mismatches` counts where
they differ.

Where polarity and modality are labels of the output, what an option means on the target's scale is said by the protocol
(`meaning`). An option that means nothing there, and a target without a label, say neither right nor wrong: they are
N/A, of all correct and all wrong too, and `not_compared` counts them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

from measures.means import FROM_0_TO_1
from measures.ratings.judgements import Criterion, Judgement

SLOTS = ("population", "intervention", "comparator", "outcome")
SAME, NONE, NO_EVIDENCE = "same", "none", "no evidence"
#: What is asked, by the keys of the shipped protocols.
CLAIM, POLARITY, MODALITY, HALLUCINATION, REPETITION = "claim", "polarity", "modality", "hallucination", "repetition"
#: What a protocol says that derives matches from such labels.
DERIVES = "m3"
NOT_APPLICABLE = "n/a"
#: The values of a target's labels.
GOLD_SCALES: Mapping[str, tuple[str, ...]] = {
    POLARITY: ("positive", "no effect", "negative", NOT_APPLICABLE),
    MODALITY: ("strong", "moderate", "weak", NO_EVIDENCE),
}
#: Criterion -> value of an option -> the value of `GOLD_SCALES` that it means.
Meant = Mapping[str, Mapping[str, str]]
SAME_WORDS: Meant = {key: {value: value for value in scale} for key, scale in GOLD_SCALES.items()}
_NOTHING = ""
#: (source, item) -> {"polarity", "modality"} of the target in force; polarity "n/a" where modality is "no evidence".
Gold = Mapping[tuple[Any, Any], Mapping[str, str]]
_Text = tuple[Hashable, Hashable, str, str, int]


def _share(key: str, better: Literal["higher", "lower", ""]) -> Criterion:
    return Criterion(key, "share", better=better, bounds=FROM_0_TO_1)


#: In the order of Table 5's columns, after PICO, modality and polarity; each is a share of 1s.
CRITERIA = (
    _share("m3:pico", "higher"), _share("m3:modality", "higher"), _share("m3:polarity", "higher"),
    _share("m3:all correct", "higher"), _share("m3:all wrong", "lower"), _share("m3:hallucination", "lower"),
    _share("m3:repetition", "lower"), _share("m3:no evidence", ""),
)  # fmt: skip


def derived(judgements: Iterable[Judgement], gold: Gold | None = None, meant: Meant = SAME_WORDS) -> list[Judgement]:
    """Judgements by `CRITERIA`, 1, 0 or N/A, of every rater and text; what was not asked is not derived.

    With ``gold`` polarity and modality are labels of the output, and the matches come from the target's, by what the
    options are ``meant`` to be there: the output makes a claim unless its modality is "no evidence", and its polarity
    is N/A where the rater said so. Without, they are judgements whether each is the same.
    """
    texts: dict[_Text, dict[str, Judgement]] = defaultdict(dict)
    for each in judgements:
        texts[each.source, each.item, each.system, each.rater, each.repeat][each.criterion] = each
    return [
        Judgement(any_of.source, any_of.system, any_of.rater, key, value, any_of.place, any_of.ms, any_of.repeat,
                  any_of.item)
        for said in texts.values()
        for any_of in [next(iter(said.values()))]
        for values in [{key: each.value for key, each in said.items()}]
        for key, value in (
            _derived(values, None) if gold is None
            else _derived(_in_words_of_gold(values, meant), gold.get((any_of.source, any_of.item), {}))
        ).items()
    ]  # fmt: skip


def _in_words_of_gold(said: Mapping[str, float | str | None], meant: Meant) -> dict[str, float | str | None]:
    return {key: _word(meant[key], value) if key in GOLD_SCALES else value for key, value in said.items()}


def _word(meant: Mapping[str, str], value: float | str | None) -> str | None:
    """The word of the target's scale; None for N/A, whether it was ticked or is an option."""
    word = None if value is None else meant.get(str(value), _NOTHING)
    return None if word == NOT_APPLICABLE else word


def _derived(said: Mapping[str, float | str | None], gold: Mapping[str, str] | None) -> dict[str, float | None]:
    """Figures of one rater's judgements of one text."""
    slots = [said[slot] for slot in SLOTS if slot in said]
    stated = [value == SAME for value in slots if value is not None]
    made: dict[str, float | None] = {}
    if slots:
        made["m3:pico"] = float(all(stated)) if stated else None
    compared = True
    for key in (MODALITY, POLARITY):
        if key in said:
            right = SAME if gold is None else gold.get(key, _NOTHING)
            there = _NOTHING not in (right, said[key])
            made[f"m3:{key}"] = float(said[key] == right) if there and said[key] is not None else None
            compared &= there
    three = [made.get(f"m3:{key}") for key in ("pico", MODALITY, POLARITY)]
    if all(f"m3:{key}" in made for key in ("pico", MODALITY, POLARITY)):
        made["m3:all correct"] = float(all(each == 1 for each in three)) if compared else None
        made["m3:all wrong"] = float(not any(each == 1 for each in three)) if compared else None
    for key in (HALLUCINATION, REPETITION):
        if key in said:
            made[f"m3:{key}"] = None if said[key] is None else float(said[key] != NONE)
    claims = _claims(said, gold)
    if claims is not None:
        made["m3:no evidence"] = float(not claims)
    return made


def _claims(said: Mapping[str, float | str | None], gold: Mapping[str, str] | None) -> bool | None:
    if said.get(CLAIM) is not None:
        return said[CLAIM] == "yes"
    return said[MODALITY] != NO_EVIDENCE if gold is not None and said.get(MODALITY) else None


def not_compared(judgements: Iterable[Judgement], gold: Gold, meant: Meant = SAME_WORDS) -> list[dict[str, Any]]:
    """The labels that could not be held against the target's, counted: ``criterion``, ``value`` and ``n``. ``value``
    is an option that means nothing there, or null: whatever was said, the target has no label."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in judgements:
        if each.repeat == 0 and each.criterion in GOLD_SCALES:
            if not gold.get((each.source, each.item), {}).get(each.criterion):
                counts[each.criterion, ""] += 1
            elif _word(meant[each.criterion], each.value) == _NOTHING:
                counts[each.criterion, str(each.value)] += 1
    return [{"criterion": key, "value": value or None, "n": n} for (key, value), n in sorted(counts.items())]


def mismatches(made: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Of what `derived` gave, for each system: ``claims without polarity`` and ``polarity without a claim``."""
    texts: dict[_Text, dict[str, float | str | None]] = defaultdict(dict)
    for each in made:
        if each.repeat == 0:
            texts[each.source, each.item, each.system, each.rater, 0][each.criterion] = each.value
    found: dict[str, dict[str, int]] = {}
    for (_, _, system, _, _), said in texts.items():
        counts = found.setdefault(system, {"claims without polarity": 0, "polarity without a claim": 0})
        if "m3:polarity" in said and "m3:no evidence" in said:
            claims, has = said["m3:no evidence"] == 0, said["m3:polarity"] is not None
            counts["claims without polarity"] += claims and not has
            counts["polarity without a claim"] += has and not claims
    return {system: found[system] for system in sorted(found)}
