"""M3's Tables 3 and 5 from raw judgements, and the parts of results that a release contains.

Source: Otmakhova et al. 2022, *M3: Multi-level dataset for multi-document summarisation of medical studies*, Findings
of EMNLP. The figures of a table are derived from other judgements. PICO is the same if every stated PICO element is.
Polarity can be N/A, so it has its own denominator. All correct requires PICO, modality and polarity; all wrong requires
none of them. A polarity that is N/A counts as not correct in both. Hallucination and repetition do not enter.

No evidence means that the output makes no claim. This is not the same as a polarity that is N/A; `mismatches` counts
the differences. If polarity and modality are labels of the output, the protocol declares what an option means on the
target's scale (`meanings`). If an option has no meaning there, or the target has no label, the comparison is N/A. All
correct and all wrong are then N/A too. `not_compared` counts these cases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

from ..means import FROM_0_TO_1
from .confusion import SKIP, STANDARD
from .judgements import Criterion, Judgement

SLOTS = ("population", "intervention", "comparator", "outcome")
SAME, NONE, NO_EVIDENCE = "same", "none", "no evidence"
#: Criteria that are asked, by the keys of the shipped protocols.
CLAIM, POLARITY, MODALITY, HALLUCINATION, REPETITION = "claim", "polarity", "modality", "hallucination", "repetition"
#: Value of a protocol's ``derives`` that derives matches from labels.
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
#: (source, item) -> current {"polarity", "modality"} of the target. Polarity is "n/a" if modality is "no evidence".
Gold = Mapping[tuple[Any, Any], Mapping[str, str]]
_Text = tuple[Hashable, Hashable, str, str, int]


def _share(key: str, better: Literal["higher", "lower", ""]) -> Criterion:
    return Criterion(key, "share", better=better, bounds=FROM_0_TO_1)


#: PICO, modality and polarity, then the order of Table 5's columns. Each is a share of 1s.
CRITERIA = (
    _share("m3:pico", "higher"),
    _share("m3:modality", "higher"),
    _share("m3:polarity", "higher"),
    _share("m3:all correct", "higher"),
    _share("m3:all wrong", "lower"),
    _share("m3:hallucination", "lower"),
    _share("m3:repetition", "lower"),
    _share("m3:no evidence", ""),
)


def derived(judgements: Iterable[Judgement], gold: Gold | None = None, meant: Meant = SAME_WORDS) -> list[Judgement]:
    """Return judgements by `CRITERIA` (1, 0 or N/A) of every rater and text. Unasked criteria are not derived.

    With ``gold``, polarity and modality are labels of the output. They are compared with the target's labels,
    translated by ``meant``. The output makes a claim unless its modality is "no evidence". Its polarity is N/A if the
    rater marked it so. Without ``gold``, the judgements state whether each is the same.
    """
    texts: dict[_Text, dict[str, Judgement]] = defaultdict(dict)
    for each in judgements:
        texts[each.source, each.item, each.system, each.rater, each.repeat][each.criterion] = each
    return [
        Judgement(
            any_of.source,
            any_of.system,
            any_of.rater,
            key,
            value,
            any_of.position,
            any_of.ms,
            any_of.repeat,
            any_of.item,
        )
        for by_criterion in texts.values()
        for any_of in [next(iter(by_criterion.values()))]
        for values in [{key: each.value for key, each in by_criterion.items()}]
        for key, value in (
            _derived(values, None)
            if gold is None
            else _derived(_in_words_of_gold(values, meant), gold.get((any_of.source, any_of.item), {}))
        ).items()
    ]


def _in_words_of_gold(values: Mapping[str, float | str | None], meant: Meant) -> dict[str, float | str | None]:
    return {key: _word(meant[key], value) if key in GOLD_SCALES else value for key, value in values.items()}


def _word(meant: Mapping[str, str], value: float | str | None) -> str | None:
    """Return the word of the target's scale. Return None for N/A, whether it was ticked or is an option."""
    word = None if value is None else meant.get(str(value), _NOTHING)
    return None if word == NOT_APPLICABLE else word


def _derived(values: Mapping[str, float | str | None], gold: Mapping[str, str] | None) -> dict[str, float | None]:
    """Return the derived figures of one rater's judgements of one text."""
    slots = [values[slot] for slot in SLOTS if slot in values]
    stated = [value == SAME for value in slots if value is not None]
    derived_values: dict[str, float | None] = {}
    if slots:
        derived_values["m3:pico"] = float(all(stated)) if stated else None
    compared = True
    for key in (MODALITY, POLARITY):
        if key in values:
            right = SAME if gold is None else gold.get(key, _NOTHING)
            has_claim = _NOTHING not in (right, values[key])
            derived_values[f"m3:{key}"] = float(values[key] == right) if has_claim and values[key] is not None else None
            compared &= has_claim
    three = [derived_values.get(f"m3:{key}") for key in ("pico", MODALITY, POLARITY)]
    if all(f"m3:{key}" in derived_values for key in ("pico", MODALITY, POLARITY)):
        derived_values["m3:all correct"] = float(all(each == 1 for each in three)) if compared else None
        derived_values["m3:all wrong"] = float(not any(each == 1 for each in three)) if compared else None
    for key in (HALLUCINATION, REPETITION):
        if key in values:
            derived_values[f"m3:{key}"] = None if values[key] is None else float(values[key] != NONE)
    claims = _claims(values, gold)
    if claims is not None:
        derived_values["m3:no evidence"] = float(not claims)
    return derived_values


def _claims(values: Mapping[str, float | str | None], gold: Mapping[str, str] | None) -> bool | None:
    if values.get(CLAIM) is not None:
        return values[CLAIM] == "yes"
    return values[MODALITY] != NO_EVIDENCE if gold is not None and values.get(MODALITY) else None


def not_compared(judgements: Iterable[Judgement], gold: Gold, meant: Meant = SAME_WORDS) -> list[dict[str, Any]]:
    """Return the counts of labels that could not be compared with the target: ``criterion``, ``value`` and ``n``.

    ``value`` is an option without a meaning on the target's scale. It is null if the target has no label.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for each in judgements:
        if each.repeat == 0 and each.criterion in GOLD_SCALES:
            if not gold.get((each.source, each.item), {}).get(each.criterion):
                counts[each.criterion, ""] += 1
            elif _word(meant[each.criterion], each.value) == _NOTHING:
                counts[each.criterion, str(each.value)] += 1
    return [{"criterion": key, "value": value or None, "n": n} for (key, value), n in sorted(counts.items())]


def mismatches(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Return ``claims without polarity`` and ``polarity without a claim`` by system, from `derived` judgements."""
    texts: dict[_Text, dict[str, float | str | None]] = defaultdict(dict)
    for each in judgements:
        if each.repeat == 0:
            texts[each.source, each.item, each.system, each.rater, 0][each.criterion] = each.value
    found: dict[str, dict[str, int]] = {}
    for (_, _, system, _, _), values in texts.items():
        counts = found.setdefault(system, {"claims without polarity": 0, "polarity without a claim": 0})
        if "m3:polarity" in values and "m3:no evidence" in values:
            claims, has = values["m3:no evidence"] == 0, values["m3:polarity"] is not None
            counts["claims without polarity"] += claims and not has
            counts["polarity without a claim"] += has and not claims
    return {system: found[system] for system in sorted(found)}


def scale_of(derives: str, key: str, standard: str) -> Sequence[str]:
    """Return the scale that a criterion's options are compared with. Empty if there is none.

    ``derives`` belongs to the protocol, and ``standard`` to the criterion.
    """
    if derives == DERIVES and key in GOLD_SCALES:
        return GOLD_SCALES[key]
    return (SKIP,) if standard == STANDARD else ()


def meanings(options: Iterable[tuple[str, str]], scale: Sequence[str]) -> dict[str, str]:
    """Return the meaning of each option on ``scale``, by value, from (value, declared meaning) pairs.

    Without a declared meaning, an option means the same word of the scale, ignoring case. Options without a meaning are
    left out.
    """
    words = {each.casefold(): each for each in scale}
    meaning_of = {value: declared or words.get(value.casefold(), "") for value, declared in options}
    return {value: meant for value, meant in meaning_of.items() if meant in scale}


Json = dict[str, Any]
#: Keys of a round, and of its results with and without exclusions.
OF_ROUND = ("left_out", "checks", "m3", "not_compared", "directions")
OF_WAY = (
    "judgements",
    "sources",
    "items",
    "systems",
    "criteria",
    "raters",
    "preferences",
    "best_worst",
    "standardised",
)
#: Keys of results that depend on metrics. A release has them if it contains the scores of all rated runs.
OF_METRICS = ("correlations", "metrics")
WAYS = ("all", "kept")


def released(figures: Mapping[str, Any], *, scored: bool) -> Json:
    """Return the results that a release contains. With ``scored``, include those that depend on metrics.

    Points for plots are left out, because they repeat other figures.
    """
    names = OF_WAY + (OF_METRICS if scored else ())
    ways = {way: {name: figures[way][name] for name in names} if figures[way] else None for way in WAYS}
    return {name: figures[name] for name in OF_ROUND} | ways
