"""Agreement scales of a protocol's criteria. Rows are in long format, one per criterion."""

from collections.abc import Sequence

from measures.agreement import Scale
from measures.agreement.rounds import Form
from measures.ratings.judgements import BEST, WORST
from projects.spreadsheets.cells import number_text

from ..protocols.parts import MARKED, NONE, Content, Criterion

#: Cell of a criterion that does not apply.
NOT_APPLICABLE = "n/a"
#: Agreement is not computed for a slider with more steps than this.
MOST_STEPS = 201


def scales_of(content: Content) -> Sequence[Scale]:
    """Return the scales in the order of the criteria. Free texts have none."""
    cite: Form = "unweighted" if content.agreement == "unweighted" else "weighted"
    return [scale for criterion in content.criteria for scale in _scales(criterion, cite)]


def _scales(criterion: Criterion, cite: Form) -> list[Scale]:
    where, key = ("criterion", criterion.key), criterion.key
    values = tuple(option.value for option in criterion.scale.options)
    beside = tuple(option.value for option in criterion.scale.options if option.off_scale)
    na = (NOT_APPLICABLE,) if criterion.na else ()
    match criterion.scale.type:
        case "likert":
            # Not applicable and off-scale values are not points of the scale, so they count as missing.
            points = tuple(value for value in values if value not in beside)
            missing = ("", NOT_APPLICABLE, *beside)
            return [
                Scale(
                    key,
                    points,
                    "value",
                    weights="quadratic",
                    metric="ordinal",
                    missing=missing,
                    where=where,
                    nominal=(*values, *na),
                    cite=cite,
                )
            ]
        case "categorical":
            return [Scale(key, (*values, *na), "value", where=where)]
        case "best-worst":
            return [
                Scale(f"{key}: {value}", ("no", "yes"), "value", holds=value, where=where) for value in (BEST, WORST)
            ]
        case "multi-label":
            return [Scale(f"{key}: {value}", ("no", "yes"), "value", holds=value, where=where) for value in values]
        case "spans":
            return [
                Scale(key, (NONE, MARKED, NOT_APPLICABLE) if criterion.na else (NONE, MARKED), "value", where=where)
            ]
        case "slider":
            steps = _steps(criterion)
            return (
                [
                    Scale(
                        key,
                        steps,
                        "value",
                        weights="quadratic",
                        metric="interval",
                        missing=("", NOT_APPLICABLE),
                        where=where,
                        nominal=(*steps, *na),
                        cite=cite,
                    )
                ]
                if steps
                else []
            )
        case "preference":
            sides = tuple(value for value in values if value in ("tie", "neither"))
            return [Scale(key, ("first", "second", *sides), "choice", where=where, interchangeable=("first", "second"))]
    return []


def unmeasured(content: Content) -> list[str]:
    """Return the criteria whose scale has more steps than agreement is computed over."""
    return [each.key for each in content.criteria if each.scale.type == "slider" and not _steps(each)]


def _steps(criterion: Criterion) -> tuple[str, ...]:
    low, high, step = criterion.scale.minimum or 0, criterion.scale.maximum or 0, criterion.scale.step or 1
    count = int((high - low) / step + 1.5)
    return tuple(number_text(low + n * step) for n in range(count)) if count <= MOST_STEPS else ()
