"""The tables of automatic evaluation, of all that are registered."""

from typing import Any

from generation.tables.scored import Scores
from projects import tables
from projects.tables import PaperTable


def of_scores() -> list[PaperTable[Any]]:
    """Those that are made of what metrics and the probe said."""
    return [table for table in tables.every() if table.data is Scores]
