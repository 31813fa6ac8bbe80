"""Length limits of corpus texts, and the strata by which units are sampled.

Limits are in characters and far above real texts, so that each text is processed quickly. The longest published claim
of M3 has 590, the longest cue 163 and the longest PICO element 131.
"""

from collections.abc import Mapping, Sequence

from projects.rounds import choosing

from ..models import Cluster, Proposition

#: A document or abstract of a review or study (levels 1 and 2).
DOCUMENT = 100_000
#: A proposition or a counterfactual.
CLAIM = 20_000
#: The text of a cue or of a PICO element.
CUE = ELEMENT = 2_000
#: Number of fragments of one cue or PICO element.
PIECES = 100
#: Number of PICO tuples of one sentence. M3 has at most four.
TUPLES = 20


def length_error(text: str, most: int) -> str | None:
    """Return the error message for a text that is too long, else None."""
    return f"{len(text):,} characters; expected at most {most:,}" if len(text) > most else None


def roles_of(units: Sequence[int]) -> Mapping[int, str]:
    rows = Proposition.objects.filter(unit__in=units).values_list("unit", "position")
    return {unit: "input" if position else "target" for unit, position in rows}


def reviews_of(units: Sequence[int]) -> Mapping[int, str]:
    rows = Proposition.objects.filter(unit__in=units).values_list("unit", "cluster__review__pmid")
    return {unit: f"PMID {pmid}" for unit, pmid in rows}


def reviews_of_clusters(units: Sequence[int]) -> Mapping[int, str]:
    rows = Cluster.objects.filter(unit__in=units).values_list("unit", "review__pmid")
    return {unit: f"PMID {pmid}" for unit, pmid in rows}


def register() -> None:
    """Register the strata. Called once, from ``AppConfig.ready``."""
    choosing.register_stratification("proposition", "role", roles_of)
    choosing.register_stratification("proposition", "review", reviews_of)
    choosing.register_stratification("cluster", "review", reviews_of_clusters)
