"""M3's Tables 3 and 5 from raw judgements (Otmakhova et al. 2022, *M3: Multi-level dataset for multi-document
summarisation of medical studies*, Findings of EMNLP).

What a table prints is derived, never asked: PICO is the same where every stated slot is; polarity has its own N/A, and
so its own denominator; all is correct where PICO, modality and polarity are, all is wrong where none of them is, and a
polarity that is N/A counts as not correct in both. Hallucination and repetition do not enter. No evidence is the
judgement that the output makes no claim, which is another thing than a polarity that is N/A: `mismatches` counts where
they differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

from measures.means import FROM_0_TO_1
from measures.ratings.judgements import Criterion, Judgement

SLOTS = ("population", "intervention", "comparator", "outcome")
SAME, NONE, NO_EVIDENCE = "same", "none", "no evidence"
#: What is asked, by the keys of the shipped protocols.
CLAIM, POLARITY, MODALITY, HALLUCINATION, REPETITION = "claim", "polarity", "modality", "hallucination", "repetition"
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


def derived(judgements: Iterable[Judgement], gold: Gold | None = None) -> list[Judgement]:
    """Judgements by `CRITERIA`, 1, 0 or N/A, of every rater and text; what was not asked is not derived.

    With ``gold`` polarity and modality are labels of the output, and the matches come from the target's: the output
    makes a claim unless its modality is "no evidence", and its polarity is N/A where the rater said so. Without, they
    are judgements whether each is the same.
    """
    texts: dict[_Text, dict[str, Judgement]] = defaultdict(dict)
    for each in judgements:
        texts[each.source, each.item, each.system, each.rater, each.repeat][each.criterion] = each
    return [
        Judgement(any_of.source, any_of.system, any_of.rater, key, value, any_of.place, any_of.ms, any_of.repeat,
                  any_of.item)
        for said in texts.values()
        for any_of in [next(iter(said.values()))]
        for key, value in _derived({key: each.value for key, each in said.items()},
                                   None if gold is None else gold.get((any_of.source, any_of.item))).items()
    ]  # fmt: skip


def _derived(said: Mapping[str, float | str | None], gold: Mapping[str, str] | None) -> dict[str, float | None]:
    """Figures of one rater's judgements of one text."""
    slots = [said[slot] for slot in SLOTS if slot in said]
    stated = [value == SAME for value in slots if value is not None]
    made: dict[str, float | None] = {}
    if slots:
        made["m3:pico"] = float(all(stated)) if stated else None
    for key in (MODALITY, POLARITY):
        if key in said:
            right = SAME if gold is None else gold.get(key)
            made[f"m3:{key}"] = None if said[key] is None else float(said[key] == right)
    three = [made.get(f"m3:{key}") for key in ("pico", MODALITY, POLARITY)]
    if all(f"m3:{key}" in made for key in ("pico", MODALITY, POLARITY)):
        made["m3:all correct"] = float(all(each == 1 for each in three))
        made["m3:all wrong"] = float(not any(each == 1 for each in three))
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
    return said[MODALITY] != NO_EVIDENCE if gold is not None and said.get(MODALITY) is not None else None


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
