"""The real pages in Chromium: the production bundle, served by gunicorn from a data base of its own.

Nothing here reaches into the server: what a test needs is made by commands and through the API, as people and scripts
make it. A page that breaks the content security policy, or says an error to the console, fails its test at the end.
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
from tests.processes.house import House
from tests.stages import servers

PEOPLE = {who: f"{who}@example.org" for who in ("lead", "ann1", "ann2", "evaluator")}
#: What Chromium itself says of a reply that a test asks for on purpose (a refusal, a server that is away).
EXPECTED = re.compile(r"Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_)")
#: They have worked before: what comes the first time in a kind has a test of its own.
EXPERIENCED = (
    "from accounts.models import User; from projects import kinds; "
    "User.objects.update(preferences={'introduced': [kind.key for kind in kinds.all_kinds()]})"
)
HISTORY = (
    "from projects.models import Project; from operations.simulation.history import play_history; "
    f"play_history(Project.objects.get(slug='sample')); {EXPERIENCED}"
)

#: An open round's figures are asked for every five seconds, and a machine may be busy: who waits longer loses nothing.
PATIENCE = 45_000
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Visit:
    """A page in a browser of its own, with what went wrong in it so far."""

    page: Page
    address: str
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open an address and wait until it has come to rest."""
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
    """A folder with the illustrative project and a closed, measured round, made once for all processes of a run."""
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            begun = folder.with_name(f"{folder.name}-begun")
            begun.mkdir()
            if TEMPLATE:
                shutil.copy(TEMPLATE, begun / "concord.sqlite3")
            first = House(begun, "")
            first.manage("migrate", "-v0")
            first.manage("seed")
            first.manage("shell", "-v0", "-c", HISTORY)
            first.stop()
            begun.rename(folder)
    return folder


@pytest.fixture(scope="session")
def pubmed() -> Iterator[Stub]:
    """What the house takes for PubMed; it has nothing until a test fills it."""
    with serving() as stub:
        yield stub


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory, pubmed: Stub) -> Iterator[House]:
    """A house with the illustrative project and a closed, measured round in it; a web server and a worker."""
    if manifest() is None:
        pytest.fail("The production bundle has not been built: make frontend")
    own = tmp_path_factory.getbasetemp()
    beside_workers = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(furnished(beside_workers / "furnished"), folder, dirs_exist_ok=True)
    made = House(folder, "")
    # More projects are made in one house than a person makes in a day.
    made.environment["LIMIT_PROJECTS_PER_DAY"] = "0"
    made.environment["PUBMED_URL"] = pubmed.url
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
def visit(house: House, chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """``visit("ann1")``: a browser in which that person is signed in; ``visit()``: one of nobody."""
    if house.web and not house.web.is_running:
        house.start_web()  # a test that failed after killing it fails alone
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
        made.append(Visit(context.new_page(), house.address))
        made[-1].listen()
        if who:
            made[-1].page.goto(sign_in_link(house, who))
            made[-1].page.get_by_role("button", name="Sign in").click()
            made[-1].page.wait_for_url(f"{house.address}/")
        return made[-1]

    yield visit
    wrong = [line for one in made for line in one.wrong]
    for one in made:
        one.page.context.close()
    assert wrong == []


def sign_in_link(house: House, who: str) -> str:
    """A fresh one-time link of one of `PEOPLE`."""
    said = house.manage("sign_in_link", PEOPLE[who])
    found = re.search(r"/enter#(\S+)", said)
    assert found, said
    return f"{house.address}/enter#{found[1]}"
