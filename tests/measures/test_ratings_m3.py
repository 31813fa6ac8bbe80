"""M3's Tables 3 and 5: judgements with the published margins reproduce every printed cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from annotation.models import Modality, Polarity
from measures.ratings import Judgement, figures
from measures.ratings.m3 import CRITERIA, GOLD_SCALES, SLOTS, derived, meanings, mismatches, not_compared


@dataclass(frozen=True)
class Printed:
    """Counts behind a row of a table: of ``n`` texts, polarity ``right`` of ``judged``; ``none``: no evidence;
    ``solutions``: number of tables of PICO, modality and polarity with these margins."""

    system: str
    pico: int
    modality: int
    right: int
    judged: int
    all_correct: int
    all_wrong: int
    none: int
    polarity: str
    solutions: int
    hallucination: int = 0
    n: int = 30


TABLE_5 = [
    Printed("BART XSUM", 4, 14, 11, 18, 2, 11, 13, "61.1", 6),
    Printed("BART Cochrane", 13, 6, 9, 9, 3, 13, 21, "100.0", 10),
    Printed("BioBART Cochrane", 14, 9, 8, 12, 6, 13, 18, "66.7", 6),
    Printed("Pegasus XSUM", 10, 20, 10, 20, 6, 8, 9, "50.0", 6),
    Printed("Pegasus Pubmed", 5, 22, 13, 24, 4, 8, 6, "54.2", 1, hallucination=28),
    Printed("BigBird Pubmed", 2, 16, 9, 17, 2, 13, 14, "52.9", 1, hallucination=29),
    Printed("Pegasus Cochrane", 8, 3, 1, 4, 0, 18, 25, "25.0", 1),
    Printed("Primera", 16, 22, 18, 30, 11, 4, 0, "60.0", 15),
    Printed("Primera Cochrane", 6, 1, 2, 3, 0, 22, 26, "66.7", 3),
]
#: The row of whole documents, of 50; counts of the other levels cannot be derived.
TABLE_3 = [Printed("Documents", 6, 24, 22, 50, 1, 9, 0, "44.0", 0, n=50)]
Cells = dict[tuple[bool, bool, bool], int]


def solutions(row: Printed) -> Iterator[Cells]:
    """Return every table of correct PICO, modality and polarity with the printed margins."""
    both, p, m, r = row.all_correct, row.pico, row.modality, row.right
    for pm in range(31):
        for pr in range(31):
            mr = p + m + r - (row.n - row.all_wrong) - 2 * both - pm - pr
            cells = {
                (True, True, True): both,
                (True, True, False): pm,
                (True, False, True): pr,
                (False, True, True): mr,
                (True, False, False): p - both - pm - pr,
                (False, True, False): m - both - pm - mr,
                (False, False, True): r - both - pr - mr,
                (False, False, False): row.all_wrong,
            }
            if min(cells.values()) >= 0:
                assert sum(cells.values()) == row.n
                yield cells


def judgements(row: Printed, cells: Cells) -> list[Judgement]:
    """Return judgements: polarity is N/A for texts without a correct one, first for those without a claim."""
    texts = [right for right, n in cells.items() for _ in range(n)]
    by_claim = sorted(range(row.n), key=lambda i: (texts[i][1], texts[i][2]))  # a correct modality needs a claim
    claimless = set(by_claim[: row.none])
    order = [*by_claim[: row.none], *by_claim[row.none :]]
    not_judged = set([i for i in order if not texts[i][2]][: row.n - row.judged])
    made = []
    for i, (pico, modality, polarity) in enumerate(texts):
        said: dict[str, str | None] = dict.fromkeys(SLOTS, "same")
        if not pico:
            said[SLOTS[i % 4]] = "different"
        said["claim"] = "no" if i in claimless else "yes"
        said["modality"] = "same" if modality else "different"
        said["polarity"] = None if i in not_judged else "same" if polarity else "different"
        said["hallucination"] = "marked" if i < row.hallucination else "none"
        said["repetition"] = "repeats" if i % 3 == 0 else "none"
        made += [Judgement(f"cluster {i}", row.system, "rater", key, value) for key, value in said.items()]
    return made


@pytest.mark.parametrize("row", [*TABLE_5, *TABLE_3], ids=lambda row: row.system)
def test_every_printed_cell_comes_from_raw_judgements(row: Printed) -> None:
    found = list(solutions(row))
    assert len(found) == row.solutions if row.solutions else found
    for cells in found:
        made = derived(judgements(row, cells))
        read = {each["criterion"]: each["systems"][0] for each in figures(made, CRITERIA, replicates=0)["criteria"]}
        counts = {key: (each["count"], each["n"]) for key, each in read.items()}
        assert counts == {
            "m3:pico": (row.pico, row.n),
            "m3:modality": (row.modality, row.n),
            "m3:polarity": (row.right, row.judged),
            "m3:all correct": (row.all_correct, row.n),
            "m3:all wrong": (row.all_wrong, row.n),
            "m3:hallucination": (row.hallucination, row.n),
            "m3:repetition": (-(-row.n // 3), row.n),
            "m3:no evidence": (row.none, row.n),
        }
        assert f"{100 * read['m3:polarity']['value']:.1f}" == row.polarity
        assert read["m3:polarity"]["na"] == row.n - row.judged
        for key, (count, n) in counts.items():
            assert read[key]["value"] == pytest.approx(count / n)
        odd = mismatches(made)[row.system]
        assert odd["polarity without a claim"] - odd["claims without polarity"] == row.judged - (row.n - row.none)


def test_the_denominators_that_are_not_texts_with_evidence_are_in_the_fixture() -> None:
    odd = {row.system: (row.right, row.judged) for row in TABLE_5 if row.judged != row.n - row.none}
    assert odd == {
        "BART XSUM": (11, 18),
        "Pegasus XSUM": (10, 20),
        "BigBird Pubmed": (9, 17),
        "Pegasus Cochrane": (1, 4),
        "Primera Cochrane": (2, 3),
    }


@pytest.mark.usefixtures("former_rule")
def test_intervals_of_small_denominators_are_wide() -> None:
    """Wilson of 9/9 is 70 to 100, of 1/4 it is 5 to 70."""
    for row, low, high in ((TABLE_5[1], 70, 100), (TABLE_5[6], 5, 70)):
        made = derived(judgements(row, next(solutions(row))))
        read = {each["criterion"]: each["systems"][0] for each in figures(made, CRITERIA, replicates=0)["criteria"]}
        assert [round(100 * end) for end in read["m3:polarity"]["wilson"]] == [low, high]


def said(**values: str | None) -> list[Judgement]:
    return [Judgement("q", "s", "r", key, value) for key, value in values.items()]


def values(made: list[Judgement]) -> dict[str, float | str | None]:
    return {each.criterion.removeprefix("m3:"): each.value for each in made}


def test_elements_that_the_target_does_not_state_are_omitted() -> None:
    assert values(derived(said(population="same", comparator=None)))["pico"] == 1
    assert values(derived(said(population="different", comparator=None)))["pico"] == 0
    assert values(derived(said(population=None, comparator=None)))["pico"] is None


def test_matches_come_from_blind_labels_and_gold() -> None:
    gold = {("q", ""): {"polarity": "positive", "modality": "strong"}}
    slots = dict.fromkeys(SLOTS, "same")
    right = values(derived(said(**slots, modality="strong", polarity="positive"), gold))
    assert right == {"pico": 1, "modality": 1, "polarity": 1, "all correct": 1, "all wrong": 0, "no evidence": 0}
    silent = values(derived(said(**slots, modality="no evidence", polarity=None), gold))
    assert silent == {"pico": 1, "modality": 0, "polarity": None, "all correct": 0, "all wrong": 0, "no evidence": 1}


def test_labels_mean_what_the_protocol_declares_and_others_do_not_count() -> None:
    gold = {("q", ""): {"polarity": "positive", "modality": "strong"}}
    slots = dict.fromkeys(SLOTS, "same")
    meant = {
        "polarity": meanings([("Positive", ""), ("none", "n/a"), ("mixed", "")], GOLD_SCALES["polarity"]),
        "modality": meanings([("very strong", "strong"), ("Weak", "")], GOLD_SCALES["modality"]),
    }
    assert meant == {
        "polarity": {"Positive": "positive", "none": "n/a"},
        "modality": {"very strong": "strong", "Weak": "weak"},
    }
    right = derived(said(**slots, modality="very strong", polarity="Positive"), gold, meant)
    assert values(right) == {
        "pico": 1,
        "modality": 1,
        "polarity": 1,
        "all correct": 1,
        "all wrong": 0,
        "no evidence": 0,
    }
    ticked, chosen = ({**slots, "modality": "Weak", "polarity": na} for na in (None, "none"))
    assert values(derived(said(**chosen), gold, meant)) == values(derived(said(**ticked), gold, meant))
    mixed = said(**slots, modality="very strong", polarity="mixed")
    assert values(derived(mixed, gold, meant)) == {
        "pico": 1,
        "modality": 1,
        "polarity": None,
        "all correct": None,
        "all wrong": None,
        "no evidence": 0,
    }
    assert not_compared(mixed, gold, meant) == [{"criterion": "polarity", "value": "mixed", "n": 1}]
    unlabelled = {("q", ""): {"polarity": "positive", "modality": ""}}
    assert values(derived(right_words(slots), unlabelled))["all correct"] is None
    assert not_compared(right_words(slots), unlabelled) == [{"criterion": "modality", "value": None, "n": 1}]


def right_words(slots: dict[str, str]) -> list[Judgement]:
    return said(**slots, modality="strong", polarity="positive")


def test_the_scales_of_targets_are_those_of_the_corpus() -> None:
    assert {"polarity": tuple(Polarity.values), "modality": tuple(Modality.values)} == GOLD_SCALES


def test_values_outside_of_table_3_are_not_derived() -> None:
    made = values(derived(said(**dict.fromkeys(SLOTS, "same"), modality="same", polarity="different")))
    assert made == {"pico": 1, "modality": 1, "polarity": 0, "all correct": 0, "all wrong": 0}


def test_hallucination_does_not_make_a_text_wrong() -> None:
    made = values(derived(said(population="same", modality="same", polarity="same", hallucination="marked")))
    assert (made["all correct"], made["hallucination"]) == (1, 1)
