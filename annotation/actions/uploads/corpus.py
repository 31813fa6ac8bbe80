"""Files of published data, from a browser."""

from collections.abc import Sequence
from typing import Any

from projects.models import Import, Project
from projects.uploads import Brought, Found, Json, Upload
from projects.uploads.faults import BadFiles

from ..imports import Checked, check_files, format_named, import_files, mapping_of, report_of

#: How many items and notices a preview shows; the report of the import has more notices.
SAMPLE = 3
PREVIEWED = 500


class CorpusUpload(Upload):
    """All rows of the file or none; what is odd is noticed and kept as it is."""

    key = "corpus"
    checks = "check_import"
    writes = "import"

    def accept(self, project: Project, asked: Json) -> Json:
        format_named(asked["format"]).mapped(mapping_of(asked["map"].splitlines()))
        return asked

    def check(self, brought: Brought) -> Found:
        checked = _checked(brought)
        source = brought.source
        preview: dict[str, Any] = {
            "file": source.name,
            "sha256": source.sha256,
            "size": source.size,
            "format": brought.params["format"],
            "level": brought.params["level"],
            "known": checked.known[0][1].pk if checked.known else None,
            "counts": {},
            "values": {},
            "totals": {},
            "notices": [],
            "sample": [],
        }
        for _, parsed in checked.parsed:
            report = report_of(parsed, brought.progress)
            preview |= {
                "level": parsed.level,
                "counts": parsed.counts(),
                "values": report["values"],
                "totals": report["totals"],
                "notices": report["notices"][:PREVIEWED],
                "sample": parsed.sample(SAMPLE),
            }
        return Found(checked.faults, preview)

    def write(self, brought: Brought) -> Json:
        """A second attempt after the worker died finds the import done, or nothing of it."""
        checked = _checked(brought)
        if checked.faults:
            raise BadFiles(checked.faults)
        made: Sequence[Import] = import_files(
            project=brought.project, format=brought.params["format"], checked=checked, by=brought.by,
            progress=brought.progress,
        )  # fmt: skip
        imported = made[0] if made else checked.known[0][1]
        return {
            "import": imported.pk, "known": not made, "counts": imported.counts, "totals": imported.report["totals"],
        }  # fmt: skip


def _checked(brought: Brought) -> Checked:
    return check_files(
        project=brought.project, format=brought.params["format"], level=brought.params["level"],
        sources=[brought.source], progress=brought.progress,
        mapping=mapping_of(brought.params.get("map", "").splitlines()),
    )  # fmt: skip
