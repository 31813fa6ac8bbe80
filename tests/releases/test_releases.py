"""Freezing: deterministic bytes from rows, and detection of changes."""

import csv
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cluster, Proposition
from api.problems import Conflict, NoRoom, Refused
from audit.actions import create_checkpoints
from projects.curation.actions import correct
from projects.gold.queries import current_values
from projects.jobs.running import run_job
from projects.models import Job, Member, Project
from projects.queue.actions import next_assignments
from releases.folders.folder import inspect
from releases.models import Release
from releases.publishing.actions import freeze, write_release
from releases.sources.checks import run
from releases.storage.registry import store
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db(transaction=True)
SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"
M3 = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "m3" / "level3.jsonl"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def imported(path: Path) -> Project:
    call_command("import_data", "m3", str(path), project="eye", stdout=io.StringIO(), stderr=io.StringIO())
    return Project.objects.get(slug="eye")


@pytest.fixture
def sample(project: Project) -> Project:
    return imported(SAMPLE)


@pytest.fixture
def m3(project: Project) -> Project:
    if not M3.exists():
        pytest.skip("../shared/data/m3/level3.jsonl is absent: M3's published file is no part of the project")
    return imported(M3)


def released(project: Project, out: Path, version: str = "1.0.0") -> Path:
    write_release(project=project, version=version, out=out)
    return out


def edit_first_target(project: Project, lead: User) -> Proposition:
    """Change the polarity of the first target that has one, keeping its cues."""
    target = Proposition.objects.filter(cluster__project=project, position=0).order_by("cluster__position")[0]
    value = current_values([target.unit], "label")[target.unit_id]
    assert value["polarity"] != "n/a"
    other = "negative" if value["polarity"] != "negative" else "positive"
    value = {k: value[k] for k in ("modality", "polarity_cue", "modality_cue")} | {"polarity": other}
    member = Member.objects.get(project=project, user=lead)
    correct(unit=target.unit, kind="label", value=value, reason="Read again.", by=member)
    return target


def test_the_sample_comes_back_byte_for_byte(sample: Project, tmp_path: Path) -> None:
    assert sha256(released(sample, tmp_path / "r") / "m3" / "level3.jsonl") == sha256(SAMPLE)


def test_m3_comes_back_byte_for_byte_with_its_table_2(m3: Project, tmp_path: Path) -> None:
    folder = released(m3, tmp_path / "r")
    assert sha256(folder / "m3" / "level3.jsonl") == sha256(M3)
    (row,) = json.loads((folder / "statistics.json").read_text())["levels"]
    assert (row["targets"], row["inputs"], row["reviews"], row["studies"]) == (381, 1911, 229, 1223)
    assert (round(row["inputs_per_target"], 2), round(row["compression"], 2)) == (5.02, 6.09)


@pytest.mark.long
def test_one_label_edited_changes_exactly_one_line(m3: Project, lead: User, tmp_path: Path) -> None:
    edited = edit_first_target(m3, lead)
    new = (released(m3, tmp_path / "r") / "m3" / "level3.jsonl").read_bytes().splitlines()
    old = M3.read_bytes().splitlines()
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert changed == [0]
    before, after = json.loads(old[0]), json.loads(new[0])
    assert before["docid"] == edited.cluster.key
    assert {k for k in before if before[k] != after[k]} == {"target_direction"}


@pytest.mark.row(33)
@pytest.mark.parquet
def test_two_releases_of_one_state_are_byte_identical(sample: Project, lead: User, tmp_path: Path) -> None:
    one = released(sample, tmp_path / "one")
    freeze(project=sample, version="1.0.0", by=lead)  # its own log entry must not show in the next one
    two = released(sample, tmp_path / "two")
    names = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(two) for p in two.rglob("*") if p.is_file())
    assert len(names) == 19
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


@pytest.mark.row(33)
def test_one_flipped_byte_is_found_and_so_is_a_missing_and_an_added_file(sample: Project, tmp_path: Path) -> None:
    folder = released(sample, tmp_path / "r")
    assert inspect(folder).findings == []
    call_command("verify_release", str(folder), stdout=io.StringIO())
    target = folder / "m3" / "level3.jsonl"
    whole = target.read_bytes()
    for place in (0, len(whole) // 2, len(whole) - 1):
        target.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert [f.split(":")[0] for f in inspect(folder).findings] == ["m3/level3.jsonl"]
    with pytest.raises(CommandError, match="1 finding"):
        call_command("verify_release", str(folder), stderr=io.StringIO())
    target.write_bytes(whole)
    (folder / "extra.txt").write_text("x")
    (folder / "LICENSE").unlink()
    assert sorted(f.split(":")[0] for f in inspect(folder).findings) == ["LICENSE", "extra.txt"]


def test_a_changed_manifest_is_found(sample: Project, tmp_path: Path) -> None:
    folder = released(sample, tmp_path / "r")
    path = folder / "manifest.json"
    made = json.loads(path.read_text())
    made["files"] = made["files"][1:]
    path.write_text(json.dumps(made))
    assert any("snapshot hash" in finding for finding in inspect(folder).findings)


def test_a_reliability_study_leaves_the_published_file_as_it_was(
    sample: Project, lead: User, ann1: User, ann2: User, tmp_path: Path
) -> None:
    people = [Member.objects.get(project=sample, user=u) for u in (lead, ann1, ann2)]
    round = build_round(sample, people, purpose="measure only", overlap=3, sample=5)
    plain = {"polarity": "positive", "modality": "weak", "polarity_cue": [], "modality_cue": []}
    for person in people:
        while held := next_assignments(user=person.user, round=round):
            answer(person.user, held[0], plain)
    folder = released(sample, tmp_path / "r")
    assert sha256(folder / "m3" / "level3.jsonl") == sha256(SAMPLE)
    rows = list(csv.DictReader((folder / "answers" / "label.csv").open(newline="")))
    assert len(rows) == 15
    assert {r["rater"] for r in rows} == {m.pseudonym for m in people}
    assert {r["polarity"] for r in rows} == {"positive"}
    text = (folder / "answers" / "label.csv").read_text()
    assert not any(u.email in text or u.name in text for u in (lead, ann1, ann2))


def test_a_cue_marked_by_a_person_is_written_as_the_text_that_covers_it(
    project: Project, lead: User, tmp_path: Path
) -> None:
    cluster = build_cluster(project, inputs=1)
    from annotation.models import DiscourseLabel
    from projects.gold.actions import insert_decisions
    from projects.models import Decision, Import

    source = Import.objects.create(
        project=project, format="m3", file_name="x", sha256="0", size=0, created_at="2026-01-01T00:00:00Z"
    )
    DiscourseLabel.objects.create(unit=cluster.unit, imported=source, relation="agreement")
    insert_decisions(
        [
            Decision(
                unit=cluster.unit,
                kind="discourse",
                field="relation",
                origin="imported",
                imported=source,
                decided_at=source.created_at,
            )
        ]
    )
    member = Member.objects.get(project=project, user=lead)
    value = label_value(polarity_cue=[(0, 7), (33, 62)])
    for claim in cluster.propositions.all():
        correct(unit=claim.unit, kind="label", value=value, reason="By hand.", by=member)
    (line,) = (released(project, tmp_path / "r") / "m3" / "level3.jsonl").read_text().splitlines()
    text = cluster.propositions.get(position=0).text
    assert json.loads(line)["target_direction_span"] == text[0:62]


def test_clusters_without_complete_gold_are_left_out_and_named(sample: Project, tmp_path: Path) -> None:
    build_cluster(sample, number=77)
    made = write_release(project=sample, version="1.0.0", out=tmp_path / "r")
    assert made["counts"]["clusters_without_complete_gold"] == ["DEMO0077_0"]
    assert sha256(tmp_path / "r" / "m3" / "level3.jsonl") == sha256(SAMPLE)
    assert {c["name"]: c["passed"] for c in run(sample)}["gold complete"] is False


@pytest.mark.row(32)
def test_a_release_reads_one_state_while_others_write(
    sample: Project, lead: User, ann1: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer stored during a release is not in it, and no writer has to wait."""
    round = build_round(sample, [Member.objects.get(project=sample, user=ann1)])
    plain = {"polarity": "positive", "modality": "weak", "polarity_cue": [], "modality_cue": []}
    errors: list[BaseException] = []

    def write_meanwhile() -> None:
        try:
            answer(ann1, next_assignments(user=ann1, round=round)[0], plain)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    from releases import formats
    from releases.publishing import actions as publishing_actions

    usual = formats.files

    def files(*args: Any) -> Any:
        thread = threading.Thread(target=write_meanwhile)
        thread.start()
        thread.join(timeout=10)
        assert not thread.is_alive()
        yield from usual(*args)

    monkeypatch.setattr(publishing_actions, "files", files)
    made = write_release(project=sample, version="1.0.0", out=tmp_path / "r")
    assert errors == []
    assert made["counts"]["answers"] == 0
    monkeypatch.undo()
    assert write_release(project=sample, version="1.0.0", out=tmp_path / "s")["counts"]["answers"] == 1


@pytest.mark.row(9)
def test_a_full_disk_leaves_no_half_release(sample: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("releases.folders.manifest.write_file", full)
    with pytest.raises(NoRoom, match="No space left"):
        write_release(project=sample, version="1.0.0", out=tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_versions_are_semantic_unique_and_folders_empty(sample: Project, lead: User, tmp_path: Path) -> None:
    for version in ("1", "1.0", "v1.0.0", "01.0.0", "../1.0.0", "1.0.0/../.."):
        with pytest.raises(Refused):
            write_release(project=sample, version=version, out=tmp_path / "r")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(Refused, match="not an empty folder"):
        write_release(project=sample, version="1.0.0", out=tmp_path / "full")
    kept = freeze(project=sample, version="1.0.0", by=lead)
    assert freeze(project=sample, version="1.0.0", by=lead) == kept
    edit_first_target(sample, lead)
    with pytest.raises(Conflict, match="never change"):
        freeze(project=sample, version="1.0.0", by=lead)
    assert [p.name for p in store().iterdir()] == [kept.folder]


def test_the_number_of_queries_grows_by_batches_only(project: Project, tmp_path: Path) -> None:
    def cost(out: str) -> int:
        create_checkpoints()  # row digests are written in their own batches
        with CaptureQueriesContext(connection) as queries:
            write_release(project=project, version="1.0.0", out=tmp_path / out)
        return len(queries)

    for number in range(5):
        build_cluster(project, number, inputs=1)
    few = cost("few")
    for number in range(5, 150):
        build_cluster(project, number, inputs=1)
    assert cost("many") == few
    assert Cluster.objects.count() == 150


def test_a_lead_creates_views_verifies_and_downloads_a_release(
    sample: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)
    checks = {c["name"]: c["passed"] for c in client.get("/api/v1/projects/eye/releases/checks/").json()}
    assert checks == {
        "data": True,
        "texts may be redistributed": False,
        "licence": False,
        "creators": False,
        "description": False,
        "rounds closed": True,
        "no contests": True,
        "gold complete": True,
        "nothing stale": True,
        "comments": True,
        "audit log intact": True,
    }
    job = client.post("/api/v1/projects/eye/releases/", {"version": "1.0.0"}, format="json")
    assert job.status_code == 202
    assert run_job(job.json()["id"])
    assert Job.objects.get(pk=job.json()["id"]).status == "done"
    (row,) = client.get("/api/v1/projects/eye/releases/").json()["results"]
    one = client.get(f"/api/v1/releases/{row['id']}/").json()
    assert one["manifest"]["version"] == "1.0.0"
    verified = client.get(f"/api/v1/releases/{row['id']}/verify/").json()
    assert (verified["findings"], verified["digest"]) == ([], one["manifest"]["digest"])
    file = client.get(f"/api/v1/releases/{row['id']}/files/m3/level3.jsonl")
    assert b"".join(file.streaming_content) == SAMPLE.read_bytes()  # type: ignore[attr-defined]
    assert file["Content-Disposition"].startswith("attachment")
    archives = [
        b"".join(client.get(f"/api/v1/releases/{row['id']}/archive/").streaming_content)  # type: ignore[attr-defined]
        for _ in range(2)
    ]
    assert archives[0] == archives[1]
    with zipfile.ZipFile(io.BytesIO(archives[0])) as archive:
        assert archive.testzip() is None
        assert archive.read("eye-1.0.0/m3/level3.jsonl") == SAMPLE.read_bytes()
        assert sorted(archive.namelist())[0].startswith("eye-1.0.0/")
    again = client.post("/api/v1/projects/eye/releases/", {"version": "1.0.0"}, format="json")
    assert again.status_code == 409


@pytest.mark.parametrize("path", ["../../db", "%2e%2e/%2e%2e/x", "/etc/passwd", "m3/../manifest.json", "nothing"])
def test_no_path_but_those_of_the_manifest_has_an_address(
    sample: Project, lead: User, client_of: Callable[[User], APIClient], path: str
) -> None:
    release = freeze(project=sample, version="1.0.0", by=lead)
    assert client_of(lead).get(f"/api/v1/releases/{release.pk}/files/{path}").status_code == 404


def test_releases_need_permission_to_read_the_corpus(
    sample: Project, lead: User, ann1: User, stranger: User, client_of: Callable[[User], APIClient]
) -> None:
    release = freeze(project=sample, version="1.0.0", by=lead)
    for user, status in ((stranger, 404), (ann1, 403)):
        for address in ("", "verify/", "archive/", "files/manifest.json"):
            assert client_of(user).get(f"/api/v1/releases/{release.pk}/{address}").status_code == status
    refused = client_of(ann1).post("/api/v1/projects/eye/releases/", {"version": "2.0.0"}, format="json")
    assert refused.status_code == 403
    assert Release.objects.count() == 1


def test_the_difference_of_two_releases_names_what_changed(sample: Project, lead: User, tmp_path: Path) -> None:
    old = released(sample, tmp_path / "old")
    edited = edit_first_target(sample, lead)
    new = released(sample, tmp_path / "new", "1.1.0")
    out = io.StringIO()
    call_command("diff_releases", str(old), str(new), stdout=out)
    assert f"m3/level3.jsonl: 0 added, 0 removed, 1 changed ({edited.cluster.key})" in out.getvalue()
    with pytest.raises(CommandError, match="not a release"):
        call_command("diff_releases", str(old), str(tmp_path))
