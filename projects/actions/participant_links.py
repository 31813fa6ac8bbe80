"""The lead's side of participant links: making them, their consent text, extending and revoking them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.tokens import new_token, token_hash
from api import limits
from api.problems import Conflict, Refused
from audit.log import record

from ..models import ParticipantLink, Round
from ..models.participation import text_digest
from . import participation


def default_text() -> str:
    """The consent text that ships, as Markdown: a lead fills in what is the study's own."""
    return (Path(__file__).parents[1] / "consent.md").read_text(encoding="utf-8")


def text_of(round: Round) -> str:
    """The consent text of the round's newest link, or the one that ships."""
    newest = round.participant_links.filter(parent=None).order_by("-pk").values_list("consent_text", flat=True).first()
    return default_text() if newest is None else newest


def make_links(
    *, round: Round, by: User, labels: Sequence[str], places: int = 1, days: int = 30, text: str = ""
) -> list[tuple[ParticipantLink, str]]:
    """One link a label, with its token, which is not kept: personal ones, or with ``places`` > 1 shared ones. Without
    a text they get that of the round's newest link. Raises `Refused` naming the line of a label, `Conflict`."""
    _refuse_where_nobody_works(round)
    made_by = ParticipantLink.objects.filter(created_by=by, parent=None)
    limits.check("LIMIT_PARTICIPANT_LINKS_PER_DAY", made_by, adding=len(labels))
    names = [label.strip() for label in labels]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Refused.field(f"labels.{i}", f"Line {i + 1}: {name!r} stands twice. Give every link its own label.")
    taken = set(round.participant_links.filter(label__in=names).values_list("label", flat=True))
    for i, name in enumerate(names):
        if name in taken:
            raise Refused.field(f"labels.{i}", f"Line {i + 1}: this round has a link named {name!r} already.")
    until, text = timezone.now() + timedelta(days=days), text.strip() or text_of(round)
    made = []
    with transaction.atomic():
        for name in names:
            token = new_token()
            link = ParticipantLink.objects.create(
                round=round, token_hash=token_hash(token), label=name, places=places, consent_text=text,
                created_by=by, expires_at=until,
            )  # fmt: skip
            made.append((link, token))
            record(
                actor=by, verb="make participant link", obj=link, project_id=round.project_id,
                after={"round": round.pk, "label": name, "places": places, "expires_at": until,
                       "text": text_digest(text)},
            )  # fmt: skip
    return made


def _refuse_where_nobody_works(round: Round) -> None:
    if not round.is_open:
        raise Conflict("The round is closed.")
    if round.meaning.standing:
        raise Conflict("Nobody is let into the curation round.")


def change_text(*, round: Round, text: str, by: User) -> int:
    """Give every link of the round that is not revoked this consent text. Who agreed to another one is asked again
    before going on. How many links changed."""
    with transaction.atomic():
        changed = round.participant_links.filter(revoked_at=None).exclude(consent_text=text).update(consent_text=text)
        if changed:
            record(
                actor=by, verb="change consent text", obj=round, project_id=round.project_id,
                after={"links": changed, "text": text, "digest": text_digest(text)},
            )  # fmt: skip
    return changed


def extend(*, link: ParticipantLink, days: int, by: User, now: datetime | None = None) -> ParticipantLink:
    """Let a link, and those of who came by it, be good for so many days from now. Raises `Conflict` when revoked."""
    now = now or timezone.now()
    until = now + timedelta(days=days)
    with transaction.atomic():
        if not ParticipantLink.objects.filter(pk=link.pk, revoked_at=None).update(expires_at=until):
            raise Conflict("This link was revoked. Make a new one.")
        family = _family(link)
        family.filter(revoked_at=None).update(expires_at=until)
        # A guest whose link was revoked has ended already and stays so.
        User.objects.filter(memberships__participant_link__in=family.filter(revoked_at=None)).update(guest_until=until)
        record(
            actor=by, verb="extend participant link", obj=link, project_id=link.round.project_id,
            before={"expires_at": link.expires_at}, after={"expires_at": until},
        )  # fmt: skip
    link.expires_at = until
    return link


def revoke_link(*, link: ParticipantLink, by: User, now: datetime | None = None) -> None:
    """End a link and everybody who came by it, at their next request. Answers stay, unfinished slots are free for
    others. Revoking again changes nothing."""
    now = now or timezone.now()
    with transaction.atomic():
        if not ParticipantLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=now):
            return
        children = link.children.filter(revoked_at=None).select_related("member__user", "round")
        for one in [link, *children]:
            participation.end(link=one, by=by, now=now)
        link.children.filter(revoked_at=None).update(revoked_at=now)
        record(
            actor=by, verb="revoke participant link", obj=link, project_id=link.round.project_id,
            before={"label": link.label},
        )  # fmt: skip


def _family(link: ParticipantLink) -> QuerySet[ParticipantLink]:
    return ParticipantLink.objects.filter(Q(pk=link.pk) | Q(parent=link.pk))
