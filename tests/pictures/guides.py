"""Take the pictures of the guides and the README from the sample project, as `make run` creates it.

python -m tests.pictures.guides          writes docs/images/*.png (1280 x 800, light)

Run it after a change of a page that they show.
"""

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from . import __main__ as pictures
from .pages import Act

IMAGES = pictures.ROOT / "docs" / "images"
MAKE = (
    "from operations.sample_project import SAMPLE, seed; from operations.simulation.history import play_history; "
    "from operations.simulation.ratings import play_ratings; from operations.simulation.labels import from_file; "
    "made = seed(); play_history(made.project, truth=from_file(SAMPLE)); play_ratings(made.project); "
    + pictures.SEEN.partition("make(); ")[2]
)


def _work(page: Page) -> None:
    page.get_by_role("link", name=re.compile("Begin|Continue")).first.click()
    page.get_by_role("radio").first.wait_for()
    _press(page, "f", "n", "Shift+ArrowRight", "s")


def _rate(page: Page) -> None:
    page.get_by_role("link", name=re.compile("Begin|Continue")).first.click()
    page.get_by_role("radio").first.wait_for()
    _press(page, "4")


def _press(page: Page, *keys: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(200)


def _agreement(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^Read agreement")).first.click()
    page.get_by_text("AC1").first.wait_for()


def _freeze(page: Page) -> None:
    page.get_by_role("button", name="Freeze 1.0.0").click()
    page.get_by_role("button", name="Freeze anyway").click()
    page.get_by_role("link", name="1.0.0").first.wait_for(timeout=120_000)
    page.get_by_role("link", name="1.0.0").first.click()
    page.get_by_text("SHA-256").first.wait_for()


#: File in docs/images -> (person, path, steps).
PICTURES: dict[str, tuple[str, str, Act]] = {
    "work": ("ann1", "/", _work),
    "rating": ("evaluator", "/", _rate),
    "agreement": ("lead", "/projects/sample/rounds", _agreement),
    "results": ("lead", "/projects/sample/results", lambda page: None),
    "release": ("lead", "/projects/sample/releases", _freeze),
}


def main() -> int:
    # After the settings of the process, which the module of all pictures chooses.
    from tests.processes.site import Site
    from tests.stages import servers

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Site(Path(folder), "")
        try:
            site.manage("migrate", "-v0")
            site.manage("shell", "-v0", "-c", MAKE)
            site.start_web()
            site.start_worker()
            browser = playwright.chromium.launch(executable_path=servers.chromium(), args=["--no-sandbox"])
            for name, (who, path, prepare) in PICTURES.items():
                page = pictures.signed_in(browser, site, who, "light", 1280)
                page.goto(site.address + path)
                page.wait_for_load_state("networkidle")
                prepare(page)
                page.screenshot(path=IMAGES / f"{name}.png")
                print(IMAGES / f"{name}.png")
                page.context.close()
            browser.close()
        finally:
            site.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
