"""Rows that tell about an import: the line of each item, its warnings, and its entry in the audit log."""

from collections.abc import Iterable, Sequence
from typing import Any

from audit.log import record
from projects.models import Import, ImportedRecord, ImportWarning
from sql.bulk import BulkWriter

from .format import Notice
from .passes import Place


def add_records(rows: BulkWriter, imported: Import, batch: Sequence[Place], new: Sequence[Any]) -> None:
    """Prepare the line of each new item of a batch, from which `releases.sources.origins` tells where it comes from.

    A review of MSLR without studies has no line.
    """
    created = {id(item) for item in new}
    places = [place for place in batch if id(place.record.item) in created and place.record.line]
    rows.add_columns(
        ImportedRecord,
        len(places),
        imported_id=imported.pk,
        key=[place.record.key for place in places],
        file=[place.file for place in places],
        line=[place.record.line for place in places],
    )


def warning_rows(imported: Import, notices: Iterable[Notice]) -> Iterable[ImportWarning]:
    return (
        ImportWarning(
            imported=imported,
            kind=notice.kind,
            message=notice.message,
            item=notice.item,
            place=notice.place[:60],
            field=notice.field[:200],
            text=notice.text,
        )
        for notice in notices
    )


def record_import(imported: Import) -> None:
    record(
        actor=imported.created_by,
        verb="import",
        obj=imported,
        project_id=imported.project_id,
        after={
            "format": imported.format,
            "file": imported.file_name,
            "sha256": imported.sha256,
            "counts": imported.counts,
        },
    )
