"""Upload of ratings made outside Concord."""

from api.problems import Refused

from .. import kinds
from ..models import Project
from ..uploads import Brought, Found, Json, Upload
from .actions import PURPOSES, import_ratings, read_ratings, report, require_free_name


class ExternalRatingsUpload(Upload):
    """Import all ratings of a file as a closed round of named raters, or none."""

    key = "elsewhere"
    checks = "check_elsewhere"
    writes = "import_elsewhere"

    def accept(self, project: Project, params: Json) -> Json:
        kind = kinds.get(params["kind"])
        if kind.sheet is None:
            raise Refused.field("kind", f"Answers of the task {kind.title!r} cannot be imported from a file.")
        return params

    def check(self, brought: Brought) -> Found:
        kind = kinds.get(brought.params["kind"])
        ratings = read_ratings(
            project=brought.project, kind=kind, path=brought.path, name=brought.name, progress=brought.progress
        )
        return Found(ratings.faults, report(ratings))

    def unfit(self, found: Json) -> str:
        return super().unfit(found) or ("" if found["ratings"] else "The file has no ratings. Upload another file.")

    def choose(self, project: Project, chosen: Json) -> Json:
        if chosen["purpose"] not in PURPOSES:
            raise Refused.field(
                "purpose",
                f"Imported rounds cannot have this purpose. Choose one of: {', '.join(p.label for p in PURPOSES)}.",
            )
        require_free_name(project, chosen["name"])
        return {"round_name": chosen["name"], "purpose": chosen["purpose"]}

    def write(self, brought: Brought) -> Json:
        """Import the ratings. If an earlier attempt completed the import, a repetition changes nothing."""
        assert brought.by is not None
        chosen = {key: brought.params[key] for key in ("kind", "round_name", "purpose")}
        return import_ratings(project=brought.project, source=brought.source, by=brought.by, job=brought.job, **chosen)
