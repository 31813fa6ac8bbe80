"""A fifth sort of file: wishes of raters, one a line. They are written into the log."""

from api.problems import Refused
from audit.log import record
from audit.models import Entry
from projects.jobs import batches
from projects.models import Project
from projects.uploads import Brought, Found, Json, Upload
from projects.uploads.faults import BadFiles, Faults


class WishesUpload(Upload):
    key = "wishes"
    checks = "check_wishes"
    writes = "import_wishes"

    def accept(self, project: Project, asked: Json) -> Json:
        if not asked["of"]:
            raise Refused.field("of", "Say whose.")
        return asked

    def check(self, brought: Brought) -> Found:
        faults, lines = Faults(), brought.path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                faults.add(brought.name, number, "wish", "is empty; expected a wish")
        return Found(faults, {"wishes": len(lines)})

    def write(self, brought: Brought) -> Json:
        found = self.check(brought)
        if found.faults:
            raise BadFiles(found.faults)
        sha256 = brought.source.sha256
        with batches.batch():
            if not Entry.objects.filter(verb="wish", after__sha256=sha256).exists():
                record(
                    actor=brought.by,
                    verb="wish",
                    obj=brought.project,
                    project_id=brought.project.pk,
                    after={"sha256": sha256, "of": brought.params["of"]},
                )
        return dict(found.says)
