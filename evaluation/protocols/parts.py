"""The parts of a protocol's content (schema 1). Lengths of texts are in code points; so are offsets, half-open."""

from dataclasses import dataclass

from measures.ratings.m3 import DERIVES as M3
from measures.ratings.meaning import meanings, scale_of

from .takes import (
    Answer,
    Better,
    Code,
    Flag,
    Key,
    KeyOrEmpty,
    Number,
    OneOf,
    OrNull,
    Part,
    Place,
    Several,
    Text,
    Version,
    takes,
)

SCHEMA = 1
KINDS = ("rate", "compare")
#: What of the target proposition is shown: its text; its tuple alone (for labels that are given blind); all of it.
TARGETS = ("none", "text", "tuple", "gold")
#: The texts of a source on one page, or a page for each.
TEXTS = ("all", "one")
DERIVATIONS = ("", M3)
FRAMES = ("alone", "source", "target", "query")
SLOTS = ("population", "intervention", "comparator", "outcome")
#: What of the target stands beside a criterion's question.
BESIDE = ("", "text", *SLOTS, "polarity", "modality")
SCALES = ("likert", "categorical", "multi-label", "slider", "spans", "text", "preference")
ASKED = ("none", "offered")
REASONS = (*ASKED, "required")
SIDES = ("source", "summary")
#: What a criterion of spans comes to, beside the spans themselves.
NONE, MARKED = "none", "marked"
SPANS = (NONE, MARKED)
#: What a comparison comes to; whoever compares is not made to choose where a protocol has the latter two.
LEFT, RIGHT, TIE, NEITHER = PREFERENCES = ("left", "right", "tie", "neither")


@dataclass(frozen=True, kw_only=True)
class Option:
    """One point of a scale, one category or severity. ``anchor``: in words, what it means. ``means``: on the scale
    that it is held against (the target's labels, or a direction that is skipped), where that is another word."""

    value: str = takes(Code())
    label: str = takes(Text(120), "")
    anchor: str = takes(Text(400), "")
    means: str = takes(Answer(), "", later=True)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What can be said. ``minimum``, ``maximum``, ``step``: of a slider; ``severities``, ``reason``: of each span."""

    type: str = takes(OneOf(SCALES))
    options: tuple[Option, ...] = takes(Several(Part(Option), 30), ())
    minimum: int | float | None = takes(Number(), None)
    maximum: int | float | None = takes(Number(), None)
    step: int | float | None = takes(Number(), None)
    severities: tuple[Option, ...] = takes(Several(Part(Option), 10), ())
    reason: str = takes(OneOf(REASONS), "none")


@dataclass(frozen=True, kw_only=True)
class Why:
    """Whether a reason is asked for: always offered, and required at these values."""

    ask: str = takes(OneOf(ASKED), "none")
    required_at: tuple[str, ...] = takes(Several(Code(), 30), ())


@dataclass(frozen=True, kw_only=True)
class Condition:
    """An earlier answer: the criterion has one of these values (empty: not applicable)."""

    criterion: str = takes(Key())
    values: tuple[str, ...] = takes(Several(Answer(), 30))


@dataclass(frozen=True, kw_only=True)
class Prefill:
    """What an earlier answer suggests: a value, or not applicable. ``target``: only where what stands beside the
    question (the target's polarity or modality) is one of these; empty: whatever it is. The first that holds counts."""

    when: Condition = takes(Part(Condition), name="if")
    target: tuple[str, ...] = takes(Several(Code(), 30), ())
    value: str | None = takes(OrNull(Code()), None)
    na: bool = takes(Flag(), False)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A passage of an example that is highlighted."""

    within: str = takes(OneOf(SIDES), name="in")
    start: int = takes(Place())
    end: int = takes(Place())


@dataclass(frozen=True, kw_only=True)
class Example:
    """A worked example: a text, what it would be rated, and why."""

    good: bool = takes(Flag())
    query: str = takes(Text(2000, lines=True), "")
    source: str = takes(Text(20_000, lines=True), "")
    summary: str = takes(Text(10_000, lines=True), "")
    value: str = takes(Answer(), "")
    explanation: str = takes(Text(3000, lines=True), "")
    marks: tuple[Mark, ...] = takes(Several(Part(Mark), 50), ())


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One thing that is asked of each text. ``standard``: what the field calls it, so that studies can be compared."""

    key: str = takes(Key())
    name: str = takes(Text(80), "")
    standard: str = takes(Text(80), "")
    group: str = takes(KeyOrEmpty(), "")
    question: str = takes(Text(300), "")
    more: str = takes(Text(3000, lines=True), "")
    frame: str = takes(OneOf(FRAMES), "source")
    beside: str = takes(OneOf(BESIDE), "")
    scale: Scale = takes(Part(Scale))
    na: bool = takes(Flag(), False)
    na_label: str = takes(Text(60), "")
    required: bool = takes(Flag(), True)
    reason: Why = takes(Part(Why), Why())
    shown_if: Condition | None = takes(Part(Condition, or_null=True), None)
    prefill: tuple[Prefill, ...] = takes(Several(Part(Prefill), 20), ())
    better: str | tuple[str, ...] | None = takes(Better(), None)
    examples: tuple[Example, ...] = takes(Several(Part(Example), 20), ())

    def meant(self, derives: str) -> dict[str, str]:
        """By value of an option, what it means on the scale that it is held against in a protocol that ``derives``."""
        options = self.scale.options if self.scale.type == "categorical" else ()
        scale = scale_of(derives, self.key, self.standard)
        return meanings(((option.value, option.means) for option in options), scale)

    def values(self) -> tuple[str, ...]:
        """What other criteria can refer to of an answer: values of options, or whether anything was marked."""
        if self.scale.type == "spans":
            return SPANS
        return tuple(option.value for option in self.scale.options)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Criteria that are asked under one question. ``by_exception``: what differs is marked, the rest is the same."""

    key: str = takes(Key())
    name: str = takes(Text(80), "")
    question: str = takes(Text(300), "")
    by_exception: bool = takes(Flag(), False)


@dataclass(frozen=True, kw_only=True)
class Show:
    """What a rater sees beside the texts."""

    query: bool = takes(Flag(), True)
    source: bool = takes(Flag(), True)
    target: str = takes(OneOf(TARGETS), "none")


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a version of a protocol says, whole. ``derives``: what results compute of labels that were given blind."""

    schema: int = takes(Version(SCHEMA))
    kind: str = takes(OneOf(KINDS))
    title: str = takes(Text(120), "")
    instructions: str = takes(Text(10_000, lines=True), "")
    show: Show = takes(Part(Show), Show())
    texts_per_page: str = takes(OneOf(TEXTS), "all")
    hints: bool = takes(Flag(), False)
    derives: str = takes(OneOf(DERIVATIONS), "")
    groups: tuple[Group, ...] = takes(Several(Part(Group), 20), ())
    criteria: tuple[Criterion, ...] = takes(Several(Part(Criterion), 40), ())

    def criterion(self, key: str) -> Criterion:
        """KeyError where there is none."""
        return {criterion.key: criterion for criterion in self.criteria}[key]
