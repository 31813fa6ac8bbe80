"""Every page: it loads from its address, keeps its policy, has names for its controls, and weighs what it may."""

import gzip
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Dialog, expect

from config.spa import manifest
from tests.browser.conftest import Visit, sign_in_link
from tests.processes.house import House

Visiting = Callable[..., Visit]
#: What the Work page may ship, in bytes of gzipped JavaScript.
WORK_MAY_WEIGH = 60_000
PROJECT = "/projects/sample"


def addresses(lead: Visit) -> dict[str, str]:
    """A name and an address for every page that the lead of the illustrative project can open."""
    rounds = lead.page.request.get(f"{lead.address}/api/v1/projects/sample/rounds/").json()["results"]
    clusters = lead.page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/").json()["results"]
    closed = next(r["id"] for r in rounds if r["status"] == "closed")
    opened = next(r["id"] for r in rounds if r["status"] == "open")
    return {
        "my work": "/", "work": f"/work/{opened}", "profile": "/profile", "projects": "/projects", "project": PROJECT,
        "settings": f"{PROJECT}/settings",
        "corpus": f"{PROJECT}/corpus", "cluster": f"{PROJECT}/corpus/{clusters[0]['id']}",
        "curate": f"{PROJECT}/reviews/{clusters[0]['review']['id']}/curate",
        "import": f"{PROJECT}/import", "search": f"{PROJECT}/search",
        "rounds": f"{PROJECT}/rounds", "new round": f"{PROJECT}/rounds/new",
        "round": f"{PROJECT}/rounds/{closed}", "agreement": f"{PROJECT}/rounds/{closed}/agreement",
        "adjudicate": f"{PROJECT}/rounds/{closed}/adjudicate",
        "protocols": f"{PROJECT}/protocols", "new protocol": f"{PROJECT}/protocols/new?from=m3-table-5",
        "systems": f"{PROJECT}/systems", "new system": f"{PROJECT}/systems/new",
        "outputs": f"{PROJECT}/systems/outputs",
        "results": f"{PROJECT}/results",
        "guide": "/guide/lead", "guide for administrators": "/guide/admin", "measures": "/guide/measures",
        "inbox": f"{PROJECT}/inbox", "look again": f"{PROJECT}/look-again",
        "consistency": f"{PROJECT}/consistency",
        "evidence": f"{PROJECT}/evidence",
        "reliability": f"{PROJECT}/reliability",
        "releases": f"{PROJECT}/releases", "guidelines": f"{PROJECT}/guidelines", "people": f"{PROJECT}/people",
    }  # fmt: skip


#: Rules that axe leaves out unless it is asked.
ALSO = {"resultTypes": ["violations"], "rules": {"label-content-name-mismatch": {"enabled": True}}}


def violations(visit: Visit) -> list[str]:
    """What axe finds, in words."""
    found: list[dict[str, Any]] = Axe().run(visit.page, options=ALSO).response["violations"]
    return [f"{v['id']}: {node['html'][:120]} ({node.get('failureSummary', '')})" for v in found for node in v["nodes"]]


def unnamed_controls(visit: Visit) -> list[str]:
    """Buttons, links and fields without a name that a screen reader could say."""
    tree = visit.page.locator("body").aria_snapshot()
    roles = "button|link|textbox|checkbox|radio|combobox|searchbox|switch|listbox|spinbutton|slider"
    return re.findall(rf"^\s*- (?:{roles})(?: \[[^\]]*\])*:?\s*$", tree, re.MULTILINE)


#: Pages that axe meets elsewhere: before signing in, on the lead's path (test_lead_path), with runs (test_generation).
ELSEWHERE = {
    "/sign-in", "/enter", "/join", "/take", "/projects/:project/import/:imported",
    "/projects/:project/releases/:release",
    "/projects/:project/units/:unit",
    "/projects/:project/systems/:system", "/projects/:project/systems/:system/new",
    "/projects/:project/systems/runs/:run",
}  # fmt: skip


def test_every_route_of_the_frontend_has_an_address_here(visit: Visiting) -> None:
    """A new page without a case fails."""
    source = (Path(__file__).resolve().parents[2] / "frontend" / "src" / "routes.ts").read_text(encoding="utf-8")
    routes = set(re.findall(r"\{ path: '([^']+)'", source))
    assert len(routes) > 15
    known = addresses(visit("lead")).values()
    for route in routes - ELSEWHERE:
        pattern = re.compile(re.sub(r":\w+", "[^/]+", route) + "$")
        assert any(pattern.match(address) for address in known), f"{route} has no address in these tests"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_of_a_lead_opens_and_axe_finds_nothing(visit: Visiting, scheme: str) -> None:
    lead = visit("lead", scheme=scheme)
    found = {}
    for name, address in addresses(lead).items():
        lead.go(address)
        expect(lead.page.locator("h1:visible, [role=listbox]:visible").first, name).to_be_visible()
        found[name] = violations(lead) + unnamed_controls(lead)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("width", [360, 1280])
def test_what_is_wider_than_a_guide_is_scrolled_with_the_keyboard(visit: Visiting, width: int) -> None:
    lead = visit("lead", width=width)
    for name in ("annotator", "lead", "admin", "measures"):
        lead.go(f"/guide/{name}")
        expect(lead.page.locator("section h2").first).to_be_visible()
        assert violations(lead) == [], name
        wide = lead.page.locator(".wide[tabindex='0']")
        fits = lead.page.locator(".wide:not([tabindex])")
        assert wide.count() + fits.count() == lead.page.locator(".wide").count()
        assert all(wide.evaluate_all("all => all.map((one) => one.scrollWidth > one.clientWidth)")), name
        assert not any(fits.evaluate_all("all => all.map((one) => one.scrollWidth > one.clientWidth)")), name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ["/sign-in", "/join", "/take", "/enter", "/no/such/page"])
def test_the_pages_before_signing_in_open_and_axe_finds_nothing(visit: Visiting, scheme: str, address: str) -> None:
    nobody = visit(scheme=scheme)
    nobody.go(address)
    expect(nobody.page.locator("h1").first).to_be_visible()
    assert violations(nobody) + unnamed_controls(nobody) == []


def test_a_page_that_has_loaded_asks_no_more(visit: Visiting) -> None:
    """A finished job on the page of a closed round once asked for its progress again and again."""
    lead = visit("lead")
    lead.go(addresses(lead)["round"])
    expect(lead.page.get_by_role("heading", name="Progress")).to_be_visible()
    lead.page.wait_for_timeout(1000)
    asked: list[str] = []
    lead.page.on("request", lambda request: asked.append(request.url))
    lead.page.wait_for_timeout(1500)
    assert asked == []
    expect(lead.page.get_by_text("Locking answers"), "long done").to_have_count(0)


def test_back_leads_to_the_measure_and_the_place_that_one_left(visit: Visiting) -> None:
    lead = visit("lead", width=1280)
    lead.go(addresses(lead)["agreement"])
    tab = lead.page.get_by_role("tab", name="modality", exact=True)
    tab.click()
    link = lead.page.locator("#measure a").last
    link.scroll_into_view_if_needed()
    # As a click, which moves nothing: the plots above may still be growing.
    before = link.evaluate("link => { const at = scrollY; link.click(); return at }")
    assert before > 0
    # The address of a unit leads on to its cluster: Back from there, not from on the way.
    expect(lead.page.get_by_role("heading", level=1)).to_contain_text("Cluster")
    lead.page.go_back()
    expect(tab).to_have_attribute("aria-selected", "true")
    lead.page.wait_for_function("before => Math.abs(scrollY - before) < 2", arg=before)


def test_what_is_not_saved_asks_before_it_is_left(visit: Visiting) -> None:
    lead = visit("lead")
    lead.go(f"{PROJECT}/settings")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    lead.page.once("dialog", stay)
    lead.page.get_by_label("Description").fill("Changed, and not saved.")
    lead.page.locator("header a[href='/']").first.click()
    expect(lead.page.get_by_label("Description")).to_have_value("Changed, and not saved.")
    assert asked == ["Leave this page? What you changed is not saved."]
    lead.page.once("dialog", lambda dialog: dialog.accept())
    lead.page.locator("header a[href='/']").first.click()
    expect(lead.page.get_by_role("heading", level=1)).to_have_text("My work")


def test_a_link_signs_in_once_and_leaves_no_token_behind(visit: Visiting, house: House) -> None:
    link = sign_in_link(house, "ann1")
    first, second = visit(), visit()
    first.page.goto(link)
    first.page.get_by_role("button", name="Sign in").click()
    expect(first.page.get_by_role("heading", name="My work")).to_be_visible()
    assert first.page.url == f"{house.address}/"
    assert "#" not in first.page.evaluate("history.state ? JSON.stringify(history.state) : ''")
    second.page.goto(link)
    second.page.get_by_role("button", name="Sign in").click()
    expect(second.page.get_by_role("alert")).to_be_visible()
    assert second.page.url == f"{house.address}/enter"


def test_from_the_link_to_the_first_unit_are_two_clicks(visit: Visiting) -> None:
    annotator = visit("ann1")  # the first click: Sign in
    annotator.page.get_by_role("link", name=re.compile("^(Begin|Continue)")).click()
    expect(annotator.page.get_by_role("listbox").first).to_be_visible()


def test_an_address_inside_opens_after_a_reload(visit: Visiting) -> None:
    lead = visit("lead")
    lead.go(f"{PROJECT}/rounds")
    lead.page.reload()
    expect(lead.page.get_by_role("heading", level=1)).to_have_text("Rounds")


def test_the_work_page_weighs_what_it_may(visit: Visiting) -> None:
    """All JavaScript that is loaded on the way from the address of a unit to the first text, compressed."""
    annotator = visit("ann2")
    work = annotator.page.request.get(f"{annotator.address}/api/v1/my-work/").json()
    loaded: dict[str, int] = {}
    annotator.page.on(
        "response", lambda r: loaded.update({r.url: len(gzip.compress(r.body()))}) if r.url.endswith(".js") else None
    )
    annotator.go(f"/work/{next(row['id'] for row in work if row['status'] == 'open')}")
    expect(annotator.page.get_by_role("listbox").first).to_be_visible()
    assert loaded
    assert sum(loaded.values()) <= WORK_MAY_WEIGH, loaded


def test_built_files_may_be_kept_for_ever_and_the_page_may_not(house: House) -> None:
    files = manifest()
    assert files
    entry = next(chunk["file"] for chunk in files.values() if chunk.get("isEntry"))
    with urllib.request.urlopen(f"{house.address}/static/app/{entry}") as reply:
        assert "immutable" in reply.headers["Cache-Control"]
        assert reply.headers["Content-Type"].startswith("text/javascript")
    with urllib.request.urlopen(f"{house.address}/") as reply:
        assert reply.headers["Cache-Control"] == "no-cache"
        assert "script-src 'self'" in reply.headers["Content-Security-Policy"]


def test_a_breach_of_the_policy_would_be_noticed(visit: Visiting) -> None:
    """The net under the tests above holds: an inline handler is stopped by the browser and heard of by the test."""
    nobody = visit()
    nobody.go("/sign-in")
    nobody.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.in = 1\">')")
    nobody.page.wait_for_timeout(300)
    assert nobody.page.evaluate("window.in") is None
    assert any("policy" in line.lower() for line in nobody.wrong)
    nobody.wrong.clear()
