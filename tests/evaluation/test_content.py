"""The content of protocols: every fault has a path, and content round-trips."""

import json
import random
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import StrictBool

from api.problems import Refused
from evaluation.protocols import parts, shipped
from evaluation.protocols.content import NAMED, as_json, canonical, digest, faults_of, gaps, load, parse, unready
from evaluation.protocols.parts import SCALES, Content
from evaluation.protocols.rules import SCALE_OF_KIND
from tests.evaluation.protocol_drafts import criterion, option, protocol

ALL = [criterion(type.replace("-", ""), type) for type in SCALES if type not in SCALE_OF_KIND.values()]

WHEN = {"criterion": "likert", "values": ["1"]}


def at(draft: Any, path: str, value: Any) -> Any:
    """Return the draft with one value changed; the last part of the path may be new."""
    copy = json.loads(json.dumps(draft))
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = copy
    for part in way:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return copy


def paths(draft: Any) -> list[str]:
    return [fault.path for fault in faults_of(draft)]


def test_a_protocol_with_every_scale_is_sound_and_ready() -> None:
    assert faults_of(protocol(*ALL)) == []
    assert unready(parse(protocol(*ALL))) == []
    assert unready(parse(protocol(criterion("better", "preference")))) == []


@pytest.mark.parametrize(
    ("path", "value", "where", "expected"),
    [
        ("schema", 2, "schema", "Expected 1"),
        ("schema", True, "schema", "Expected 1"),
        ("kind", "rank", "kind", "Expected 'rate', 'compare' or 'best_worst'."),
        ("criteria", {}, "criteria", "Expected a list."),
        ("criteria.0", "coherence", "criteria.0", "Expected an object."),
        ("criteria.0.key", "Coherence!", "criteria.0.key", "Expected a key"),
        ("criteria.0.key", ..., "criteria.0.key", "This field is required."),
        ("criteria.0.weight", 2, "criteria.0.weight", "There is no such field."),
        ("criteria.0.na", 1, "criteria.0.na", "Expected true or false."),
        ("criteria.0.question", "one\ntwo", "criteria.0.question", "Expected one line"),
        ("criteria.0.more", "NUL \0", "criteria.0.more", "without NUL"),
        ("criteria.0.name", "half \ud800", "criteria.0.name", "lone surrogates"),
        ("criteria.0.name", "x" * 201, "criteria.0.name", "at most 200 characters"),
        ("criteria.0.scale.type", "stars", "criteria.0.scale.type", "Expected 'likert', 'categorical'"),
        ("criteria.0.scale.type", "preference", "criteria.0.scale.type", "Expected any scale but preference"),
        ("criteria.1.scale.options.1.value", "yes", "criteria.1.scale.options.1.value", "different values"),
        ("criteria.0.scale.options.1.value", "1", "criteria.0.scale.options.1.value", "more than 1"),
        ("criteria.0.scale.options.1.value", "two", "criteria.0.scale.options.1.value", "a whole number"),
        ("criteria.0.scale.options.1.value", "9", "criteria.0.scale.options.2.value", "more than 9"),
        ("criteria.0.scale.options.0.value", "", "criteria.0.scale.options.0.value", "Expected 1 to 60 characters"),
        ("criteria.2.scale.options.0.value", "a;b", "criteria.2.scale.options.0.value", "without semicolons"),
        ("criteria.0.scale.minimum", 0, "criteria.0.scale", "only a slider has them"),
        ("criteria.0.scale.severities", [option("minor")], "criteria.0.scale.severities", "only spans"),
        ("criteria.0.scale.reason", "offered", "criteria.0.scale.reason", "only spans"),
        ("criteria.3.scale.maximum", 0, "criteria.3.scale.maximum", "more than the minimum"),
        ("criteria.3.scale.step", 101, "criteria.3.scale.step", "more than 0"),
        ("criteria.3.scale.step", None, "criteria.3.scale", "minimum, maximum and step"),
        ("criteria.3.scale.minimum", 1e99, "criteria.3.scale.minimum", "Expected a number"),
        ("criteria.3.scale.options", [option("x")], "criteria.3.scale.options", "have no options"),
        ("criteria.1.key", "likert", "criteria.1.key", "'likert' occurs twice"),
        ("criteria.0.group", "pico", "criteria.0.group", "there is no 'pico'"),
        ("criteria.0.na_label", "none stated", "criteria.0.na_label", "cannot be answered as not applicable"),
        ("criteria.0.better", "more", "criteria.0.better", "Expected higher, lower"),
        ("criteria.0.better", ["5"], "criteria.0.better", "Expected higher, lower or null."),
        ("criteria.1.better", "higher", "criteria.1.better", "Expected a list of the good values"),
        ("criteria.1.better", ["perhaps"], "criteria.1.better.0", "Expected one of: yes, no."),
        ("criteria.5.better", ["x"], "criteria.5.better", "Expected higher, lower or null."),
        ("criteria.0.reason", {"ask": "offered", "required_at": ["7"]}, "criteria.0.reason.required_at.0", "1, 2, 3"),
        (
            "criteria.0.shown_if",
            {"criterion": "categorical", "values": ["no"]},
            "criteria.0.shown_if.criterion",
            "an earlier criterion with options: none",
        ),
        (
            "criteria.5.shown_if",
            {"criterion": "slider", "values": ["1"]},
            "criteria.5.shown_if.criterion",
            "likert, categorical, multilabel, spans",
        ),
        ("criteria.5.shown_if", {"criterion": "likert", "values": []}, "criteria.5.shown_if.values", "at least one"),
        ("criteria.5.shown_if", {"criterion": "spans", "values": [""]}, "criteria.5.shown_if.values.0", "none, marked"),
        ("criteria.1.prefill", [{"if": WHEN, "na": True}], "criteria.1.prefill.0.na", "allows not applicable"),
        ("criteria.1.prefill", [{"if": WHEN}], "criteria.1.prefill.0.value", "yes, no"),
        (
            "criteria.1.prefill",
            [{"if": WHEN, "target": ["weak"], "value": "no"}],
            "criteria.1.prefill.0.target",
            "shows no PICO element",
        ),
        ("criteria.0.examples", [{"good": True, "value": "6"}], "criteria.0.examples.0.value", "1, 2, 3, 4, 5"),
        ("criteria.3.examples", [{"good": True, "value": "101"}], "criteria.3.examples.0.value", "on the slider"),
        (
            "criteria.0.examples",
            [{"good": True, "summary": "ab", "marks": [{"in": "summary", "start": 1, "end": 3}]}],
            "criteria.0.examples.0.marks.0",
            "a passage of the summary",
        ),
        (
            "criteria.0.examples",
            [
                {
                    "good": True,
                    "source": "abcd",
                    "marks": [{"in": "source", "start": 1, "end": 3}, {"in": "source", "start": 2, "end": 4}],
                }
            ],
            "criteria.0.examples.0.marks.1.start",
            "without overlap",
        ),
        (
            "criteria.0.examples",
            [{"good": True, "marks": [{"start": 0, "end": 1}]}],
            "criteria.0.examples.0.marks.0.in",
            "This field is required.",
        ),
    ],
)
def test_a_fault_is_named_by_its_path_and_what_was_expected(path: str, value: Any, where: str, expected: str) -> None:
    found = {fault.path: fault.message for fault in faults_of(at(protocol(*ALL), path, value))}
    assert expected in found[where]


def test_all_faults_are_named_at_once_and_refused_below_the_field_of_a_body() -> None:
    draft = at(at(protocol(*ALL), "kind", "rank"), "criteria.4.key", 7)
    assert paths(draft) == ["kind", "criteria.4.key"]
    with pytest.raises(Refused) as refused:
        parse(draft, "content")
    assert [error["field"] for error in refused.value.errors] == ["content.kind", "content.criteria.4.key"]
    assert paths([]) == [""]
    assert len(paths({f"x{n}": 1 for n in range(9000)})) == NAMED


def test_a_group_is_asked_in_one_go_and_by_exception_only_with_two_categories() -> None:
    group = {"key": "pico", "name": "PICO", "question": "Which differ?", "by_exception": True}
    one, two = (criterion(key, "categorical", group="pico") for key in ("p", "i"))
    assert faults_of(protocol(one, two, criterion("z"), groups=[group])) == []
    assert paths(protocol(one, criterion("z"), two, groups=[group])) == ["criteria.2.group"]
    assert paths(protocol(criterion("p", group="pico"), groups=[group])) == ["criteria.0.scale"]
    assert paths(protocol(one, two, groups=[group, group])) == ["groups.1.key"]
    alone = protocol(one | {"question": ""}, groups=[group | {"by_exception": False}])
    assert unready(parse(alone)) == []
    assert unready(parse(protocol(criterion(), groups=[group]))) == ["PICO has no criterion."]


def test_an_earlier_answer_of_not_applicable_can_be_asked_for() -> None:
    first = criterion("first", "categorical", na=True)
    second = criterion("second", shown_if={"criterion": "first", "values": [""]})
    assert faults_of(protocol(first, second)) == []
    assert paths(protocol(second, first)) == ["criteria.0.shown_if.criterion"]


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("title", " ", "The protocol has no title."),
        ("criteria", [], "The protocol has no criterion."),
        ("criteria.0.name", "", "Criterion 1 has no name."),
        ("criteria.0.question", "", "Likert has no question."),
        ("criteria.0.scale.options.2.anchor", " ", "Likert, 3: no anchor."),
        ("criteria.1.scale.options.1.anchor", "", "Categorical, No: no anchor."),
        ("criteria.1.scale.options.1.label", "", "Categorical, no: no label."),
        ("criteria.1.scale.options", [option("yes")], "Categorical has fewer than 2 categories."),
        ("criteria.4.scale.options", [], "Spans has fewer than 1 category."),
        ("criteria.4.scale.severities.0.label", "", "Spans, minor: no label."),
        ("criteria.0.frame", "target", "Likert is judged against the target, which is not shown."),
        (
            "criteria.0.beside",
            "polarity",
            "Likert shows the target's polarity beside the question, but the protocol does not show it.",
        ),
        ("criteria.0.examples", [{"good": True, "explanation": "So."}], "Likert, example 1: no summary."),
        ("derives", "m3", "Derived matches need a criterion polarity with the options: positive, no effect, negative."),
    ],
)
def test_incomplete_protocols_cannot_open_a_round(path: str, value: Any, sentence: str) -> None:
    draft = at(protocol(*ALL), path, value)
    content = parse(draft)
    assert sentence in unready(content)
    assert {gap.message for gap in gaps(content)} == set(unready(content))


def test_a_multi_label_scale_and_spans_need_no_anchor() -> None:
    draft = protocol(*ALL)
    for i in (2, 4):
        draft = at(draft, f"criteria.{i}.scale.options.0.anchor", "")
    assert unready(parse(draft)) == []


def test_omitted_options_get_their_default() -> None:
    short = {"schema": 1, "kind": "rate"}
    whole = as_json(parse(short))
    assert list(whole) == [field.alias or name for name, field in Content.model_fields.items() if not field.exclude_if]
    assert (whole["show"], whole["texts_per_page"]) == ({"query": True, "source": True, "target": "none"}, "all")
    assert digest(parse(whole)) == digest(parse(short))


def test_whole_numbers_are_one_number_however_they_are_written() -> None:
    draft = protocol(criterion("score", "slider"))
    same = at(at(draft, "criteria.0.scale.maximum", 100.0), "criteria.0.scale.minimum", -0.0)
    assert digest(parse(same)) == digest(parse(draft))
    assert b'"step":0.5' in canonical(parse(draft))
    assert digest(parse(at(draft, "criteria.0.scale.step", 1))) != digest(parse(draft))


WORDS = ("", "a", "Größe ≥ 5 mm", "emoji 👩‍⚕️ é", 'quote " and \\', "  spaces  ", "<b>&amp;</b>", "n\N{COMBINING TILDE}")


VALUES: list[tuple[Any, tuple[Any, ...]]] = [
    (parts.Line, WORDS),
    (parts.Lines, (*WORDS, "two\nlines")),
    (parts.Code, ("1", "no effect", "n/a", "≥ 5")),
    (parts.CodeOrEmpty, ("", "1", "no effect")),
    (StrictBool, (True, False)),
    (parts.Offset, (0, 7, 49)),
    (parts.Number, (0, 1, 2.0, 0.1, -7.25, 1e5)),
    (int, (1,)),
    (NoneType, (None,)),
]


def some(what: Any, rng: random.Random, key: int = 0) -> Any:
    """Return a random value of a type, ignoring rules between fields."""
    if what in (parts.Key, parts.KeyOrEmpty):
        return f"k{key}"
    for known, values in VALUES:
        if what == known:
            return rng.choice(values)
    if get_origin(what) is Literal:
        return rng.choice(get_args(what))
    if get_origin(what) in (Union, UnionType):
        return some(rng.choice(get_args(what)), rng, key)
    if get_origin(what) is tuple:
        return [some(get_args(what)[0], rng, i) for i in range(rng.randrange(3))]
    if get_origin(what):
        return some(get_args(what)[0], rng, key)
    fields = get_type_hints(what, include_extras=True)
    return {field.alias or name: some(fields[name], rng, key) for name, field in what.model_fields.items()}


def test_any_content_is_read_as_it_was_written() -> None:
    """Content is equal, with the same digest, after writing and reading."""
    for seed in range(300):
        rng = random.Random(seed)
        content = load(some(Content, rng))
        sent = json.loads(json.dumps(as_json(content)))
        assert load(sent) == content, seed
        assert json.loads(canonical(content)) == sent, seed
        shuffled = dict(rng.sample(list(sent.items()), len(sent)))
        assert digest(load(shuffled)) == digest(content), seed


ODD: tuple[Any, ...] = (None, [], {}, "", "x", -1, 2**70, float("inf"), "\0", "\ud800", [[]], {"key": 1}, True)


def spoiled(rng: random.Random) -> Any:
    """Return a shipped protocol with one odd value."""
    draft = json.loads(json.dumps(as_json(rng.choice(shipped.templates()).content)))
    place: Any = draft
    while True:
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8:
            place = place[key]
            continue
        place[key] = rng.choice(ODD)
        return draft


def test_any_protocol_content_is_valid_or_has_faults() -> None:
    """Content is either valid or has faults, and valid content has its gaps reported."""
    sound = 0
    for seed in range(400):
        draft = spoiled(random.Random(seed))
        found = faults_of(draft)
        assert all(fault.message for fault in found), seed
        if not found:
            sound += 1
            unready(parse(draft))
    assert 0 < sound < 400


LABELLED = protocol(criterion("polarity", "categorical"), criterion("modality", "categorical"), derives="m3")
GOLD = {"polarity": ["Positive", "no effect", "worse", "mixed"], "modality": ["strong", "moderate", "WEAK", "none"]}
for _labels in LABELLED["criteria"]:
    _labels["scale"]["options"] = [option(value) for value in GOLD[_labels["key"]]]


def test_options_mean_labels_of_the_target_by_declaration_or_by_the_same_word() -> None:
    assert unready(parse(LABELLED)) == [
        "Derived matches need a criterion polarity with the options: positive, no effect, negative.",
        "Derived matches need a criterion modality with the options: strong, moderate, weak, no evidence.",
    ]
    declared_ = at(LABELLED, "criteria.0.scale.options.2.means", "negative")
    content = parse(at(declared_, "criteria.1.scale.options.3.means", "no evidence"))
    assert unready(content) == []
    assert content.criterion("polarity").meant("m3") == {
        "Positive": "positive",
        "no effect": "no effect",
        "worse": "negative",
    }
    assert content.criterion("polarity").meant("") == {}
    assert load(as_json(content)) == content


@pytest.mark.parametrize(
    ("draft", "path", "means", "expected"),
    [
        (LABELLED, "criteria.0.scale.options.3.means", "unclear", "positive, no effect, negative, n/a."),
        (at(LABELLED, "derives", ""), "criteria.0.scale.options.3.means", "positive", "none."),
        (protocol(*ALL), "criteria.0.scale.options.3.means", "positive", "none."),
        (
            protocol(criterion("d", "categorical", standard="direction of effect")),
            "criteria.0.scale.options.1.means",
            "no",
            "skip.",
        ),
    ],
)
def test_the_meaning_of_an_option_must_be_a_label_of_its_target(
    draft: Any, path: str, means: str, expected: str
) -> None:
    [fault] = faults_of(at(draft, path, means))
    assert (fault.path, fault.message) == (path, f"Expected one of: {expected}")


def test_a_protocol_without_meanings_keeps_its_digest() -> None:
    assert b'"means"' not in b"".join(canonical(template.content) for template in shipped.templates())
    assert b'"means":"positive"' in canonical(parse(at(LABELLED, "criteria.0.scale.options.3.means", "positive")))
