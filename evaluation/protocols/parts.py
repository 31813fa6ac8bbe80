"""The parts of a protocol's content (schema 1), validated by pydantic.

Lengths of texts and offsets are in code points. Ranges are half-open.
"""

from operator import not_
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from measures.ratings.m3 import meanings, scale_of

SLOTS = ("population", "intervention", "comparator", "outcome")
MOST_CRITERIA = 40
MOST_IN_KEY = 40
MOST_IN_CODE = 60
#: Limit on the absolute value of a number.
LARGEST = 1_000_000
#: Patterns of texts of one line, and of more lines.
LINE, LINES = r"^[^\x00-\x1f\x7f]*$", r"^[^\x00]*$"
#: Values of a criterion whose answers are spans.
NONE, MARKED = SPANS = ("none", "marked")
#: Values of a comparison. A protocol may omit the last two.
LEFT, RIGHT, TIE, NEITHER = PREFERENCES = ("left", "right", "tie", "neither")

Kind = Literal["rate", "compare", "best_worst"]
KINDS = get_args(Kind)
ScaleType = Literal["likert", "categorical", "multi-label", "slider", "spans", "text", "preference", "best-worst"]
SCALES = get_args(ScaleType)


def expect(description: str) -> WrapValidator:
    """Replace the message of a type's validation errors."""

    def validate(value: object, handler: ValidatorFunctionWrapHandler) -> object:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("expected", "Expected {description}.", {"description": description}) from None

    return WrapValidator(validate)


Line = Annotated[str, StringConstraints(strict=True, pattern=LINE)]
Lines = Annotated[str, StringConstraints(strict=True, pattern=LINES)]
_KEY = r"[a-z0-9]+([-_][a-z0-9]+)*"
_EXPECT_KEY = expect(f"a key: lower-case letters and digits, parts joined by - or _, at most {MOST_IN_KEY} characters")
#: A name that other parts refer to.
Key = Annotated[str, StringConstraints(strict=True, max_length=MOST_IN_KEY, pattern=f"^{_KEY}$"), _EXPECT_KEY]
KeyOrEmpty = Annotated[str, StringConstraints(strict=True, max_length=MOST_IN_KEY, pattern=f"^({_KEY})?$"), _EXPECT_KEY]
_CODE = r"[^\s;\x00-\x1f\x7f]([^;\x00-\x1f\x7f]*[^\s;\x00-\x1f\x7f])?"
_EXPECT_CODE = expect(f"1 to {MOST_IN_CODE} characters on one line, without semicolons and surrounding spaces")
#: The value of an option, as used in answers and tables.
Code = Annotated[str, StringConstraints(strict=True, max_length=MOST_IN_CODE, pattern=f"^{_CODE}$"), _EXPECT_CODE]
#: A code, or empty: not applicable, or no value in an example.
CodeOrEmpty = Annotated[
    str, StringConstraints(strict=True, max_length=MOST_IN_CODE, pattern=f"^({_CODE})?$"), _EXPECT_CODE
]
Offset = Annotated[StrictInt, Field(ge=0, le=LARGEST), expect(f"a whole number from 0 to {LARGEST:,}")]
#: A finite number. Whole numbers become int, so that 1 and 1.0 give the same digest.
Number = Annotated[
    StrictInt | StrictFloat,
    Field(ge=-LARGEST, le=LARGEST),
    AfterValidator(lambda number: int(number) if number == int(number) else number),
    expect(f"a number from -{LARGEST:,} to {LARGEST:,}, or null"),
    WithJsonSchema({"type": "number"}),
]


class Part(BaseModel):
    """An object of a protocol. Its JSON contains every field, so that a changed default does not change old versions.

    A field that was added after versions had been stored is omitted if it is empty (``exclude_if``), so that the
    digests of older versions stay the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


class Option(Part):
    """A point of a scale, a category or a severity.

    ``anchor`` describes its meaning in words. If answers are compared with another scale (the target's label or a
    direction), ``means`` is the value of that scale that the option corresponds to; empty if both have the same name.
    ``off_scale`` marks a value that is not a point of the scale ("other", "cannot tell"). Unweighted agreement treats
    it as a category. Means and weighted agreement leave it out.
    """

    value: Code
    label: Line = Field(default="", max_length=120)
    anchor: Line = Field(default="", max_length=400)
    means: CodeOrEmpty = Field(default="", exclude_if=not_)
    off_scale: StrictBool = Field(default=False, exclude_if=not_)


class Scale(Part):
    """The possible answers of a criterion.

    ``minimum``, ``maximum`` and ``step`` apply to sliders. ``severities`` and ``reason`` apply to each span.
    """

    type: ScaleType
    options: tuple[Option, ...] = Field(default=(), max_length=30)
    minimum: Number | None = None
    maximum: Number | None = None
    step: Number | None = None
    severities: tuple[Option, ...] = Field(default=(), max_length=10)
    reason: Literal["none", "offered", "required"] = "none"


class Why(Part):
    """Whether a reason can be given. It is required for the values in ``required_at``."""

    ask: Literal["none", "offered"] = "none"
    required_at: tuple[Code, ...] = Field(default=(), max_length=30)


class Condition(Part):
    """A condition on an earlier answer: the criterion has one of these values. Empty means not applicable."""

    criterion: Key
    values: tuple[CodeOrEmpty, ...] = Field(max_length=30)


class Prefill(Part):
    """A suggested value, or not applicable, that depends on an earlier answer.

    ``target`` restricts it to these values of the target's part shown beside the question. Empty means no restriction.
    The first matching prefill applies.
    """

    when: Condition = Field(alias="if")
    target: tuple[Code, ...] = Field(default=(), max_length=30)
    value: Code | None = None
    na: StrictBool = False


class Mark(Part):
    """A highlighted passage of an example."""

    within: Literal["source", "summary"] = Field(alias="in")
    start: Offset
    end: Offset


class Example(Part):
    """A worked example: a text, its rating, and an explanation."""

    good: StrictBool
    query: Lines = Field(default="", max_length=2000)
    source: Lines = Field(default="", max_length=20_000)
    summary: Lines = Field(default="", max_length=10_000)
    value: CodeOrEmpty = ""
    explanation: Lines = Field(default="", max_length=3000)
    marks: tuple[Mark, ...] = Field(default=(), max_length=50)


class Criterion(Part):
    """One question about each text. ``standard`` is its name in the literature, to compare studies.

    ``beside`` is the part of the target that is shown beside the question. A criterion with good values is reported as
    a share. ``points`` selects it: the share of good values (higher is better) or of the other values (lower is
    better). If it is empty, hallucination and repetition report faults; older protocols rely on this.
    """

    key: Key
    name: Line = Field(default="", max_length=200)
    standard: Line = Field(default="", max_length=80)
    group: KeyOrEmpty = ""
    question: Line = Field(default="", max_length=300)
    more: Lines = Field(default="", max_length=3000)
    frame: Literal["alone", "source", "target", "query"] = "source"
    beside: Literal["", "text", "population", "intervention", "comparator", "outcome", "polarity", "modality"] = ""
    scale: Scale
    na: StrictBool = False
    na_label: Line = Field(default="", max_length=60)
    required: StrictBool = True
    reason: Why = Why()
    shown_if: Condition | None = None
    prefill: tuple[Prefill, ...] = Field(default=(), max_length=20)
    better: Annotated[
        Literal["higher", "lower"] | Annotated[tuple[Code, ...], Field(max_length=100)] | None,
        expect("higher, lower, a list of the good values, or null"),
    ] = None
    points: Literal["", "good", "fault"] = Field(default="", exclude_if=not_)
    examples: tuple[Example, ...] = Field(default=(), max_length=20)

    def meant(self, derives: str) -> dict[str, str]:
        """Return the meaning of each option on the scale that the criterion is compared with under ``derives``."""
        options = self.scale.options if self.scale.type == "categorical" else ()
        scale = scale_of(derives, self.key, self.standard)
        return meanings(((option.value, option.means) for option in options), scale)

    def values(self) -> tuple[str, ...]:
        """Return the values that other criteria can refer to: options, or whether anything was marked."""
        if self.scale.type == "spans":
            return SPANS
        return tuple(option.value for option in self.scale.options)


class Group(Part):
    """Criteria under one question. With ``by_exception``, raters mark only the differences."""

    key: Key
    name: Line = Field(default="", max_length=80)
    question: Line = Field(default="", max_length=300)
    by_exception: StrictBool = False


class Show(Part):
    """The material that raters see beside the texts.

    ``target`` is the part of the target proposition that is shown: its text, only its tuple (for blind labels), or all
    of it (``gold``).
    """

    query: StrictBool = True
    source: StrictBool = True
    target: Literal["none", "text", "tuple", "gold"] = "none"


class Content(Part):
    """The whole content of a protocol version.

    ``texts_per_page`` puts all texts of a source on one page, or one text on each. ``derives`` names the results that
    are computed from blind labels. ``agreement`` is "unweighted" to report unweighted agreement of ordered scales, else
    empty.
    """

    version: Annotated[StrictInt, Field(ge=1, le=1), expect("1: a newer schema needs a newer version of Concord")] = (
        Field(alias="schema")
    )
    kind: Kind
    title: Line = Field(default="", max_length=120)
    instructions: Lines = Field(default="", max_length=10_000)
    show: Show = Show()
    texts_per_page: Literal["all", "one"] = "all"
    hints: StrictBool = False
    derives: Literal["", "m3"] = ""
    groups: tuple[Group, ...] = Field(default=(), max_length=20)
    criteria: tuple[Criterion, ...] = Field(default=(), max_length=MOST_CRITERIA)
    agreement: Literal["", "unweighted"] = Field(default="", exclude_if=not_)

    def criterion(self, key: str) -> Criterion:
        """Return a criterion by its key. Raise `KeyError` if there is none."""
        return {criterion.key: criterion for criterion in self.criteria}[key]
