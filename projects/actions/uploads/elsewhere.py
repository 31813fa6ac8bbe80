"""Answers that were given outside Concord, by people it does not know."""

from api.problems import Refused
from projects.uploads import Brought, Found, Json, Upload

from ... import kinds
from ...models import Project
from ..elsewhere import PURPOSES, import_ratings, read_ratings, refuse_taken, report


class ElsewhereUpload(Upload):
    """All ratings of the file, as a closed round of named raters, or none."""

    key = "elsewhere"
    checks = "check_elsewhere"
    writes = "import_elsewhere"

    def accept(self, project: Project, asked: Json) -> Json:
        kind = kinds.get(asked["kind"])
        if kind.sheet is None:
            raise Refused.field("kind", f"{kind.title} cannot be given in a sheet.")
        return asked

    def check(self, brought: Brought) -> Found:
        kind = kinds.get(brought.params["kind"])
        ratings = read_ratings(
            project=brought.project, kind=kind, path=brought.path, name=brought.name, progress=brought.progress
        )
        return Found(ratings.faults, report(ratings))

    def unfit(self, found: Json) -> str:
        return super().unfit(found) or ("" if found["ratings"] else "The file has no ratings; upload another.")

    def choose(self, project: Project, chosen: Json) -> Json:
        if chosen["purpose"] not in PURPOSES:
            raise Refused.field("purpose", f"One of: {', '.join(PURPOSES)}.")
        refuse_taken(project, chosen["name"])
        return {"round_name": chosen["name"], "purpose": chosen["purpose"]}

    def write(self, brought: Brought) -> Json:
        """A second attempt finds the import done, or nothing of it."""
        assert brought.by is not None
        chosen = {key: brought.params[key] for key in ("kind", "round_name", "purpose")}
        return import_ratings(project=brought.project, source=brought.source, by=brought.by, job=brought.job, **chosen)
