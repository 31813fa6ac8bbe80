"""Take pictures of every page and state, four each, and check them.

python -m tests.pictures [WORD...]          pages whose name contains a word; all pages without one
python -m tests.pictures --out pictures     folder of the pictures (default: .cache/pictures)
python -m tests.pictures --new              make the data again

Each page is taken in light and dark at 1280 and 400 px. Axe, sideways scrolling from 320 to 1920 px, cut text and small
targets, and content that moves while loading are checked. The exit status is 1 if a check finds something.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

# Settings of this process only; the server has its own.
os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "READ_DOT_ENV": "0", "DEBUG": "1"}
import django

django.setup()
from tests.processes.site import Site  # noqa: E402
from tests.stages import servers  # noqa: E402

from .checks import faults, moves  # noqa: E402
from .pages import PAGES, Shot  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
SEEN = (
    "from tests.pictures.project import make; make(); from accounts.models import User; from projects import kinds; "
    "User.objects.update(preferences={'introduced': [kind.key for kind in kinds.all_kinds()]})"
)


def data(new: bool) -> Path:
    """Return a folder with the data, made once."""
    folder = CACHE / "pictures-data"
    if new:
        shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        begun = folder.with_name("pictures-begun")
        shutil.rmtree(begun, ignore_errors=True)
        begun.mkdir(parents=True)
        site = Site(begun, "")
        site.environment["LIMIT_PROJECTS_PER_DAY"] = "0"
        site.manage("migrate", "-v0")
        site.manage("shell", "-v0", "-c", SEEN)
        site.stop()
        begun.rename(folder)
    return folder


@contextmanager
def started(folder: Path) -> Iterator[Site]:
    """Start a web server on a copy of the data, so that visits do not change it."""
    copy = folder.with_name(f"pictures-{os.getpid()}")
    shutil.copytree(folder, copy)
    site = Site(copy, "")
    site.start_web()
    try:
        yield site
    finally:
        site.stop()
        shutil.rmtree(copy, ignore_errors=True)


def signed_in(browser: Browser, site: Site, who: str, scheme: str, width: int) -> Page:
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 800}
    )
    page = context.new_page()
    if who:
        link = re.search(r"/enter#\S+", site.manage("sign_in_link", f"{who}@example.org"))
        assert link
        page.goto(site.address + link[0])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{site.address}/")
    return page


def take(page: Page, site: Site, shot: Shot, file: Path) -> None:
    for pattern, reply in shot.routes.items():
        page.route(pattern, reply)
    page.goto(site.address + shot.address(page, site.address))
    page.wait_for_load_state("networkidle")
    if shot.prepare:
        shot.prepare(page)
    page.screenshot(path=file, full_page=True)


def check(page: Page, wide: bool) -> list[str]:
    """Return the findings on a page; with ``wide``, at every width."""
    found = [f"axe: {v['id']}" for v in Axe().run(page).response["violations"]]
    if not wide:
        return found
    return found + moves(page) + faults(page)


def picture(page: Page, site: Site, shot: Shot, file: Path, wide: bool) -> list[str]:
    """Take a picture and return the findings. A state that cannot be reached is one."""
    size = page.viewport_size
    try:
        take(page, site, shot, file)
        return check(page, wide)
    except (PlaywrightError, LookupError, StopIteration) as error:
        return [f"not reached: {error!r}"[:200]]
    finally:
        page.unroute_all()
        assert size
        page.set_viewport_size(size)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description="Take pictures of every page.")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--out", type=Path, default=CACHE / "pictures")
    parser.add_argument("--new", action="store_true")
    options = parser.parse_args()
    shots = [s for s in PAGES if not options.words or any(word in s.name for word in options.words)]
    options.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with started(data(options.new)) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=servers.chromium(), args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        for who, alone in dict.fromkeys((s.who, s.name if s.alone else "") for s in shots):
            for scheme in ("light", "dark"):
                for width in (1280, 400):
                    page = signed_in(browser, site, who, scheme, width)
                    for shot in (s for s in shots if s.who == who and (s.name if s.alone else "") == alone):
                        file = options.out / f"{shot.name}-{scheme}-{width}.png"
                        found = picture(page, site, shot, file, wide=(scheme, width) == ("light", 1280))
                        for line in dict.fromkeys(found):
                            print(f"{shot.name} ({scheme}, {width}): {line}", flush=True)
                        wrong += len(found)
                    page.context.close()
        browser.close()
    print(f"{len(shots)} pages, {4 * len(shots)} pictures in {options.out}; {wrong} findings.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
