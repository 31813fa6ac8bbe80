"""Upload kind of files of imported outputs."""

from projects.uploads import Brought, Found, Upload

from .actions import keep_outputs


class OutputsUpload(Upload):
    """The check stores a file without faults; no database rows of the project change."""

    key = "outputs"
    checks = "keep_outputs"

    def check(self, upload: Brought) -> Found:
        """Check and store the file. Idempotent after an interruption."""
        checked = keep_outputs(
            project=upload.project,
            level=upload.params["level"],
            path=upload.path,
            name=upload.name,
            by=upload.by,
            progress=upload.progress,
        )
        about = checked.about
        result = {
            "sha256": "" if checked.faults else about.sha256,
            "name": upload.name,
            "format": about.format,
            "outputs": about.outputs,
            "units": checked.units,
            "matched": checked.matched,
            "unknown": [{"line": line, "key": key} for line, key in checked.unknown],
            "unknown_total": checked.unknown_total,
            "warnings": list(about.warnings),
        }
        return Found(checked.faults, result)
