"""Every page loads from its address, keeps the policy, labels its controls, and stays below its size limit."""

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
from tests.processes.site import Site

Visiting = Callable[..., Visit]
#: Limit of the Work page's JavaScript in gzipped bytes.
WORK_MAY_WEIGH = 62_000
PROJECT = "/projects/sample"


def addresses(lead: Visit) -> dict[str, str]:
    """Return a name and an address for every page of the sample project's lead."""
    rounds = lead.page.request.get(f"{lead.address}/api/v1/projects/sample/rounds/").json()["results"]
    clusters = lead.page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/").json()["results"]
    closed = next(r["id"] for r in rounds if r["status"] == "closed")
    opened = next(r["id"] for r in rounds if r["status"] == "open")
    return {
        "my work": "/",
        "work": f"/work/{opened}",
        "profile": "/profile",
        "projects": "/projects",
        "project": PROJECT,
        "settings": f"{PROJECT}/settings",
        "citation": f"{PROJECT}/settings?tab=citation",
        "corpus": f"{PROJECT}/corpus",
        "cluster": f"{PROJECT}/corpus/{clusters[0]['id']}",
        "curate": f"{PROJECT}/reviews/{clusters[0]['review']['id']}/curate",
        "import": f"{PROJECT}/import",
        "pubmed": f"{PROJECT}/pubmed",
        "rounds": f"{PROJECT}/rounds",
        "new round": f"{PROJECT}/rounds/new",
        "round": f"{PROJECT}/rounds/{closed}",
        "agreement": f"{PROJECT}/rounds/{closed}/agreement",
        "adjudicate": f"{PROJECT}/rounds/{closed}/adjudicate",
        "protocols": f"{PROJECT}/protocols",
        "new protocol": f"{PROJECT}/protocols/new?from=m3-table-5",
        "systems": f"{PROJECT}/systems",
        "new system": f"{PROJECT}/systems/new",
        "outputs": f"{PROJECT}/systems/outputs",
        "results": f"{PROJECT}/results",
        "guide": "/guide/lead",
        "guide for administrators": "/guide/admin",
        "measures": "/guide/measures",
        "inbox": f"{PROJECT}/inbox",
        "needs review": f"{PROJECT}/needs-review",
        "inconsistent labels": f"{PROJECT}/needs-review?tab=labels",
        "sentence ranking": f"{PROJECT}/ranking",
        "machine readings": f"{PROJECT}/readings",
        "reliability study": f"{PROJECT}/rounds/new?purpose=reliability",
        "releases": f"{PROJECT}/releases",
        "splits": f"{PROJECT}/splits",
        "trainings": f"{PROJECT}/trainings",
        "writers": f"{PROJECT}/writers",
        "new training": f"{PROJECT}/trainings/new",
        "guidelines": f"{PROJECT}/guidelines",
        "judges": f"{PROJECT}/judges",
        "new judge": f"{PROJECT}/judges/new",
        "suggestions": f"{PROJECT}/suggestions",
        "methods text": f"{PROJECT}/methods",
        "people": f"{PROJECT}/people",
    }


#: Rules that axe does not check by default.
ALSO = {"resultTypes": ["violations"], "rules": {"label-content-name-mismatch": {"enabled": True}}}


def violations(visit: Visit) -> list[str]:
    """Return axe's violations as text."""
    found: list[dict[str, Any]] = Axe().run(visit.page, options=ALSO).response["violations"]
    return [f"{v['id']}: {node['html'][:120]} ({node.get('failureSummary', '')})" for v in found for node in v["nodes"]]


def unnamed_controls(visit: Visit) -> list[str]:
    """Return buttons, links and fields without an accessible name."""
    tree = visit.page.locator("body").aria_snapshot()
    roles = "button|link|textbox|checkbox|radio|combobox|searchbox|switch|listbox|spinbutton|slider"
    return re.findall(rf"^\s*- (?:{roles})(?: \[[^\]]*\])*:?\s*$", tree, re.MULTILINE)


#: Pages that other tests check with axe: before sign-in, test_lead_path, test_generation, test_review_pages,
#: test_origin.
ELSEWHERE = {
    "/sign-in",
    "/enter",
    "/join",
    "/take",
    "/projects/:project/import/:imported",
    "/projects/:project/releases/:release",
    "/projects/:project/reviews/:review",
    "/projects/:project/studies/:study",
    "/projects/:project/units/:unit",
    "/projects/:project/origin/:unit",
    "/projects/:project/releases/:release/row",
    "/projects/:project/systems/:system",
    "/projects/:project/systems/:system/new",
    "/projects/:project/systems/runs/:run",
    # Judges have browser tests of their own (test_judges_of_round).
    "/projects/:project/judges/runs/:run",
    "/projects/:project/judges/:judge",
}


#: Return the names of elements in Tab order.
STOPS = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility()).map((e) => e.textContent.trim())"""
HEIGHTS = """() => [...document.querySelectorAll('main :is(button, .button, select, input)')]
  .filter((e) => e.checkVisibility() && !e.matches('.large, .hidden, [role=tab], [type=radio], [type=checkbox]'))
  .filter((e) => !e.closest('.next, thead'))
  .map((e) => [Math.round(e.getBoundingClientRect().height * 10) / 10, e.outerHTML.slice(0, 120)])
  .filter(([height]) => height && height !== 32)"""
#: Pages whose controls have one height.
WITH_CONTROLS = ("corpus", "people", "rounds", "inbox", "releases", "systems", "profile", "projects", "agreement")


def both_ways(visit: Visit) -> list[str]:
    """Check with axe in light on a wide screen and in dark on a phone; no horizontal scrolling."""
    page = visit.page
    found = violations(visit) + unnamed_controls(visit)
    page.emulate_media(color_scheme="dark")
    for width in (320, 400):
        page.set_viewport_size({"width": width, "height": 800})
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            found.append(f"{wide} pixels at a width of {width}")
    found += violations(visit) + unnamed_controls(visit)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})
    return found


def test_every_page_of_a_lead_opens_fits_and_axe_finds_nothing(visit: Visiting) -> None:
    """A new route needs an address here."""
    lead = visit("lead")
    known = addresses(lead)
    source = (Path(__file__).resolve().parents[2] / "frontend" / "src" / "routes.ts").read_text(encoding="utf-8")
    routes = set(re.findall(r"\{ path: '([^']+)'", source))
    assert len(routes) > 15
    for route in routes - ELSEWHERE:
        pattern = re.compile(re.sub(r":\w+", "[^/]+", route) + "$")
        assert any(pattern.match(address) for address in known.values()), f"{route} has no address in these tests"
    wrong: dict[str, list[Any]] = {}
    for name, address in known.items():
        lead.go(address)
        expect(lead.page.locator("h1:visible, [role=listbox]:visible").first, name).to_be_visible()
        expect(lead.page.locator("main")).to_have_count(1)
        assert lead.page.evaluate(STOPS)[0] == "Skip to main content", name
        assert lead.page.evaluate("[...document.querySelectorAll('[tabindex]')].every((e) => e.tabIndex <= 0)"), name
        heights = lead.page.evaluate(HEIGHTS) if name in WITH_CONTROLS else []
        if found := heights + both_ways(lead):
            wrong[name] = found
    assert wrong == {}


def test_the_pages_before_signing_in_open_fit_and_axe_finds_nothing(visit: Visiting) -> None:
    nobody = visit()
    for address in ("/sign-in", "/join", "/take", "/enter", "/no/such/page"):
        nobody.go(address)
        expect(nobody.page.locator("h1").first).to_be_visible()
        assert both_ways(nobody) == [], address
    icon = nobody.page.locator("link[rel=icon]").get_attribute("href")
    reply = nobody.page.request.get(f"{nobody.address}{icon}")
    assert (reply.status, reply.headers["content-type"]) == (200, "image/svg+xml")
    # The browser blocks an inline handler, and the test notices: shows that the tests above can fail.
    nobody.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.in = 1\">')")
    nobody.page.wait_for_timeout(300)
    assert nobody.page.evaluate("window.in") is None
    assert any("policy" in line.lower() for line in nobody.wrong)
    nobody.wrong.clear()


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 1280])
def test_wide_content_of_guides_scrolls_by_keyboard(visit: Visiting, width: int) -> None:
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


def test_reload_and_back_restore_the_position_and_warn_about_unsaved_changes(visit: Visiting) -> None:
    lead = visit("lead", width=1280)
    lead.go(addresses(lead)["round"])
    lead.page.reload()
    expect(lead.page.get_by_role("heading", name="Progress")).to_be_visible()
    lead.page.wait_for_load_state("networkidle")
    # The page of a closed round once polled a finished job forever.
    asked: list[str] = []
    lead.page.on("request", lambda request: asked.append(request.url))
    lead.page.wait_for_timeout(1500)
    assert asked == []
    expect(lead.page.get_by_text("Locking answers"), "long done").to_have_count(0)
    lead.go(addresses(lead)["agreement"])
    link = lead.page.locator("#contested li a").last
    link.scroll_into_view_if_needed()
    # As a click without scrolling; the plots above may still be growing.
    before = link.evaluate("link => { const at = scrollY; link.click(); return at }")
    assert before > 0
    # A unit's address leads to its cluster; Back returns to the page before.
    expect(lead.page).to_have_url(re.compile(r"/corpus/\d+"))
    lead.page.go_back()
    lead.page.wait_for_function("before => Math.abs(scrollY - before) < 2", arg=before)

    # Unsaved changes ask before leaving.
    lead.go(f"{PROJECT}/settings")
    questions: list[str] = []

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.message)
        dialog.dismiss()

    lead.page.once("dialog", stay)
    lead.page.get_by_label("Description").fill("Changed, and not saved.")
    lead.page.locator("header a[href='/']").first.click()
    expect(lead.page.get_by_label("Description")).to_have_value("Changed, and not saved.")
    assert questions == ["Leave this page? Your changes are not saved."]
    lead.page.once("dialog", lambda dialog: dialog.accept())
    lead.page.locator("header a[href='/']").first.click()
    expect(lead.page.get_by_role("heading", level=1)).to_have_text("My work")


def test_a_link_signs_in_once_and_two_clicks_lead_to_a_unit_that_weighs_little(visit: Visiting, site: Site) -> None:
    link = sign_in_link(site, "ann1")
    first, second = visit(), visit()
    first.page.goto(link)
    first.page.get_by_role("button", name="Sign in").click()
    expect(first.page.get_by_role("heading", name="My work")).to_be_visible()
    assert first.page.url == f"{site.address}/"
    assert "#" not in first.page.evaluate("history.state ? JSON.stringify(history.state) : ''")
    first.page.get_by_role("link", name=re.compile("^(Begin|Continue)")).first.click()
    expect(first.page.get_by_role("listbox").first).to_be_visible()
    second.page.goto(link)
    second.page.get_by_role("button", name="Sign in").click()
    expect(second.page.get_by_role("alert")).to_be_visible()
    assert second.page.url == f"{site.address}/enter"
    # All JavaScript from the address of a unit to its text, compressed.
    loaded: dict[str, int] = {}
    annotator = visit("ann2")
    work = annotator.page.request.get(f"{annotator.address}/api/v1/my-work/").json()
    annotator.page.on(
        "response", lambda r: loaded.update({r.url: len(gzip.compress(r.body()))}) if r.url.endswith(".js") else None
    )
    annotator.go(f"/work/{next(row['id'] for row in work if row['status'] == 'open')}")
    expect(annotator.page.get_by_role("listbox").first).to_be_visible()
    assert loaded
    assert sum(loaded.values()) <= WORK_MAY_WEIGH, loaded
    files = manifest()
    assert files
    entry = next(chunk["file"] for chunk in files.values() if chunk.get("isEntry"))
    for encoding in ("gzip", "br"):
        request = urllib.request.Request(f"{site.address}/static/app/{entry}", headers={"Accept-Encoding": encoding})
        with urllib.request.urlopen(request) as reply:
            assert reply.headers["Content-Encoding"] == encoding
            assert "immutable" in reply.headers["Cache-Control"]
            assert reply.headers["Content-Type"].startswith("text/javascript")
    with urllib.request.urlopen(f"{site.address}/") as reply:
        assert reply.headers["Cache-Control"] == "no-cache"
        assert "script-src 'self'" in reply.headers["Content-Security-Policy"]
