"""The two ways in which ratings can be wrong."""

from __future__ import annotations


class RatingsError(ValueError):
    """The ratings, scale or weights that were given cannot be measured; the message lists what is wrong."""


class AgreementDataError(RatingsError):
    """Figures that cannot come from one set of nominal ratings (unweighted Fleiss above AC1)."""
