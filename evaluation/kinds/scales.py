"""The scales of agreement that a protocol's criteria come to. Rows are long: one a criterion, named in a column."""

from collections.abc import Sequence

from measures.agreement import Scale

from ..protocols.parts import MARKED, NONE, Content, Criterion

#: The cell of what does not apply.
NOT_APPLICABLE = "n/a"
#: A slider of more steps is no scale of categories.
MOST_STEPS = 201


def scales_of(content: Content) -> Sequence[Scale]:
    """In the order of the criteria; free texts have none."""
    return [scale for criterion in content.criteria for scale in _scales(criterion)]


def _scales(criterion: Criterion) -> list[Scale]:
    where, key = ("criterion", criterion.key), criterion.key
    values = tuple(option.value for option in criterion.scale.options)
    match criterion.scale.type:
        case "likert":
            # What does not apply is no point between the others: missing on this scale.
            return [Scale(key, values, "value", weights="quadratic", metric="ordinal", missing=("", NOT_APPLICABLE),
                          where=where)]  # fmt: skip
        case "categorical":
            return [Scale(key, (*values, NOT_APPLICABLE) if criterion.na else values, "value", where=where)]
        case "multi-label":
            return [Scale(f"{key}: {value}", ("no", "yes"), "value", holds=value, where=where) for value in values]
        case "spans":
            return [Scale(key, (NONE, MARKED, NOT_APPLICABLE) if criterion.na else (NONE, MARKED), "value",
                          where=where)]  # fmt: skip
        case "slider":
            steps = _steps(criterion)
            return [Scale(key, steps, "value", weights="quadratic", metric="interval", missing=("", NOT_APPLICABLE),
                          where=where)] if steps else []  # fmt: skip
        case "preference":
            sides = tuple(value for value in values if value in ("tie", "neither"))
            return [Scale(key, ("first", "second", *sides), "choice", where=where)]
    return []


def _steps(criterion: Criterion) -> tuple[str, ...]:
    low, high, step = criterion.scale.minimum or 0, criterion.scale.maximum or 0, criterion.scale.step or 1
    count = int((high - low) / step + 1.5)
    return tuple(f"{low + n * step:g}" for n in range(count)) if count <= MOST_STEPS else ()
