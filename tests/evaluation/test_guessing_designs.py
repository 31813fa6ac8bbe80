"""A classifier that gets everything except the words of texts cannot guess which system wrote them.

It sees ids, order, counts, sizes and attention checks of simulated rounds. It learns from other rounds, or from half
of a round's sources, and guesses the rest.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from typing import Any
from zlib import crc32

import pytest

from accounts.models import User
from evaluation.models import PageText
from generation.models import Run
from measures.design import latin_lists
from projects.models import Assignment, Project
from projects.queue import queries as queue_queries
from tests.evaluation.rating_rounds import GUIDELINE, PREFERENCE, build_runs, open_rating
from tests.evaluation.test_guessing import SAME

pytestmark = pytest.mark.django_db
SYSTEMS, CLUSTERS = len(SAME), 12
#: (features, number of the system) of each text that a system wrote, in the order in which a rater meets them.
Seen = list[tuple[dict[str, Any], int]]


def numbers(value: Any, at: str = "") -> Iterator[tuple[str, int]]:
    """Return every number, list length and text length of a card, except those of texts and sources."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name not in ("protocol", "source", "text", "key"):
                yield from numbers(each, f"{at}.{name}")
    elif isinstance(value, list):
        yield f"{at} length", len(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield at, value
    else:
        yield f"{at} size", len(str(value))


def seen_in(project: Project, user: User, runs: Sequence[Run], protocol: str, n: int) -> Seen:
    """Open a round and read every card of its only rater."""
    round = open_rating(
        project, [project.members.get(user=user)], runs, protocol, name=f"round {n}", seed=n, options={"checks": 10}
    )
    slots = list(Assignment.objects.filter(round=round).select_related("unit", "current_answer").order_by("position"))
    rows = PageText.objects.filter(page__source__design__round=round)
    whose = {
        (unit, code): (of, check)
        for unit, code, of, check in rows.values_list("page__unit", "code", "system_numbers", "is_check")
    }
    found: Seen = []
    first: dict[str, int] = {}
    times: Counter[str] = Counter()
    since_check = 0
    for at, card in enumerate(queue_queries.cards(round, slots)):
        source = json.dumps(card["source"])
        times[source] += 1
        plain = {name: value - first.setdefault(name, value) for name, value in numbers(card)}
        plain |= {
            "at": at,
            "times": times[source],
            "since check": since_check,
            "half": crc32(source.encode()) % 2,
            "size": len(json.dumps(card, default=str)),
        }
        plain |= {
            f"{name} mod {m}": plain[name] % m
            for name in (".unit.id", ".assignment", "at")
            for m in (2, SYSTEMS, SYSTEMS * 2)
        }
        keys = [text["key"] for text in card["texts"]]
        since_check += 1
        for place, key in enumerate(keys):
            of_systems, check = whose[card["unit"]["id"], key]
            if check:
                since_check = 0
                continue
            of_text = {
                "place": place,
                "rank": sorted(keys).index(key),
                "digit": int(key[0], 16),
                "last": int(key[-1], 16),
            }
            both = {"place and page mod": (place, at % SYSTEMS), "page mod and time": (at % SYSTEMS, times[source])}
            found.append((plain | of_text | both, of_systems[0]))
    return found


def guesses(learn: Seen, guess: Seen, name: str) -> list[bool]:
    """Guess by one feature: the system with that value most often."""
    counts: dict[Any, Counter[int]] = defaultdict(Counter)
    for given, system in learn:
        counts[given[name]][system] += 1
    most = {value: count.most_common(1)[0][0] for value, count in counts.items()}
    return [most[given[name]] == system for given, system in guess if given[name] in most]


def with_the_one_before(seen: Seen) -> Seen:
    """The same, for a rater who recognised the system of the previous text."""
    return [(given | {"system before": before}, system) for (_, before), (given, system) in pairwise(seen)]


def excess(rounds: Sequence[Seen], *, one_text: bool) -> dict[str, float]:
    """Return how many standard errors the best classifier of each type is above chance. Its feature is chosen on
    other rounds."""
    if one_text:
        rounds = [with_the_one_before(seen) for seen in rounds]
    names = list(rounds[0][0][0])
    thirds = [rounds[n::3] for n in range(3)]
    learn, choose, judge = ([each for seen in part for each in seen] for part in thirds)

    def across(name: str, at: Seen) -> list[bool]:
        return guesses(learn, at, name)

    def within(name: str, part: Sequence[Seen]) -> list[bool]:
        halves = [[[each for each in seen if each[0]["half"] == half] for half in (0, 1)] for seen in part]
        return [right for told, rest in halves for right in guesses(told, rest, name)]

    best = max(names, key=lambda name: _share(across(name, choose)))
    inside = max(names, key=lambda name: _share(within(name, thirds[1])))
    return {
        f"across rounds by {best}": _errors(across(best, judge)),
        f"within rounds by {inside}": _errors(within(inside, thirds[2])),
    }


def _share(right: Sequence[bool]) -> float:
    return sum(right) / max(len(right), 1)


def _errors(right: Sequence[bool]) -> float:
    chance = 1 / SYSTEMS
    return (_share(right) - chance) / sqrt(chance * (1 - chance) / max(len(right), 1))


@pytest.fixture
def runs(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setattr("tests.evaluation.rating_rounds.SYSTEMS", SAME)
    drawn = iter(range(10_000))
    monkeypatch.setattr("evaluation.kinds.pages.token_hex", lambda size: f"{next(drawn):032x}")
    return build_runs(project, clusters=CLUSTERS, systems=tuple(SAME))


def simulated(project: Project, user: User, runs: list[Run], protocol: str, rounds: int) -> dict[str, float]:
    seen = [seen_in(project, user, runs, protocol, n) for n in range(rounds)]
    return excess(seen, one_text=protocol == "shipped:ms2-direction")


@pytest.mark.parametrize(
    "protocol",
    [GUIDELINE, *(pytest.param(name, marks=pytest.mark.long) for name in ("shipped:ms2-direction", PREFERENCE))],
)
def test_no_program_guesses_the_system_in_a_few_rounds(
    project: Project, evaluator: User, runs: list[Run], protocol: str
) -> None:
    """Three standard errors, because few rounds are simulated."""
    found = simulated(project, evaluator, runs, protocol, 12)
    assert all(errors <= 3 for errors in found.values()), found


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["shipped:ms2-direction", GUIDELINE, PREFERENCE])
def test_no_program_guesses_the_system_in_200_rounds(
    project: Project, evaluator: User, runs: list[Run], protocol: str
) -> None:
    found = simulated(project, evaluator, runs, protocol, 200)
    assert all(errors <= 2 for errors in found.values()), found


def test_systems_in_a_fixed_cycle_are_guessed(
    project: Project, evaluator: User, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unshuffled lists, as in former versions, must be guessed, or the test could find nothing."""

    def cyclic(sources: Sequence[int], systems: Sequence[int], seed: Any) -> list[dict[int, int]]:
        order = list(latin_lists(sources, systems, seed)[0])
        return [{s: systems[(j + g) % len(systems)] for j, s in enumerate(order)} for g in range(len(systems))]

    monkeypatch.setattr("measures.design.latin_lists", cyclic)
    found = simulated(project, evaluator, runs, "shipped:ms2-direction", 6)
    assert max(found.values()) > 5
