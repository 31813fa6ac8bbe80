"""Recompute the agreement of all writers of a release from their texts."""

from __future__ import annotations

from ..writers import Written, agreement
from .files import Findings, Folder, InvalidRelease

SUMMARIES, AGREEMENT = "written/summaries.csv", "written/agreement.json"


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every figure. Raise `InvalidRelease` for invalid files."""
    if not folder.has(AGREEMENT):
        return
    try:
        rows = {(row["question"], row["passage"], row["form"], row["writer"]): row for row in folder.rows(SUMMARIES)}
        texts = [Written.from_cells(row["question"], row["writer"], row) for row in rows.values()]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRelease(f"{SUMMARIES}: a row lacks a column ({error!r})") from None
    findings.compare(AGREEMENT, "agreement of writers", folder.json(AGREEMENT), agreement(texts))
