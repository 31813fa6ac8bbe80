"""The real pages in Chromium: the production bundle, served by gunicorn with its own database.

Tests create data with commands and the API, as users do. A page that violates the content security policy or logs an
error to the console fails its test.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from config.spa import manifest
from tests.annotation.pubmed_stub import Stub, serving
from tests.processes.conftest import TEMPLATE
from tests.processes.site import Site
from tests.stages import servers

PEOPLE = {who: f"{who}@example.org" for who in ("lead", "ann1", "ann2", "evaluator")}
#: Chromium's messages about refusals and outages that a test causes on purpose.
EXPECTED = re.compile(r"Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_)")
#: Mark the tutorials of all kinds as seen; they have their own test.
EXPERIENCED = (
    "from accounts.models import User; from projects import kinds; "
    "User.objects.update(preferences={'introduced': [kind.key for kind in kinds.all_kinds()]})"
)
HISTORY = (
    "from projects.models import Project; from operations.simulation.history import play_history; "
    f"play_history(Project.objects.get(slug='sample')); {EXPERIENCED}"
)

#: Figures of an open round are polled every five seconds, and the machine may be busy.
PATIENCE = 45_000
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Visit:
    """A page in its own browser context, with the errors that it has logged."""

    page: Page
    address: str
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open an address and wait until the network is idle."""
        self.page.goto(self.address + path)
        self.page.wait_for_load_state("networkidle")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not EXPECTED.search(message.text):
            self.wrong.append(f"{message.type}: {message.text}")

    def listen(self) -> None:
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(f"not caught: {error}"))
        self.page.add_init_script(
            "document.addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))"
        )


def furnished(folder: Path) -> Path:
    """Return a folder with the sample project and a closed, measured round, made once per run for all pytest
    processes."""
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            begun = folder.with_name(f"{folder.name}-begun")
            begun.mkdir()
            if TEMPLATE:
                shutil.copy(TEMPLATE, begun / "concord.sqlite3")
            first = Site(begun, "")
            first.manage("migrate", "-v0")
            first.manage("seed")
            first.manage("shell", "-v0", "-c", HISTORY)
            first.stop()
            begun.rename(folder)
    return folder


@pytest.fixture(scope="session")
def pubmed() -> Iterator[Stub]:
    """The stub that the site uses as PubMed; empty until a test fills it."""
    with serving() as stub:
        yield stub


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, pubmed: Stub) -> Iterator[Site]:
    """A site with the sample project and a closed, measured round; a web server and a worker."""
    if manifest() is None:
        pytest.fail("The production bundle has not been built: make frontend")
    own = tmp_path_factory.getbasetemp()
    beside_workers = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(furnished(beside_workers / "furnished"), folder, dirs_exist_ok=True)
    made = Site(folder, "")
    # The tests create more projects than a person may create in a day.
    made.environment["LIMIT_PROJECTS_PER_DAY"] = "0"
    made.environment["PUBMED_URL"] = pubmed.url
    # Stub endpoints of models are on this machine.
    made.environment["GENERATION_NETWORKS"] = "127.0.0.1/32"
    made.start_web()
    made.start_worker()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or servers.installed_chromium()
    if not path:
        pytest.skip("no Chromium was found; `make test` installs one")
    with sync_playwright() as playwright:
        # As root Chromium starts only without its sandbox.
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield started
        started.close()


@pytest.fixture
def visit(site: Site, chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """``visit("ann1")`` opens a browser signed in as that person; ``visit()`` one that is not signed in."""
    if site.web and not site.web.is_running:
        site.start_web()  # a failed test that killed it must not fail the next one
    made: list[Visit] = []

    def visit(
        who: str = "", *, scheme: str = "light", width: int = 1280, height: int = 800, touch: bool = False
    ) -> Visit:
        context = chromium.new_context(
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": width, "height": height},
            has_touch=touch,
        )
        context.set_default_timeout(PATIENCE)
        made.append(Visit(context.new_page(), site.address))
        made[-1].listen()
        if who:
            made[-1].page.goto(sign_in_link(site, who))
            made[-1].page.get_by_role("button", name="Sign in").click()
            made[-1].page.wait_for_url(f"{site.address}/")
        return made[-1]

    yield visit
    wrong = [line for one in made for line in one.wrong]
    for one in made:
        one.page.context.close()
    assert wrong == []


def sign_in_link(site: Site, who: str) -> str:
    """Create a one-time sign-in link for one of `PEOPLE`."""
    said = site.manage("sign_in_link", PEOPLE[who])
    found = re.search(r"/enter#(\S+)", said)
    assert found, said
    return f"{site.address}/enter#{found[1]}"
