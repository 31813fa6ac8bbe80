"""What of a round's figures a release holds: all that its own files give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
#: Of a round, and of each way to take its figures: of everything, and without what its rules leave out.
OF_ROUND = ("left_out", "checks", "m3", "not_compared", "directions")
OF_WAY = ("judgements", "sources", "items", "systems", "criteria", "raters", "preferences")
#: Of each way, what is made of metrics: where the release has the scores of all runs that were rated.
OF_METRICS = ("correlations", "metrics")
WAYS = ("all", "kept")


def released(figures: Mapping[str, Any], *, scored: bool) -> Json:
    """``scored``: with what is made of metrics. Without what is drawn: that is other figures' points."""
    names = OF_WAY + (OF_METRICS if scored else ())
    ways = {way: {name: figures[way][name] for name in names} if figures[way] else None for way in WAYS}
    return {name: figures[name] for name in OF_ROUND} | ways
