"""Compute the methods text of a project, and read the stored one."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from audit.models import Entry
from evaluation.permissions import rates_now
from generation.models import Embargo
from projects.jobs.queries import pending_job
from projects.models import Job, Member, Project, StoredFigures

from ..sources import state
from .facts.study import StudyFacts, study_facts
from .latex import latex
from .markdown import markdown
from .sections import document

#: Kind of the job that writes the text, and key of the stored one.
KIND = "methods"
#: Version of the text. Increase it whenever sentences change: stored texts of other versions are not shown.
RULE = 2
#: Forms of the stored text.
WHOLE, WITHOUT_JUDGES = "whole", "without judges"


@dataclass(frozen=True)
class StoredText:
    """The stored text. ``text`` is None if there is none, or if its systems have become secret since."""

    text: dict[str, Any] | None
    as_of: datetime | None
    is_current: bool
    job: Job | None


def text_of(facts: StudyFacts) -> dict[str, Any]:
    """Return the text as plain values: sections, what is missing, and both files."""
    written = document(facts)
    return {
        "sections": [{"title": each.title, "paragraphs": each.paragraphs} for each in written.sections],
        "gaps": [asdict(gap) for gap in written.gaps],
        "markdown": markdown(written),
        "latex": latex(written),
    }


def compute(project: Project) -> StudyFacts:
    """Return the facts of a project, read from one snapshot."""
    with state.snapshot():
        return study_facts(Project.objects.get(pk=project.pk))


def stored_text(member: Member) -> StoredText:
    """Return the stored text and how current it is. A fixed number of queries.

    A member who rates in an open round must not learn that a model judges: the text then has no section on judges.
    """
    project = member.project
    job = pending_job(project, KIND)
    row = StoredFigures.objects.filter(project=project, key=KIND, rule=RULE).first()
    if row is None or _has_new_secrets(project, row.as_of):
        return StoredText(None, None, False, job)
    texts = json.loads(row.figures)
    text = texts[WITHOUT_JUDGES if rates_now(member) else WHOLE]
    return StoredText(text, row.as_of, _changed_at(project) <= row.as_of, job)


def texts_of(facts: StudyFacts) -> dict[str, Any]:
    """Return both forms of the text that are stored."""
    return {WHOLE: text_of(facts), WITHOUT_JUDGES: text_of(replace(facts, judges=()))}


def _has_new_secrets(project: Project, since: datetime) -> bool:
    """Return whether a run was hidden from a member since then: the text may describe its system."""
    embargoes = Embargo.objects.active().filter(run__version__system__project=project)
    return embargoes.filter(created_at__gt=since).exists()


def _changed_at(project: Project) -> datetime:
    """Return the time of the newest change that the text can depend on."""
    newest = datetime.fromisoformat(state.newest_change(project))
    logged = Entry.objects.filter(project=project.pk).exclude(verb="release").order_by("-id")
    at = logged.values_list("at", flat=True).first()
    return max(newest, at) if at else newest
