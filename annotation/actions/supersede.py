"""A text that was wrong: a corrected one takes its place, and what hung on the old one is to be looked at again."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from api.problems import Conflict, Refused
from projects.actions import staleness
from projects.models import Member, Unit

from ..corpus import pico
from ..corpus.searchable import refresh_search
from ..kinds.clusters import said_of
from ..models import Cluster, Input, PicoForm, PicoFragment, PicoSlot, Proposition, Target


def supersede_text(*, proposition: Proposition, text: str, reason: str, by: Member) -> Proposition:
    """Put a corrected text in the place of a proposition's, as a new row, and return that.

    What was said of the old text becomes stale and keeps pointing at it. Where the target's text changes, the slots of
    its tuple are looked for anew: one that no longer occurs is *reworded* from then on. Raises `Refused`, and
    `Conflict` where the text was corrected by someone else in the meantime.
    """
    _check(proposition, text, reason)
    with _alone():
        new = Proposition.objects.create(
            cluster=proposition.cluster, position=proposition.position, version=proposition.version + 1,
            study=proposition.study, text=text, unit=_next_unit(proposition),
        )  # fmt: skip
        staleness.superseded(
            old=proposition.unit, new=new.unit, reason=reason, by=by, before=proposition.text, after=text
        )
        if new.is_target:
            _place_slots(new)
        staleness.changed(
            units=[new.cluster.unit], kinds=said_of("target" if new.is_target else "inputs"), what="text",
            reason=reason, by=by, before=proposition.text, after=text,
        )  # fmt: skip
        refresh_search(new.cluster)
    return new


def supersede_target(*, target: Target, text: str, reason: str, by: Member) -> Target:
    """Put a corrected text in the place of a target's, a sentence or a document, as a new row, and return that.

    The texts that it must be derived from go with it. What was said of the old text becomes stale, and so does what
    was said of the clusters that were made from it. Raises `Refused`, and `Conflict` as above.
    """
    _check(target, text, reason)
    with _alone():
        new = Target.objects.create(
            project_id=target.project_id, review_id=target.review_id, level=target.level, key=target.key,
            position=target.position, version=target.version + 1, text=text, sentence_id=target.sentence_id,
            unit=_next_unit(target),
        )  # fmt: skip
        staleness.superseded(old=target.unit, new=new.unit, reason=reason, by=by, before=target.text, after=text)
        # Read now: evidence that was decided up to here is with the old text, and what is decided from here on waits.
        Input.objects.bulk_create(
            Input(
                target=new,
                study_id=one.study_id,
                position=one.position,
                text=one.text,
                numbers=one.numbers,
                is_current=one.is_current,
            )
            for one in target.inputs.order_by("position")
        )
        made = Cluster.objects.current().filter(sentence__in=versions_of(target)).select_related("unit")
        staleness.changed(
            units=[cluster.unit for cluster in made], kinds=said_of("target"), what="text", reason=reason, by=by,
            before=target.text, after=text,
        )  # fmt: skip
    return new


def versions_of(target: Target) -> QuerySet[Target]:
    """All texts that ever stood in a target's place: clusters know the one that they were made from."""
    return Target.objects.filter(project=target.project_id, level=target.level, key=target.key)


@contextmanager
def _alone() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise Conflict("Someone else has corrected this text a moment ago. Reload the page to see it.") from None


def _check(row: Proposition | Target, text: str, reason: str) -> None:
    if not reason.strip():
        raise Refused.field("reason", "Say why the text is changed.")
    if not text.strip():
        raise Refused.field("text", "Write the text that takes its place.")
    if text == row.text:
        raise Refused.field("text", "This is the text as it stands.")
    if row.unit.superseded_by_id:
        raise Conflict("This text was corrected already. Reload the page to see the text that is in force.")


def _next_unit(old: Proposition | Target) -> Unit:
    base = old.unit.key.rsplit("~", 1)[0] if old.version > 1 else old.unit.key
    return Unit.objects.create(
        project_id=old.unit.project_id, type=old.unit.type, key=f"{base}~{old.version + 1}", context=old.unit.context,
        position=old.unit.position,
    )  # fmt: skip


def _place_slots(target: Proposition) -> None:
    """The forms and places of the tuple's slots in a new target text; their own texts stay as they were given."""
    slots = list(target.cluster.pico.exclude(form=PicoForm.BLANK))
    PicoFragment.objects.filter(slot__in=slots).delete()
    fragments = []
    for slot in slots:
        slot.form, ranges = pico.form_of(slot.text, target.text)
        fragments += [PicoFragment(slot=slot, position=n, start=s, end=e) for n, (s, e) in enumerate(ranges)]
    PicoSlot.objects.bulk_update(slots, ["form"])
    PicoFragment.objects.bulk_create(fragments)
