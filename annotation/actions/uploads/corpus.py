"""Files of published data, from a browser."""

from collections.abc import Mapping, Sequence
from typing import Any

from projects.models import Import, Project
from projects.uploads import Brought, Found, Json, Upload
from projects.uploads.faults import BadFiles

from .. import consistency
from ..imports import Checked, check_files, format_named, import_files, mapping_of, report_of

#: How many items and notices a preview shows; the report of the import has more notices.
SAMPLE = 3
PREVIEWED = 500
#: What any format may ask for beside the level, as forms and commands name it.
ASKED = ("topic", "review")


class CorpusUpload(Upload):
    """All rows of the file or none; what is odd is noticed and kept as it is."""

    key = "corpus"
    checks = "check_import"
    writes = "import"

    def accept(self, project: Project, asked: Json) -> Json:
        format_named(asked["format"]).mapped(mapping_of(asked["map"].splitlines())).told(_about(asked))
        return asked

    def joins(self, asked: Json) -> bool:
        return format_named(asked["format"]).joins

    def check(self, brought: Brought) -> Found:
        checked = _checked(brought)
        source = brought.source
        preview: dict[str, Any] = {
            "file": source.name,
            "others": [other.name for other in brought.sources[1:]],
            "sha256": source.sha256,
            "size": sum(one.size for one in brought.sources),
            "format": brought.params["format"],
            "level": brought.params["level"],
            "known": checked.known[0][1].pk if checked.known and not checked.parsed else None,
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
                "counts": _added(preview["counts"], parsed.counts()),
                "values": preview["values"] | report["values"],
                "totals": _added(preview["totals"], report["totals"]),
                "notices": [*preview["notices"], *report["notices"]][:PREVIEWED],
                "sample": preview["sample"] or parsed.sample(SAMPLE),
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
        if imported.counts.get("clusters"):
            consistency.after_import(project=brought.project, by=brought.by)
        return {
            "import": imported.pk, "known": not made, "counts": imported.counts, "totals": imported.report["totals"],
        }  # fmt: skip


def _checked(brought: Brought) -> Checked:
    checked = check_files(
        project=brought.project, format=brought.params["format"], level=brought.params["level"],
        sources=brought.sources, progress=brought.progress,
        mapping=mapping_of(brought.params.get("map", "").splitlines()), about=_about(brought.params),
    )  # fmt: skip
    # The rest would be a set that lacks these, and nobody would see it.
    for source, _ in checked.known if checked.parsed else ():
        checked.faults.add(source.name, 0, "file", "was imported before: leave it out, or import the others without it")
    return checked


def _added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {key: counts.get(key, 0) + more.get(key, 0) for key in {**counts, **more}}


def _about(asked: Mapping[str, Any]) -> dict[str, str]:
    """What formats ask for, as far as it was said."""
    return {key: str(asked[key]) for key in ASKED if asked.get(key)}
