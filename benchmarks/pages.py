"""Measure the Work page in Chromium: size, requests, and the delay between a key and the next unit."""

import gzip
import os
from contextlib import ExitStack
from statistics import median
from typing import Any

from .places import place
from .report import Found, say

#: Milliseconds from the key that completes a unit to the frame that shows the next text.
UNTIL_PAINTED = """() => new Promise(done => {
  const before = document.querySelector('[role=listbox]')
  const began = performance.now()
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '2', bubbles: true, cancelable: true }))
  new MutationObserver((_, observer) => {
    if (document.querySelector('[role=listbox]') === before) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)))
  }).observe(document.body, { childList: true, subtree: true })
})"""
TEXT = "Nepralin was noninferior to placebo for relapse at 1 year with similar safety profiles."
#: Keys that select a word and set the polarity with this word as its cue. The modality, `2`, completes the unit.
KEYS = ("f", "n", "s")
#: A new text ignores value keys for this time, in milliseconds.
SETTLED = 250


def run(units: int = 20) -> Found:
    """Measure the production bundle with an empty cache."""
    from tests.stages import servers

    found = Found()
    browser = os.environ.get("CHROMIUM") or servers.installed_chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if not browser:
        found.skipped.append("pages: there is no Chromium, or no playwright")
        return found
    with ExitStack() as stack:
        at = stack.enter_context(place("concord"))
        at.call("grow", units=100, texts=[TEXT], rounds=0, answered=0)
        session = at.call("people", count=1)[0]
        round = at.call("open_round", number=1, units=100, people=1)
        at.start()  # before the browser's event loop, which interferes with starting a process
        playwright = stack.enter_context(sync_playwright())
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        context = chromium.new_context()
        address = f"http://127.0.0.1:{at.port}"
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        page = context.new_page()
        seen: list[Any] = []
        page.on("response", lambda response: seen.append(response))
        page.goto(f"{address}/work/{round}")
        page.wait_for_selector("[role=listbox]")
        page.wait_for_load_state("networkidle")
        first = list(seen)
        scripts = [len(gzip.compress(r.body(), 6)) for r in first if r.url.endswith(".js")]
        times = []
        for _ in range(units):
            page.wait_for_timeout(SETTLED)
            for key in KEYS:
                page.keyboard.press(key)
            times.append(page.evaluate(UNTIL_PAINTED))
        chromium.close()
    if not scripts:
        found.skipped.append("pages: the production bundle is not built: make frontend")
        return found
    found.figures = {
        "js_kb": sum(scripts) / 1000,
        "requests": [r.url.removeprefix(address) for r in first],
        "painted_ms": times,
    }
    say(f"    {found.figures}")
    found.at_most("pages: JavaScript of the Work page, gzipped", sum(scripts) / 1000, 60, " kB")
    found.at_most("pages: requests of the Work page", len(first), 12)
    found.at_most(f"pages: next unit painted after the key, median of {units}", median(times), 100, " ms")
    found.told("pages: the longest of them", f"{max(times):.0f} ms")
    return found
