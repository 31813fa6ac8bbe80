"""Changes of creators, funding and description of a data set."""

from typing import Any

from django.db import transaction

from accounts.models import User
from audit.log import changed_values, record
from projects.models import Project

from ..models import Creator, DataSheet, Funder, RelatedIdentifier
from .facts import citation_of

#: Lists of a citation and their tables. A list is replaced as a whole.
LISTS: dict[str, type[Creator] | type[Funder] | type[RelatedIdentifier]] = {
    "creators": Creator,
    "funders": Funder,
    "related": RelatedIdentifier,
}
SHEET = ("keywords", "language", "answers")


def change_citation(*, project: Project, by: User | None, **fields: Any) -> None:
    """Change the fields of a citation that are given. Log the changed ones with their values before and after."""
    if unknown := set(fields) - {*LISTS, *SHEET}:
        raise ValueError(f"Unknown fields of a citation: {', '.join(sorted(unknown))}.")
    if "answers" in fields:
        fields["answers"] = {name: text for name, text in fields["answers"].items() if text.strip()}
    with transaction.atomic():
        # Concurrent changes wait here, so that the logged values before are those that are replaced.
        Project.objects.select_for_update().get(pk=project.pk)
        before, after = changed_values(citation_of(project), fields)
        for name in after:
            if name in LISTS:
                _replace(project, LISTS[name], fields[name])
        if sheet := {name: after[name] for name in SHEET if name in after}:
            DataSheet.objects.update_or_create(project=project, defaults=sheet)
        if after:
            record(actor=by, verb="change project", obj=project, project_id=project.pk, before=before, after=after)


def _replace(project: Project, table: Any, rows: list[dict[str, Any]]) -> None:
    table.objects.filter(project=project).delete()
    table.objects.bulk_create(table(project=project, position=n, **row) for n, row in enumerate(rows, 1))
