"""Sample, order and allocate identifiers, depending only on the seed and the identifiers.

Every choice uses SHA-256 of "seed:id". The result is the same on every platform and Python version, and independent of
the order of the ids. Adding an id does not change the relative order of the others.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", str, int)
T = TypeVar("T", str, int)
U = TypeVar("U", bound=Hashable)
P = TypeVar("P", bound=Hashable)
Seed = str | int


def order_key(seed: Seed, identifier: object) -> bytes:
    """Return the sort key of an identifier: SHA-256 of "seed:id"."""
    return hashlib.sha256(f"{seed}:{identifier}".encode()).digest()


def shuffled(ids: Iterable[T], seed: Seed) -> list[T]:
    """Return all ids in the seed's order. Raise ValueError for a repeated id."""
    known = list(ids)
    if len(set(known)) != len(known):
        raise ValueError("an id is repeated")
    return sorted(known, key=lambda each: order_key(seed, each))


def sample(ids: Iterable[T], n: int, seed: Seed) -> list[T]:
    """Return ``n`` ids in the seed's order. A larger n only appends ids. Raise ValueError for fewer than n ids."""
    known = shuffled(ids, seed)
    if not 0 <= n <= len(known):
        raise ValueError(f"{n} of {len(known)} cannot be sampled")
    return known[:n]


def stratified(ids_by_stratum: Mapping[K, Sequence[T]], n: int, seed: Seed) -> list[T]:
    """Return ``n`` ids, proportional to the sizes of the strata (largest remainder), in the seed's order.

    The seed decides between equal remainders. Raise ValueError for fewer than n ids.
    """
    sizes = {stratum: len(ids) for stratum, ids in ids_by_stratum.items()}
    total = sum(sizes.values())
    if not 0 <= n <= total:
        raise ValueError(f"{n} of {total} cannot be sampled")
    if n == 0:
        return []
    quota = {stratum: n * size // total for stratum, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda s: (-(n * sizes[s] % total), order_key(seed, f"stratum:{s}")))
    for stratum in by_remainder[: n - sum(quota.values())]:
        quota[stratum] += 1
    chosen = [each for stratum, ids in ids_by_stratum.items() for each in sample(ids, quota[stratum], seed)]
    return shuffled(chosen, seed)


def shuffled_groups(groups: Mapping[K, Sequence[U]] | Sequence[Sequence[U]], seed: Seed) -> list[U]:
    """Return the members of all groups, with the groups in the seed's order. Groups stay together and keep their order.

    A group without a name is identified by its first member.
    """
    named: dict[object, Sequence[U]]
    if isinstance(groups, Mapping):
        named = {name: members for name, members in groups.items()}  # noqa: C416 (a Mapping is invariant in its key)
    else:
        named = {group[0]: group for group in groups if group}
        if len(named) < sum(1 for group in groups if group):
            raise ValueError("two groups begin with the same member")
    order = sorted(named, key=lambda name: order_key(seed, name))
    return [member for name in order for member in named[name]]


def deal(
    units: Sequence[U], people: Sequence[P], k: int, seed: Seed, *, groups: Mapping[U, Hashable] | None = None
) -> dict[U, tuple[P, ...]]:
    """Assign each unit to ``k`` distinct people, whose loads differ by at most 1.

    ``groups`` holds the context of a unit (its cluster or study). The units of one context go to the same people if the
    balance permits. The set of people changes between contexts, so that most pairs of people share units. Units are
    assigned in the seed's order and returned in the given order. Raise ValueError if k > len(people) or k < 1, and for
    repeated units or people.

    Balance: each person has a quota of floor or ceil(n k / p). A person whose remaining quota equals the number of
    remaining units must take each of them. Under this rule there are always k people with a remaining quota.
    """
    if len(set(units)) != len(units) or len(set(people)) != len(people):
        raise ValueError("units and people must be distinct")
    if k < 1 or k > len(people):
        raise ValueError(f"{k} people per unit cannot be assigned: there are {len(people)}")
    contexts: dict[Hashable, list[U]] = defaultdict(list)
    for unit in units:
        contexts[("group", groups[unit]) if groups and unit in groups else ("unit", unit)].append(unit)
    people = sorted(people, key=lambda person: order_key(seed, f"person:{person}"))
    left = _quotas(len(units) * k, people, seed)
    shared: dict[tuple[P, P], int] = defaultdict(int)
    remaining, dealt = len(units), {}
    for context in sorted(contexts, key=lambda name: order_key(seed, f"context:{name}")):
        members = contexts[context]
        ties = dict(zip(people, _ties(seed, context, len(people)), strict=True))
        team: list[P] = []
        for position, unit in enumerate(members):
            team = _team(team, left, shared, ties, k, remaining, len(members) - position)
            dealt[unit] = tuple(team)
            for i, person in enumerate(team):
                left[person] -= 1
                for other in team[i + 1 :]:
                    shared[person, other] += 1
                    shared[other, person] += 1
            remaining -= 1
    return {unit: dealt[unit] for unit in units}


def _quotas(slots: int, people: Sequence[P], seed: Seed) -> dict[P, int]:
    share, extra = divmod(slots, len(people))
    lucky = set(sorted(people, key=lambda person: order_key(seed, f"quota:{person}"))[:extra])
    return {person: share + (person in lucky) for person in people}


def _team(
    before: list[P],
    left: dict[P, int],
    shared: dict[tuple[P, P], int],
    ties: dict[P, int],
    k: int,
    remaining: int,
    ahead: int,
) -> list[P]:
    """Return the k people of the next unit.

    People who must take it come first, then the people of the previous unit, then those with the largest quota.
    """
    must = [person for person, quota in left.items() if quota == remaining]
    team = [person for person in before if person in must] + [person for person in must if person not in before]
    team += [person for person in before if left[person] > 0 and person not in team][: k - len(team)]
    while len(team) < k:
        # Prefer people who can take the whole context, then the largest quota, then the fewest shared units.
        team.append(
            min(
                (person for person, quota in left.items() if quota > 0 and person not in team),
                key=lambda p: (left[p] < ahead, -left[p], sum(shared[p, other] for other in team), ties[p]),
            )
        )
    return team


def _ties(seed: Seed, context: Hashable, n: int) -> list[int]:
    """Return n numbers that break ties in one context, from one call of an extendable hash."""
    stream = hashlib.shake_256(f"{seed}:ties:{context}".encode()).digest(8 * n)
    return [int.from_bytes(stream[i : i + 8], "big") for i in range(0, 8 * n, 8)]


def draws_below(seed: Seed, identifier: object, share: float) -> bool:
    """Return whether an identifier is in a random share of all identifiers. Each is drawn on its own."""
    return int.from_bytes(order_key(seed, identifier)[:8]) < share * 2**64
