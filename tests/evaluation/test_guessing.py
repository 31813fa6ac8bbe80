"""Guessing the system from everything but the text, even with the seed, is no better than chance; planted leaks are
found.

Two classifiers with fixed seeds: the most frequent system for each feature's value, and a logistic regression on all
features. They learn from half of the pages and guess the other half.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from django.http import HttpResponse
from scipy.stats import binomtest, chisquare  # type: ignore[import-untyped]

from accounts.models import User
from evaluation.design.plan import drawn_by
from evaluation.models import PageText, RatingDesign
from measures.design import order_of_page
from measures.sampling import Seed
from projects.models import Assignment, Project
from projects.queue import queries as queue_queries
from tests.evaluation.rating_rounds import build_runs, open_rating

pytestmark = pytest.mark.django_db
PAGES, SYSTEMS = 200, 4
#: Significance level for a guess to be better than chance, over all features together.
ALPHA = 0.01
Features = dict[str, float]
#: Systems write texts of equal length, so that the size of a reply reveals nothing.
SAME = {
    name: lambda n, word=word: f"{word} in study {n:04d}."
    for name, word in zip(("Alder", "Birch", "Cedar", "Dogwood"), ("Better", "Poorer", "Benign", "Normal"), strict=True)
}


def features(card: Mapping[str, Any], place: int, reply: HttpResponse) -> Features:
    """Return all that a rater gets about a text except the text."""
    keys = [text["key"] for text in card["texts"]]
    key = keys[place]
    return {
        "key value": int(key, 16) / 16**8,
        "first digit of the key": int(key[0], 16),
        "last digit": int(key[-1], 16),
        "key parity": int(key, 16) % 2,
        "place": place,
        "rank of the key": sorted(keys).index(key),
        "length of the key": len(key),
        "unit id": card["unit"]["id"],
        "unit id mod 4": card["unit"]["id"] % 4,
        "assignment mod 4": card["assignment"] % 4,
        "fields of the text": len(card["texts"][place]),
        "size of the reply": len(reply.content),
        "size mod 4": len(reply.content) % 4,
        "headers": len(reply.headers),
    }


@pytest.fixture
def seen(project: Project, evaluator: User, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Features, int]]:
    """Return the features of every text on every page, and its system."""
    monkeypatch.setattr("tests.evaluation.rating_rounds.SYSTEMS", SAME)
    monkeypatch.setattr("evaluation.kinds.pages.token_hex", lambda size: "5ec2e7" * 5)
    runs = build_runs(project, clusters=PAGES, systems=tuple(SAME))
    round = open_rating(project, [project.members.get(user=evaluator)], runs)
    assert round.units_count == PAGES
    slots = list(Assignment.objects.filter(round=round).select_related("unit__rating_page").order_by("position"))
    whose = dict(PageText.objects.values_list("code", "system_numbers"))
    secret = RatingDesign.objects.get().secret
    found = []
    for slot, card in zip(slots, queue_queries.cards(round, slots), strict=True):
        reply = HttpResponse(json.dumps([card], default=str))
        systems = [whose[text["key"]][0] for text in card["texts"]]
        assert worked_out(slot, drawn_by(round.seed, secret)) == systems
        told = worked_out(slot, round.seed)
        found += [
            (features(card, place, reply) | {"worked out by the seed": told[place]}, system)
            for place, system in enumerate(systems)
        ]
    return found


def worked_out(slot: Assignment, seed: Seed) -> list[int]:
    """Return the order of the systems on a page, computed from the known rules and a seed."""
    names = [str(n) for n in range(SYSTEMS)]
    return [int(one) for one in order_of_page(names, slot.unit.rating_page.number, slot.number - 1, slot.repeat, seed)]


def leaking(seen: Sequence[tuple[Features, int]], leak: Callable[[int], Features]) -> list[tuple[Features, int]]:
    """Return the features with a planted leak."""
    return [(given | leak(system), system) for given, system in seen]


def _halves(seen: Sequence[tuple[Features, int]]) -> tuple[list[tuple[Features, int]], list[tuple[Features, int]]]:
    """Split whole pages into a training and a test half; texts of one page depend on each other."""
    pages = np.random.default_rng(7).permutation(len(seen) // SYSTEMS)
    learn = set(pages[: len(pages) // 2].tolist())
    return (
        [one for n, one in enumerate(seen) if n // SYSTEMS in learn],
        [one for n, one in enumerate(seen) if n // SYSTEMS not in learn],
    )


def by_majority(learn: Sequence[tuple[Features, int]], guess: Sequence[tuple[Features, int]], name: str) -> int:
    """Return the correct guesses by one feature: the most frequent system in the value's decile."""
    edges = np.unique(np.quantile([given[name] for given, _ in learn], np.linspace(0, 1, 11)[1:-1]))
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for given, system in learn:
        counts[int(np.searchsorted(edges, given[name]))][system] += 1
    best = {at: count.most_common(1)[0][0] for at, count in counts.items()}
    return sum(best.get(int(np.searchsorted(edges, given[name])), 0) == system for given, system in guess)


def by_regression(learn: Sequence[tuple[Features, int]], guess: Sequence[tuple[Features, int]]) -> int:
    """Return the correct guesses of a multinomial logistic regression on all features, by gradient descent."""
    names = sorted(learn[0][0])
    x = np.array([[given[name] for name in names] for given, _ in learn], dtype=float)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0] = 1.0
    x = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    y = np.eye(SYSTEMS)[[system for _, system in learn]]
    weights = np.zeros((x.shape[1], SYSTEMS))
    for _ in range(400):
        scores = np.exp(x @ weights)
        weights -= 0.5 * (x.T @ (scores / scores.sum(axis=1, keepdims=True) - y) / len(x) + 0.001 * weights)
    z = np.array([[given[name] for name in names] for given, _ in guess], dtype=float)
    z = np.hstack([(z - mean) / spread, np.ones((len(z), 1))])
    return int(((z @ weights).argmax(axis=1) == [system for _, system in guess]).sum())


def better_than_chance(seen: Sequence[tuple[Features, int]]) -> list[str]:
    """Return the features, or "all", by which a system is guessed; with Bonferroni correction."""
    learn, guess = _halves(seen)
    right = {name: by_majority(learn, guess, name) for name in seen[0][0]} | {"all": by_regression(learn, guess)}
    return [
        name
        for name, n in right.items()
        if binomtest(n, len(guess), 1 / SYSTEMS, alternative="greater").pvalue < ALPHA / len(right)
    ]


@pytest.mark.long
def test_systems_cannot_be_guessed_and_planted_leaks_are_found(seen: list[tuple[Features, int]]) -> None:
    """One leak shows rarely by itself, and one only together with another feature."""
    assert len(seen) == PAGES * SYSTEMS
    assert better_than_chance(seen) == []
    counts = Counter((given["place"], system) for given, system in seen)
    assert len(counts) == SYSTEMS * SYSTEMS
    assert chisquare(list(counts.values())).pvalue > 0.01
    ranks = Counter((given["rank of the key"], system) for given, system in seen)
    assert chisquare(list(ranks.values())).pvalue > 0.01
    chance = np.random.default_rng(11)
    noisy = leaking(seen, lambda system: {"hint": float(system if chance.random() < 0.2 else chance.integers(SYSTEMS))})
    assert "hint" in better_than_chance(noisy)
    split = leaking(seen, lambda system: {"one": (h := chance.normal()) * 3, "other": h * 3 + (system - 1.5) / 3})
    assert "all" in better_than_chance(split)
