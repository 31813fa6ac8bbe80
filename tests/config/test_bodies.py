"""Request bodies are refused by type and length before they are read, and temporary data are removed (row 48)."""

import io
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import UnreadablePostError
from django.urls import get_resolver
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.test import APIClient

from accounts.models import User
from api.uploading import UploadParser
from config.bodies import upload_parser
from config.wsgi import Request
from projects.models import Member, Project
from tests.config.other_project import OtherProject
from tests.config.request_bodies import FILE, FORM, IMPORTS, TrackedBody, send
from tests.config.routes import API, CASES, client_of, no_ids, walk

pytestmark = [pytest.mark.django_db, pytest.mark.row(48)]
PROBLEM = "application/problem+json"
URLENCODED, JSON = "application/x-www-form-urlencoded", "application/json"
#: The routes that accept files. The guide's settings for nginx must list another one.
UPLOADS = {
    "projects/<slug:slug>/imports/",
    "projects/<slug:slug>/outputs/files/",
    "projects/<slug:slug>/elsewhere/check/",
    "projects/<slug:slug>/splits/files/",
    "projects/<slug:slug>/suggestions/files/",
    "rounds/<int:round_id>/sheet/check/",
}


def addresses(other: OtherProject) -> list[tuple[str, str, Any]]:
    """Return (pattern, address, view) of every route, and of one that does not exist."""
    found: list[tuple[str, str, Any]] = [("", "/static/nothing", None)]
    for pattern, entry in walk(get_resolver()):
        if pattern.startswith(API):
            address = pattern.removeprefix(API)
            for name, value in ({"slug": other.project.slug} | CASES.get(address, no_ids)(other)).items():
                for kind in ("int", "slug", "uuid", "path"):
                    address = address.replace(f"<{kind}:{name}>", str(value))
            found.append((pattern, f"/{API}{address}", entry.callback))
        elif "(" in pattern:
            found.append((pattern, "/api/nothing" if pattern.startswith("^api") else "/any/page", entry.callback))
        else:
            address = pattern.replace("<path:object_id>", "1").replace("<path:content_type_id>", "1")
            found.append((pattern, "/" + address.replace("<path:object_id>", "1"), entry.callback))
    assert len(found) > 100
    return found


def test_only_views_that_declare_files_accept_them(other: OtherProject) -> None:
    taking = {pattern for pattern, _, view in addresses(other) if upload_parser(view)}
    assert taking == {API + pattern for pattern in UPLOADS}
    for pattern, _, view in addresses(other):
        for parser in getattr(getattr(view, "cls", None), "parser_classes", ()):
            forms = issubclass(parser, MultiPartParser | FormParser)
            assert forms == issubclass(parser, UploadParser), f"{pattern}: use UploadParser, which has a limit"


def test_the_guide_s_settings_for_nginx_know_where_files_are_taken(other: OtherProject) -> None:
    guide = Path(django_settings.ROOT, "docs", "proxy.md").read_text(encoding="utf-8")
    [known] = re.findall(r"location ~ (\S+) \{", guide)
    for pattern, address, view in addresses(other):
        assert bool(re.search(known, address)) == bool(upload_parser(view)), pattern


@pytest.mark.parametrize("who", ["nobody", "stranger"])
@pytest.mark.parametrize("kind", [FORM, pytest.param("multipart/mixed; boundary=x", marks=pytest.mark.long)])
def test_forms_with_files_are_not_read_without_permission(
    other: OtherProject, stranger: User, who: str, kind: str
) -> None:
    client = APIClient(enforce_csrf_checks=True)
    if who == "stranger":
        client.force_login(stranger)
    client.cookies["csrftoken"] = "c" * 32
    wrong = []
    for pattern, address, _ in addresses(other):
        for method in ("POST", "PUT") if kind == FORM else ("POST",):
            body = TrackedBody(FILE % b"{}")
            reply = send(client, address, kind, body, method, HTTP_X_CSRFTOKEN="c" * 32)
            if body.was_read or reply.status_code < 400:
                wrong.append(f"{method} {pattern}: {reply.status_code} {'read' if body.was_read else ''}")
    assert wrong == []


@pytest.mark.parametrize(
    "kind", [JSON, FORM, *(pytest.param(kind, marks=pytest.mark.long) for kind in (URLENCODED, "text/plain"))]
)
def test_a_body_above_the_limit_of_its_address_is_refused_by_its_announced_length(
    other: OtherProject, kind: str
) -> None:
    client, wrong = client_of(other.owner), []
    most = django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    for pattern, address, view in addresses(other):
        limit = UploadParser.limit() if kind == FORM and upload_parser(view) else most
        for length in (limit + 1, 10**30):
            body = TrackedBody(b"{}")
            reply = send(client, address, kind, body, CONTENT_LENGTH=str(length))
            expected = {404} if not pattern else {415} if kind == FORM and limit == most else {413}
            if body.was_read or reply.status_code not in expected:
                wrong.append(f"{pattern} {length}: {reply.status_code}")
            elif address.startswith("/api/") and reply["Content-Type"] != PROBLEM:
                wrong.append(f"{pattern}: {reply['Content-Type']}")
    assert wrong == []


def test_oversized_bodies_are_refused_with_the_limit(lead: User, project: Project) -> None:
    reply = send(client_of(lead), f"/{API}projects/", JSON, TrackedBody(), CONTENT_LENGTH=str(3 * 2**20))
    assert (reply.status_code, reply.json()["type"]) == (413, "/problems/too-large")
    assert "larger than 2.5 MiB" in reply.json()["detail"]


@pytest.mark.parametrize("address", [f"/{API}session/", IMPORTS, "/"])
def test_a_chunked_body_without_length_is_refused_unread(address: str, lead: User, project: Project) -> None:
    body = TrackedBody(b"2\r\n{}\r\n0\r\n\r\n")
    kind = FORM if address == IMPORTS else JSON
    reply = send(client_of(lead), address, kind, body, HTTP_TRANSFER_ENCODING="chunked", CONTENT_LENGTH="")
    assert reply.status_code == 411
    assert not body.was_read


def test_a_file_is_read_only_after_authentication_and_permission(
    project: Project, lead: User, ann1: User, stranger: User
) -> None:
    content = FILE % b"{}"
    for user, status in ((None, 401), (stranger, 404), (ann1, 403)):
        body = TrackedBody(content)
        assert send(client_of(user), IMPORTS, FORM, body).status_code == status
        assert not body.was_read
    forged = APIClient(enforce_csrf_checks=True)
    forged.force_login(lead)
    forged.cookies["csrftoken"] = "c" * 32
    body = TrackedBody(b'--x\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\nc\r\n--x--\r\n')
    reply = send(forged, IMPORTS, FORM, body)
    assert (reply.status_code, reply.json()["type"], body.was_read) == (403, "/problems/csrf", False)


@pytest.fixture
def lying_about(tmp_path: Path, settings: Any) -> Callable[[], list[str]]:
    """Return what uploads have left in the temporary folder, by name or as open files."""
    settings.FILE_UPLOAD_TEMP_DIR = folder = tmp_path / "temporary"
    settings.MEDIA_ROOT = tmp_path / "files"
    folder.mkdir()

    def found() -> list[str]:
        held = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd_lives(fd)]
        return os.listdir(folder) + [path for path in held if path.startswith(str(folder))]

    return found


def fd_lives(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


class Breaking(TrackedBody):
    """A client that disconnects in the middle of the file."""

    def __init__(self, content: bytes, look: Callable[[], list[str]], error: Exception | None) -> None:
        super().__init__(content)
        self.look, self.error, self.seen = look, error, list[str]()

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(65536)
        if not data:
            self.seen = self.look()
            if self.error:
                raise self.error
        return data


LARGE = FILE % (b"x" * 500_000)
TWO = LARGE.replace(b"--x--\r\n", b"") + LARGE.replace(b'name="file"', b'name="second"')


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the open files of this process in /proc")
@pytest.mark.parametrize(
    ("body", "length", "error", "status"),
    [
        (LARGE, None, None, 422),
        (LARGE[:300_000], len(LARGE), ConnectionResetError("gone"), 408),
        (TWO[:-400_000], len(TWO), TimeoutError("too slow"), 408),
        (TWO, None, None, 400),
        (LARGE[:300_000], None, None, 422),
        (
            LARGE.replace(b"\r\n\r\n", b"\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1)[:-15] + b"x\r\n--x--",
            None,
            None,
            400,
        ),
    ],
    ids=["refused", "cut off", "cut off in the second file", "two files", "was incomplete", "broken base64"],
)
def test_a_refused_or_aborted_upload_leaves_no_file(
    body: bytes,
    length: int | None,
    error: Exception | None,
    status: int,
    project: Project,
    lead: User,
    lying_about: Callable[[], list[str]],
) -> None:
    sent = Breaking(body, lying_about, error)
    reply = send(client_of(lead), IMPORTS, FORM, sent, CONTENT_LENGTH=str(length or len(body)))
    assert (reply.status_code, reply["Content-Type"]) == (status, PROBLEM), reply.content
    assert lying_about() == []
    assert not list(Path(django_settings.MEDIA_ROOT).rglob("*"))
    named = [path for path in sent.seen if "/" not in path]
    assert named == [], "while it is read it has no name, so that kill -9 leaves nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the open files of this process in /proc")
def test_an_accepted_upload_is_stored_in_the_uploads_folder_only(
    project: Project, lead: User, lying_about: Callable[[], list[str]]
) -> None:
    body = {"format": "m3", "level": "", "file": SimpleUploadedFile("a.jsonl", b"x" * 300_000)}
    assert client_of(lead).post(IMPORTS, body, format="multipart").status_code == 202
    assert lying_about() == []
    [kept] = Path(django_settings.MEDIA_ROOT, "uploads").iterdir()
    assert kept.read_bytes() == b"x" * 300_000


def test_files_are_received_a_few_at_a_time_and_one_of_each_person(
    project: Project, lead: User, ann1: User, ann2: User, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    Member.objects.filter(project=project).update(role="lead")
    replies: list[Any] = []

    def others() -> None:
        replies.append(send(client_of(lead), IMPORTS, FORM, TrackedBody(FILE % b"{}")))
        replies.append(send(client_of(ann1), IMPORTS, FORM, TrackedBody(FILE % b"{}", meanwhile)))

    def meanwhile() -> None:
        replies.append(send(client_of(ann2), IMPORTS, FORM, TrackedBody(FILE % b"{}")))

    settings.UPLOADS_AT_ONCE = 2
    for _ in range(2):
        replies.clear()
        assert send(client_of(lead), IMPORTS, FORM, TrackedBody(FILE % b"{}", others)).status_code == 422, (
            "no format named"
        )
        same_person, third, second = replies
        assert second.status_code == 422, "there is a place for a second person"
        for refused, words in ((same_person, "You are already uploading"), (third, "Too many uploads")):
            assert (refused.status_code, refused["Retry-After"]) == (503, "30")
            assert refused.json()["type"] == "/problems/busy"
            assert refused.json()["detail"].startswith(words)


@pytest.mark.row(49)
@pytest.mark.parametrize(
    ("address", "kind", "body", "extra", "status"),
    [
        (f"/{API}me/", JSON, b"{}", {"HTTP_HOST": "elsewhere.example.org"}, 400),
        (f"/{API}me/", JSON, b"{}", {"HTTP_HOST": "a b"}, 400),
        (f"/{API}nothing/", JSON, b"{}", {"HTTP_HOST": "elsewhere.example.org"}, 400),
        (f"/{API}projects/eye/audit/?" + "person=1&" * 1001, JSON, b"{}", {}, 400),
        (f"/{API}session/", URLENCODED, b"a=1&" * 1001, {}, 415),
        (IMPORTS, "multipart/form-data", FILE, {}, 400),
        (IMPORTS, FORM, b"--x\r\n" + b"a" * 5000 + b"\r\n", {}, 400),
        (IMPORTS, FORM, b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * 1010 + b"--x--", {}, 400),
        (f"/{API}me/", JSON, b"{}", {"CONTENT_LENGTH": "²"}, 400),
        (f"/{API}me/", JSON, b"{}", {"CONTENT_LENGTH": "1_0"}, 400),
        (f"/{API}me/", JSON, b"{}", {"CONTENT_LENGTH": "-5"}, 400),
        (f"/{API}me/", JSON, b"{}", {"CONTENT_LENGTH": "1e3"}, 400),
        (f"/{API}nothing/", FORM, FILE, {}, 415),
        (f"/{API}nothing/", JSON, b"{}", {"CONTENT_LENGTH": "9" * 5000}, 413),
    ],
)
def test_refusals_by_django_are_problem_details_too(
    address: str, kind: str, body: bytes, extra: dict[str, str], status: int, project: Project, lead: User
) -> None:
    client = client_of(lead)
    client.raise_request_exception = False
    method = "GET" if "audit" in address else "PATCH" if "/me/" in address else "POST"
    reply = send(client, address, kind, TrackedBody(body), method, **extra)
    assert (reply.status_code, reply["Content-Type"]) == (status, PROBLEM), reply.content
    told = reply.json()
    assert told["status"] == status
    assert "settings" not in told["detail"]
    assert "_" not in told["title"]


@pytest.mark.row(49)
def test_refusals_outside_the_api_are_plain_text(client: APIClient) -> None:
    for address, extra, status in (("/", {"HTTP_HOST": "elsewhere.example.org"}, 400), ("/static/nothing", {}, 404)):
        reply = client.get(address, **extra)  # type: ignore[arg-type]
        assert (reply.status_code, reply["Content-Type"]) == (status, "text/plain")


@pytest.mark.row(49)
def test_a_body_that_is_cut_short_is_answered_with_408(lead: User) -> None:
    def gone() -> None:
        raise ConnectionResetError("the client went away")

    client = client_of(lead)
    client.raise_request_exception = False
    reply = send(client, f"/{API}me/", JSON, TrackedBody(b'{"name": "x"}', gone), method="PATCH")
    assert (reply.status_code, reply.json()["type"]) == (408, "/problems/cut-short")


@pytest.mark.row(47)
@pytest.mark.parametrize("size", [-1, 4])
def test_a_body_that_ends_before_its_length_is_not_read_as_whole(size: int) -> None:
    """gunicorn passes on incomplete bodies, and half a table would be a valid table."""
    environ = {"REQUEST_METHOD": "POST", "wsgi.input": io.BytesIO(b"a,b\n1,2\n"), "CONTENT_LENGTH": "8"}
    whole = Request(environ)
    assert b"".join(iter(lambda: whole.read(size), b"")) == b"a,b\n1,2\n"
    cut = Request(environ | {"wsgi.input": io.BytesIO(b"a,b\n1,2"), "CONTENT_LENGTH": "8"})
    with pytest.raises(UnreadablePostError):
        b"".join(iter(lambda: cut.read(size), b""))
