"""Counterfactuals: changed words, allowed changes of labels, errors and warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures import counterfactuals as cf
from measures.counterfactuals import Kind, Labels
from measures.word_edits import difference

TARGET = "Nepralin significantly reduces relapse compared with placebo."
WORDS = st.lists(st.sampled_from(["there", "Is", "no", "evidence", "β-blockers", "0.05", "<", "reduces"]), max_size=9)


def distance(a: list[str], b: list[str]) -> int:
    """Levenshtein's distance by its full table."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


@pytest.mark.parametrize(
    ("text", "words", "edits"),
    [
        (
            "There is no evidence that nepralin significantly reduces relapse compared with placebo.",
            5,
            [("", "There is no evidence that")],
        ),
        (
            "Nepralin does not significantly reduce relapse compared with placebo.",
            3,
            [("", "does not"), ("reduces", "reduce")],
        ),
        ("Nepralin significantly increases relapse compared with placebo.", 1, [("reduces", "increases")]),
        ("Nepralin reduces relapse compared with placebo.", 1, [("significantly", "")]),
        ("NEPRALIN significantly reduces relapse, compared with placebo", 0, []),
        (TARGET, 0, []),
    ],
)
def test_words_are_counted_whatever_their_case_and_marked_where_they_stand(
    text: str, words: int, edits: list[tuple[str, str]]
) -> None:
    found = difference(TARGET, text)
    assert found.words == words
    assert [(TARGET[slice(*e.target)], text[slice(*e.text)]) for e in found.edits] == edits


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("(p < 0.05)", "(p > 0.05)", 1),
        ("a change of -5 points", "a change of 5 points", 1),
        ("a change of \u22125 points", "a change of +5 points", 1),
        ("a placebo-controlled trial", "a placebo controlled trial", 2),
        ("1,000 patients", "1,001 patients", 1),
        ("It doesn't help.", "It helps.", 2),
        ("cafe\u0301", "CAF\u00c9", 0),
        ("a 95% interval", "a 90% interval", 1),
        ("rise \u2013 and fall", "rise and fall", 0),
    ],
)
def test_signs_and_numbers_count_as_words_but_not_punctuation(was: str, now: str, words: int) -> None:
    assert difference(was, now).words == words


@given(was=WORDS, now=WORDS)
def test_the_count_is_the_edit_distance_and_the_edits_rebuild_the_text(was: list[str], now: list[str]) -> None:
    a, b = " ".join(was), " ".join(now)
    found = difference(a, b)
    folded = [[w.casefold() for w in words] for words in (was, now)]
    assert found.words == distance(*folded)
    rebuilt, at = [], 0
    for edit in found.edits:
        assert at <= edit.target[0] <= edit.target[1] <= len(a)
        rebuilt += [*a[at : edit.target[0]].split(), *b[slice(*edit.text)].split()]
        at = edit.target[1]
    rebuilt += a[at:].split()
    assert [w.casefold() for w in rebuilt] == folded[1]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared_either_way_round(a: str, b: str) -> None:
    one, other = difference(a, b), difference(b, a)
    assert one.words == other.words
    assert difference(a, a).words == 0
    for edit in one.edits:
        assert 0 <= edit.target[0] <= edit.target[1] <= len(a)
        assert 0 <= edit.text[0] <= edit.text[1] <= len(b)
        assert (edit.target[0] < edit.target[1]) or (edit.text[0] < edit.text[1])


@given(extra=st.integers(0, 8), kind=st.sampled_from(list(Kind)))
def test_at_most_five_words_may_change(extra: int, kind: Kind) -> None:
    text = " ".join([TARGET.rstrip("."), *["more"] * extra]) + "."
    codes = [e.code for e in cf.check(kind, TARGET, text).errors]
    assert codes == ([cf.UNCHANGED] if not extra else [] if extra <= 5 else [cf.TOO_MANY])


def test_a_huge_other_text_is_refused_without_counting_its_words() -> None:
    found = cf.check(Kind.NEGATION, TARGET, "word " * 300_000)
    assert [e.message for e in found.errors] == ["At most 5 words may differ from the target; more than 40 do."]
    long = " ".join(str(n) for n in range(3000))
    assert difference(long, long.replace(" 1500 ", " x ")).words == 1
    assert difference(long, " ".join(str(-n) for n in range(3000))).words is None


@pytest.mark.parametrize(
    ("text", "code"),
    [("", cf.NO_TEXT), (" \n", cf.NO_TEXT), (TARGET, cf.UNCHANGED), (TARGET.upper() + "!", cf.UNCHANGED)],
)
def test_no_text_and_the_same_words_are_errors(text: str, code: str) -> None:
    found = cf.check(Kind.ANTONYM, TARGET, text)
    assert [e.code for e in found.errors] == [code]
    assert found.warnings == ()


ALL = [Labels(p, m) for p in ("positive", "no effect", "negative") for m in ("strong", "moderate", "weak")]
NOTHING = Labels("n/a", "no evidence")


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (Kind.NEGATION, ("positive", "weak"), {("positive", "weak"), ("no effect", "weak"), ("negative", "weak")}),
        (Kind.ANTONYM, ("positive", "weak"), {("negative", "weak")}),
        (Kind.ANTONYM, ("no effect", "weak"), {("positive", "weak"), ("negative", "weak")}),
        (Kind.NO_EFFECT, ("negative", "weak"), {("no effect", "weak")}),
        (Kind.NO_EFFECT, ("no effect", "weak"), {("positive", "weak"), ("negative", "weak")}),
        (Kind.NO_EVIDENCE, ("negative", "weak"), {NOTHING}),
        (Kind.MODALITY, ("negative", "weak"), {("negative", "strong"), ("negative", "moderate")}),
        (Kind.NO_EVIDENCE, NOTHING, set(ALL)),
        (Kind.NEGATION, NOTHING, set(ALL)),
        (Kind.ANTONYM, NOTHING, set()),
        (Kind.NO_EFFECT, NOTHING, set()),
        (Kind.MODALITY, NOTHING, set()),
    ],
)
def test_each_kind_lists_the_label_changes_it_allows(
    kind: Kind, before: tuple[str, str], after: set[tuple[str, str]]
) -> None:
    assert cf.allowed(kind, Labels(*before)) == after


@given(kind=st.sampled_from(list(Kind)), before=st.sampled_from([*ALL, NOTHING]))
def test_allowed_labels_are_labels_that_exist_and_only_negation_may_leave_all_as_it_was(
    kind: Kind, before: Labels
) -> None:
    found = cf.allowed(kind, before)
    assert found <= {*ALL, NOTHING}
    assert (before in found) == (kind == Kind.NEGATION and before != NOTHING)
    if before != NOTHING and kind != Kind.NO_EVIDENCE:
        assert all((a.polarity == before.polarity) or (a.modality == before.modality) for a in found)


def test_a_label_change_of_another_kind_is_an_error_and_a_missing_one_is_not() -> None:
    text, before = TARGET.replace("reduces", "increases"), Labels("positive", "moderate")
    found = cf.check(Kind.ANTONYM, TARGET, text, before=before, after=Labels("positive", "weak"))
    assert [e.code for e in found.errors] == [cf.LABEL_CHANGE]
    assert cf.check(Kind.ANTONYM, TARGET, text, before=before, after=Labels("negative", "moderate")).errors == ()
    assert cf.check(Kind.ANTONYM, TARGET, text, before=before) == cf.check(Kind.ANTONYM, TARGET, text)


def test_unusual_values_give_a_warning_with_code_and_sentence() -> None:
    text = TARGET.replace("reduces relapse", "increases blindness")
    at = TARGET.index("relapse")
    found = cf.check(
        Kind.ANTONYM,
        TARGET,
        text,
        pico={"intervention": [(0, 8)], "outcome": [(at, at + 7)]},
        others={Kind.ANTONYM: text, Kind.NEGATION: text.upper(), Kind.MODALITY: TARGET},
        before=NOTHING,
    )
    assert found.errors == ()
    assert [(w.code, w.message) for w in found.warnings] == [
        (cf.PICO_TOUCHED, "Words of the outcome were changed: “relapse”."),
        (cf.SAME_AS_OTHER, "The text equals the negation counterfactual of this target."),
        (cf.NOT_APPLICABLE, "Antonym does not apply to polarity n/a, modality no evidence."),
    ]


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("There is no evidence that nepralin drops reduce relapse.", False),
        ("Nepralin eye drops reduce relapse.", True),
        ("Nepralin drops never reduce relapse.", False),
        ("Drops reduce relapse.", True),
    ],
)
def test_edits_inside_an_element_touch_it_and_edits_beside_it_do_not(text: str, touched: bool) -> None:
    found = cf.check(Kind.NEGATION, "Nepralin drops reduce relapse.", text, pico={"intervention": [(0, 14)]})
    assert bool(found.warnings) == touched


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("no_effect", Kind.NO_EFFECT),
        (" No effect ", Kind.NO_EFFECT),
        ("NO-EVIDENCE", Kind.NO_EVIDENCE),
        ("noEvidence", Kind.NO_EVIDENCE),
        ("Negation", Kind.NEGATION),
        ("modality", Kind.MODALITY),
        ("antonyms", None),
        ("", None),
        ("effect", None),
    ],
)
def test_common_spellings_of_a_kind_are_known_and_no_other(name: str, kind: Kind | None) -> None:
    assert cf.kind_named(name) is kind


SHARED = json.loads(Path(__file__).with_name("word_edits.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("one", SHARED["differences"], ids=lambda one: one["text"][:30])
def test_the_pages_count_changed_words_as_the_server_does(one: dict[str, Any]) -> None:
    """The frontend's tests read the same file."""
    found = difference(one["target"], one["text"])
    assert found.words == one["words"]
    assert [[*e.target, *e.text] for e in found.edits] == one["edits"]


@pytest.mark.parametrize("one", SHARED["checks"], ids=lambda one: f"{one['kind']}: {one['text'][:30]}")
def test_the_pages_check_a_text_as_the_server_does(one: dict[str, Any]) -> None:
    found = cf.check(
        Kind(one["kind"]),
        one["target"],
        one["text"],
        pico={slot: [(start, end) for start, end in ranges] for slot, ranges in one["pico"].items()},
        others={Kind(kind): text for kind, text in one["others"].items()},
        before=Labels("positive", one["modality"]),
    )
    assert [e.code for e in found.errors] == one["errors"]
    assert [w.code for w in found.warnings] == one["warnings"]


@pytest.mark.parametrize(
    ("before", "after", "warns"),
    [
        ("moderate", "weak", False),
        ("weak", "moderate", False),
        ("strong", "moderate", False),
        ("moderate", "strong", True),
        ("weak", "strong", True),
        ("strong", "weak", True),
    ],
)
def test_a_modality_change_unlike_m3_is_a_warning_if_the_label_is_known(before: str, after: str, warns: bool) -> None:
    text = TARGET.replace("significantly", "perhaps")
    found = cf.check(Kind.MODALITY, TARGET, text, before=Labels("positive", before), after=Labels("positive", after))
    assert [w.code for w in found.warnings] == [cf.NOT_OF_M3] * warns
