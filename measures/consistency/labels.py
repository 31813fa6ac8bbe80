"""Rules about a single label: its two values and the cues that mark them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measures.consistency.claims import MODERATE, NO_EVIDENCE, NOT_APPLICABLE, Claim, Cluster

AGREEMENT, CONTRADICTION = "agreement", "contradiction"


def suggested(polarities: Sequence[str]) -> str:
    """Return agreement if all input polarities are equal (``n/a`` is a value of its own), else contradiction.

    This holds for 379 of M3's 381 clusters. It is a suggestion and never overwrites a stored value.
    """
    return AGREEMENT if len(set(polarities)) <= 1 else CONTRADICTION


def against_the_inputs(cluster: Cluster) -> Iterator[str]:
    """Compare the relation with the suggestion if every input has a polarity."""
    polarities = [claim.polarity for claim in cluster.inputs]
    if not cluster.relation or not polarities or not all(polarities):
        return
    if (rule := suggested(polarities)) != cluster.relation:
        counts = ", ".join(f"{polarities.count(p)} {p}" for p in dict.fromkeys(polarities))
        yield f"The relation is {cluster.relation}, but the polarities of the inputs ({counts}) suggest {rule}."


def is_consistent(polarity: str, modality: str) -> bool:
    """Whether ``n/a`` and ``no evidence`` occur together: without evidence there is no effect to judge."""
    return (polarity == NOT_APPLICABLE) == (modality == NO_EVIDENCE)


def without_evidence(claim: Claim) -> Iterator[str]:
    """Find labels with only one of ``n/a`` and ``no evidence``. Fields are decided separately, so this can happen."""
    if claim.is_labelled and not is_consistent(claim.polarity, claim.modality):
        yield f"Polarity is {claim.polarity} and modality is {claim.modality}: use n/a and no evidence only together."


def modality_unshown(claim: Claim) -> Iterator[str]:
    """Find modalities other than moderate without a marked cue."""
    if claim.modality and not claim.modality_cue and claim.modality != MODERATE:
        yield f"The modality is {claim.modality}, but no cue is marked."


def polarity_unshown(claim: Claim) -> Iterator[str]:
    """Find polarities without a marked cue."""
    if claim.polarity and not claim.polarity_cue and claim.polarity != NOT_APPLICABLE:
        yield f"The polarity is {claim.polarity}, but no cue is marked."


def needless_cue(claim: Claim) -> Iterator[str]:
    """Find marked polarity cues where the polarity is n/a."""
    if claim.polarity == NOT_APPLICABLE and claim.polarity_cue:
        yield f"The polarity is n/a, but “{claim.polarity_cue}” is marked as its cue."
