"""Registry of the function that counts a person's attention checks. The app that plans the checks registers it."""

from collections.abc import Callable

from ..models import Member, Round

#: (passed, had) of a person in a round.
Counter = Callable[[Round, Member], tuple[int, int]]
_counters: list[Counter] = []


def register(counter: Counter) -> None:
    _counters.append(counter)


def checks_of(round: Round, member: Member) -> tuple[int, int]:
    """Return how many attention checks a person passed, and had, in a round."""
    results = [counter(round, member) for counter in _counters]
    return sum(passed for passed, _ in results), sum(had for _, had in results)
