"""The figures of a reliability study, field by field: agreement, and accuracy against gold beside chance and ranker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from measures.agreement import Scale
from measures.matching import CHANCE
from measures.means import Mean, clustered_share
from measures.reliability import accuracy, all_agree, pairwise
from projects import kinds
from projects.models import Round
from projects.rounds.agreement import gold_of, report, said_in

from ..models import MatchCandidate, ReliabilityStudy

OPEN = "its round is open"
NO_RANKER = "a ranker gives no labels"


@dataclass(frozen=True)
class Coefficient:
    """``value`` is None exactly where ``undefined`` says why. ``ci``: over reviews, where some have several items."""

    value: float | None
    ci: tuple[float, float] | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Field:
    """One field of a study. ``items``: that two people or more rated; ``ranker``: None where there is none."""

    name: str
    items: int
    raters: int
    all_agree: Mean
    pairwise: Mean
    ac1: Coefficient
    fleiss: Coefficient
    accuracy: Mean
    chance: float
    ranker: Mean | None
    nearest_by: str = ""


def rounds_of(study: ReliabilityStudy) -> list[Round]:
    return [round for round in (study.labels, study.matches) if round]


def fields(round: Round) -> list[Field]:
    """The nominal fields of one closed round: its answers are read once for all of them. The report is without a
    bootstrap, whose intervals are not printed."""
    measured = report(round, bootstrap=0)
    by_name = {measure["name"]: measure for measure in measured["measures"]}
    gold = gold_of(round)
    kind = kinds.get(round.kind)
    said: dict[str, list[tuple[str, str]]] = {}
    reviews: dict[str, str] = {}
    for part in said_in(round):
        of_unit = kind.reviews({unit.pk for unit, _, _ in part})
        for unit, _, value in part:
            reviews[unit.key] = of_unit.get(unit.pk, unit.key)
            for column, cell in kind.row(value).items():
                said.setdefault(column, []).append((unit.key, cell))
    places = {review: n for n, review in enumerate(sorted(set(reviews.values())))}
    cluster_of = {item: places[review] for item, review in reviews.items()}
    ranker, nearest_by = _ranker(round, cluster_of)
    return [
        _field(scale, by_name[scale.name], said.get(scale.column, []), gold.get(scale.name, {}), cluster_of, ranker,
               nearest_by)
        for scale in kind.scales_of(round) if scale.weights == "identity"
    ]  # fmt: skip


def _field(
    scale: Scale,
    measure: Mapping[str, Any],
    said: list[tuple[str, str]],
    gold: Mapping[str, str],
    cluster_of: Mapping[str, int],
    ranker: Mean | None,
    nearest_by: str,
) -> Field:
    agreeing = all_agree(said, cluster_of)
    return Field(
        scale.name, agreeing.n, measure["raters"], agreeing, pairwise(said, cluster_of), _coefficient(measure, "ac1"),
        _coefficient(measure, "fleiss"), accuracy(said, gold, cluster_of),
        CHANCE if ranker else 1 / len(scale.categories), ranker, nearest_by,
    )  # fmt: skip


def _coefficient(measure: Mapping[str, Any], name: str) -> Coefficient:
    found = measure["coefficients"].get(name)
    if found is None:
        return Coefficient(None, undefined=measure["undefined"].get(name, "not enough ratings"))
    over = found["reviews"] if measure["cite"] == "reviews" else found
    ci = over["ci"] if over else None
    # Without a width it is none: all items are alike in what it rests on.
    return Coefficient(found["value"], (ci[0], ci[1]) if ci and ci[0] < ci[1] else None)


def _ranker(round: Round, cluster_of: Mapping[str, int]) -> tuple[Mean | None, str]:
    """How often the ranker has the gold sentence first, on the items that people were asked; None where the round
    has no items."""
    rows = MatchCandidate.objects.filter(item__round=round, is_gold=True).order_by("item__number")
    columns = ("item__unit__key", "rank", "item__nearest_by")
    found = [(key, rank, by) for key, rank, by in rows.values_list(*columns) if key in cluster_of]
    if not rows.exists():
        return None, ""
    hits = [float(rank == 1) for _, rank, _ in found]
    return clustered_share(hits, [cluster_of[key] for key, _, _ in found]), rows.values_list("item__nearest_by")[0][0]
