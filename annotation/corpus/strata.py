"""How units can be told apart for a stratified sample: propositions by role and review, clusters by review."""

from collections.abc import Mapping, Sequence

from projects.rounds import choosing

from ..models import Cluster, Proposition


def role(units: Sequence[int]) -> Mapping[int, str]:
    rows = Proposition.objects.filter(unit__in=units).values_list("unit", "position")
    return {unit: "input" if position else "target" for unit, position in rows}


def review(units: Sequence[int]) -> Mapping[int, str]:
    rows = Proposition.objects.filter(unit__in=units).values_list("unit", "cluster__review__pmid")
    return {unit: f"PMID {pmid}" for unit, pmid in rows}


def review_of_cluster(units: Sequence[int]) -> Mapping[int, str]:
    rows = Cluster.objects.filter(unit__in=units).values_list("unit", "review__pmid")
    return {unit: f"PMID {pmid}" for unit, pmid in rows}


def register() -> None:
    """Called once, from ``AppConfig.ready``."""
    choosing.tells_apart("proposition", "role", role)
    choosing.tells_apart("proposition", "review", review)
    choosing.tells_apart("cluster", "review", review_of_cluster)
