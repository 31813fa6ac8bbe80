"""Choices of a lead for one release. They are part of its bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..folders.texts import TEXTS

#: What a release can be created without. Parquet files need pyarrow.
PARQUET = "parquet"
OPTIONAL = (PARQUET, TEXTS)


@dataclass(frozen=True)
class ReleaseOptions:
    """Choices that do not follow from the data."""

    #: DOI that an archive reserved for this version; empty for a release without a deposit.
    doi: str = ""
    #: Names in `OPTIONAL`.
    without: Sequence[str] = ()
    #: Reason for a release despite failed checks. It is ignored if none fails.
    reason: str = ""

    @property
    def has_parquet(self) -> bool:
        return PARQUET not in self.without

    @property
    def has_texts(self) -> bool:
        """Whether the release has the texts of its sources."""
        return TEXTS not in self.without
