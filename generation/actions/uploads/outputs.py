"""Outputs that were made elsewhere, kept for versions made of them."""

from projects.uploads import Brought, Found, Upload

from ..outputs import keep_outputs


class OutputsUpload(Upload):
    """A file without a fault is kept by its check: nothing in the data base changes by it."""

    key = "outputs"
    checks = "keep_outputs"

    def check(self, brought: Brought) -> Found:
        """Done again after it was cut off, it comes to the same."""
        checked = keep_outputs(
            project=brought.project, level=brought.params["level"], path=brought.path, name=brought.name,
            by=brought.by, progress=brought.progress,
        )  # fmt: skip
        about = checked.about
        says = {
            "sha256": "" if checked.faults else about.sha256,
            "name": brought.name,
            "format": about.format,
            "outputs": about.outputs,
            "units": checked.units,
            "matched": checked.matched,
            "unknown": [{"line": line, "key": key} for line, key in checked.unknown],
            "unknown_total": checked.unknown_total,
        }
        return Found(checked.faults, says)
