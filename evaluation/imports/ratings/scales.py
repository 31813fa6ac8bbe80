"""Choose the protocol of imported ratings: an existing one with the same criteria, or one built from the values."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.imports import Notice
from evaluation.imports.ratings.rows import NOT_APPLICABLE, Part, RatingFile, not_applicable
from measures.span_agreement import as_cell, codes_of_cell
from projects.spreadsheets.cells import number, number_text

from ...kinds.scales import MOST_STEPS
from ...protocols import shipped
from ...protocols.content import parse
from ...protocols.parts import LARGEST, MOST_IN_CODE, MOST_IN_KEY, Content, Criterion, Option

#: Limit on the points of a scale that is built from whole numbers.
MOST_POINTS = 30
#: Limit on the length of a category's value.
MOST_LETTERS = 60
#: Kind of the notice about a value that becomes a separate option.
OWN_VALUE = "own value"
MIXED, SPELLINGS, STEPS, TEXTS = "numbers as categories", "spellings", "too many steps", "read as texts"
#: Kinds of notices about scales. They are replaced whenever scales are chosen again.
CHOSEN = {OWN_VALUE, MIXED, SPELLINGS, STEPS, TEXTS}
#: In a mapping, ``CRITERION:scale=nominal`` declares that the values of a criterion have no order.
SCALE, NOMINAL = "scale", "nominal"
#: Types of scales whose values have an order.
ORDERED = ("likert", "slider")
Meaning = Callable[[str, str], str]


def as_it_stands(criterion: str, value: str) -> str:
    return value


def fitting(criterion: Criterion, value: str) -> str | None:
    """Return the value in the form of the scale, `NOT_APPLICABLE`, or None if it does not fit."""
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
            point = _number(value)
            low, high = criterion.scale.minimum or 0, criterion.scale.maximum or 0
            return number_text(point) if point is not None and low <= point <= high else None
    labels = {option.label.casefold(): option.value for option in criterion.scale.options if option.label}
    point = _number(value)
    whole = number_text(point) if point is not None else value
    return options.get(value) or options.get(whole) or labels.get(value.casefold())


@dataclass(frozen=True)
class ProtocolChoice:
    """The protocol of a part.

    ``of`` maps the file's criterion to the protocol's criterion. ``values`` maps the file's criterion and value to the
    protocol's value, or to None if the scale does not contain it.
    """

    content: Content
    of: Mapping[str, Criterion]
    values: Mapping[tuple[str, str], str | None]


def ask(read: RatingFile, part: Part, others: Iterable[Content], meaning: Meaning, title: str) -> ProtocolChoice:
    """Return the first protocol with exactly these criteria whose scales contain all values.

    If there is none, return a protocol built from the ratings.
    """
    counts = _said(read, part)
    for content in (*others, *(template.content for template in shipped.templates())):
        if content.kind == "rate" and (of := _criteria(read, counts, content)):
            values = _values(read, counts, of, meaning)
            ordered = [name for name, criterion in of.items() if criterion.scale.type in ORDERED]
            if None not in values.values() and not any(_is_nominal(read, name) for name in ordered):
                return ProtocolChoice(content, of, values)
    content, of = _made(read, counts, title)
    return ProtocolChoice(content, of, _values(read, counts, of, meaning))


def ask_shipped(read: RatingFile, part: Part, content: Content, meaning: Meaning) -> ProtocolChoice:
    """Return the ratings' mapping to a shipped protocol.

    Values that a scale lacks become off-scale options, so different values of a file stay different.
    """
    said = _said(read, part)
    of = {criterion.key: criterion for criterion in content.criteria}
    values = _values(read, said, of, meaning)
    if content.kind != "rate":
        return ProtocolChoice(content, of, values)
    criteria = []
    for criterion in content.criteria:
        counts = said.get(criterion.key, Counter())
        added = _off_scale(read, criterion, counts, values)
        scale = criterion.scale.model_copy(update={"options": (*criterion.scale.options, *added)})
        wide = criterion.model_copy(update={"scale": scale})
        if len(wide.scale.options) > MOST_POINTS:
            read.fault(
                1,
                criterion.name or criterion.key,
                f"{len(wide.scale.options)} different values; a scale has at most {MOST_POINTS}. Merge some of them "
                f'with map "{criterion.key}:VALUE=ANOTHER"',
            )
            wide = criterion
        if criterion.scale.type in ORDERED and _is_nominal(read, criterion.key):
            scale = wide.scale.model_copy(update={"type": "categorical"})
            wide = wide.model_copy(update={"scale": scale, "better": None})
        criteria.append(wide)
    content = content.model_copy(update={"criteria": tuple(criteria)})
    return ProtocolChoice(content, {criterion.key: criterion for criterion in criteria}, values)


def _off_scale(
    read: RatingFile, criterion: Criterion, counts: Counter[str], values: dict[tuple[str, str], str | None]
) -> list[Option]:
    """Return options for values that the scale lacks.

    If several values mean the same point, the most frequent one keeps the point. Each of the others becomes an option.
    """
    used_values = {option.value for option in criterion.scale.options} | {NOT_APPLICABLE}
    points: set[str] = set()
    added = []
    for value, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        key = criterion.key, value
        if read.mapped(_names(read, criterion.key), value) != value:
            continue  # mapped explicitly by the importer
        point = values[key]
        if point is None or point in points:
            values[key] = _option_value(value, used_values)
            used_values.add(str(values[key]))
            added.append(Option(value=str(values[key]), label=value[:120], off_scale=True))
            why = "not an option of the protocol" if point is None else f"another spelling of {point}"
            read.odd.append(
                Notice(
                    OWN_VALUE,
                    f"{n} ratings; {why}: imported as a separate value beside the scale.",
                    "",
                    "",
                    criterion.name or criterion.key,
                    value,
                )
            )
        else:
            points.add(point)
    return added


def _option_value(value: str, used_values: set[str]) -> str:
    """Return a valid option value that is not in use yet."""
    base = " ".join(value.replace(";", ",").split())
    tries = (base[:MOST_IN_CODE].strip(), *(f"{base[: MOST_IN_CODE - 5].strip()} ({n})" for n in range(2, 100)))
    return next(each for each in tries if each not in used_values)


def check(read: RatingFile, part: Part, asked: ProtocolChoice) -> None:
    """Add one fault for each value that is on no scale, with the allowed values and the mapping syntax."""
    unknown: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}
    for one in read.said:
        if one.part == part and asked.values.get((one.criterion, one.value)) is None:
            unknown[one.criterion, one.value] += 1
            first.setdefault((one.criterion, one.value), one.line)
    for (name, value), rows in unknown.items():
        criterion = asked.of[name]
        allowed = ", ".join(option.value for option in criterion.scale.options) or _range(criterion)
        na = f", {NOT_APPLICABLE}" if criterion.na else ""
        read.fault(
            first[name, value],
            criterion.name or criterion.key,
            f"{value!r} ({rows} row{'s' * (rows > 1)}) is not on the scale: {allowed}{na}. Map it with "
            f'map "{criterion.key}:{value}=VALUE"',
        )


def _range(criterion: Criterion) -> str:
    low, high = criterion.scale.minimum, criterion.scale.maximum
    return f"a number from {low} to {high}" if criterion.scale.type == "slider" else criterion.scale.type


def _said(read: RatingFile, part: Part) -> dict[str, Counter[str]]:
    """Return how often each value occurs, by criterion in the order of the file."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in read.said:
        if one.part == part:
            counts[one.criterion][one.value] += 1
    return counts


def _names(read: RatingFile, criterion: str) -> tuple[str, ...]:
    """Return the names by which a mapping can refer to a criterion of the file."""
    title = read.titles.get(criterion, criterion)
    return criterion, title, key_of(title)


def _criteria(read: RatingFile, said: Iterable[str], content: Content) -> dict[str, Criterion] | None:
    """Return the protocol's criterion for each criterion of the file, matched by key or name.

    Return None if the criteria differ.
    """
    by_name = {" ".join(each.name.casefold().split()): each for each in content.criteria if each.name}
    by_name |= {each.key: each for each in content.criteria}
    names = list(said)
    matches = {name: by_name.get(name) or by_name.get(key_of(read.titles.get(name, name))) for name in names}
    keys = {each.key for each in matches.values() if each}
    fits = all(matches.values()) and len(keys) == len(names) == len(content.criteria)
    return {name: each for name, each in matches.items() if each} if fits else None


def _values(
    read: RatingFile, said: Mapping[str, Counter[str]], of: Mapping[str, Criterion], meaning: Meaning
) -> dict[tuple[str, str], str | None]:
    values: dict[tuple[str, str], str | None] = {}
    for name, counts in said.items():
        criterion = of[name]
        for value in counts:
            mapped = read.mapped((*_names(read, name), criterion.key), value)
            values[name, value] = fitting(criterion, mapped if mapped != value else meaning(criterion.key, value))
    return values


def key_of(name: str) -> str:
    """Return a criterion's key: lower-case letters, digits and hyphens. Keys can collide; see `_keys`."""
    parts = "".join(c if c.isascii() and c.isalnum() else " " for c in name.casefold()).split()
    return "-".join(parts)[:MOST_IN_KEY].strip("-") or "criterion"


def _keys(names: Mapping[str, str]) -> dict[str, str]:
    """Return a unique key for each criterion, by folded name."""
    keys: dict[str, str] = {}
    for folded, name in names.items():
        base = key_of(name)
        tries = (base, *(f"{base[: MOST_IN_KEY - 4].strip('-')}-{n}" for n in range(2, 1000)))
        keys[folded] = next(each for each in tries if each not in keys.values())
    return keys


def _made(
    read: RatingFile, counts_by_criterion: Mapping[str, Counter[str]], title: str
) -> tuple[Content, dict[str, Criterion]]:
    """Return a protocol built from the criteria of the file, in their order.

    A criterion gets a Likert scale or a slider if most of its ratings are numbers, else categories. The meaning of the
    points is unknown, so no round can be opened with this protocol.
    """
    keys = _keys({folded: read.titles.get(folded, folded) for folded in counts_by_criterion})
    criteria = []
    for folded, counts in counts_by_criterion.items():
        mapped: Counter[str] = Counter()
        for value, n in counts.items():
            mapped[read.mapped((*_names(read, folded), keys[folded]), value)] += n
        nominal = _is_nominal(read, folded, keys[folded])
        made = _criterion(keys[folded], read.titles.get(folded, folded), mapped, nominal)
        criteria.append(made)
        if not nominal:
            read.odd += _notices(made, mapped)
        elif made["scale"]["type"] != "categorical":
            read.fault(
                1,
                made["name"],
                (
                    f"cannot be nominal: a nominal scale has at most {MOST_POINTS} values of at most "
                    f"{MOST_LETTERS} characters without semicolons"
                ),
            )
    content = parse({"schema": 1, "kind": "rate", "title": title[:120], "criteria": criteria})
    by_key = {criterion.key: criterion for criterion in content.criteria}
    return content, {folded: by_key[key] for folded, key in keys.items()}


def _is_nominal(read: RatingFile, criterion: str, *keys: str) -> bool:
    """Whether the importer declared a criterion of the file nominal."""
    return read.mapped((*_names(read, criterion), *keys), SCALE).casefold() == NOMINAL


def check_declared(read: RatingFile) -> None:
    """Add a fault for each criterion that is declared nominal but missing in the file."""
    criteria = dict.fromkeys(one.criterion for one in read.said)
    keys = _keys({name: read.titles.get(name, name) for name in criteria})
    names = {each for name in criteria for each in (*_names(read, name), keys[name])}
    for declared in read.mapping:
        criterion, colon, value = declared.rpartition(":")
        if colon and value == SCALE and criterion not in names:
            known = ", ".join(read.titles.get(name, name) for name in criteria)
            read.fault(
                1,
                "map",
                f"no criterion {criterion!r} in the file, so it cannot be declared nominal; the file has: {known}",
            )


def _criterion(key: str, title: str, counts: Counter[str], nominal: bool) -> dict[str, Any]:
    values = [value for value in counts if not not_applicable(value)]
    numbers = {value: point for value in values if (point := _number(value)) is not None}
    mostly = 2 * sum(counts[value] for value in numbers) >= sum(counts[value] for value in values)
    if nominal:
        # Different spellings of a number are one value, as on a numeric scale.
        spellings = Counter({number_text(point): counts[value] for value, point in numbers.items()})
        spellings.update({value: counts[value] for value in values if value not in numbers})
        scale = _categories([*_spellings(spellings)])
    else:
        scale = _numeric(sorted(numbers.values())) if numbers and mostly else _categories([*_spellings(counts)])
    return {
        "key": key,
        "name": title[:1].upper() + title[1:],
        "question": "",
        "required": False,
        "na": len(values) < len(counts),
        "scale": scale,
    }


def _numeric(numbers: Sequence[float]) -> dict[str, Any]:
    low, high = numbers[0], numbers[-1]
    if all(point == int(point) for point in numbers) and high - low < MOST_POINTS:
        # A scale has at least two points.
        points = range(int(low), max(int(high), int(low) + 1) + 1)
        return {"type": "likert", "options": [{"value": str(point)} for point in points]}
    return {
        "type": "slider",
        "minimum": low // 1,
        "maximum": -(-high // 1) if high > low else low // 1 + 1,
        "step": _step(numbers),
    }


def _step(numbers: Sequence[float]) -> float:
    """Return the largest step that divides all values: 1, or 0.5, 0.25 or 0.1 times a power of ten."""
    steps = (1, *(base / 10**digits for digits in range(13) for base in (0.5, 0.25, 0.1)))
    return float(next((step for step in steps if all(_is_multiple(point, step) for point in numbers)), steps[-1]))


def _is_multiple(point: float, step: float) -> bool:
    return number_text(round(point / step) * step) == number_text(point)


def _spellings(counts: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the most frequent spelling of each value -> its other spellings. Case is not significant."""
    spellings: dict[str, list[str]] = {}
    for value, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if not not_applicable(value):
            spellings.setdefault(value.casefold(), []).append(value)
    return {values[0]: values[1:] for values in spellings.values()}


def _notices(criterion: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[Notice]:
    """Yield the notices about a scale that was built from the values."""
    name, scale = criterion["name"], criterion["scale"]
    if scale["type"] == "slider":
        steps = round((scale["maximum"] - scale["minimum"]) / scale["step"]) + 1
        if steps > MOST_STEPS:
            why = (
                f"The scale has {steps:,} steps. Agreement is not computed, because it is limited to "
                f"{MOST_STEPS} steps."
            )
            yield Notice(STEPS, why, "", "", name)
    if scale["type"] == "text":
        why = f"More than {MOST_POINTS} values, or one with a semicolon or of more than {MOST_LETTERS} characters"
        yield Notice(TEXTS, f"{why}: imported as free text. Agreement is not computed for free text.", "", "", name)
    if scale["type"] == "categorical":
        numbers = [value for value in counts if _number(value) is not None]
        if numbers and len(numbers) < len(counts):
            why = "Fewer than half of the ratings are numbers: all are imported as unordered categories."
            yield Notice(MIXED, why, "", "", name, ", ".join(sorted(numbers)))
        for value, others in _spellings(counts).items():
            if others:
                why = "Differ only in case; imported as one category."
                yield Notice(SPELLINGS, why, "", "", name, ", ".join((value, *others)))


def _categories(values: Sequence[str]) -> dict[str, Any]:
    categories = sorted(values)
    if len(categories) > MOST_POINTS or any(len(value) > MOST_LETTERS or ";" in value for value in categories):
        return {"type": "text"}
    # Labels are compared case-insensitively, so other spellings match by the label.
    return {"type": "categorical", "options": [{"value": value, "label": value} for value in categories]}


def _number(value: str) -> float | None:
    parsed = number(value)
    return parsed if parsed is not None and abs(parsed) <= LARGEST else None
