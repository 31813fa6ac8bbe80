"""A text that was wrong: a corrected one takes its place, and what hung on the old one is to be looked at again."""

from django.db import IntegrityError, transaction

from api.problems import Conflict, Refused
from projects.actions import staleness
from projects.models import Member, Unit

from ..corpus import pico
from ..corpus.searchable import refresh_search
from ..kinds.clusters import said_of
from ..models import PicoForm, PicoFragment, PicoSlot, Proposition


def supersede_text(*, proposition: Proposition, text: str, reason: str, by: Member) -> Proposition:
    """Put a corrected text in the place of a proposition's, as a new row, and return that.

    What was said of the old text becomes stale and keeps pointing at it. Where the target's text changes, the slots of
    its tuple are looked for anew: one that no longer occurs is *reworded* from then on. Raises `Refused`, and
    `Conflict` where the text was corrected by someone else in the meantime.
    """
    _check(proposition, text, reason)
    try:
        with transaction.atomic():
            new = _next_version(proposition, text)
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
    except IntegrityError:
        raise Conflict("Someone else has corrected this text a moment ago. Reload the page to see it.") from None
    return new


def _check(proposition: Proposition, text: str, reason: str) -> None:
    if not reason.strip():
        raise Refused.field("reason", "Say why the text is changed.")
    if not text.strip():
        raise Refused.field("text", "A proposition has a text.")
    if text == proposition.text:
        raise Refused.field("text", "This is the text as it stands.")
    if proposition.unit.superseded_by_id:
        raise Conflict("This text was corrected already. Reload the page to see the text that is in force.")


def _next_version(old: Proposition, text: str) -> Proposition:
    version = old.version + 1
    base = old.unit.key.rsplit("~", 1)[0] if old.version > 1 else old.unit.key
    unit = Unit.objects.create(
        project_id=old.unit.project_id, type=old.unit.type, key=f"{base}~{version}", context=old.unit.context,
        position=old.unit.position,
    )  # fmt: skip
    return Proposition.objects.create(
        cluster=old.cluster, position=old.position, version=version, study=old.study, text=text, unit=unit
    )


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
