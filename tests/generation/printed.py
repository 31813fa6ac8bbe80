"""The tables of automatic evaluation, of all that are registered."""

from typing import Any

from generation.results.tables.scored import Scores
from projects import reports
from projects.reports.registry import ReportTable


def of_scores() -> list[ReportTable[Any]]:
    """Those that are made of what metrics and the probe said."""
    return [table for table in reports.every() if table.data is Scores]
