"""Versions of guidelines, and their Markdown as safe HTML."""

from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import DatabaseError, connection, transaction
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects import kinds
from projects.guidelines import markdown
from projects.models import Guideline, Project, Round
from tests.builders import build_cluster, build_round

ClientOf = Callable[[User], APIClient]
GUIDELINES = "/api/v1/projects/eye/guidelines/"

#: Known ways to run scripts from Markdown or HTML.
XSS = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#x0A;script:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1))",
    "![x](javascript:alert(1))",
    "![x](https://elsewhere.example/pixel.png)",
    '[x](https://a.example "onmouseover=alert(1)")',
    '[x](https://a.example"onmouseover="alert(1))',
    "<a href='javascript:alert(1)'>x</a>",
    '<a href="https://a.example" onclick="alert(1)" style="position:fixed" class="button" id="submit">x</a>',
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object><embed src=javascript:alert(1)>",
    "<form action=https://elsewhere.example><input name=password><button>Sign in</button></form>",
    "<style>body{background:url(https://elsewhere.example)}</style>",
    "<link rel=stylesheet href=https://elsewhere.example>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<base href=https://elsewhere.example>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "`<script>alert(1)</script>`",
    "    <script>alert(1)</script>",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |",
    "<!--><script>alert(1)</script>-->",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
]


class Elements(HTMLParser):
    """Collects elements and attributes as a browser would."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", XSS)
def test_hostile_markdown_comes_out_inert(text: str) -> None:
    for tag, attributes in Elements(markdown.as_html(text)).found:
        assert tag in markdown.TAGS
        allowed = markdown.ATTRIBUTES.get(tag, set()) | ({"rel"} if tag == "a" else set())
        assert set(attributes) <= allowed
        # A browser reads "java%0Ascript:" as the name of a page, not as a scheme.
        assert urlsplit(attributes.get("href") or "").scheme in {"", *markdown.SCHEMES}


def test_common_markdown_is_kept() -> None:
    table = "| a | b |\n|---|---|\n| *x* | **y** |"
    html = markdown.as_html(f"# A\n\n{table}\n\n1. `one`\n\n[see](https://a.example) <kbd>K</kbd>")
    for piece in ("<h2>A</h2>", "<td><em>x</em></td>", "<strong>y</strong>", "<code>one</code>", "<kbd>K</kbd>"):
        assert piece in html
    assert '<a href="https://a.example" rel="noopener noreferrer nofollow">see</a>' in html


def test_the_first_heading_of_a_page_is_the_page_s_own() -> None:
    assert markdown.as_html("# A\n\n## B\n\n###### F").split() == ["<h2>A</h2>", "<h3>B</h3>", "<h6>F</h6>"]
    assert markdown.as_html("## B\n\n### C").split() == ["<h2>B</h2>", "<h3>C</h3>"], "nothing is jumped over"


def test_an_edit_is_the_next_number_and_the_earlier_one_stays(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    made = [client.post(GUIDELINES, {"kind": "label", "text": t}, format="json").json() for t in ("*one*", "*two*")]
    assert [m["number"] for m in made] == [1, 2]
    assert made[0]["digest"] == sha256(b"*one*").hexdigest()
    first = client.get(f"{GUIDELINES}{made[0]['id']}/").json()
    assert (first["text"], first["html"].strip()) == ("*one*", "<p><em>one</em></p>")
    assert [row["number"] for row in client.get(GUIDELINES).json()["results"]] == [2, 1]
    entries = Entry.objects.order_by("id")
    assert [(e.verb, (e.after or {})["number"]) for e in entries] == [("write guideline", 1), ("write guideline", 2)]
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE projects_guideline SET text = 'other'")


def test_members_read_and_only_leads_write(project: Project, ann1: User, stranger: User, client_of: ClientOf) -> None:
    body = {"kind": "label", "text": "mine"}
    assert client_of(ann1).post(GUIDELINES, body, format="json").status_code == 403
    assert client_of(stranger).post(GUIDELINES, body, format="json").status_code == 404
    assert client_of(ann1).get(GUIDELINES).status_code == 200
    assert Guideline.objects.count() == 0


@pytest.mark.parametrize("body", [{"kind": "nothing", "text": "x"}, {"kind": "label", "text": " \n"}, {"text": "x"}])
def test_a_guideline_needs_a_kind_and_a_text(
    project: Project, lead: User, client_of: ClientOf, body: dict[str, str]
) -> None:
    assert client_of(lead).post(GUIDELINES, body, format="json").status_code == 422


def test_the_guideline_of_another_project_does_not_exist(project: Project, lead: User, client_of: ClientOf) -> None:
    other = Guideline.objects.create(
        project=Project.objects.create(slug="ear", name="Ear"), kind="label", number=1, text="x", digest="x"
    )
    assert client_of(lead).get(f"{GUIDELINES}{other.pk}/").status_code == 404


def test_every_shipped_guideline_renders_with_its_tables() -> None:
    for kind in kinds.all_kinds():
        assert "<h2>" in markdown.as_html(kind.guideline)


def test_the_list_costs_the_same_however_many_versions(
    project: Project, lead: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    client = client_of(lead)
    for n in range(20):
        client.post(GUIDELINES, {"kind": "label", "text": f"{n}"}, format="json")
    with django_assert_num_queries(5):
        assert len(client.get(GUIDELINES).json()["results"]) == 20


def test_the_list_says_which_version_an_open_round_uses(project: Project, lead: User, client_of: ClientOf) -> None:
    client = client_of(lead)
    build_cluster(project, 0)
    made = [client.post(GUIDELINES, {"kind": "label", "text": t}, format="json").json()["id"] for t in ("one", "two")]
    lead_member = project.members.get(user=lead)
    round = build_round(project, [lead_member], guideline=made[0])

    def used() -> list[int]:
        return [row["id"] for row in client.get(GUIDELINES).json()["results"] if row["in_use_since"]]

    assert used() == [made[0]]
    assert {row["kind_title"] for row in client.get(GUIDELINES).json()["results"]} == {"Label propositions"}
    Round.objects.filter(pk=round.pk).update(status=Round.Status.CLOSED, closed_at=round.opened_at)
    assert used() == []
