"""Choices of a lead for one release. They are part of its bytes."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReleaseOptions:
    """Choices that do not follow from the data."""

    #: DOI that an archive reserved for this version; empty for a release without a deposit.
    doi: str = ""
    #: Reason for a release despite failed checks; empty if none failed.
    reason: str = ""
    #: Names of the failed checks that the reason is about.
    failed: tuple[str, ...] = field(default=())
