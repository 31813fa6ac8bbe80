"""Upload of suggestions that a lab's own model made."""

import json
from collections.abc import Iterator
from typing import Any

from api.problems import Refused

from .. import kinds
from ..jobs import batches
from ..models import Project, SuggestionSet, SuggestionSource, Unit
from ..suggestions.actions import SetPlan, create_set, named, store_suggestions, suggestion
from ..suggestions.checking import checked_value, page_round
from ..uploads import Brought, Found, Json, Upload
from ..uploads.faults import Faults

#: Lines that are checked and stored at a time.
PART = 500
#: Longest line, in characters.
LONGEST_LINE = 1_000_000


class SuggestionsUpload(Upload):
    """The check stores a file without faults; there is no confirmation, because suggestions change no value."""

    key = "suggestions"
    checks = "keep_suggestions"
    page = "suggestions"

    def accept(self, project: Project, params: Json) -> Json:
        if params["kind"] not in {kind.key for kind in kinds.all_kinds() if kind.takes_suggestions}:
            raise Refused.field("kind", "Models cannot suggest values for this task.")
        if not isinstance(params["options"], dict):
            raise Refused.field("options", "Expected an object.")
        # The name in the parameters of the job is that of the file.
        return {**params, "set_name": params["name"]}

    def check(self, brought: Brought) -> Found:
        """Check the file, and store it if it has no faults. Idempotent: a repetition stores the rest."""
        project, params, faults = brought.project, brought.params, Faults()
        plan = SetPlan(
            params["kind"],
            params["set_name"],
            SuggestionSource.FILE,
            params["model"],
            {"sha256": brought.source.sha256, "file": brought.name},
            params["options"],
        )
        rows = list(_rows(brought, faults))
        if not rows and not faults:
            faults.add(brought.name, 0, "file", "The file has no suggestions.")
        existing = named(project, plan)
        if existing and existing.version != plan.version:
            faults.add(brought.name, 0, "name", f"This task already has other suggestions named {plan.name!r}.")
        if not faults:
            self._store(brought, plan, existing, rows)
        return Found(faults, {"suggestions": len(rows)})

    def _store(
        self, brought: Brought, plan: SetPlan, existing: SuggestionSet | None, rows: list[tuple[Unit, kinds.Value]]
    ) -> None:
        with batches.batch():
            made = existing or create_set(project=brought.project, plan=plan, by=brought.by)
        for first in range(0, len(rows), PART):
            with batches.batch(first, len(rows)):
                store_suggestions(made, [suggestion(made, *row) for row in rows[first : first + PART]])


def _rows(brought: Brought, faults: Faults) -> Iterator[tuple[Unit, kinds.Value]]:
    """Yield the unit and the checked value of each line, and add the faults of the others."""
    project, params = brought.project, brought.params
    kind, round = kinds.get(params["kind"]), page_round(project, params["kind"], params["options"])
    units = {
        unit.key: unit for unit in Unit.objects.filter(project=project, type__in=kind.unit_types, superseded_by=None)
    }
    seen: set[str] = set()
    with brought.path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if number % PART == 0:
                brought.progress(number, None, "checking values")
            if not line.strip() or faults.are_too_many:
                continue
            try:
                key, value = _line(line)
                if key in seen:
                    raise Refused.field("unit", "The unit occurs twice.")
                if key not in units:
                    raise Refused.field("unit", "This project has no unit of this task with this key.")
                seen.add(key)
                yield units[key], checked_value(round, units[key], value)
            except Refused as refused:
                field = refused.errors[0]["field"] if refused.errors else "line"
                faults.add(brought.name, number, field, refused.detail)


def _line(line: str) -> tuple[str, Any]:
    try:
        row = json.loads(line) if len(line) <= LONGEST_LINE else None
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or set(row) != {"unit", "value"} or not isinstance(row["unit"], str):
        raise Refused.field("line", 'Expected a JSON object {"unit": key, "value": …}.')
    return row["unit"], row["value"]
