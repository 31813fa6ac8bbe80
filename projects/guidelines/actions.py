"""Guideline versions, which never change once they are written."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import User
from api import limits
from api.problems import Conflict, Refused
from audit.log import record

from .. import kinds
from ..models import Guideline, Project

TRIES = 10


def write_guideline(
    *, project: Project, kind: str, text: str, by: User | None, questions: Sequence[Mapping[str, Any]] = ()
) -> Guideline:
    """Store a text and its questions as the next version of a kind's guideline.

    Earlier versions, and rounds that use them, stay unchanged.
    """
    if kind not in {k.key for k in kinds.all_kinds()}:
        raise Refused.field("kind", f"Unknown task kind {kind!r}.")
    if not text.strip():
        raise Refused.field("text", "Enter the text of the guideline.")
    if by is not None:
        limits.check("LIMIT_GUIDELINES_PER_DAY", Guideline.objects.filter(created_by=by))
    digest = sha256(text.encode()).hexdigest()
    for _ in range(TRIES):
        newest = project.guidelines.filter(kind=kind).order_by("-number").values_list("number", flat=True).first()
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
                )
                record(
                    actor=by,
                    verb="write guideline",
                    obj=guideline,
                    project_id=project.pk,
                    after={"kind": kind, "number": guideline.number, "digest": digest, "questions": len(questions)},
                )
                return guideline
        except IntegrityError:
            continue  # a concurrent version has taken the number
    raise Conflict("Somebody else saved this guideline at the same moment. Try again.")


def latest_guideline(project: Project, kind: str, *, by: User | None) -> Guideline:
    """Return the newest guideline of a kind. If there is none, store the one that Concord ships."""
    newest = project.guidelines.filter(kind=kind).order_by("-number").first()
    return newest or write_guideline(project=project, kind=kind, text=kinds.get(kind).guideline, by=by)
