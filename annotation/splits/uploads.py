"""Upload of the file of a split."""

from collections.abc import Mapping
from typing import Any

from projects.models import Project
from projects.uploads import Brought, Found, Json, Upload
from projects.uploads.faults import BadFiles, Faults

from ..models import SplitMode
from .actions import check_name, import_split
from .parameters import SplitParameters
from .reading import chosen_level


class SplitUpload(Upload):
    """A file with the part of each unit. A file without faults becomes a split at once; its leakage is reported."""

    key = "split"
    checks = "import_split"
    page = "splits"

    def accept(self, project: Project, params: Json) -> Json:
        _asked(params).check()
        check_name(project, params["name_of_split"])
        return params | {"level": chosen_level(project, params["level"])}

    def check(self, brought: Brought) -> Found:
        faults = Faults()
        says: Json = {"split": None}
        try:
            split = import_split(
                project=brought.project,
                asked=_asked(brought.params),
                path=brought.path,
                name=brought.name,
                by=brought.by,
                progress=brought.progress,
            )
            says = {"split": split.name}
        except BadFiles as bad:
            faults = bad.faults
        return Found(faults, says)


def _asked(params: Mapping[str, Any]) -> SplitParameters:
    return SplitParameters(
        name=params["name_of_split"], level=params["level"], mode=SplitMode.IMPORTED, near=params.get("near")
    )
