"""A project with documents and their summaries only: it is created, summarised, rated and released, and no reply speaks
of other material."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from accounts.models import User
from annotation.models import Target
from evaluation.models import RatingDesign
from evaluation.unblinding.actions import unblind
from generation.models import Run, RunStatus
from generation.runs.actions import start_run
from generation.systems.actions import create_system, make_version
from projects.jobs import queries as jobs_queries
from projects.jobs.running import run_job
from projects.models import Member, Project, Round
from projects.people.actions import add_member, create_project
from projects.rounds.actions import close_round
from projects.stored_figures.actions import compute_and_store
from releases.publishing.actions import write_release
from tests.annotation.m3_files import import_records, plain, write
from tests.config.routes import api_routes, client_of
from tests.evaluation.rating_rounds import open_rating, rate_all

pytestmark = pytest.mark.django_db
#: Material that the project does not have, except in the name of the page *Needs review*.
ABSENT = re.compile(r"\b(clusters?|pubmed|systematic reviews?|propositions?)\b", re.IGNORECASE)
#: What the server offers to every project, and files of code and of rows.
GENERAL = ("import-formats/", "schema/", "projects/<slug:slug>/protocols/templates/")
#: Routes that only the page *PubMed* reads, which the navigation then leaves out, and names of published models.
APART = re.compile(r"searches/|backends/ \.presets|backends/ \.levels\.key")


def work() -> None:
    """Run all jobs that are due, as a worker does."""
    while (job := jobs_queries.claim_next()) is not None:
        run_job(job)


@pytest.fixture
def documents(lead: User, ann1: User, ann2: User, tmp_path: Path, settings: Any) -> Project:
    """A project with documents, two summaries of each, and a closed round of ratings."""
    settings.MEDIA_ROOT = tmp_path / "media"
    project = create_project(name="Reports", by=lead, slug="reports", licence="CC0-1.0")
    for user in (ann1, ann2):
        add_member(project=project, user=user, role="annotator", by=lead)
    lines = [
        plain(f"900{n}", f"Report {n} finds no change.", (f"800{n}", f"Part {n} is long. It finds no change. It ends."))
        for n in range(4)
    ]
    import_records(project, write(tmp_path / "documents", lines), level="1")
    runs = []
    for n in (1, 2):
        system = create_system(project=project, name=f"lead-{n}", by=lead)
        config = {"backend": "extractive", "level": "document", "decoding": {"sentences": n}}
        runs.append(start_run(version=make_version(system=system, config=config, by=lead), by=lead))
    work()
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.DONE}
    round = open_rating(project, list(project.members.filter(role="annotator")), runs)
    for user in (ann1, ann2):
        rate_all(user, round)
    close_round(round=round, by=lead)
    unblind(design=RatingDesign.objects.get(round=round), by=lead)
    work()
    compute_and_store(project=project)
    return project


def texts(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a reply with its place. Names of fields are no texts."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from texts(one, f"{at}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, at)
    elif isinstance(value, str):
        yield at, value


def test_no_reply_speaks_of_material_that_the_project_lacks(documents: Project, lead: User) -> None:
    client, found = client_of(lead), set()
    round, run, target = Round.objects.get(), Run.objects.all()[0], Target.objects.all()[0]
    ids = {
        "slug": documents.slug,
        "round_id": round.pk,
        "run_id": run.pk,
        "version_id": run.version_id,
        "system_id": run.version.system_id,
        "import_id": documents.imports.get().pk,
        "unit_id": target.unit_id,
        "review_id": target.review_id,
        "member_id": Member.objects.filter(project=documents)[0].pk,
    }
    read = 0
    for route in api_routes():
        names = set(re.findall(r"<\w+:(\w+)>", route.pattern))
        if "get" not in route.methods or route.pattern in GENERAL or not names <= ids.keys():
            continue
        reply: Any = client.get(route.address({name: ids[name] for name in names}))
        if reply.status_code != 200 or reply["Content-Type"] != "application/json":
            continue
        read += 1
        found |= {f"{route.pattern} {at} {text[:80]}" for at, text in texts(reply.json()) if ABSENT.search(text)}
    assert read > 40
    found = {line for line in found if not APART.search(line)}
    assert not found, "\n".join(sorted(found))


def test_the_data_card_speaks_of_documents_only(documents: Project, tmp_path: Path) -> None:
    with patch("releases.publishing.actions.snapshot", nullcontext):
        write_release(project=documents, version="1.0.0", out=tmp_path / "release")
    contents = (tmp_path / "release" / "README.md").read_text().split("## Files")[0]
    assert "4 target documents with 4 inputs." in contents
    assert ABSENT.findall(contents) == []
