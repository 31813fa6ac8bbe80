"""Guideline versions, which never change once they are written."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts.models import User
from api import limits
from api.problems import Conflict, Refused
from audit.log import record

from .. import kinds
from ..models import Guideline, Project
from ..stored_figures.actions import enqueue_figures

TRIES = 10
#: Scopes that concern answers. From the second version on they need a reason.
STATED = (Guideline.Scope.VALUES, Guideline.Scope.ALL)


def write_guideline(
    *,
    project: Project,
    kind: str,
    text: str,
    by: User | None,
    questions: Sequence[Mapping[str, Any]] = (),
    scope: str = Guideline.Scope.NOT_STATED,
    concerns: Sequence[Mapping[str, Any]] = (),
    reason: str = "",
) -> Guideline:
    """Store a text and its questions as the next version of a kind's guideline.

    ``scope``, ``concerns`` and ``reason`` say which answers the change concerns, and why. Earlier versions, and rounds
    that use them, stay unchanged.
    """
    if kind not in {k.key for k in kinds.all_kinds()}:
        raise Refused.field("kind", f"Unknown task kind {kind!r}.")
    if not text.strip():
        raise Refused.field("text", "Enter the text of the guideline.")
    if by is not None:
        limits.check("LIMIT_GUIDELINES_PER_DAY", Guideline.objects.filter(created_by=by))
    concerned = checked_concerns(kind, scope, concerns)
    digest = sha256(text.encode()).hexdigest()
    for _ in range(TRIES):
        newest = project.guidelines.filter(kind=kind).order_by("-number").values_list("number", flat=True).first()
        if newest and scope in STATED and not reason.strip():
            raise Refused.field("reason", "Give the reason for the change.")
        try:
            with transaction.atomic():
                guideline = Guideline.objects.create(
                    project=project,
                    kind=kind,
                    number=(newest or 0) + 1,
                    text=text,
                    digest=digest,
                    created_by=by,
                    questions=[dict(one) for one in questions],
                    scope=scope,
                    concerns=concerned,
                    reason=reason.strip(),
                )
                record(
                    actor=by,
                    verb="write guideline",
                    obj=guideline,
                    project_id=project.pk,
                    reason=guideline.reason,
                    after={
                        "kind": kind,
                        "number": guideline.number,
                        "digest": digest,
                        "questions": len(questions),
                        "scope": scope,
                        "concerns": concerned,
                    },
                )
                if scope in STATED:
                    enqueue_figures(Q(pk=project.pk))
                return guideline
        except IntegrityError:
            continue  # a concurrent version has taken the number
    raise Conflict("Somebody else saved this guideline at the same moment. Try again.")


def checked_concerns(kind: str, scope: str, concerns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the stated fields and values in the order of the kind. Raise `Refused` for an unknown one."""
    if scope != Guideline.Scope.VALUES:
        if concerns:
            raise Refused.field("concerns", "Only a change of some fields and values names them.")
        return []
    how = kinds.get(kind)
    stated = {one["field"]: list(one["values"]) for one in concerns}
    if not stated or len(stated) < len(concerns):
        message = "State each field once." if stated else "Choose the fields and values that the change concerns."
        raise Refused.field("concerns", message)
    for field, keys in stated.items():
        if field not in how.fields:
            raise Refused.field("concerns", f"{how.title!r} has no field {field!r}.")
        if unknown := set(keys) - {key for key, _ in how.field_values.get(field, ())}:
            raise Refused.field("concerns", f"{field!r} has no value {min(unknown)!r}.")
    return [
        {"field": field, "values": [key for key, _ in how.field_values.get(field, ()) if key in stated[field]]}
        for field in how.fields
        if field in stated
    ]


def latest_guideline(project: Project, kind: str, *, by: User | None) -> Guideline:
    """Return the newest guideline of a kind. If there is none, store the one that Concord ships."""
    newest = project.guidelines.filter(kind=kind).order_by("-number").first()
    return newest or write_guideline(project=project, kind=kind, text=kinds.get(kind).guideline, by=by)
