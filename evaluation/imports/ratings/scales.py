"""By which protocol a file's ratings are: one that asks just these criteria, or one that is made of what is found."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from measures.sets import as_cell, codes_of_cell

from ...protocols import shipped
from ...protocols.content import parse
from ...protocols.parts import Content, Criterion
from .said import NOT_APPLICABLE, Read, not_applicable

#: So many points has a scale at most that is made of whole numbers.
MOST_POINTS = 30
Meaning = Callable[[str, str], str]


def as_it_stands(criterion: str, value: str) -> str:
    return value


def fitting(criterion: Criterion, value: str) -> str | None:
    """The value as the scale has it, `NOT_APPLICABLE` where that is said; None where it does not fit."""
    if not_applicable(value):
        return NOT_APPLICABLE if criterion.na else None
    options = {option.value: option.value for option in criterion.scale.options}
    match criterion.scale.type:
        case "text":
            return value
        case "spans":
            return value if value in ("none", "marked") else None
        case "multi-label":
            codes = codes_of_cell(value)
            return as_cell(codes) if codes <= set(options) else None
        case "slider":
            number = _number(value)
            low, high = criterion.scale.minimum or 0, criterion.scale.maximum or 0
            return f"{number:g}" if number is not None and low <= number <= high else None
    labels = {option.label.casefold(): option.value for option in criterion.scale.options if option.label}
    number = _number(value)
    whole = f"{number:g}" if number is not None else value
    return options.get(value) or options.get(whole) or labels.get(value.casefold())


def known(read: Read, others: Iterable[Content], meaning: Meaning) -> Content | None:
    """The first protocol that asks just the criteria of a file, and on whose scales all its values lie."""
    wanted = {one.criterion for one in read.said}
    said = {(one.criterion, one.value) for one in read.said}
    for content in (*others, *(template.content for template in shipped.templates())):
        of = {criterion.key: criterion for criterion in content.criteria}
        if set(of) == wanted and all(fitting(of[key], read.mapped(key, meaning(key, v))) for key, v in said):
            return content
    return None


def check(read: Read, content: Content, meaning: Meaning) -> None:
    """Name each value that is on no scale, once, with what can be said instead and how."""
    of = {criterion.key: criterion for criterion in content.criteria}
    unknown: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}
    for one in read.said:
        if value_of(read, of[one.criterion], one.value, meaning) is None:
            unknown[one.criterion, one.value] += 1
            first.setdefault((one.criterion, one.value), one.line)
    for (criterion, value), rows in unknown.items():
        allowed = ", ".join(option.value for option in of[criterion].scale.options) or of[criterion].scale.type
        na = f", {NOT_APPLICABLE}" if of[criterion].na else ""
        read.fault(
            first[criterion, value], criterion,
            f"{value!r} ({rows} row{'s' * (rows > 1)}) is not on its scale: {allowed}{na}. Say what it is: "
            f'map "{criterion}:{value}=VALUE"',
        )  # fmt: skip


def value_of(read: Read, criterion: Criterion, value: str, meaning: Meaning) -> str | None:
    """A value of a file on its scale, as it is mapped, or else as its shape has it."""
    mapped = read.mapped(criterion.key, value)
    return fitting(criterion, mapped if mapped != value else meaning(criterion.key, value))


def made(read: Read, title: str) -> Content:
    """A protocol of the criteria that are found, in their order: points where most of what is said are whole numbers,
    else a slider or categories. What the points mean is not known, so no round opens by it."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for one in read.said:
        values[one.criterion][read.mapped(one.criterion, one.value)] += 1
    return parse(
        {"schema": 1, "kind": "rate", "title": title[:120],
         "criteria": [_criterion(key, counts) for key, counts in values.items()]}
    )  # fmt: skip


def _criterion(key: str, counts: Counter[str]) -> dict[str, Any]:
    there = [value for value in counts if not not_applicable(value)]
    numbers = {value: number for value in there if (number := _number(value)) is not None}
    mostly = 2 * sum(counts[value] for value in numbers) >= sum(counts[value] for value in there)
    scale = _numeric(sorted(numbers.values())) if numbers and mostly else _categories(there)
    return {"key": key, "name": key.replace("-", " ").capitalize(), "question": "", "required": False,
            "na": len(there) < len(counts), "scale": scale}  # fmt: skip


def _numeric(numbers: Sequence[float]) -> dict[str, Any]:
    low, high = numbers[0], numbers[-1]
    if all(number == int(number) for number in numbers) and high - low < MOST_POINTS:
        # A scale has two points at least.
        points = range(int(low), max(int(high), int(low) + 1) + 1)
        return {"type": "likert", "options": [{"value": str(point)} for point in points]}
    return {"type": "slider", "minimum": low // 1, "maximum": -(-high // 1) if high > low else low // 1 + 1,
            "step": 0.01 if any(number != int(number) for number in numbers) else 1}  # fmt: skip


def _categories(values: Sequence[str]) -> dict[str, Any]:
    found = sorted(values)
    if len(found) > MOST_POINTS or any(len(value) > 60 or ";" in value for value in found):
        return {"type": "text"}
    return {"type": "categorical", "options": [{"value": value} for value in found]}


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < 1e9 else None
