"""Rules about one label: its two values, and the cues that show them."""

from __future__ import annotations

from collections.abc import Iterator

from .claims import MODERATE, NO_EVIDENCE, NOT_APPLICABLE, Claim


def is_consistent(polarity: str, modality: str) -> bool:
    """``n/a`` exactly when the modality is ``no evidence``: without evidence there is no effect to be good or bad."""
    return (polarity == NOT_APPLICABLE) == (modality == NO_EVIDENCE)


def without_evidence(claim: Claim) -> Iterator[str]:
    """``n/a`` and ``no evidence`` belong together; as fields are decided one by one, either may stand alone."""
    if claim.is_labelled and not is_consistent(claim.polarity, claim.modality):
        yield f"Polarity is {claim.polarity} and modality is {claim.modality}: n/a and no evidence go together."


def modality_unshown(claim: Claim) -> Iterator[str]:
    """A modality other than moderate is shown by words of the text."""
    if claim.modality and not claim.modality_cue and claim.modality != MODERATE:
        yield f"The modality is {claim.modality}, and no words are marked that show it."


def polarity_unshown(claim: Claim) -> Iterator[str]:
    """A polarity is shown by words of the text."""
    if claim.polarity and not claim.polarity_cue and claim.polarity != NOT_APPLICABLE:
        yield f"The polarity is {claim.polarity}, and no words are marked that show it."


def needless_cue(claim: Claim) -> Iterator[str]:
    """Without evidence there is no polarity that words could show."""
    if claim.polarity == NOT_APPLICABLE and claim.polarity_cue:
        yield f"The polarity is n/a, and “{claim.polarity_cue}” is marked as showing it."
