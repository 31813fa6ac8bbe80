"""Create attackers and annotators for `benchmarks.loads`. The functions run in a process with Concord set up."""

import uuid
from typing import Any

from benchmarks.inside_rounds import grow, open_round, stored
from benchmarks.inside_rounds import people as annotators


def cast(texts: list[str], units: int, people: int) -> dict[str, Any]:
    """Create the annotators, their lead, and a stranger, and return sessions and API tokens.

    The stranger leads a small project and annotates in a round of it.
    """
    grow(units=units, texts=texts, rounds=0, answered=0)
    grow(units=40, texts=texts, rounds=0, answered=0, slug="stranger")
    sessions, stranger = annotators(people), lead("stranger")
    own = {"token": stranger, "slug": "stranger", "round": _round("stranger", "own", 40).pk}
    return {"sessions": sessions, "lead": lead("bench"), "stranger": own}


def lead(slug: str) -> str:
    """Create a lead of a project and return an API token."""
    from accounts.actions import make_token
    from accounts.models import User
    from projects.models import Member, Project

    user = User.objects.create_user(email=f"{slug}@example.org", name="Somebody")
    Member.objects.create(project=Project.objects.get(slug=slug), user=user, role="lead", pseudonym="L1")
    return make_token(user=user, name="benchmark")[1]


def _round(slug: str, name: str, units: int) -> Any:
    from projects.models import Project
    from projects.rounds.actions import open_round
    from projects.rounds.planning import RoundPlan

    project = Project.objects.get(slug=slug)
    people = [project.members.filter(role="lead").get().pk]
    plan = RoundPlan(name=name, kind="label", purpose="gold", overlap=1, people=people, sample=units)
    return open_round(project=project, plan=plan, by=None)


def before_load(number: int, rounds: int, units: int, people: int) -> dict[str, Any]:
    """Prepare a measurement while no worker runs.

    Cancel the jobs of the previous load, open ``rounds`` rounds, and create a round to close.
    """
    from projects.models import Job, JobStatus

    left = Job.objects.filter(status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
    left.update(status=JobStatus.CANCELLED, cancel_requested=True, leased_until=None)
    opened = [open_round(number=number * rounds + n, units=units, people=people) for n in range(rounds)]
    return {"rounds": opened, "to_close": _answered(number)}


def _answered(number: int, units: int = 20) -> int:
    """Create a gold round that is completely answered."""
    from projects.answers.queries import Submission
    from projects.models import CameBy
    from projects.queue.actions import next_assignments, submit

    round = _round("bench", f"to be closed {number}", units)
    user = round.participants.select_related("member__user").get().member.user
    value = {"polarity": "positive", "modality": "strong", "polarity_cue": [], "modality_cue": []}
    while held := next_assignments(user=user, round=round):
        for slot in held:
            submission = Submission(
                uuid=uuid.uuid4(),
                digest=uuid.uuid4().hex * 2,
                assignment=slot.pk,
                revision=slot.revision,
                kind="label",
                outcome="answered",
                shown=slot.unit.revision,
                value=value,
                came_by=CameBy.BROWSER,
            )
            submit(user=user, submission=submission)
    return int(round.pk)


def kept(rounds: list[int]) -> list[str]:
    """Return the UUIDs of the stored answers of some rounds."""
    return [key for round in rounds for key in stored(round)]
