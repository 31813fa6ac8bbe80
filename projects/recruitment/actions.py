"""Places of recruitment links: who takes one, how it ends, and when it is returned.

Every change of a place first locks the shared link (see `lock`), then compares the state that it read. The link's
``used`` is therefore always the number of people who hold a place.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, NotFound, Refused
from audit.log import record

from ..models import Assignment, ExternalId, Outcome, Participant, ParticipantLink, Recruit, Recruitment, Round
from ..models.recruitment import FINAL, HOLDING
from ..queue import assignments
from ..queue.actions import next_assignments
from ..rounds import actions as rounds_actions
from . import ids as external_ids
from .checks import checks_of
from .ids import Ids

State = Recruit.State
FULL = "All places of this study are taken. You have no place, so please return the study on the platform."


def create(link: ParticipantLink, settings: Mapping[str, Any]) -> Recruitment:
    """Store the settings of a new shared link, in the caller's transaction."""
    if not link.is_shared:
        raise Refused.field("capacity", "A link for a recruitment platform is shared: enter at least 2 places.")
    if link.round.meaning.gives_feedback:
        raise Conflict("A practice round has no recruitment links.")
    return Recruitment.objects.create(link=link, **settings)


def recruitment_of(link: ParticipantLink) -> Recruitment | None:
    """Return the settings of a shared link or of its personal link, or None if it is not for a platform."""
    of_link = Q(link=link.pk) | Q(link=link.parent_id)
    return Recruitment.objects.select_related("link__round__project").filter(of_link).first()


def recruit_of(user: User) -> Recruit:
    """Return the signed-in person's place. Raise `NotFound` for other users."""
    recruits = Recruit.objects.select_related("recruitment__link__round__project", "link__member__user", "link__round")
    recruit = recruits.filter(link__member__user=user).first()
    if recruit is None:
        raise NotFound("You are not a participant of a round by a recruitment platform.")
    return recruit


def lock(recruitment: Recruitment) -> ParticipantLink:
    """Lock the shared link until the transaction ends, and return it as it is now."""
    links = ParticipantLink.objects.select_for_update(of=("self",), no_key=True).select_related("round__project")
    return links.get(pk=recruitment.link_id)


def is_full(link: ParticipantLink, now: datetime) -> bool:
    """Return whether a new person gets no place: all are taken, or no unit of the round is left."""
    if not link.round.is_open:
        return True
    late = Recruit.objects.filter(recruitment__link=link, state=State.IN_PROGRESS, due_at__lte=now).count()
    return link.used - late >= link.capacity or (not late and not _has_units(link.round, now))


def _has_units(round: Round, now: datetime) -> bool:
    open_units = Assignment.objects.filter(round=round)
    if round.allocation == Round.Allocation.SHARED:
        return open_units.free().exists() or open_units.reclaimable(now).exists()
    return open_units.counted().unanswered().exists()


def find_recruit(recruitment: Recruitment, ids: Ids | None, user: int | None) -> Recruit | None:
    """Return the person of this id, or, without an id, of this browser's session.

    Raise `Conflict` if the person came by another link of the round, or if the ids were deleted.
    """
    if ids is None:
        signed_in = Recruit.objects.select_related("recruitment", "link__member__user")
        return signed_in.filter(recruitment=recruitment, link__member__user=user).first() if user else None
    found = external_ids.find(recruitment, ids)
    if found is None:
        return None
    if found.recruit.recruitment_id != recruitment.pk:
        raise Conflict("You already take part in this study by another link. Nobody takes part twice.")
    if not found.external_id:
        raise Conflict("You have taken part in this study, and your id was deleted. You cannot continue it.")
    return found.recruit


def take_place(link: ParticipantLink, now: datetime) -> None:
    """Take a place of a locked link. Raise `Conflict` if none is free."""
    if not link.round.is_open:
        raise Conflict("This study is closed. Please return it on the platform.")
    free = ParticipantLink.objects.filter(pk=link.pk, used__lt=F("capacity"), revoked_at=None, expires_at__gt=now)
    if not _has_units(link.round, now) or not free.update(used=F("used") + 1):
        raise Conflict(FULL)


def add_recruit(recruitment: Recruitment, link: ParticipantLink, ids: Ids, now: datetime) -> Recruit:
    """Store a new person, who has just taken a place. ``link`` is the personal link. Raise `Conflict`."""
    due = now + timedelta(minutes=recruitment.minutes)
    recruit = Recruit.objects.create(recruitment=recruitment, link=link, begun_at=now, due_at=due)
    try:
        with transaction.atomic():
            ExternalId.objects.create(
                recruit=recruit,
                round_id=link.round_id,
                digest=external_ids.digest_of(recruitment, ids.id),
                external_id=ids.id,
                study_id=ids.study,
                session_id=ids.session,
            )
    except IntegrityError:
        raise Conflict("You already take part in this study by another link. Nobody takes part twice.") from None
    return recruit


def resume(recruit: Recruit, link: ParticipantLink, ids: Ids | None, now: datetime) -> None:
    """Continue as the same person, and take a place again if it was returned. The shared link is locked.

    Raise `Conflict` if no place is free, or if a lead removed the person from the round.
    """
    participant = Participant.objects.filter(round=recruit.link.round_id, member=recruit.link.member_id).first()
    left_at = participant.left_at if participant else None
    # A person whose place was returned left at that moment.
    if left_at is not None and left_at != recruit.ended_at and recruit.state not in FINAL:
        raise Conflict("A lead removed you from this study. Please return it on the platform.")
    if ids is not None:
        # The platform pays the newest submission of the person.
        ExternalId.objects.filter(recruit=recruit).update(study_id=ids.study, session_id=ids.session)
    if recruit.state in (State.TIMED_OUT, State.WITHDRAWN):
        take_place(link, now)
        before, recruit.state, recruit.ended_at = recruit.state, State.IN_PROGRESS, None
        recruit.due_at = now + timedelta(minutes=recruit.recruitment.minutes)
        same = Recruit.objects.filter(pk=recruit.pk, state=before)
        if not same.update(state=recruit.state, ended_at=None, due_at=recruit.due_at):
            raise Conflict("Your place changed at the same moment. Try again.")


def enter(recruit: Recruit) -> None:
    """Add a person to the round, unless screening questions are open. Idempotent."""
    if recruit.state != State.IN_PROGRESS or recruit.must_be_screened:
        return
    member, round = recruit.link.member, recruit.link.round
    assert member
    participant = rounds_actions.add_person(round=round, member=member, by=member.user)
    Participant.objects.filter(pk=participant.pk).update(quota=recruit.recruitment.units)


def screen(*, user: User, chosen: Sequence[int], now: datetime | None = None) -> Recruit:
    """Store the answers to the screening questions: the person enters the round or is screened out.

    Raise `Refused` for an invalid option, `Conflict` if the questions are not open.
    """
    now, recruit = now or timezone.now(), recruit_of(user)
    questions = recruit.recruitment.questions
    if len(chosen) != len(questions):
        raise Refused.field("chosen", f"Answer all {len(questions)} questions.")
    for n, (one, choice) in enumerate(zip(questions, chosen, strict=True)):
        if not 0 <= choice < len(one["options"]):
            raise Refused.field(f"chosen.{n}", "Choose one of the options.")
    is_accepted = all(choice in one["accepted"] for one, choice in zip(questions, chosen, strict=True))
    with transaction.atomic():
        lock(recruit.recruitment)
        recruit = recruit_of(user)
        unanswered = Recruit.objects.filter(pk=recruit.pk, state=State.IN_PROGRESS, chosen__isnull=True)
        if not recruit.link.stands or not unanswered.update(chosen=list(chosen)):
            raise Conflict("These questions were answered already, or your place was returned. Reload the page.")
        recruit.chosen = list(chosen)
        if is_accepted:
            enter(recruit)
        else:
            _end(recruit, State.SCREENED_OUT, now)
    return recruit


def finish(*, user: User, now: datetime | None = None) -> Recruit:
    """Return the person's place, and end it if the person has no unit left. Idempotent.

    Without any answer the place stays in progress, because nothing was done that could be paid.
    """
    now, recruit = now or timezone.now(), recruit_of(user)
    if recruit.state != State.IN_PROGRESS or recruit.must_be_screened:
        return recruit
    with transaction.atomic():
        lock(recruit.recruitment)
        recruit = recruit_of(user)
        if recruit.state == State.IN_PROGRESS and not recruit.must_be_screened and _is_done(recruit, user, now):
            _complete(recruit, now)
    return recruit


def _complete(recruit: Recruit, now: datetime) -> bool:
    passed, had = checks_of(recruit.link.round, _member(recruit))
    allowed = recruit.recruitment.checks_allowed
    recruit.checks = [passed, had]
    failed = allowed is not None and had - passed > allowed
    return _end(recruit, State.FAILED_CHECKS if failed else State.COMPLETED, now)


def _member(recruit: Recruit) -> Any:
    return recruit.link.member


def _is_done(recruit: Recruit, user: User, now: datetime) -> bool:
    round, member = recruit.link.round, recruit.link.member
    if not round.participants.filter(member=member, left_at=None).exists():
        return False
    answers = Assignment.objects.filter(round=round, person=member, current_answer__outcome=Outcome.ANSWERED)
    return answers.counted().exists() and not next_assignments(user=user, round=round, now=now)


def _end(recruit: Recruit, state: str, now: datetime) -> bool:
    """End a place in progress, with the shared link locked. Return False if it has ended meanwhile."""
    same = Recruit.objects.filter(pk=recruit.pk, state=State.IN_PROGRESS)
    if not same.update(state=state, ended_at=now, checks=recruit.checks):
        return False
    recruit.state, recruit.ended_at = state, now
    round, member = recruit.link.round, _member(recruit)
    if state in HOLDING:
        rest = Assignment.objects.filter(round=round, person=member).counted().unanswered().select_related("unit")
        list(assignments.release_assignments(rest, now=now))
    else:
        ParticipantLink.objects.filter(pk=recruit.recruitment.link_id).update(used=F("used") - 1)
        if round.participants.filter(member=member, left_at=None).exists():
            rounds_actions.remove_person(round=round, member=member, by=None, now=now)
    record(
        actor=None if state == State.TIMED_OUT else member.user,
        verb="end place",
        obj=recruit.link,
        project_id=round.project_id,
        after={"person": member.pseudonym, "state": state},
    )
    return True


def withdrawn(link: ParticipantLink, now: datetime) -> None:
    """Return the place of a person who withdrew consent, with the shared link locked (`lock_of`)."""
    recruit = _recruits().filter(link=link.pk).first()
    if recruit is not None:
        _end(recruit, State.WITHDRAWN, now)


def lock_of(link: ParticipantLink) -> Recruitment | None:
    """Lock the shared link of a personal recruitment link, if it is one, and return its settings."""
    recruitment = recruitment_of(link) if link.parent_id else None
    if recruitment is not None:
        lock(recruitment)
    return recruitment


def _recruits() -> Any:
    return Recruit.objects.select_related("recruitment__link", "link__round", "link__member__user")


def return_late_places(*, now: datetime | None = None, recruitment: Recruitment | None = None) -> int:
    """Return the places of people who exceeded the time limit. Return how many.

    Answers are kept, and open units go to others. Runs every minute, and before a place of a link is taken.
    """
    now, returned = now or timezone.now(), 0
    late = Recruit.objects.filter(state=State.IN_PROGRESS, due_at__lte=now)
    if recruitment is not None:
        late = late.filter(recruitment=recruitment)
    for pk in list(late.order_by("recruitment", "pk").values_list("pk", flat=True)):
        with transaction.atomic():
            lock(Recruitment.objects.get(recruits=pk))
            recruit = _recruits().get(pk=pk)
            # Between the search and the lock the person may have resumed with a new limit.
            if not recruit.is_late(now):
                continue
            if _has_all_units(recruit):
                _complete(recruit, now)  # The last page was closed before it asked for the code.
            else:
                returned += _end(recruit, State.TIMED_OUT, now)
    return returned


def _has_all_units(recruit: Recruit) -> bool:
    round, member = recruit.link.round, _member(recruit)
    participant = Participant.objects.filter(round=round, member=member, left_at=None, quota__isnull=False).first()
    return participant is not None and assignments.quota_left(round, participant) == 0


def forget(*, recruit: Recruit, by: User) -> None:
    """Delete the external ids of one person on request. The keyed hash stays until the set period is over.

    Idempotent. The log names the pseudonym only.
    """
    with transaction.atomic():
        known = ExternalId.objects.filter(recruit=recruit).exclude(external_id="")
        if known.update(external_id="", study_id="", session_id=""):
            record(
                actor=by,
                verb="delete external ids",
                obj=recruit.link,
                project_id=recruit.link.round.project_id,
                after={"person": _member(recruit).pseudonym},
            )


def sweep(now: datetime | None = None) -> int:
    """Delete all external ids and their hashes of which the set period is over. Return how many. Runs daily."""
    now, deleted = now or timezone.now(), 0
    ended = Q(link__round__closed_at__lte=now) | Q(link__expires_at__lte=now) | Q(link__revoked_at__lte=now)
    kept = Recruitment.objects.filter(ended, recruits__external__isnull=False).select_related("link__round").distinct()
    for recruitment in kept:
        link = recruitment.link
        ends = [at for at in (link.round.closed_at, link.expires_at, link.revoked_at) if at is not None]
        if min(ends) + timedelta(days=recruitment.keep_days) > now:
            continue
        with transaction.atomic():
            number = ExternalId.objects.filter(recruit__recruitment=recruitment).delete()[0]
            record(
                actor=None,
                verb="delete external ids",
                obj=link,
                project_id=link.round.project_id,
                after={"people": number, "days": recruitment.keep_days},
            )
        deleted += number
    return deleted
