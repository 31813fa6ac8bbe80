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
from generation.models import Run
from projects.models import Member, Project, Round
from projects.stored_figures.actions import compute_and_store
from releases.publishing.actions import write_release
from tests.config.documents_project import ABSENT, build_documents
from tests.config.routes import api_routes, client_of

pytestmark = pytest.mark.django_db
#: What the server offers to every project, and files of code and of rows.
GENERAL = ("import-formats/", "schema/", "projects/<slug:slug>/protocols/templates/")
#: Routes that only the page *PubMed* reads, which the navigation then leaves out, and names of published models.
APART = re.compile(
    r"searches/|materials/ \.unused_pages|backends/ \.presets|backends/ \.levels\.key|trainings/choices/ \.presets"
    r"|suggestions/models/ \.tasks"
)


@pytest.fixture
def documents(lead: User, ann1: User, ann2: User, tmp_path: Path, settings: Any) -> Project:
    settings.MEDIA_ROOT = tmp_path / "media"
    project = build_documents(tmp_path, lead=lead, raters=(ann1, ann2))
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
