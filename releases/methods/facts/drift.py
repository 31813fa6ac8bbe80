"""Facts about gold items that returned unmarked in a closed round, to monitor people's accuracy."""

from dataclasses import dataclass

from projects.answers.returning import Returning
from projects.drift.queries import series
from projects.models import AccuracyEvent, Round

What = AccuracyEvent.What


@dataclass(frozen=True)
class DriftFacts:
    """Accuracy on returning items. ``warned``, ``recovered`` and ``practised`` count people."""

    share: float
    bar: int
    people: int
    answers: int
    right: int
    warned: int
    recovered: int
    practised: int


def drift_facts(round: Round) -> DriftFacts | None:
    """Return the facts of a round; None if no items return. A fixed number of queries."""
    returning = Returning.of(round.sampling)
    if returning is None:
        return None
    answers = series(round)
    events: dict[str, set[int]] = {what: set() for what in What.values}
    for what, member in AccuracyEvent.objects.filter(round=round).order_by("pk").values_list("what", "member"):
        events[what].add(member)
    return DriftFacts(
        share=returning.share,
        bar=returning.bar,
        people=len(answers),
        answers=sum(map(len, answers.values())),
        right=sum(map(sum, answers.values())),
        warned=len(events[What.WARNED]),
        recovered=len(events[What.RECOVERED]),
        practised=len(events[What.PRACTICE]),
    )
