"""A project with documents and their summaries only, built through the actions that pages and commands call."""

import re
import time
from pathlib import Path

from accounts.models import User
from evaluation.models import RatingDesign
from evaluation.unblinding.actions import unblind
from generation.models import Run, RunStatus
from generation.runs.actions import start_run
from generation.systems.actions import create_system, make_version
from projects.jobs import queries as jobs_queries
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Project
from projects.people.actions import add_member, create_project
from projects.rounds.actions import close_round
from tests.annotation.m3_files import import_records, plain, write
from tests.evaluation.rating_rounds import open_rating, rate_all

#: Material that the project does not have, except in the name of the page *Needs review*.
ABSENT = re.compile(r"\b(clusters?|pubmed|systematic reviews?|propositions?)\b", re.IGNORECASE)


def work(project: Project) -> None:
    """Run the jobs of a project, as a worker does, and wait for those that a worker runs."""
    unfinished = Job.objects.filter(project=project, status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
    while unfinished.exists():
        if job := jobs_queries.claim_next():
            run_job(job)
        else:
            time.sleep(0.2)


def build_documents(folder: Path, *, lead: User, raters: tuple[User, User]) -> Project:
    """Create documents, two summaries of each, and a closed round of ratings."""
    project = create_project(name="Reports", by=lead, slug="reports", licence="CC0-1.0")
    for user in raters:
        add_member(project=project, user=user, role="annotator", by=lead)
    lines = [
        plain(
            f"report-{n}",
            f"Report {n} finds no change.",
            (f"part-{n}", f"Part {n} is long. It finds no change. It ends."),
        )
        for n in range(4)
    ]
    import_records(project, write(folder / "documents", lines))
    runs = []
    for n in (1, 2):
        system = create_system(project=project, name=f"lead-{n}", by=lead)
        config = {"backend": "extractive", "level": "document", "decoding": {"sentences": n}}
        runs.append(start_run(version=make_version(system=system, config=config, by=lead), by=lead))
    work(project)
    assert set(Run.objects.filter(pk__in=[run.pk for run in runs]).values_list("status", flat=True)) == {RunStatus.DONE}
    round = open_rating(project, list(project.members.filter(role="annotator")), runs)
    for user in raters:
        rate_all(user, round)
    close_round(round=round, by=lead)
    unblind(design=RatingDesign.objects.get(round=round), by=lead)
    work(project)
    return project
