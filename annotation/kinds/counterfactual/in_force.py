"""The counterfactuals that probes and releases read, kept the same as what was decided."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from projects.models import Decision, Unit
from projects.values.in_force import decisions_in_force, values_of

from ...models import Counterfactual, Proposition
from .serializers import FIELDS

KIND = "counterfactual"


def follow(units: Sequence[Unit]) -> None:
    """A next version of each text that was decided anew, and an empty one where a kind is decided not to apply, or a
    decision was taken back. What a file brought stays until somebody decides otherwise. A fixed number of queries."""
    targets = list(Proposition.objects.filter(unit__in=units, position=0))
    decisions = decisions_in_force([u.pk for u in units], KIND)
    decided = values_of(units, KIND, decisions.values())
    newest: dict[tuple[int, str], Counterfactual] = {}
    for row in Counterfactual.objects.filter(target__in=targets).order_by("version"):
        newest[row.target_id, row.kind] = row
    Counterfactual.objects.bulk_create(
        made for target in targets for made in _next(target, decided[target.unit_id], decisions, newest)
    )


def _next(
    target: Proposition,
    decided: Mapping[str, Mapping[str, Any]],
    decisions: Mapping[tuple[int, str], Decision],
    newest: Mapping[tuple[int, str], Counterfactual],
) -> Iterator[Counterfactual]:
    for field, kind in FIELDS.items():
        before = newest.get((target.pk, kind.value))
        standing = before.text if before else ""
        if field in decided:
            text, answer = decided[field]["text"], decisions[target.unit_id, field].answer_id
        elif before and before.answer_id:
            text, answer = "", before.answer_id
        else:
            continue
        if text != standing:
            version = before.version + 1 if before else 1
            yield Counterfactual(target=target, kind=kind.value, version=version, text=text, answer_id=answer,
                                 withdrawn=not text)  # fmt: skip
