"""Storing counterfactuals: a correction is the next version of its target and kind; texts are never changed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from annotation.models import Counterfactual, Proposition
from annotation.values.counterfactuals import check
from api.problems import Conflict, Refused
from measures.counterfactuals import Kind
from projects.models import Answer, Import, Unit


@dataclass(frozen=True)
class NewCounterfactual:
    """A text for a target, which comes with its unit. ``version`` is one more than that of the text it corrects."""

    target: Proposition
    kind: Kind
    text: str
    version: int = 1


def add_counterfactuals(
    *, rows: Sequence[NewCounterfactual], imported: Import | None = None, answer: Answer | None = None
) -> list[Counterfactual]:
    """Store rows of one source. Raises `Refused` for an input, or a text that is no counterfactual of its kind, and
    `Conflict` where a target was corrected or retired, or somebody else gave the same kind in the meantime."""
    for row in rows:
        _refuse(row)
    refuse_corrected({row.target.unit_id for row in rows})
    try:
        with transaction.atomic():
            return Counterfactual.objects.bulk_create(as_rows(rows, imported=imported, answer=answer))
    except IntegrityError:
        raise Conflict("Somebody else has given a counterfactual of the same kind a moment ago.") from None


def as_rows(
    rows: Sequence[NewCounterfactual], *, imported: Import | None = None, answer: Answer | None = None
) -> list[Counterfactual]:
    """As rows that are still to be written; whoever calls has checked the texts."""
    return [
        Counterfactual(
            target=row.target, kind=row.kind.value, version=row.version, text=row.text, imported=imported, answer=answer
        )
        for row in rows
    ]  # fmt: skip


def refuse_corrected(units: Collection[int]) -> None:
    """Raise `Conflict` where one of these units, of targets, has another text by now or was taken out."""
    ids = sorted(units)
    for start in range(0, len(ids), 500):
        if Unit.objects.filter(pk__in=ids[start : start + 500], superseded_by__isnull=False).exists():
            raise Conflict("A target's text was corrected, or its cluster taken out. Check the file again.")


def _refuse(row: NewCounterfactual) -> None:
    if not row.target.is_target:
        raise Refused.field("target", "Only a target has counterfactuals; this is an input.")
    if errors := check(row.target, row.kind, row.text).errors:
        raise Refused.field("text", " ".join(error.message for error in errors))
