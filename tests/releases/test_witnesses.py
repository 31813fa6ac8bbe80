"""A release with rewritten sums and manifest is detected by independent records.

These are the published digest and, in an installation, the row, the log entry in a checkpoint, and the checkpoint's
position in the chain.
"""

import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from audit import triggers
from audit.actions import create_checkpoints
from audit.digests import digest_of
from audit.log import entry_content, record
from audit.models import Checkpoint, Entry
from audit.registry import leaf_models
from projects.jobs.running import run_job
from projects.models import Job, Member, Project
from releases.folders import standalone
from releases.models import Release
from releases.publishing import views as publishing_views
from releases.publishing.actions import freeze
from releases.storage import registry as storage_registry
from releases.storage.registry import folder_of, store
from tests.annotation.m3_files import cluster, import_records, write
from tests.releases.tampering import flip_gold, rewrite_manifest

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]


@pytest.fixture
def release(project: Project, lead: User, tmp_path: Path) -> Release:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    # The snapshot needs its own transaction, and a test already is in one.
    with patch("releases.publishing.actions.snapshot", nullcontext):
        return freeze(project=project, version="1.0.0", by=lead)


@pytest.fixture
def copy(release: Release, tmp_path: Path) -> Path:
    """A copy of the release elsewhere."""
    return Path(shutil.copytree(folder_of(release), tmp_path / "eye-1.0.0"))


@contextmanager
def as_database_owner() -> Iterator[None]:
    with transaction.atomic(), triggers.suspend_triggers(connection):
        yield


def verified(folder: Path, *options: str) -> str:
    said = io.StringIO()
    call_command("verify_release", str(folder), *options, stdout=said)
    return said.getvalue()


def refused(folder: Path, *options: str) -> str:
    said = io.StringIO()
    with pytest.raises(CommandError) as wrong:
        call_command("verify_release", str(folder), *options, stdout=said)
    assert wrong.value.returncode == standalone.FOUND
    assert "differs from the release" in str(wrong.value)
    return said.getvalue()


def entry_of(release: Release) -> Entry:
    return Entry.objects.get(object_type="release", object_id=str(release.pk), verb="release")


def rewrite_entry(entry: Entry, **after: Any) -> None:
    """Change the content and compute a matching digest."""
    entry.after = {**(entry.after or {}), **after}
    entry.digest = digest_of(entry_content(entry))
    with as_database_owner():
        Entry.objects.filter(pk=entry.pk).update(after=entry.after, digest=entry.digest)


@pytest.mark.row(33)
def test_changed_gold_with_rewritten_sums_is_found_in_storage_and_in_copies(release: Release, copy: Path) -> None:
    assert "is the release, unchanged" in verified(folder_of(release))
    assert "is the release, unchanged" in verified(copy)
    for folder in (folder_of(release), copy):
        flip_gold(folder)
        assert f"Found: database, release 1.0.0: the digest is {release.manifest['digest']}" in refused(folder)


@pytest.mark.row(33)
def test_an_altered_release_is_found_by_its_published_digest(release: Release, tmp_path: Path) -> None:
    digest = release.manifest["digest"]
    elsewhere = Path(shutil.copytree(folder_of(release), tmp_path / "r"))
    with as_database_owner():
        Release.objects.all().delete()
        Entry.objects.all().delete()
    said = verified(elsewhere)
    assert f"\nDigest: {digest}\n" in said
    assert "Not checked: Database row and audit log: the configured database does not have this release." in said
    assert "Not checked: The published digest: pass it with --digest" in said
    assert said.endswith(f"{elsewhere}: every file matches the manifest.\n")
    assert "is the release, unchanged" in verified(elsewhere, f"--digest={digest.upper()}")
    flip_gold(elsewhere)
    assert "every file matches the manifest" in verified(elsewhere)
    assert f"the digest differs from the one given, {digest}: this is another release, or it was altered" in refused(
        elsewhere, "--digest", digest
    )


def test_the_page_finds_an_altered_release(release: Release, lead: User, client_of: Client) -> None:
    client, address = client_of(lead), f"/api/v1/releases/{release.pk}/verify/"
    whole = client.get(address).json()
    assert (whole["digest"], whole["findings"], whole["more"]) == (release.manifest["digest"], [], 0)
    assert len(whole["checked"]) == 3
    forged = flip_gold(folder_of(release))
    found = client.get(address).json()
    assert found["digest"] == forged["digest"] != whole["digest"]
    assert "the digest is" in found["findings"][0]


@pytest.mark.django_db(transaction=True)
def test_the_verification_job_returns_the_findings_of_the_page(release: Release, lead: User, client_of: Client) -> None:
    client, address = client_of(lead), f"/api/v1/releases/{release.pk}/verify/"
    flip_gold(folder_of(release))
    job = client.post(address)
    assert job.status_code == 202
    assert run_job(job.json()["id"])
    assert client.get(f"/api/v1/jobs/{job.json()['id']}/").json()["result"] == client.get(address).json()


def test_a_large_release_is_verified_in_the_background_only(
    release: Release, lead: User, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing_views, "AT_ONCE", 1000)
    client, address = client_of(lead), f"/api/v1/releases/{release.pk}/verify/"
    refused = client.get(address)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/conflict")
    [one, two] = [client.post(address).json()["id"] for _ in range(2)]
    assert one == two, "a button pressed twice is one job"
    assert Job.objects.get(pk=one).status == "queued"


def test_readers_cannot_start_a_verification_job(
    release: Release, stranger: User, project: Project, client_of: Client
) -> None:
    Member.objects.create(project=project, user=stranger, role="viewer", pseudonym="V")
    address = f"/api/v1/releases/{release.pk}/verify/"
    assert client_of(stranger).get(address).status_code == 200
    assert client_of(stranger).post(address).status_code == 403


def row_altered(release: Release) -> None:
    """Folder and row agree; the log does not."""
    made = flip_gold(folder_of(release))
    with as_database_owner():
        Release.objects.update(manifest=made, snapshot_hash=made["snapshot"])


def files_of_the_row_altered(release: Release) -> None:
    made = flip_gold(folder_of(release))
    row = release.manifest | {"files": made["files"]}
    with as_database_owner():
        Release.objects.update(manifest=row)


def row_and_entry_altered(release: Release) -> None:
    """Folder, row and entry agree; the root of the checkpoint does not."""
    row_altered(release)
    made = json.loads((folder_of(release) / "manifest.json").read_text())
    rewrite_entry(entry_of(release), snapshot=made["snapshot"], digest=made["digest"])


def entry_written_over(release: Release) -> None:
    with as_database_owner():
        Entry.objects.filter(pk=entry_of(release).pk).update(after={"version": "1.0.0"})


def entry_deleted(release: Release) -> None:
    with as_database_owner():
        entry_of(release).delete()


def entry_doubled(release: Release) -> None:
    record(actor=None, verb="release", obj=release, project_id=release.project_id, after=entry_of(release).after)
    create_checkpoints()


def entry_without_its_checkpoint(release: Release) -> None:
    record(actor=None, verb="look", obj=release)
    create_checkpoints()
    entry = entry_of(release)
    with as_database_owner():
        Entry.objects.filter(pk=entry.pk).update(checkpoint=None)


def checkpoint_made_anew(release: Release) -> None:
    """The root is forged too; the checkpoint's digest, which later ones include, does not match."""
    row_and_entry_altered(release)
    from audit.actions import header_of
    from measures.merkle import merkle_root

    checkpoint = entry_of(release).checkpoint
    assert checkpoint is not None
    digests = [d for leaf in leaf_models() for d in leaf.rows(checkpoint).values_list("digest", flat=True)]
    root = merkle_root([header_of(checkpoint), *map(bytes.fromhex, digests)]).hex()
    with as_database_owner():
        Checkpoint.objects.filter(pk=checkpoint.pk).update(root=root)


def _remove_newest_checkpoint(release: Release) -> None:
    """Remove the newest checkpoint, which contains the freezing."""
    checkpoint = entry_of(release).checkpoint
    assert checkpoint is not None
    for leaf in leaf_models():
        leaf.model._default_manager.filter(checkpoint=checkpoint).update(checkpoint=None)
    checkpoint.delete()


def chain_cut_before_it(release: Release) -> None:
    first = Checkpoint.objects.order_by("number")[0]
    assert first.number < entry_of(release).checkpoint.number  # type: ignore[union-attr]
    with as_database_owner():
        Checkpoint.objects.filter(pk=first.pk).update(digest="0" * 64)


def row_deleted(release: Release) -> None:
    with as_database_owner():
        Release.objects.all().delete()


@pytest.mark.parametrize(
    ("altered", "said"),
    [
        (row_altered, "audit log, release 1.0.0: the snapshot hash is"),
        (files_of_the_row_altered, "database, release 1.0.0: the digest is"),
        (row_and_entry_altered, "the rows of its checkpoint, number 2, have changed"),
        (entry_written_over, "audit log, release 1.0.0: the entry does not match its digest"),
        (entry_deleted, "audit log, release 1.0.0: no entry"),
        (entry_doubled, "audit log, release 1.0.0: more than one entry"),
        (entry_without_its_checkpoint, "it has no checkpoint, although later entries have one"),
        (checkpoint_made_anew, "audit log: checkpoint 2 does not continue the chain of checkpoints"),
        (chain_cut_before_it, "audit log: checkpoint 1 does not continue the chain of checkpoints"),
        (row_deleted, "database: no row of this release"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
@pytest.mark.row(33)
def test_changes_in_the_database_too_are_found_by_the_next_record(
    release: Release, altered: Callable[[Release], None], said: str
) -> None:
    altered(release)
    assert said in refused(folder_of(release))


def test_a_manifest_with_another_audit_head_is_found(release: Release) -> None:
    made = rewrite_manifest(folder_of(release), lambda made: made["audit_head"].update(digest="1" * 64))
    with as_database_owner():
        Release.objects.update(manifest=made)
    assert "audit log: no checkpoint 1 has the digest that the manifest states" in refused(folder_of(release))


def test_a_release_with_an_older_log_entry_verifies_and_names_unchecked_parts(release: Release) -> None:
    """As frozen by an older Concord: the log protects the files, and only the row protects the rest of the manifest."""
    entry = entry_of(release)
    entry.after = {key: entry.after[key] for key in ("version", "snapshot")}  # type: ignore[index]
    entry.digest = digest_of(entry_content(entry))
    with as_database_owner():
        Entry.objects.filter(pk=entry.pk).update(after=entry.after, digest=entry.digest)
        _remove_newest_checkpoint(release)
    create_checkpoints()
    said = verified(folder_of(release))
    assert (
        "Checked: The snapshot hash matches the audit log's entry of the release; the entry matches audit checkpoint"
        in said
    )
    assert "Not checked: The rest of the manifest against the audit log" in said
    flip_gold(folder_of(release))
    refused(folder_of(release))


def test_a_release_without_checkpoint_yet_is_valid_and_says_so(release: Release) -> None:
    with as_database_owner():
        _remove_newest_checkpoint(release)
    assert "Not checked: The audit checkpoint of that entry" in verified(folder_of(release))


def test_a_release_folder_that_is_a_link_or_outside_the_storage_is_found(release: Release, tmp_path: Path) -> None:
    folder = folder_of(release)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert storage_registry.verify(release).findings == [f"{release.folder}: not a folder of the release storage"]


def test_a_folder_without_a_release_row_is_refused_even_in_the_storage(release: Release) -> None:
    shutil.copytree(folder_of(release), store() / "eye-1.0.0-planted")
    assert "database: no row of this release" in refused(store() / "eye-1.0.0-planted")


def test_a_release_row_without_a_manifest_is_a_finding(release: Release) -> None:
    with as_database_owner():
        Release.objects.update(manifest=[1])
    assert "the digest is None" in refused(folder_of(release))


def test_a_missing_release_folder_is_a_finding(release: Release) -> None:
    shutil.rmtree(folder_of(release))
    report = storage_registry.verify(release)
    assert report.findings == ["manifest.json: missing"]
    assert not report.vouched


def test_bad_input_is_reported_in_one_line_with_another_exit_status(tmp_path: Path) -> None:
    for given in ("nothing", "file"):
        (tmp_path / "file").touch()
        with pytest.raises(CommandError, match="is not a folder") as wrong:
            call_command("verify_release", str(tmp_path / given))
        assert wrong.value.returncode == standalone.WRONG


def test_verification_reports_an_unreachable_database(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr(storage_registry, "find_release", away)
    said = verified(copy)
    assert (
        "no database is configured, so only the folder was checked against its manifest (connection refused)." in said
    )
    assert said.endswith("every file matches the manifest.\n")


def test_verifying_costs_the_same_queries_however_long_the_log_is(release: Release, lead: User) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert storage_registry.verify(Release.objects.get()).findings == []
        return len(queries)

    few = cost()
    for _ in range(5):
        record(actor=lead, verb="look", obj=lead)
        create_checkpoints()
    assert cost() == few
