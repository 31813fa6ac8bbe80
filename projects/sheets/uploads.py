"""Upload of a filled-in sheet."""

from ..models import Job, Round
from ..uploads import Brought, Found, Json, Upload
from . import actions as sheets_actions


class SheetUpload(Upload):
    """A filled-in sheet. Rows with faults are skipped; the other rows become answers."""

    key = "sheet"
    checks = "check_sheet"
    writes = "import_sheet"
    page = "rounds/{round}"

    def check(self, brought: Brought) -> Found:
        round, progress = _round(brought), brought.progress
        tally = sheets_actions.check_sheet(round=round, path=brought.path, name=brought.name, progress=progress)
        return Found(tally.faults, sheets_actions.report(round, tally))

    def unfit(self, found: Json) -> str:
        return "" if found["rows"] else "The sheet has no rows. Upload a sheet with rows."

    def write(self, brought: Brought) -> Json:
        """Import the sheet, or continue the import of a worker that stopped."""
        return sheets_actions.import_sheet(round=_round(brought), path=brought.path, name=brought.name, job=brought.job)

    def ended(self, job: Job) -> None:
        sheets_actions.ended(job)


def _round(brought: Brought) -> Round:
    return Round.objects.select_related("project").get(pk=brought.params["round"])
