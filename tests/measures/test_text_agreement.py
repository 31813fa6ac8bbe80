"""Agreement of marked and written texts, from the cells of a table."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures import span_agreement
from measures.agreement.rounds import Scale
from measures.span_agreement import codes_of_cell
from measures.spans import SpanError, as_cell, ranges_of_cell, spans_as_cell, spans_of_cell
from measures.text_agreement import Comparison, compared, pooled

TEXT = "Nepralin reduced relapse."


@given(st.lists(st.tuples(st.integers(0, 50), st.text(min_size=1)), max_size=4))
def test_any_span_is_read_back_from_its_cell(pieces: list[tuple[int, str]]) -> None:
    fragments = [(start, start + len(quote), quote) for start, quote in pieces]
    assert ranges_of_cell(as_cell(fragments)) == tuple((start, end) for start, end, _ in fragments)


@pytest.mark.parametrize(
    "cell", ["x", '0-3 "ab"', '0-2 "ab" |', '0-2 "ab" | ', '0-2 "ab", 3-4 "c"', '2-0 "ab"', '0-2 "ab']
)
def test_a_cell_that_is_no_span_is_refused(cell: str) -> None:
    with pytest.raises(SpanError, match="no span in a cell"):
        ranges_of_cell(cell)


SPAN = st.lists(st.tuples(st.integers(0, 50), st.text(min_size=1)), min_size=1, max_size=3)


@given(st.lists(SPAN, max_size=4))
def test_overlapping_and_nested_spans_come_back_from_one_cell(pieces: list[list[tuple[int, str]]]) -> None:
    spans = [[(start, start + len(quote), quote) for start, quote in span] for span in pieces]
    expected = tuple(tuple((start, end) for start, end, _ in span) for span in spans)
    assert spans_of_cell(spans_as_cell(spans)) == expected


def test_a_cell_with_several_spans_is_refused_where_one_is_expected() -> None:
    with pytest.raises(SpanError, match="has 2 spans"):
        ranges_of_cell('0-8 "Nepralin" || 9-16 "reduced"')


def test_nested_spans_of_one_type_are_matched_one_to_one() -> None:
    whole, inner = (0, 24, TEXT[:24]), (9, 16, "reduced")
    answers = [
        ("u", "a", {"span": spans_as_cell([[whole], [inner]])}),
        ("u", "b", {"span": spans_as_cell([[whole]])}),
        ("v", "a", {"span": ""}),
        ("v", "b", {"span": ""}),
    ]
    same, overlapping = compared(
        [Comparison("span", "spans", ("span",)), Comparison("span", "overlap", ("span",))], answers, {}
    )
    assert same.value == pytest.approx(2 / 3)
    assert (same.pairs, same.both_empty) == (1, 1)
    assert overlapping.value == pytest.approx(2 / 3)
    [nothing] = compared([Comparison("span", "spans", ("span",))], answers[2:], {})
    assert (nothing.value, nothing.undefined) == (None, "no span marked")


def test_spans_are_compared_by_words_and_to_the_letter() -> None:
    said = [
        ("u", "a", {"cue": '9-16 "reduced"'}),
        ("u", "b", {"cue": '9-24 "reduced relapse"'}),
        ("v", "a", {"cue": ""}),
    ]
    by_words, exact = compared(
        [Comparison("cue", "token", ("cue",)), Comparison("cue", "exact", ("cue",))], said, {"u": TEXT, "v": TEXT}
    )
    assert by_words.value == pytest.approx(2 / 3)
    assert (by_words.pairs, by_words.units) == (1, 1)
    assert (exact.value, exact.method) == (0, "share of identical spans")


def test_case_and_white_space_of_written_texts_do_not_count_and_what_is_exact_does() -> None:
    said = [
        ("u", "a", {"c": "The  placebo", "stands for": "x"}),
        ("u", "b", {"c": "the placebo", "stands for": "x"}),
        ("u", "c", {"c": "the placebo", "stands for": "X"}),
    ]
    same = Comparison("C", "same", ("c",), ("stands for",))
    assert compared([same], said, {})[0].value == pytest.approx(1 / 3)
    assert compared([Comparison("C", "words", ("c",))], said, {})[0].value == 1
    assert compared([Comparison("C", "whole", ("c",), ("stands for",))], said, {})[0].value == pytest.approx(1 / 3)


def test_pairs_without_a_text_are_counted_apart_and_empty_figures_have_reasons() -> None:
    same = Comparison("C", "same", ("c",))
    blank = [("u", rater, {"c": ""}) for rater in "ab"]
    [none] = compared([same], blank, {})
    assert (none.value, none.both_empty, none.undefined) == (None, 1, "all left it blank")
    [none] = compared([same], blank[:1], {})
    assert (none.value, none.both_empty, none.undefined) == (None, 0, "not enough ratings")
    [some] = compared([same], [*blank, ("v", "a", {"c": "x"}), ("v", "b", {"c": ""})], {})
    assert (some.value, some.pairs, some.units, some.both_empty) == (0, 1, 1, 1)


def test_a_comparison_comes_back_from_json() -> None:
    one = Comparison("C", "same", ("c",), ("stands for",))
    assert Comparison.from_json(one.as_json()) == one


def test_agreement_over_parts_equals_agreement_over_all_units() -> None:
    comparisons = [Comparison("C", "same", ("c",)), Comparison("C", "words", ("c",)), Comparison("C", "whole", ("c",))]
    texts = ["a b", "a", "a", "", "", "", "c d", "C  D", "c e", "x", "y", "z", "", "", ""]
    said = [(f"u{n // 3}", "abc"[n % 3], {"c": text}) for n, text in enumerate(texts)]
    whole = compared(comparisons, said, {})
    for sizes in ((1, 4), (2, 2, 1), (1, 1, 1, 1, 1)):
        ends = [sum(sizes[:n]) * 3 for n in range(len(sizes) + 1)]
        parts = [compared(comparisons, said[a:b], {}) for a, b in pairwise(ends)]
        for one, other in zip([pooled(each) for each in zip(*parts, strict=True)], whole, strict=True):
            assert one.value == pytest.approx(other.value)
            assert replace(one, value=other.value) == other


def test_agreement_of_empty_parts_has_the_reason_of_the_whole() -> None:
    same = [Comparison("C", "same", ("c",))]
    blank = [("u", rater, {"c": ""}) for rater in "ab"]
    alone = [("v", "a", {"c": "x"})]
    for said in (blank, alone):
        parts = [compared(same, [], {})[0], compared(same, said, {})[0]]
        assert pooled(parts) == compared(same, said, {})[0]


def test_sets_are_compared_by_overlap_and_numbers_by_distance() -> None:
    said = [
        ("u", "a", {"classes": "harm; dose", "points": "2"}),
        ("u", "b", {"classes": "dose", "points": "5"}),
        ("v", "a", {"classes": "", "points": "3.5"}),
        ("v", "b", {"classes": "", "points": ""}),
    ]
    shared, f1, apart = compared(
        [
            Comparison("classes", "shared", ("classes",)),
            Comparison("classes", "f1", ("classes",)),
            Comparison("points", "difference", ("points",)),
        ],
        said,
        {},
    )
    assert (shared.value, shared.units, shared.both_empty) == (0.5, 1, 1)
    assert f1.value == pytest.approx(2 / 3)
    assert (f1.units, f1.both_empty, f1.method) == (1, 1, "mean pairwise F1 of sets")
    assert (apart.value, apart.units, apart.method) == (3, 1, "mean absolute difference")


def test_each_code_of_a_set_has_a_scale_of_its_own() -> None:
    scale = Scale("harm", ("no", "yes"), "classes", holds="harm")
    assert [scale.code({"classes": cell}) for cell in ("harm; dose", "harmless", "")] == ["yes", "no", "no"]
    assert Scale.from_json(scale.as_json()) == scale
    assert "holds" not in Scale("points", ("1", "2"), "points").as_json()


@given(st.sets(st.text("abc de", min_size=1).map(str.strip).filter(bool)))
def test_a_set_of_codes_is_read_back_from_its_cell(codes: set[str]) -> None:
    assert codes_of_cell(span_agreement.as_cell(codes)) == codes


@pytest.mark.parametrize("code", ["a;b", " a", ""])
def test_values_that_a_cell_cannot_hold_are_refused(code: str) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        span_agreement.as_cell([code])
