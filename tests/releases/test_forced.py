"""Failed checks prevent a release unless a reason is stated."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects.models import Project
from releases.models import Release
from tests.builders import build_cluster

ADDRESS = "/api/v1/projects/eye/releases/"
DOI = "10.5281/zenodo.1234567"


def release(out: Path, *options: str) -> str:
    errors = StringIO()
    call_command("release", "--project", "eye", "--version", "1.0.0", "--out", str(out), *options, stderr=errors)
    return errors.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_release_with_a_doi_names_its_failed_checks_and_is_not_written(project: Project, tmp_path: Path) -> None:
    build_cluster(project, 0)
    with pytest.raises(CommandError, match=r"Licence, Creators. Add --force --reason TEXT"):
        release(tmp_path / "out", "--doi", DOI)
    assert not (tmp_path / "out").exists()
    assert not Release.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_reason_is_logged_and_part_of_the_manifest(project: Project, tmp_path: Path) -> None:
    build_cluster(project, 0)
    release(tmp_path / "out", "--doi", f"https://doi.org/{DOI}", "--force", "--reason", "For reviewers.")
    [stored] = Release.objects.all()
    assert stored.manifest["doi"] == DOI
    assert stored.manifest["forced"] == {"reason": "For reviewers.", "checks": ["licence", "creators"]}
    assert Entry.objects.get(verb="release").reason == "For reviewers."


@pytest.mark.django_db(transaction=True)
def test_a_release_without_a_doi_is_written_with_warnings(project: Project, tmp_path: Path) -> None:
    build_cluster(project, 0)
    errors = release(tmp_path / "out")
    assert "warning: Creators:" in errors
    assert Release.objects.get().manifest["forced"] is None


@pytest.mark.parametrize("options", [["--force"], ["--reason", "x"], ["--doi", "zenodo.1"]])
def test_incomplete_options_are_refused(project: Project, tmp_path: Path, options: list[str]) -> None:
    with pytest.raises(CommandError):
        release(tmp_path / "out", *options)


def test_the_page_needs_the_same_reason(project: Project, lead: User, client_of: Callable[[User], APIClient]) -> None:
    client = client_of(lead)
    refused = client.post(ADDRESS, {"version": "1.0.0"}, format="json")
    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == ["reason"]
    refused = client.post(ADDRESS, {"version": "1.0.0", "doi": "zenodo.1"}, format="json")
    assert [error["field"] for error in refused.json()["errors"]] == ["doi"]
    accepted = client.post(ADDRESS, {"version": "1.0.0", "reason": "Empty on purpose."}, format="json")
    assert accepted.status_code == 202


def test_checks_with_a_doi_show_what_prevents_a_deposit(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    found = client_of(lead).get(f"{ADDRESS}checks/", {"doi": DOI}).json()
    assert {check["name"] for check in found if check["blocks"]} == {"data", "licence", "creators"}
