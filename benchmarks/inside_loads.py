"""Who attacks and who is disturbed; each function runs in a process with Concord set up."""

import uuid
from typing import Any

from benchmarks.inside_rounds import grow, open_round, stored
from benchmarks.inside_rounds import people as annotators


def cast(texts: list[str], units: int, people: int) -> dict[str, Any]:
    """Everybody there is: people at work and their lead, and somebody who has opened a small project, leads it, and
    works in a round of it. Sessions, and tokens of the API."""
    grow(units=units, texts=texts, rounds=0, answered=0)
    grow(units=40, texts=texts, rounds=0, answered=0, slug="stranger")
    sessions, stranger = annotators(people), lead("stranger")
    own = {"token": stranger, "slug": "stranger", "round": _round("stranger", "own", 40).pk}
    return {"sessions": sessions, "lead": lead("bench"), "stranger": own}


def lead(slug: str) -> str:
    """A new lead of a project, by an API token."""
    from accounts.actions import make_token
    from accounts.models import User
    from projects.models import Member, Project

    user = User.objects.create_user(email=f"{slug}@example.org", name="Somebody")
    Member.objects.create(project=Project.objects.get(slug=slug), user=user, role="lead", pseudonym="L1")
    return make_token(user=user, name="benchmark")[1]


def _round(slug: str, name: str, units: int) -> Any:
    from projects.actions.rounds import RoundPlan, open_round
    from projects.models import Project

    project = Project.objects.get(slug=slug)
    people = [project.members.filter(role="lead").get().pk]
    plan = RoundPlan(name=name, kind="label", purpose="gold", overlap=1, people=people, sample=units)
    return open_round(project=project, plan=plan, by=None)


def before_load(number: int, rounds: int, units: int, people: int) -> dict[str, Any]:
    """What a measurement needs, while no worker runs: nothing left of the load before, so many rounds to answer, and
    one to close."""
    from projects.models import Job, JobStatus

    left = Job.objects.filter(status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
    left.update(status=JobStatus.CANCELLED, cancel_requested=True, leased_until=None)
    opened = [open_round(number=number * rounds + n, units=units, people=people) for n in range(rounds)]
    return {"rounds": opened, "to_close": _answered(number)}


def _answered(number: int, units: int = 20) -> int:
    """A round of gold in which everything is answered."""
    from projects.actions.answers import next_hand, submit
    from projects.models import CameBy
    from projects.rounds.submission import Submission

    round = _round("bench", f"to be closed {number}", units)
    user = round.participants.select_related("member__user").get().member.user
    value = {"polarity": "positive", "modality": "strong", "polarity_cue": [], "modality_cue": []}
    while hand := next_hand(user=user, round=round):
        for slot in hand:
            submission = Submission(
                uuid=uuid.uuid4(), digest=uuid.uuid4().hex * 2, assignment=slot.pk, revision=slot.revision,
                kind="label", outcome="answered", shown=slot.unit.revision, value=value,
                came_by=CameBy.BROWSER,
            )  # fmt: skip
            submit(user=user, submission=submission)
    return int(round.pk)


def kept(rounds: list[int]) -> list[str]:
    """The answers of some rounds that the data base has, by uuid."""
    return [key for round in rounds for key in stored(round)]
