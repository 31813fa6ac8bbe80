"""A deposit has the files of a release without folders, with metadata and checksums."""

import csv
import hashlib
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from projects.models import Project
from releases.citation.actions import change_citation
from releases.publishing.actions import freeze
from releases.sources.options import ReleaseOptions
from releases.storage.deposits import zenodo
from tests.builders import build_cluster

DOI = "10.5281/zenodo.1234567"


def deposit(out: Path) -> None:
    call_command("deposit", "--project", "eye", "--version", "1.0.0", "--out", str(out))


@pytest.mark.django_db(transaction=True)
def test_a_deposit_is_flat_complete_and_states_the_reserved_doi(project: Project, lead: User, tmp_path: Path) -> None:
    build_cluster(project, 0)
    person = {"family": "Lead", "given": "Lea", "orcid": "0000-0002-1825-0097", "affiliation": "Melbourne"}
    change_citation(project=project, by=lead, creators=[person], language="en")
    release = freeze(project=project, version="1.0.0", by=lead, options=ReleaseOptions(doi=DOI, without=("parquet",)))
    out = tmp_path / "bundle"
    (tmp_path / ".bundle.incomplete").mkdir()  # of a process that was killed
    (tmp_path / ".bundle.incomplete" / "manifest.json").write_text("{")
    deposit(out)
    assert not (tmp_path / ".bundle.incomplete").exists()
    assert all(path.is_file() for path in out.iterdir())
    rows = {row["path"]: row["name"] for row in csv.DictReader((out / "PATHS.csv").open())}
    for entry in release.manifest["files"]:
        assert hashlib.sha256((out / rows[entry["path"]]).read_bytes()).hexdigest() == entry["sha256"]
    sums = {line.split("  ")[1]: line.split("  ")[0] for line in (out / "CHECKSUMS.sha256").read_text().splitlines()}
    assert set(sums) == {path.name for path in out.iterdir()} - {"CHECKSUMS.sha256"}
    metadata = json.loads((out / "zenodo.json").read_bytes())["metadata"]
    assert (metadata["doi"], metadata["language"]) == (DOI, "eng")
    assert metadata["creators"] == [{"name": "Lead, Lea", "affiliation": "Melbourne", "orcid": "0000-0002-1825-0097"}]
    with pytest.raises(CommandError, match="not an empty folder"):
        deposit(out)


def test_an_unknown_version_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"eye has no release 1.0.0"):
        deposit(tmp_path / "out")


def test_related_work_and_funding_reach_the_metadata() -> None:
    content = {
        "titles": [{"title": "Eye & ear"}],
        "version": "1.0.0",
        "dates": [{"date": "2026-01-02"}],
        "creators": [{"name": "Eye Group"}],
        "relatedIdentifiers": [
            {"relatedIdentifier": "10.1000/x", "relatedIdentifierType": "DOI", "relationType": "IsDescribedBy"}
        ],
        "fundingReferences": [{"funderName": "ARC", "awardNumber": "DP1"}],
    }
    metadata = zenodo(content)["metadata"]
    assert metadata["description"] == "<p>Eye &amp; ear</p>"
    assert metadata["related_identifiers"] == [
        {"identifier": "10.1000/x", "relation": "isDescribedBy", "scheme": "doi"}
    ]
    assert metadata["notes"] == "Funded by ARC DP1"
