"""The HTML page of the frontend, and replies outside of API views."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.models import User
from api.problems import CONTENT_TYPE
from config import error_pages, spa

MANIFEST = {
    "index.html": {
        "file": "assets/index-A1.js",
        "isEntry": True,
        "imports": ["_shared.js"],
        "css": ["assets/index-B2.css"],
        "dynamicImports": ["src/pages/Work/Work.svelte"],
    },
    "_shared.js": {"file": "assets/shared-C3.js", "css": ["assets/shared-D4.css"], "imports": ["_deep.js"]},
    "_deep.js": {"file": "assets/deep-E5.js", "imports": ["_shared.js"]},
    "src/style/favicon.svg": {"file": "assets/favicon-H7.svg"},
    "src/pages/Work/Work.svelte": {"file": "assets/Work-F6.js", "css": ["assets/Work-G7.css"]},
}


@pytest.fixture
def bundle(tmp_path: Path, settings: Any) -> Path:
    """A built frontend."""
    settings.FRONTEND_DIST = tmp_path
    (tmp_path / ".vite").mkdir()
    (tmp_path / ".vite" / "manifest.json").write_text(json.dumps(MANIFEST))
    return tmp_path


@pytest.mark.parametrize("address", ["/", "/task/3", "/projects/eye/rounds/new", "/enter"])
def test_every_address_of_the_pages_is_the_one_page(bundle: Path, address: str) -> None:
    reply = Client().get(address)
    assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    html = reply.content.decode()
    assert "<title>Concord</title>" in html
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in html
    assert '<div id="app"></div>' in html


def test_the_page_names_what_it_needs_at_once_and_each_file_once(bundle: Path) -> None:
    html = Client().get("/").content.decode()
    assert re.findall(r'<script type="module" src="([^"]+)"', html) == ["/static/app/assets/index-A1.js"]
    assert re.findall(r'rel="modulepreload" href="([^"]+)"', html) == [
        "/static/app/assets/shared-C3.js",
        "/static/app/assets/deep-E5.js",
    ]
    assert re.findall(r'rel="stylesheet" href="([^"]+)"', html) == [
        "/static/app/assets/index-B2.css",
        "/static/app/assets/shared-D4.css",
    ]
    assert re.findall(r'<link rel="icon" href="([^"]+)"', html) == ["/static/app/assets/favicon-H7.svg"]
    assert "Work" not in html  # lazily loaded


def test_the_page_holds_nothing_that_its_policy_forbids(bundle: Path) -> None:
    reply = Client().get("/")
    policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    html = reply.content.decode()
    assert not re.search(r"<script(?![^>]* src=)", html)
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)
    assert reply.headers["X-Frame-Options"] == "DENY"


@pytest.mark.row(44)
@pytest.mark.django_db
@pytest.mark.parametrize(
    "address", ["/", "/api/v1/session/", "/api/v1/nothing/", "/admin/login/", "/healthz", "/metrics"]
)
def test_no_reply_may_be_shown_in_a_frame(bundle: Path, address: str) -> None:
    reply = Client().get(address)
    assert reply.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Referrer-Policy"] == "same-origin"


def test_the_page_sets_the_csrf_cookie_and_is_never_cached(bundle: Path) -> None:
    reply = Client().get("/")
    assert reply.cookies["csrftoken"].value
    assert reply.headers["Cache-Control"] == "no-cache"


def test_the_page_names_the_identity_provider(bundle: Path, settings: Any) -> None:
    assert "concord-provider" not in Client().get("/sign-in").content.decode()
    assert Client().get("/sign-in/oidc/").status_code == 200, "the page, which knows no such address"
    settings.OIDC_ISSUER, settings.OIDC_NAME = "https://id.example.org", 'The "Lab" & friends'
    html = Client().get("/sign-in").content.decode()
    assert '<meta name="concord-provider" content="The &quot;Lab&quot; &amp; friends">' in html


def test_a_rebuilt_bundle_is_served_without_a_restart(bundle: Path) -> None:
    assert "index-A1.js" in Client().get("/").content.decode()
    path = bundle / ".vite" / "manifest.json"
    before = path.stat()
    path.write_text(path.read_text().replace("index-A1", "index-Z9"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))
    assert "index-Z9.js" in Client().get("/").content.decode()


def test_without_a_built_frontend_the_page_says_how_to_build_it(tmp_path: Path, settings: Any) -> None:
    settings.FRONTEND_DIST = tmp_path / "nothing"
    reply = Client().get("/")
    assert reply.status_code == 503
    assert "make frontend" in reply.content.decode()


def test_the_page_cannot_be_written_to(bundle: Path) -> None:
    assert Client().post("/", content_type="application/json").status_code == 405


@pytest.mark.parametrize("address", ["/api/", "/api/v1/nothing/", "/api/v2/me/", "/api/v1/me"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_unknown_api_address_returns_problem_details(address: str, method: str) -> None:
    reply = getattr(Client(), method)(address, content_type="application/json")
    assert (reply.status_code, reply.headers["Content-Type"]) == (404, CONTENT_TYPE)
    assert reply.json()["type"] == "/problems/not-found"


@pytest.mark.row(44)
def test_a_write_without_the_token_of_the_page_is_a_problem_of_its_own_type(lead: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(lead)
    reply = browser.patch("/api/v1/me/", {"name": "Eve"}, "application/json")
    assert (reply.status_code, reply.headers["Content-Type"]) == (403, CONTENT_TYPE)
    assert reply.json()["type"] == "/problems/csrf"
    lead.refresh_from_db()
    assert lead.name == "Lead"


def test_the_middleware_s_refusal_has_the_same_shape(rf: Any) -> None:
    reply = error_pages.csrf_failure(rf.post("/api/v1/answers/"), "CSRF cookie not set.")
    assert (reply.status_code, reply["Content-Type"]) == (403, CONTENT_TYPE)
    assert json.loads(reply.content)["type"] == "/problems/csrf"
    elsewhere = error_pages.csrf_failure(rf.post("/admin/login/"))
    assert (elsewhere.status_code, elsewhere["Content-Type"]) == (403, "text/plain")


def test_unexpected_errors_are_problems_without_internals(
    client: Client, monkeypatch: pytest.MonkeyPatch, lead: User
) -> None:
    def burst(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("accounts.views.MeView.get", burst)
    client.force_login(lead)
    client.raise_request_exception = False
    reply = client.get("/api/v1/me/")
    assert (reply.status_code, reply.headers["Content-Type"]) == (500, CONTENT_TYPE)
    assert reply.json()["type"] == "/problems/server-error"
    assert "swordfish" not in reply.content.decode()


@pytest.mark.django_db
def test_ready_means_that_the_database_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().get("/readyz").status_code == 200

    def away() -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(connection, "cursor", away)
    assert Client().get("/readyz").status_code == 503
    assert Client().get("/healthz").status_code == 200


def test_names_of_files_are_escaped(bundle: Path) -> None:
    html = spa.document({"index.html": {"file": 'a"><script>alert(1)</script>.js'}})
    assert "<script>alert" not in html
