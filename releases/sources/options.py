"""Choices of a lead for one release. They are part of its bytes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReleaseOptions:
    """Choices that do not follow from the data."""

    #: DOI that an archive reserved for this version; empty for a release without a deposit.
    doi: str = ""
    #: Whether the release has the texts of its sources.
    texts: bool = True
    #: Reason for a release despite failed checks. It is ignored if none fails.
    reason: str = ""
