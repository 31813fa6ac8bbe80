"""Consistency rules between the parts of a protocol: keys, references, scales and offsets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from measures.ratings.judgements import CHOSEN
from measures.ratings.m3 import scale_of

from .parts import LEFT, PREFERENCES, RIGHT, Condition, Content, Criterion, Example, Option, Prefill, Scale

#: Scales with options, and scales that have a direction.
OPTIONS = ("likert", "categorical", "multi-label", "spans", "preference", "best-worst")
DIRECTED = ("likert", "slider")
#: The only scale of a kind of protocol. The other kind has all other scales.
SCALE_OF_KIND = {"compare": "preference", "best_worst": "best-worst"}


@dataclass(frozen=True)
class Fault:
    """A fault in a protocol. ``path`` is dotted (``criteria.0.scale.type``), or empty for the whole protocol."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def faults(content: Content) -> Iterator[Fault]:
    """Yield every inconsistency of the content."""
    yield from _unique((group.key for group in content.groups), "groups", "key")
    yield from _unique((criterion.key for criterion in content.criteria), "criteria", "key")
    yield from _groups(content)
    if content.kind == "best_worst" and content.texts_per_page != "all":
        yield Fault("texts_per_page", "Expected all: the texts of a tuple are on one page.")
    earlier: dict[str, Criterion] = {}
    for i, criterion in enumerate(content.criteria):
        path = f"criteria.{i}"
        yield from _scale(criterion.scale, content.kind, f"{path}.scale")
        yield from _criterion(criterion, path)
        yield from _of_tuple(criterion, path)
        yield from _meant(criterion, content.derives, f"{path}.scale")
        yield from _references(criterion, earlier, path)
        for j, example in enumerate(criterion.examples):
            yield from _example(criterion, example, f"{path}.examples.{j}")
        earlier.setdefault(criterion.key, criterion)


def _unique(values: Iterator[str], path: str, field: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for i, value in enumerate(values):
        if value in seen:
            yield Fault(f"{path}.{i}.{field}", f"Expected different values; {value!r} occurs twice.")
        seen.add(value)


def _groups(content: Content) -> Iterator[Fault]:
    """Check that the criteria of a group are adjacent. A group by exception needs two options, same and different."""
    groups = {group.key: group for group in content.groups}
    closed: set[str] = set()
    previous = ""
    for i, criterion in enumerate(content.criteria):
        path = f"criteria.{i}"
        if criterion.group and criterion.group not in groups:
            yield Fault(f"{path}.group", f"Expected the key of a group; there is no {criterion.group!r}.")
        elif criterion.group in closed:
            yield Fault(f"{path}.group", "Expected the criteria of a group to be consecutive.")
        elif criterion.group and groups[criterion.group].by_exception and not _is_pair(criterion.scale):
            yield Fault(f"{path}.scale", "Expected two categories, the first of them 'same', in a group by exception.")
        if previous and criterion.group != previous:
            closed.add(previous)
        previous = criterion.group


def _is_pair(scale: Scale) -> bool:
    return scale.type == "categorical" and len(scale.options) == 2


def _scale(scale: Scale, kind: str, path: str) -> Iterator[Fault]:
    wanted = SCALE_OF_KIND.get(kind, "")
    if scale.type != wanted if wanted else scale.type in SCALE_OF_KIND.values():
        wanted = wanted or f"any scale but {' and '.join(SCALE_OF_KIND.values())}"
        yield Fault(f"{path}.type", f"Expected {wanted} in a protocol of kind {kind}.")
    yield from _unique((option.value for option in scale.options), f"{path}.options", "value")
    yield from _unique((severity.value for severity in scale.severities), f"{path}.severities", "value")
    if scale.options and scale.type not in OPTIONS:
        yield Fault(f"{path}.options", f"Expected none: scales of type {scale.type} have no options.")
    if scale.severities and scale.type != "spans":
        yield Fault(f"{path}.severities", "Expected none: only spans have severities.")
    if scale.reason != "none" and scale.type != "spans":
        yield Fault(f"{path}.reason", "Expected none: only spans have their own reasons.")
    if scale.type == "likert":
        yield from _points(scale.options, path)
    elif scale.type == "slider":
        yield from _slider(scale, path)
    elif scale.type == "preference":
        yield from _sides(scale.options, path)
    if scale.type != "slider" and (scale.minimum, scale.maximum, scale.step) != (None, None, None):
        yield Fault(path, "Expected minimum, maximum and step to be null: only a slider has them.")


def _points(options: Sequence[Option], path: str) -> Iterator[Fault]:
    """Check that points are ascending whole numbers, because means are computed from them."""
    last: int | None = None
    for i, option in enumerate(options):
        if option.off_scale:
            continue
        try:
            point = int(option.value)
        except ValueError:
            point = None
        if point is None or option.value != str(point):
            yield Fault(f"{path}.options.{i}.value", "Expected a whole number, because means are computed.")
        elif last is not None and point <= last:
            yield Fault(f"{path}.options.{i}.value", f"Expected more than {last}: points must be in ascending order.")
        last = point if point is not None else last


def _slider(scale: Scale, path: str) -> Iterator[Fault]:
    if scale.minimum is None or scale.maximum is None or scale.step is None:
        yield Fault(path, "Expected minimum, maximum and step of a slider.")
    elif scale.minimum >= scale.maximum:
        yield Fault(f"{path}.maximum", "Expected more than the minimum.")
    elif not 0 < scale.step <= scale.maximum - scale.minimum:
        yield Fault(f"{path}.step", "Expected more than 0 and at most maximum minus minimum.")


def _sides(options: Sequence[Option], path: str) -> Iterator[Fault]:
    values = [option.value for option in options]
    for i, value in enumerate(values):
        if value not in PREFERENCES:
            yield Fault(f"{path}.options.{i}.value", f"Expected one of: {', '.join(PREFERENCES)}.")
    if not {LEFT, RIGHT} <= set(values):
        yield Fault(f"{path}.options", "Expected at least left and right.")


def _of_tuple(criterion: Criterion, path: str) -> Iterator[Fault]:
    """Check that a choice of the best and the worst is asked of every tuple, without further answers."""
    if criterion.scale.type != "best-worst":
        return
    if tuple(option.value for option in criterion.scale.options) != CHOSEN:
        yield Fault(f"{path}.scale.options", f"Expected, in this order: {', '.join(CHOSEN)}.")
    for i, option in enumerate(criterion.scale.options):
        if option.off_scale:
            yield Fault(f"{path}.scale.options.{i}.off_scale", "Expected false: each of the three values counts.")
    if criterion.na or not criterion.required:
        yield Fault(f"{path}.{'na' if criterion.na else 'required'}", "Expected a required answer without N/A.")
    if criterion.reason.ask != "none" or criterion.reason.required_at:
        yield Fault(f"{path}.reason", "Expected none: there are no reasons for the best and the worst.")
    if criterion.shown_if or criterion.prefill or criterion.group:
        field = "shown_if" if criterion.shown_if else "prefill" if criterion.prefill else "group"
        yield Fault(f"{path}.{field}", "Expected none: every tuple is asked every criterion.")


def _criterion(criterion: Criterion, path: str) -> Iterator[Fault]:
    values = criterion.values()
    for i, value in enumerate(criterion.reason.required_at):
        if value not in values:
            yield _not_among(f"{path}.reason.required_at.{i}", values)
    better, type = criterion.better, criterion.scale.type
    if isinstance(better, tuple):
        if type in DIRECTED or not values:
            yield Fault(f"{path}.better", "Expected higher, lower or null.")
        for i, value in enumerate(better):
            if value not in values:
                yield _not_among(f"{path}.better.{i}", values)
    elif better is not None and type not in DIRECTED:
        yield Fault(f"{path}.better", "Expected a list of the good values, or null.")
    if criterion.na_label and not criterion.na:
        yield Fault(f"{path}.na_label", "Expected none: the criterion cannot be answered as not applicable.")


def held_against(criterion: Criterion, derives: str) -> Sequence[str]:
    """Return the scale that a criterion's options are compared with. Empty if there is none."""
    return scale_of(derives, criterion.key, criterion.standard) if criterion.scale.type == "categorical" else ()


def _meant(criterion: Criterion, derives: str, path: str) -> Iterator[Fault]:
    """Check that ``means`` names a value of the scale that the options are compared with."""
    scale = held_against(criterion, derives)
    for field, options, allowed in (
        ("options", criterion.scale.options, scale),
        ("severities", criterion.scale.severities, ()),
    ):
        for i, option in enumerate(options):
            if option.means and option.means not in allowed:
                yield _not_among(f"{path}.{field}.{i}.means", tuple(allowed))


def _references(criterion: Criterion, earlier: dict[str, Criterion], path: str) -> Iterator[Fault]:
    if criterion.shown_if:
        yield from _condition(criterion.shown_if, earlier, f"{path}.shown_if")
    for i, prefill in enumerate(criterion.prefill):
        yield from _condition(prefill.when, earlier, f"{path}.prefill.{i}.if")
        yield from _prefilled(criterion, prefill, f"{path}.prefill.{i}")


def _condition(condition: Condition, earlier: dict[str, Criterion], path: str) -> Iterator[Fault]:
    """Check that a condition refers to an earlier criterion and to its values."""
    asked = earlier.get(condition.criterion)
    if asked is None or not asked.values():
        known = ", ".join(key for key, criterion in earlier.items() if criterion.values())
        yield Fault(f"{path}.criterion", f"Expected the key of an earlier criterion with options: {known or 'none'}.")
        return
    if not condition.values:
        yield Fault(f"{path}.values", "Expected at least one value.")
    allowed = (*asked.values(), "") if asked.na else asked.values()
    for i, value in enumerate(condition.values):
        if value not in allowed:
            yield _not_among(f"{path}.values.{i}", allowed)


def _prefilled(criterion: Criterion, prefill: Prefill, path: str) -> Iterator[Fault]:
    if prefill.target and criterion.beside in ("", "text"):
        yield Fault(
            f"{path}.target", "Expected none: the question shows no PICO element, polarity or modality of the target."
        )
    if prefill.na:
        if prefill.value is not None or not criterion.na:
            yield Fault(f"{path}.na", "Expected a criterion that allows not applicable, and no value.")
    elif prefill.value is None or prefill.value not in criterion.values():
        yield _not_among(f"{path}.value", criterion.values())


def _example(criterion: Criterion, example: Example, path: str) -> Iterator[Fault]:
    type = criterion.scale.type
    if type == "slider":
        if example.value and not _is_on(criterion.scale, example.value):
            yield Fault(f"{path}.value", "Expected a number on the slider.")
    # The value of an example for several labels or for free text is written in words.
    elif type not in ("text", "multi-label") and example.value and example.value not in criterion.values():
        yield _not_among(f"{path}.value", criterion.values())
    ends = {"source": 0, "summary": 0}
    texts = {"source": example.source, "summary": example.summary}
    for i, mark in enumerate(example.marks):
        if not mark.start < mark.end <= len(texts[mark.within]):
            yield Fault(f"{path}.marks.{i}", f"Expected a passage of the {mark.within}.")
        elif mark.start < ends[mark.within]:
            yield Fault(f"{path}.marks.{i}.start", "Expected marks in the order of the text, without overlap.")
        ends[mark.within] = max(ends[mark.within], mark.end)


def _is_on(scale: Scale, value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return (scale.minimum or 0) <= number <= (scale.maximum or 0)


def _not_among(path: str, values: Sequence[str]) -> Fault:
    return Fault(path, f"Expected one of: {', '.join(value or '(N/A)' for value in values) or 'none'}.")
