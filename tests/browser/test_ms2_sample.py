"""MS^2's published sample in the browser: every span is drawn, and few keys mark those of the review's abstract."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from measures.pio import parse_pio
from tests.annotation.ms2_files import SAMPLE, published
from tests.browser.conftest import Visit
from tests.browser.test_entity import opened, press, stored
from tests.browser.test_screening import run
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

pytestmark = [pytest.mark.long, published]
ELEMENTS = {"pop": "p", "int": "i", "out": "o"}
NAMES = {"p": "Population", "i": "Intervention", "o": "Outcome"}
PAGES = """
import json
from annotation.models import Review, Study
review = Review.objects.get(project__slug='ms2-whole')
print(json.dumps([[f'reviews/{review.pk}', review.pmid],
                  *([f'studies/{pk}', pmid] for pk, pmid in Study.objects.filter(project=review.project)
                    .exclude(abstract='').values_list('pk', 'pmid'))]))
"""
#: Return the spans that lack a lane on one of their lines, or null if no text of the page is ``text``.
#: ``spans``: element, start and end in UTF-16. Lanes from top to bottom: population, intervention, outcome.
WITHOUT_LANE = """([text, spans]) => {
  document.querySelectorAll('main details').forEach(d => (d.open = true))
  const frame = [...document.querySelectorAll('.frame')].find(f => f.querySelector('.text').textContent === text)
  if (!frame) return null
  const box = frame.querySelector('.text'), from = frame.getBoundingClientRect()
  const bars = [...frame.querySelectorAll('svg > rect.bar')].map(b => ({
    element: ['p', 'i', 'o'].find(e => b.classList.contains(e)), ...Object.fromEntries(
      ['x', 'y', 'width', 'height'].map(name => [name, Number(b.getAttribute(name))])) }))
  return spans.filter(([element, start, end]) => {
    const range = document.createRange()
    range.setStart(box.firstChild, start)
    range.setEnd(box.firstChild, end)
    return [...range.getClientRects()].some(r => {
      const top = (r.top + r.bottom) / 2 - from.top + { p: 10, i: 15, o: 20 }[element]
      const left = r.left - from.left, right = r.right - from.left
      return r.width && !bars.some(b => b.element === element && b.height > 1 && Math.abs(b.y - top) < 4 &&
        b.x <= left + 2 && b.x + b.width >= right - 4)
    })
  })
}"""


def abstracts() -> dict[str, str]:
    """Return the tagged abstracts of the sample by PMID."""
    sample = json.loads(SAMPLE.read_text())
    studies = [entry["references"][0] for entry in sample["included_studies"]] + sample["general_references"]
    return {str(sample["pmid"]): sample["abstract"]} | {one["pmid"]: one["abstract"] for one in studies}


def utf16(text: str, offset: int) -> int:
    return len(text[:offset].encode("utf-16-le")) // 2


def test_every_span_of_every_text_is_drawn(site: Site, visit: Callable[..., Visit]) -> None:
    site.manage("import_data", "ms2", str(SAMPLE), "--project", "ms2-whole", "--create", "--lead", "lead@example.org")
    tagged, drawn = abstracts(), 0
    pages: Any = run(site, PAGES)
    at = visit("lead")
    for path, pmid in pages:
        text, spans = (parsed := parse_pio(tagged[pmid])).text, parsed.spans
        at.go(f"/projects/ms2-whole/{path}")
        at.page.locator(".frame .text").first.wait_for(state="attached")
        at.page.evaluate(WITHOUT_LANE, [text, []])
        at.page.wait_for_timeout(SETTLED)
        wanted = [[ELEMENTS[span.kind], *(utf16(text, each) for each in span.range)] for span in spans]
        assert at.page.evaluate(WITHOUT_LANE, [text, wanted]) == [], pmid
        drawn += len(spans)
    assert (len(pages), drawn) == (35, 681)


class Keys:
    """The fewest keys from word to word: F with a letter, and arrows, which pass over punctuation without Shift."""

    def __init__(self, text: str, words: list[tuple[int, int]]) -> None:
        self.words = [text[start:end] for start, end in words]

    def _steps(self, at: int, extends: bool) -> Iterator[tuple[list[str], int]]:
        for key, by in (("ArrowLeft", -1), ("ArrowRight", 1)):
            to = at + by
            while not extends and 0 <= to < len(self.words) and not re.search(r"\w", self.words[to]):
                to += by
            if 0 <= to < len(self.words):
                yield [f"Shift+{key}" if extends else key], to
        for letter in {word[0].lower() for word in self.words}:
            for n in range(1, len(self.words)):
                to = (at + n) % len(self.words)
                if self.words[to][0].lower() == letter:
                    yield ["Shift+F" if extends else "f", letter], to
                    break

    def between(self, start: int, end: int, extends: bool) -> list[str]:
        paths: dict[int, list[str]] = {start: []}
        left = [start]
        while left:
            at = left.pop(min(range(len(left)), key=lambda n: len(paths[left[n]])))
            if at == end:
                return paths[at]
            for keys, to in self._steps(at, extends):
                if to not in paths or len(paths[at]) + len(keys) < len(paths[to]):
                    paths[to] = paths[at] + keys
                    left.append(to)
        raise AssertionError(f"no keys lead from {start} to {end}")


def spans_listed(page: Page) -> list[str]:
    return sorted(" ".join(text.split()[1:]) for text in page.locator(".spans li button").all_inner_texts())


def test_24_spans_take_120_keys_at_most(site: Site, visit: Callable[..., Visit]) -> None:
    round, text = opened(site, slug="ms2-keys", file=str(SAMPLE), reviews=1)
    words = [match.span() for match in re.finditer(r"\S+", text)]
    keys, pressed, at = Keys(text, words), list[str](), 0
    spans = parse_pio(abstracts()[str(json.loads(SAMPLE.read_text())["pmid"])]).spans
    for span in spans:
        first = next(n for n, (start, _) in enumerate(words) if start == span.range[0])
        last = next(n for n, (_, end) in enumerate(words) if end == span.range[1])
        ways = [
            (keys.between(at, one, False) + keys.between(one, other, True), other)
            for one, other in ((first, last), (last, first))
        ]
        found, at = min(ways, key=lambda way: len(way[0]))
        pressed += [*found, ELEMENTS[span.kind]]
    assert len(pressed) <= 120
    page = (visited := visit("ann1")).page
    visited.go(f"/work/{round}")
    page.wait_for_timeout(SETTLED)
    press(page, pressed)
    wanted = sorted(f"{NAMES[ELEMENTS[span.kind]]} {text[slice(*span.range)]}" for span in spans)
    assert spans_listed(page) == wanted
    assert stored(page) == text
