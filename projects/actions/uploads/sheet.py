"""A filled sheet, back into its round."""

from projects.uploads import Brought, Found, Json, Upload

from ...models import Job, Round
from .. import sheet_import, sheets


class SheetUpload(Upload):
    """Rows with a fault stay out, and the others become answers."""

    key = "sheet"
    checks = "check_sheet"
    writes = "import_sheet"
    page = "rounds/{round}"

    def check(self, brought: Brought) -> Found:
        round, progress = _round(brought), brought.progress
        tally = sheets.check_sheet(round=round, path=brought.path, name=brought.name, progress=progress)
        return Found(tally.faults, sheets.report(round, tally))

    def unfit(self, found: Json) -> str:
        return "" if found["rows"] else "The sheet holds no row; mend it and upload it again."

    def write(self, brought: Brought) -> Json:
        """Goes on where a worker that died left it."""
        return sheet_import.import_sheet(round=_round(brought), path=brought.path, name=brought.name, job=brought.job)

    def ended(self, job: Job) -> None:
        sheet_import.ended(job)


def _round(brought: Brought) -> Round:
    return Round.objects.select_related("project").get(pk=brought.params["round"])
