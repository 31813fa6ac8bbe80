"""The pages show the guides of docs/, and every link into them leads to a section."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from config.views import GUIDES, anchor, split, within

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_comes_section_by_section_as_safe_html(
    guide: str, client_of: Callable[[User], APIClient], ann1: User
) -> None:
    body = client_of(ann1).get(f"/api/v1/guides/?guide={guide}").json()
    assert body["title"]
    assert len(body["sections"]) >= 2
    assert all(s["html"].strip() for s in body["sections"])
    assert not re.search(r"<(script|style|img|iframe)", str(body))


def test_a_link_between_guides_leads_to_a_page_and_other_links_become_text() -> None:
    said = within("[what](admin.md#endpoints), [figures](measures.md), [why](decisions/0001.md), [here](#there)")
    assert said == "[what](/guide/admin#endpoints), [figures](/guide/measures), why, [here](#there)"


@pytest.mark.parametrize("guide", GUIDES)
def test_every_link_from_a_guide_into_another_leads_to_a_section(guide: str) -> None:
    text = within((ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8"))
    assert ".md)" not in text
    for other, section in re.findall(r"\]\(/guide/([\w-]+)#([\w-]+)\)", text):
        titles = re.findall(r"^## (.*)$", (ROOT / "docs" / f"{other}.md").read_text(encoding="utf-8"), re.MULTILINE)
        assert section in map(anchor, titles), f"{guide}.md: {other}#{section}"


def test_unknown_guides_are_refused_and_guides_need_a_session(
    client_of: Callable[[User], APIClient], ann1: User
) -> None:
    assert client_of(ann1).get("/api/v1/guides/?guide=tour").status_code in (400, 422)
    assert APIClient().get("/api/v1/guides/?guide=lead").status_code == 401


def test_every_link_of_a_page_into_a_guide_leads_to_a_section() -> None:
    source = (ROOT / "frontend" / "src" / "shell" / "guides.ts").read_text(encoding="utf-8")
    links = re.findall(r"^  '/.*': '([\w-]+)(?:#([\w-]+))?'", source, re.MULTILINE)
    assert len(links) > 10
    for guide, section in links:
        sections = {s["anchor"] for s in split((ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8"))["sections"]}
        assert not section or section in sections, f"{guide}#{section}"


@pytest.mark.parametrize("guide", GUIDES)
def test_every_link_inside_a_guide_leads_to_a_section(guide: str) -> None:
    text = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    titles = {anchor(t) for t in re.findall(r"^## (.*)$", text, re.MULTILINE)}
    assert [link for link in re.findall(r"\]\(#([\w-]+)\)", text) if link not in titles] == []


def test_every_picture_of_the_documents_is_taken_by_the_script() -> None:
    from tests.pictures.guides import PICTURES

    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for document in documents for name in re.findall(r"images/([\w-]+)\.png", document.read_text())}
    assert shown == set(PICTURES) == {path.stem for path in (ROOT / "docs" / "images").iterdir()}


def test_a_picture_of_a_guide_is_served_to_people_who_are_signed_in(
    client_of: Callable[[User], APIClient], ann1: User
) -> None:
    section = client_of(ann1).get("/api/v1/guides/?guide=tutorial").json()["sections"][0]
    [picture] = section["pictures"]
    assert picture["alt"]
    assert "<img" not in section["html"]
    reply = client_of(ann1).get(picture["src"])
    assert reply["Content-Type"] == "image/png"
    assert b"".join(reply.streaming_content).startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert client_of(ann1).get("/api/v1/guides/picture/?name=none").status_code == 404
    assert APIClient().get(picture["src"]).status_code == 401
