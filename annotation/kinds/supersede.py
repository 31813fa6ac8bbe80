"""Replace a wrong text with a corrected one, and mark the decisions that depend on it as stale."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from api.problems import Conflict, Refused
from projects.models import Member, Unit
from projects.staleness import actions as staleness_actions

from ..clusters import pico
from ..clusters.items import refresh_search
from ..consistency import findings
from ..models import Cluster, Input, PicoElement, PicoForm, PicoFragment, Proposition, Target
from .clusters import kinds_depending_on


def supersede_text(*, proposition: Proposition, text: str, reason: str, by: Member) -> Proposition:
    """Replace the text of a proposition, and return the new row.

    Decisions on the old text become stale and still refer to it. If a target's text changes, the elements of the PICO
    tuple are located again. An element that no longer occurs becomes *reworded*. Raise `Refused` for invalid input, and
    `Conflict` if someone else has corrected the text in the meantime.
    """
    _check(proposition, text, reason)
    with _conflict_on_race():
        new = Proposition.objects.create(
            cluster=proposition.cluster,
            position=proposition.position,
            version=proposition.version + 1,
            study=proposition.study,
            text=text,
            unit=_next_unit(proposition),
        )
        staleness_actions.superseded(
            old=proposition.unit, new=new.unit, reason=reason, by=by, before=proposition.text, after=text
        )
        if new.is_target:
            _locate_elements(new)
        staleness_actions.changed(
            units=[new.cluster.unit],
            kinds=kinds_depending_on("target" if new.is_target else "inputs"),
            what="text",
            reason=reason,
            by=by,
            before=proposition.text,
            after=text,
        )
        refresh_search(new.cluster)
        findings.recheck([proposition.unit_id])
    return new


def supersede_target(*, target: Target, text: str, reason: str, by: Member) -> Target:
    """Replace the text of a sentence or document target, and return the new row.

    The input texts are copied. Decisions on the old text become stale, as do those on clusters created from it. Raise
    `Refused` and `Conflict` as in `supersede_text`.
    """
    _check(target, text, reason)
    with _conflict_on_race():
        new = Target.objects.create(
            project_id=target.project_id,
            review_id=target.review_id,
            level=target.level,
            key=target.key,
            position=target.position,
            version=target.version + 1,
            text=text,
            sentence_id=target.sentence_id,
            unit=_next_unit(target),
        )
        staleness_actions.superseded(
            old=target.unit, new=new.unit, reason=reason, by=by, before=target.text, after=text
        )
        # Read inputs now: evidence decided so far belongs to the old text, and later decisions wait for this
        # transaction.
        Input.objects.bulk_create(
            Input(
                target=new,
                study_id=source.study_id,
                position=source.position,
                text=source.text,
                numbers=source.numbers,
                is_current=source.is_current,
            )
            for source in target.inputs.order_by("position")
        )
        clusters = Cluster.objects.current().filter(sentence__in=versions_of(target)).select_related("unit")
        staleness_actions.changed(
            units=[cluster.unit for cluster in clusters],
            kinds=kinds_depending_on("target"),
            what="text",
            reason=reason,
            by=by,
            before=target.text,
            after=text,
        )
    return new


def versions_of(target: Target) -> QuerySet[Target]:
    """Return all versions of a target. A cluster refers to the version it was created from."""
    return Target.objects.filter(project=target.project_id, level=target.level, key=target.key)


@contextmanager
def _conflict_on_race() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise Conflict("Another curator has just corrected this text. Reload the page to see the new text.") from None


def _check(row: Proposition | Target, text: str, reason: str) -> None:
    if not reason.strip():
        raise Refused.field("reason", "Give a reason for the correction.")
    if not text.strip():
        raise Refused.field("text", "Enter the corrected text.")
    if text == row.text:
        raise Refused.field("text", "This is the current text. Change it, or cancel.")
    if row.unit.superseded_by_id:
        raise Conflict("This text was already corrected. Reload the page to see the current text.")


def _next_unit(old: Proposition | Target) -> Unit:
    base = old.unit.key.rsplit("~", 1)[0] if old.version > 1 else old.unit.key
    return Unit.objects.create(
        project_id=old.unit.project_id,
        type=old.unit.type,
        key=f"{base}~{old.version + 1}",
        context=old.unit.context,
        position=old.unit.position,
    )


def _locate_elements(target: Proposition) -> None:
    """Update the form and ranges of the PICO elements for a new target text. Their own texts are unchanged."""
    elements = list(target.cluster.pico.exclude(form=PicoForm.BLANK))
    PicoFragment.objects.filter(element__in=elements).delete()
    fragments = []
    for element in elements:
        element.form, ranges = pico.form_of(element.text, target.text)
        fragments += [PicoFragment(element=element, position=n, start=s, end=e) for n, (s, e) in enumerate(ranges)]
    PicoElement.objects.bulk_update(elements, ["form"])
    PicoFragment.objects.bulk_create(fragments)
