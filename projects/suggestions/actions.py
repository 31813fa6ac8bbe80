"""Store sets of suggestions."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Refused
from audit.log import record
from projects import kinds
from projects.models import Project, Suggestion, SuggestionSet, SuggestionSource, Unit
from sql.text import storable

#: Longest name of a set.
LONGEST_NAME = 80


@dataclass(frozen=True)
class SetPlan:
    """What a set of suggestions is: its task, its model, and everything that the version of the model covers."""

    kind: str
    name: str
    source: SuggestionSource
    model: str
    details: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def one_line_name(self) -> str:
        return " ".join(self.name.split())

    @property
    def version(self) -> str:
        """SHA-256 of what determines the suggestions."""
        content = {"kind": self.kind, "model": self.model, "options": self.options, "details": self.details}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def named(project: Project, plan: SetPlan) -> SuggestionSet | None:
    """Return the set with the name of a plan, of the same or of another version."""
    return SuggestionSet.objects.filter(project=project, kind=plan.kind, name=plan.one_line_name).first()


def create_set(*, project: Project, plan: SetPlan, by: User | None) -> SuggestionSet:
    """Create an empty set and log it. Raise `Refused` if the name is taken or the task takes no suggestions."""
    if not kinds.get(plan.kind).takes_suggestions:
        raise Refused.field("kind", "Models cannot suggest values for this task.")
    name = plan.one_line_name
    if not name or len(name) > LONGEST_NAME:
        raise Refused.field("name", f"Enter a name of at most {LONGEST_NAME} characters.")
    try:
        with transaction.atomic():
            made = SuggestionSet.objects.create(
                project=project,
                kind=plan.kind,
                name=name,
                source=plan.source,
                model=plan.model[:200],
                version=plan.version,
                details=dict(plan.details),
                options=dict(plan.options),
                made_by=by,
                made_at=timezone.now(),
            )
            record(
                actor=by,
                verb="add suggestions",
                obj=made,
                project_id=project.pk,
                after={"name": name, "kind": plan.kind, "model": made.model, "version": made.version},
            )
    except IntegrityError as error:
        raise Refused.field("name", f"This task already has suggestions named {name!r}.") from error
    return made


def store_suggestions(of: SuggestionSet, rows: Iterable[Suggestion]) -> list[Suggestion]:
    """Insert suggestions of a set in the caller's transaction. Units that have one keep it."""
    new = list(rows)
    stored = set(of.suggestions.filter(unit__in=[row.unit_id for row in new]).values_list("unit", flat=True))
    return Suggestion.objects.bulk_create([row for row in new if row.unit_id not in stored], batch_size=1000)


def suggestion(of: SuggestionSet, unit: Unit, value: Any = None, *, fault: str = "", attempts: int = 1) -> Suggestion:
    """Return an unsaved suggestion for a unit, made now."""
    return Suggestion(
        of=of,
        unit=unit,
        shown=unit.revision,
        value=value,
        fault=storable(fault),
        attempts=attempts,
        made_at=timezone.now(),
    )
