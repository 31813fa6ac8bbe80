"""Writers that wait for an arriving import, because it may contain the same rows (docs/decisions/0026)."""

from api.problems import Conflict

from ..models import Import, ImportState


class ImportArriving(Conflict):
    """Nothing was changed, because an import is arriving. A job that raises it is requeued; see `running`."""

    type = "import-arriving"
    title = "An import is running"

    def __init__(self, file_name: str) -> None:
        super().__init__(
            f"The import of {file_name} is still running and may contain the same items. Nothing was changed. "
            "Try again when the import has finished, or ask a lead to withdraw it on the Import page."
        )
        self.note = f"Waiting for the import of {file_name}"[:200]


def ensure_none_arrives(project: int) -> None:
    """Raise `ImportArriving` if an import of the project is arriving.

    Call it before creating reviews, studies, inclusions, targets or clusters: an invisible row may have the same key.
    """
    arriving = Import.objects.filter(project=project, state=ImportState.ARRIVING).values_list("file_name", flat=True)
    if file_name := arriving.first():
        raise ImportArriving(file_name)
