"""Statistics of the counterfactual probe (M3, Table 7): whether a model prefers the true target to a false one.

For a pair of target y and counterfactual y' given the same inputs x, nll(y) = -sum log p(y_t | y_<t, x) in nats, and
the mean is over the tokens of y. Delta = mean nll(y') - mean nll(y); positive values are good. A pair is right if its
delta is *strictly* positive. A tie is wrong, because the model does not distinguish the two texts.

There are two bases: ``all`` tokens, including special ones (as in a library's loss and in M3), and ``content`` tokens
only. A counterfactual is often longer than its target and shares most of its words. Therefore the delta of the sums and
the delta over the differing tokens are reported, too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from measures import former
from measures.clustered import METHOD, Interval
from measures.means import FORMER_METHOD, FORMER_SHARE_METHOD, Mean, clustered_mean, clustered_means, clustered_share

Basis = Literal["all", "content"]
BASES: tuple[Basis, ...] = ("all", "content")
OVERALL = "overall"

NO_PAIRS = "no pairs"
NONE_CHANGED = "no pair in which both texts have tokens of their own"
ONE_PAIR = "one pair: no spread"
SD_METHOD = "sample standard deviation over pairs (ddof 1)"
#: Name of the method. Rows stored under another rule are recomputed.
RULE = f"means and shares of pairs: {METHOD}"
FORMER_RULE = f"means over pairs: {FORMER_METHOD}; accuracy: {FORMER_SHARE_METHOD}"


class ProbeError(ValueError):
    """Invalid likelihoods: not finite, above 1 by more than rounding, or without tokens."""


@dataclass(frozen=True, slots=True)
class TextNll:
    """Sums of negative log-likelihoods (nats) of one text and the numbers of tokens."""

    content_sum: float
    content_tokens: int
    all_sum: float
    all_tokens: int

    def __post_init__(self) -> None:
        for basis in BASES:
            total, tokens = self.total(basis)
            # Because of rounding, the log-softmax of a likely token can be slightly above 0.
            if not math.isfinite(total) or total < -1e-4 * max(tokens, 1):
                raise ProbeError(f"a sum of negative log-likelihoods of {total} ({basis} tokens)")
            if tokens < 1:
                raise ProbeError(f"a likelihood of {tokens} {basis} tokens")

    @classmethod
    def of_tokens(cls, nll: Sequence[float], special: Sequence[bool]) -> TextNll:
        """Compute the sums from the nll of each token. Special tokens (``<s>``, ``</s>``) are not content."""
        content = [value for value, is_special in zip(nll, special, strict=True) if not is_special]
        return cls(math.fsum(content), len(content), math.fsum(nll), len(nll))

    def total(self, basis: Basis) -> tuple[float, int]:
        """Return (sum in nats, number of tokens)."""
        return (self.all_sum, self.all_tokens) if basis == "all" else (self.content_sum, self.content_tokens)

    def mean(self, basis: Basis) -> float:
        """Return nats per token."""
        total, tokens = self.total(basis)
        return total / tokens


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and one counterfactual with likelihoods given the same inputs.

    ``review`` is the cluster of the pair. ``replaced`` is (sum in nats, tokens) over the content tokens that only the
    target has, ``changed`` over those that only the counterfactual has.
    """

    review: Hashable
    kind: str
    target: TextNll
    counterfactual: TextNll
    replaced: tuple[float, int] = (0.0, 0)
    changed: tuple[float, int] = (0.0, 0)

    def delta(self, basis: Basis) -> float:
        """Return the delta in nats per token."""
        return self.counterfactual.mean(basis) - self.target.mean(basis)

    def delta_sum(self, basis: Basis) -> float:
        """Return the delta in nats."""
        return self.counterfactual.total(basis)[0] - self.target.total(basis)[0]

    def delta_changed(self) -> float | None:
        """Return the delta over the differing tokens in nats per token, or None if one of the texts has none."""
        (old, of_old), (new, of_new) = self.replaced, self.changed
        return new / of_new - old / of_old if of_old and of_new else None


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    ``value`` is None exactly when ``undefined`` is set. Without ``ci``, ``flags`` may give the reason.
    """

    value: float | None
    ci: Interval | None = None
    undefined: str | None = None
    flags: tuple[str, ...] = ()

    @property
    def ci_reason(self) -> str:
        """The reason why the interval is withheld."""
        return self.flags[0] if self.flags and not self.ci else ""

    def as_json(self) -> dict[str, object]:
        return {
            "value": self.value,
            "ci": list(self.ci) if self.ci else None,
            "ci_reason": self.ci_reason or None,
            "flags": list(self.flags),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Figure:
        """Restore a defined figure from `as_json`. Some databases return whole floats as integers."""
        ci = (float(stored["ci"][0]), float(stored["ci"][1])) if stored["ci"] else None
        return cls(float(stored["value"]), ci, flags=tuple(stored["flags"]))


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One row of the table: a kind, or all pairs (`OVERALL`).

    ``delta`` (nats per token) and ``delta_sum`` (nats) are means over pairs; ``sd`` is the standard deviation of the
    deltas. ``accuracy`` is the share of the ``right`` pairs among ``n``; ``ties`` are wrong. ``delta_changed`` (nats
    per token) is over the differing tokens of the ``n_changed`` pairs in which both texts have some.
    """

    kind: str
    basis: Basis
    n: int
    reviews: int
    right: int
    ties: int
    delta: Figure
    sd: Figure
    accuracy: Figure
    delta_sum: Figure
    delta_changed: Figure
    n_changed: int
    method: str

    def as_json(self) -> dict[str, object]:
        """Return the defined figures by name, and the reasons why the others are undefined."""
        figures = {
            "delta": self.delta,
            "sd": self.sd,
            "accuracy": self.accuracy,
            "delta_sum": self.delta_sum,
            "delta_changed": self.delta_changed,
        }
        return {
            "kind": self.kind,
            "basis": self.basis,
            "n": self.n,
            "reviews": self.reviews,
            "right": self.right,
            "ties": self.ties,
            "n_changed": self.n_changed,
            "method": self.method,
            "figures": {name: figure.as_json() for name, figure in figures.items() if figure.value is not None},
            "undefined": {name: figure.undefined for name, figure in figures.items() if figure.undefined},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ProbeResult:
        """Restore a row from `as_json`."""
        fields: dict[str, Any] = {name: stored[name] for name in stored if name not in ("figures", "undefined")}
        fields |= {name: Figure.from_json(figure) for name, figure in stored["figures"].items()}
        fields |= {name: Figure(None, undefined=why) for name, why in stored["undefined"].items()}
        return cls(**fields)


def probe_table(
    pairs: Sequence[Pair], kinds: Sequence[str], *, basis: Basis = "all", level: float = 0.95
) -> tuple[ProbeResult, ...]:
    """Return a row for each of ``kinds``, with or without pairs, then one over all pairs.

    Intervals are clustered by review (`measures.means`). The result does not depend on the order of the pairs or the
    names of the reviews, to the last bit. Raise ValueError for a pair of another kind.
    """
    if unknown := {p.kind for p in pairs} - set(kinds):
        raise ValueError(f"pairs of unknown kinds: {', '.join(sorted(unknown))}")
    rows = [(kind, [p for p in pairs if p.kind == kind]) for kind in kinds]
    return tuple(_row(kind, rows_of, basis, level) for kind, rows_of in [*rows, (OVERALL, pairs)])


def probe_tables(pairs: Sequence[Pair], kinds: Sequence[str]) -> tuple[ProbeResult, ...]:
    """Return the rows of `probe_table` on each basis."""
    return tuple(result for basis in BASES for result in probe_table(pairs, kinds, basis=basis))


def _row(kind: str, pairs: Sequence[Pair], basis: Basis, level: float) -> ProbeResult:
    n, rule = len(pairs), FORMER_RULE if former.is_on() else RULE
    if not n:
        none = Figure(None, undefined=NO_PAIRS)
        return ProbeResult(kind, basis, 0, 0, 0, 0, none, none, none, none, none, 0, rule)
    deltas = [p.delta(basis) for p in pairs]
    right = [delta > 0 for delta in deltas]
    numbers: dict[Hashable, int] = {}
    review = [numbers.setdefault(p.review, len(numbers)) for p in pairs]
    delta, sums = clustered_means([deltas, [p.delta_sum(basis) for p in pairs]], review, level=level)
    changed = [(place, d) for place, p in zip(review, pairs, strict=True) if (d := p.delta_changed()) is not None]
    over_changed = clustered_mean([d for _, d in changed], [place for place, _ in changed], level=level)
    return ProbeResult(
        kind,
        basis,
        n,
        len(numbers),
        sum(right),
        deltas.count(0),
        _figure(delta),
        Figure(delta.sd, undefined=ONE_PAIR if delta.sd is None else None),
        _figure(clustered_share(right, review, level=level)),
        _figure(sums),
        _figure(over_changed),
        len(changed),
        rule,
    )


def _figure(mean: Mean) -> Figure:
    if mean.value is None:  # only the mean over changed tokens can be undefined here
        return Figure(None, undefined=NONE_CHANGED)
    return Figure(mean.value, mean.ci, flags=(mean.ci_reason,) if mean.ci_reason else ())


#: item, target, counterfactual (None for the target itself), its kind, review, and (sum, tokens) of each of: content,
#: all, replaced, changed
Judged = tuple[
    Hashable,
    Hashable,
    Hashable | None,
    str | None,
    Hashable,
    float,
    int,
    float,
    int,
    float | None,
    int | None,
    float | None,
    int | None,
]


def paired(rows: Iterable[Judged]) -> dict[tuple[Hashable, Hashable], Pair]:
    """Return each counterfactual with its target, by (target, counterfactual), from likelihoods of single texts.

    Raise ValueError for a counterfactual whose target has no likelihood.
    """
    targets: dict[tuple[Hashable, Hashable], TextNll] = {}
    others: dict[tuple[Hashable, Hashable], tuple[Hashable, Pair]] = {}
    for item, target, other, kind, review, content, content_tokens, whole, tokens, old, of_old, new, of_new in rows:
        sums = TextNll(content, content_tokens, whole, tokens)
        if other is None or kind is None:
            targets[item, target] = sums
        else:
            pair = Pair(review, kind, sums, sums, replaced=(old or 0.0, of_old or 0), changed=(new or 0.0, of_new or 0))
            others[target, other] = item, pair
    if orphans := [key for key, (item, _) in others.items() if (item, key[0]) not in targets]:
        raise ValueError(f"a counterfactual without its target: {orphans[0]}")
    return {key: replace(pair, target=targets[item, key[0]]) for key, (item, pair) in others.items()}
