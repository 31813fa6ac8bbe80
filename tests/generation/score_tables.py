from typing import Any

from generation.results.tables.scored import Scores
from projects import reports
from projects.reports.registry import ReportTable


def score_tables() -> list[ReportTable[Any]]:
    """Return the registered tables of metric and probe scores."""
    return [table for table in reports.every() if table.data is Scores]
