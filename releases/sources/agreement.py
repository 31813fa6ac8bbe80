"""The agreement report of a round, as every file of a release states it."""

from typing import Any

from projects.agreement.actions import available_report
from projects.agreement.queries import report
from projects.models import Round


def report_of(round: Round) -> dict[str, Any]:
    """Return the stored report if it is current; otherwise compute it."""
    stored = available_report(round)
    return stored.report if stored.report and stored.current else report(round)
