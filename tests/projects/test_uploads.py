"""Every upload has the same steps: stored, checked with named faults, confirmed once, written, removed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import TestCase
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from audit.verify import findings
from projects import uploads
from projects.jobs import jobs
from projects.jobs.running import run_job
from projects.models import Answer, Import, Job, Member, Project, Round
from projects.sheets import actions as sheets_actions
from projects.sheets.actions import hold_for_sheet
from projects.uploads.faults import BadFiles, Fault, Faults
from projects.uploads.serializers import FileFaultsSerializer
from tests.annotation.m3_files import as_bytes, cluster
from tests.builders import build_cluster, build_round

pytestmark = pytest.mark.django_db
KEYS = b"assignment,revision,shown,unit,polarity,polarity_cue,modality,modality_cue,skip,flag,comment\n"
RATINGS = b"unit,rater,polarity,polarity_cue,modality,modality_cue\n"
#: The addresses of the four uploads: check and confirmation.
WAYS = {
    "corpus": ("projects/eye/imports/", "projects/eye/imports/confirm/"),
    "sheet": ("rounds/{round}/sheet/check/", "rounds/{round}/sheet/import/"),
    "elsewhere": ("projects/eye/elsewhere/check/", "projects/eye/elsewhere/import/"),
    "outputs": ("projects/eye/outputs/files/", ""),
}
ASKED = {"corpus": {"format": "m3"}, "elsewhere": {"kind": "label"}, "outputs": {"level": "proposition"}}
CHOSEN = {"elsewhere": {"name": "outside", "purpose": "measure only"}}
CONFIRMED = [key for key, (_, confirm) in WAYS.items() if confirm]


class Killed(BaseException):
    """Cannot be caught, like SIGKILL."""


@pytest.fixture(autouse=True)
def kept(settings: Any, tmp_path: Path) -> Path:
    """The folder of uploads."""
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path / "files" / "uploads"


@pytest.fixture
def round(project: Project, ann1: User, lead: User) -> Round:
    build_cluster(project, inputs=1)
    round = build_round(project, [project.members.get(user=ann1)])
    hold_for_sheet(round=round, member=Member.objects.get(project=project, user=ann1), by=lead)
    return round


def sound(key: str, round: Round) -> bytes:
    slots = [f"{s.pk},0,1,{s.unit.key},positive,,weak,,,,\n" for s in round.assignments.select_related("unit")]
    return {
        "corpus": as_bytes([cluster("9_0")]),
        "sheet": KEYS + "".join(slots).encode(),
        "elsewhere": RATINGS + b"DEMO0000_0/0,Ada,positive,,weak,\nDEMO0000_0/0,Bo,positive,,weak,\n",
        "outputs": b"key,text\nDEMO0000_0,It helps.\n",
    }[key]


def send(client: APIClient, key: str, round: Round, content: bytes) -> Any:
    asked: dict[str, Any] = {"file": SimpleUploadedFile("mine.csv", content), **ASKED.get(key, {})}
    return client.post(f"/api/v1/{WAYS[key][0].format(round=round.pk)}", asked, format="multipart")


def confirm(client: APIClient, key: str, round: Round, job: int) -> Any:
    asked = {"job": job, **CHOSEN.get(key, {})}
    return client.post(f"/api/v1/{WAYS[key][1].format(round=round.pk)}", asked, format="json")


def done(reply: Any) -> Job:
    """The job of a reply after a worker has run it."""
    assert reply.status_code == 202, reply.json()
    with TestCase.captureOnCommitCallbacks(execute=True):
        run_job(reply.json()["id"])
    return Job.objects.get(pk=reply.json()["id"])


def checked(client: APIClient, key: str, round: Round, content: bytes) -> dict[str, Any]:
    job = done(send(client, key, round, content))
    assert job.status == "done", job.error
    return dict(job.result or {})


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def written() -> tuple[int, int, int]:
    return Answer.objects.count(), Import.objects.count(), Round.objects.count()


@pytest.mark.parametrize(
    ("key", "content", "line", "field", "says"),
    [
        ("corpus", as_bytes([cluster("9_0"), cluster("9_1", target_direction="up")]), 2, "target_direction", "up"),
        (
            "sheet",
            KEYS + b"999,0,1,DEMO0000_0/0,positive,,weak,,,,\n",
            2,
            "assignment",
            "is not an assignment of this round",
        ),
        ("elsewhere", RATINGS + b"DEMO0000_0/0,Ada,positive,,weak,\nx,Ada,positive,,weak,\n", 3, "unit", "has no unit"),
        ("outputs", b"key,text\na,x\na,y\n", 3, "key", "duplicate key"),
    ],
)
def test_a_bad_file_is_named_by_file_line_and_field_in_one_shape(
    key: str, content: bytes, line: int, field: str, says: str, client: APIClient, round: Round
) -> None:
    faults = checked(client, key, round, content)["faults"]
    [fault] = faults["listed"]
    assert faults["total"] == 1
    assert (fault["file"], fault["line"], fault["field"]) == ("mine.csv", line, field)
    assert says in fault["message"]
    assert FileFaultsSerializer(faults).data == faults


@pytest.mark.parametrize("key", ["sheet", "elsewhere"])
@pytest.mark.parametrize(
    ("content", "line", "field", "says"),
    [
        (b"\xff\xfe", 1, "file", "found UTF-16 text"),
        (b"name\n1\n", 1, "", "missing: "),
        (b'unit,unit\n"1\n', 1, "unit", "twice"),
        (b"PK\x03\x04", 0, "file", "damaged"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_has_a_fault_too_and_is_not_confirmed(
    content: bytes, line: int, field: str, says: str, key: str, client: APIClient, round: Round
) -> None:
    reply = send(client, key, round, content)
    [fault] = (done(reply).result or {})["faults"]["listed"]
    assert (fault["file"], fault["line"]) == ("mine.csv", line)
    assert field in fault["field"]
    assert says in fault["message"]
    assert confirm(client, key, round, reply.json()["id"]).status_code == 409


@pytest.mark.parametrize("key", CONFIRMED)
def test_confirming_twice_writes_once_and_removes_the_file(
    key: str, client: APIClient, round: Round, kept: Path
) -> None:
    before = written()
    check = done(send(client, key, round, sound(key, round)))
    assert written() == before, "checking writes nothing"
    replies = [confirm(client, key, round, check.pk) for _ in "12"]
    assert replies[0].json()["id"] == replies[1].json()["id"], "what waits already is not queued again"
    assert done(replies[0]).status == "done"
    after = written()
    assert after != before
    assert confirm(client, key, round, check.pk).status_code == 409
    assert not list(kept.iterdir())
    assert written() == after
    again = done(send(client, key, round, sound(key, round)))
    if key != "elsewhere":  # its round would need another name
        assert done(confirm(client, key, round, again.pk)).status == "done"
    assert written() == after, "the same file again changes nothing"
    assert list(findings()) == []


@pytest.mark.parametrize("key", CONFIRMED)
def test_a_second_confirmation_during_writing_returns_the_first_job(key: str, client: APIClient, round: Round) -> None:
    check = done(send(client, key, round, sound(key, round)))
    first = confirm(client, key, round, check.pk)
    asked = {"job": check.pk, **CHOSEN.get(key, {})}
    if key == "elsewhere":
        asked["name"] = "another"
    reply = client.post(f"/api/v1/{WAYS[key][1].format(round=round.pk)}", asked, format="json")
    assert reply.json()["id"] == first.json()["id"]


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """``cut_off("sheet")`` kills the worker in the middle of writing."""

    def at(key: str) -> None:
        def dies(*given: Any, **named: Any) -> None:
            raise Killed

        where = {
            "corpus": "annotation.imports.writing.Writing._store",
            "sheet": "projects.sheets.actions.report",
            "elsewhere": "projects.external_ratings.actions.close_round",
        }
        monkeypatch.setattr(where[key], dies)

    with monkeypatch.context():
        yield at


@pytest.mark.parametrize("key", CONFIRMED)
def test_a_confirmed_file_whose_worker_dies_is_written_once_by_the_next(
    key: str, client: APIClient, round: Round, cut_off: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = done(send(client, key, round, sound(key, round)))
    reply = confirm(client, key, round, check.pk)
    with monkeypatch.context():
        cut_off(key)
        with pytest.raises(Killed):
            done(reply)
    monkeypatch.undo()
    Job.objects.filter(pk=reply.json()["id"]).update(leased_until=timezone.now())
    assert done(reply).status == "done"
    counts = {"corpus": (0, 1, 1), "sheet": (2, 0, 1), "elsewhere": (2, 1, 2)}
    assert written() == counts[key]
    assert list(findings()) == []


@pytest.mark.parametrize("key", ["corpus", "elsewhere"])
def test_failed_imports_are_logged_and_can_be_confirmed_again(
    key: str, client: APIClient, round: Round, lead: User, kept: Path
) -> None:
    check = done(send(client, key, round, sound(key, round)))
    job = Job.objects.get(pk=confirm(client, key, round, check.pk).json()["id"])
    jobs.cancel(job)
    entry = Entry.objects.get(verb="end import")
    assert entry.after == {"upload": key, "file": "mine.csv", "job": job.pk, "how": "cancelled"}
    assert (entry.actor_id, len(list(kept.iterdir()))) == (lead.pk, 1)
    assert done(confirm(client, key, round, check.pk)).status == "done"
    assert Entry.objects.filter(verb="end import").count() == 1


@pytest.mark.parametrize("key", ["corpus", "elsewhere", "outputs"])
def test_a_file_that_fails_its_check_is_deleted(key: str, client: APIClient, round: Round, kept: Path) -> None:
    checked(client, key, round, b"\xff\xfe")
    assert not list(kept.iterdir())


@pytest.mark.parametrize("key", WAYS)
def test_imports_need_permission(
    key: str, round: Round, ann1: User, stranger: User, client: APIClient, client_of: Callable[[User], APIClient]
) -> None:
    check = done(send(client, key, round, sound(key, round)))
    for user, status in ((ann1, 403), (stranger, 404)):
        assert send(client_of(user), key, round, b"").status_code == status
        if WAYS[key][1]:
            assert confirm(client_of(user), key, round, check.pk).status_code == status


def test_a_sheet_of_another_round_is_not_confirmed(client: APIClient, round: Round, project: Project) -> None:
    check = done(send(client, "sheet", round, sound("sheet", round)))
    other = build_round(project, list(project.members.filter(user__email__startswith="ann1")), name="other")
    assert confirm(client, "sheet", other, check.pk).status_code == 422


def test_all_upload_types_are_discovered_with_their_jobs() -> None:
    assert {upload.key for upload in uploads.every()} >= set(WAYS)
    assert {upload.key for upload in uploads.every() if upload.writes} >= set(CONFIRMED)


def test_all_faults_are_counted_and_the_first_are_listed() -> None:
    faults = Faults()
    for line in range(300):
        faults.add("a.csv", line, "unit", "is wrong")
    assert (faults.as_json()["total"], len(faults.as_json()["listed"])) == (300, 200)
    assert str(faults.listed[1]) == "a.csv:1: unit: is wrong"
    problem = BadFiles(faults)
    assert problem.detail == ("300 faults, the first 200 listed; nothing was imported. a.csv:0: unit: is wrong")
    assert Fault(**problem.faults.as_json()["listed"][0]) == faults.listed[0]


def test_the_end_entry_of_a_sheet_import_counts_omitted_rows(client: APIClient, round: Round) -> None:
    content = sound("sheet", round) + b"999,0,1,x,positive,,weak,,,,\n"
    check = done(send(client, "sheet", round, content))
    done(confirm(client, "sheet", round, check.pk))
    entry = Entry.objects.get(verb=sheets_actions.END)
    assert entry.after
    assert (entry.after["stored"], entry.after["faults_total"], entry.after["kept_out_total"]) == (2, 1, 0)
