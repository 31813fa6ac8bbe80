"""Forty fixed propositions of M3's level 3, labelled as published: keys, actions, and stored values.

A search over words and jumps plans the cheapest way by the page's rules; the browser then plays it, and real key
events and mouse actions are counted.
"""

import json
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.kinds.cue_lexicon import find_cues as candidates
from measures.spans import locate, words
from tests.browser.conftest import Visit
from tests.browser.work_page import WorkPage, answers_of, open_round
from tests.processes.site import Site, until

LEVEL3 = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "m3" / "level3.jsonl"
POLARITY = {"positive": "a", "no effect": "s", "negative": "d", "n/a": ""}
MODALITY = {"strong": "1", "moderate": "2", "weak": "3", "no evidence": "4"}
#: Every 57th proposition of the file, and some hard ones: cues in two pieces, which M3 writes joined (the pieces are
#: given here), and implied elements.
EVERY = 57
TWO_PIECES = {
    "Neither H. pylori infection nor seropositivity for virulent CagA-bearing H. pylori strains have significant "
    "association with the occurrence of glaucoma of any type.": ["Neither", "have significant association"]
}
Range = tuple[int, int]
#: Cursor and anchor.
State = tuple[int, int | None]


@dataclass(frozen=True)
class Task:
    """A proposition with its published values; cues as ranges of code points."""

    text: str
    polarity: str
    modality: str
    polarity_cue: tuple[Range, ...]
    modality_cue: tuple[Range, ...]


def tasks() -> list[Task]:
    """The forty propositions, fixed by their position in the published file."""
    every = []
    for line in LEVEL3.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        every.append((item["target_text"], item, "target"))
        every += [(s["source_text"], s, "source") for s in item["input_studies"]]
    hard = [row for row in every if row[0] in TWO_PIECES][:1]
    return [task(*row) for row in hard + every[::EVERY][: 40 - len(hard)]]


def task(text: str, row: dict[str, Any], who: str) -> Task:
    polarity, modality = row[f"{who}_direction"], row[f"{who}_modality"]
    polarity_cue = located(text, row[f"{who}_direction_span"]) if polarity != "n/a" else ()
    modality_cue = located(text, row[f"{who}_modality_span"])
    if text in TWO_PIECES:
        polarity_cue = tuple(locate(text, quote).ranges[0] for quote in TWO_PIECES[text])
    return Task(text, polarity, modality, polarity_cue, modality_cue)


def located(text: str, quote: str) -> tuple[Range, ...]:
    """Return a published cue extended to whole words, or nothing if the text lacks it."""
    found = locate(text, quote.strip()).ranges
    if not found:
        return ()
    touched = [w for w in words_of(text) if w[0] < found[0][1] and found[0][0] < w[1]]
    return ((touched[0][0], touched[-1][1]),) if touched else ()


def words_of(text: str) -> list[Range]:
    """Return words as the page splits them, without outer punctuation."""
    return list(words(text))


def way(text: str, start: int, target: Range) -> tuple[list[str], int]:
    """Return the fewest keys from the cursor at word ``start`` to this selection, and the final cursor."""
    cut = words_of(text)
    first = next(i for i, w in enumerate(cut) if w[0] == target[0])
    last = next(i for i, w in enumerate(cut) if w[1] == target[1])
    begin: State = (start, None)
    before: dict[State, tuple[State, list[str]]] = {}
    cost = {begin: 0}
    waiting = deque([begin])
    while waiting:  # costs are 1 or 2: relaxing until nothing improves is fast enough for short texts
        at = waiting.popleft()
        for keys, to in steps(text, cut, at):
            if cost.get(to, 10**6) > cost[at] + len(keys):
                cost[to], before[to] = cost[at] + len(keys), (at, keys)
                waiting.append(to)
    goal = min(((last, first), (first, last)), key=lambda s: cost.get(s, 10**6))
    path: list[str] = []
    at = goal
    while at != begin:
        at, keys = before[at]
        path = keys + path
    return path, goal[0]


def steps(text: str, cut: list[Range], at: tuple[int, int | None]) -> list[tuple[list[str], tuple[int, int | None]]]:
    """Return where one key, or F with its letter, leads. A state is (cursor, anchor)."""
    cursor, anchor = at
    held = cursor if anchor is None else anchor
    out: list[tuple[list[str], tuple[int, int | None]]] = []
    for key, to in (("ArrowRight", cursor + 1), ("ArrowLeft", cursor - 1), ("Home", 0), ("End", len(cut) - 1)):
        to = max(0, min(len(cut) - 1, to))
        out += [([key], (to, to)), ([f"Shift+{key}"], (to, held))]
    seen = set()
    for i in range(1, len(cut) + 1):
        to = (cursor + i) % len(cut)
        letter = text[cut[to][0]].lower()
        if letter not in seen and letter.isascii() and letter.isalnum():
            seen.add(letter)
            out += [(["f", letter], (to, to)), (["f", f"Shift+{letter.upper()}"], (to, held))]
    return out


def keyboard(task: Task) -> list[str]:
    """Return all keys for one unit: each cue, piece by piece, with its value."""
    keys: list[str] = []
    cursor = 0

    def select(pieces: tuple[Range, ...]) -> None:
        nonlocal cursor
        for n, piece in enumerate(pieces):
            path, cursor = way(task.text, cursor, piece)
            keys.extend([*path, *(["Space"] if n < len(pieces) - 1 else [])])

    asked = [(task.polarity_cue, POLARITY[task.polarity]), (task.modality_cue, MODALITY[task.modality])]
    for pieces, key in asked:
        if key:
            select(pieces)
            keys.append(key)
    return keys + (["Enter"] if waits(task) else [])


def waits(task: Task) -> bool:
    """Return whether the page asks about a missing cue."""
    return (task.polarity != "n/a" and not task.polarity_cue) or (task.modality != "moderate" and not task.modality_cue)


def check_stored(stored: list[dict[str, Any]], wanted: list[Task]) -> None:
    assert len(stored) == len(wanted)
    for answer, task in zip(stored, wanted, strict=True):
        value = answer["value"]
        assert (value["polarity"], value["modality"]) == (task.polarity, task.modality), task.text
        for aspect in ("polarity_cue", "modality_cue"):
            ranges = [(f["start"], f["end"]) for f in value[aspect]]
            assert ranges == list(getattr(task, aspect)), (task.text, aspect)


@pytest.fixture(scope="module")
def forty() -> list[Task]:
    if not LEVEL3.exists():
        pytest.skip("../shared/data/m3/level3.jsonl is absent: M3's published file is no part of the project")
    found = tasks()
    assert len(found) == 40
    outside = [t for t in found for cue in (*t.polarity_cue, *t.modality_cue) if cue not in candidates(t.text)]
    assert any(len(t.polarity_cue) == 2 for t in found)
    assert outside, "some cues must be none that a lexicon would suggest"
    return found


@pytest.mark.long
def test_the_keyboard_alone_takes_eight_keys_or_fewer(
    visit: Callable[..., Visit], site: Site, forty: list[Task]
) -> None:
    round = open_round(site, f"forty-{uuid.uuid4().hex[:8]}", [t.text for t in forty])
    at = WorkPage(visit("ann1"), round).open()
    counts = []
    for task in forty:
        at.until_text(task.text).presses = 0
        for key in keyboard(task):
            at.page.keyboard.press(key)
            at.presses += 1
        counts.append(at.presses)
    expect(at.page.get_by_role("listbox")).to_have_count(0)
    at.until_saved()
    print(f"keys: median {median(counts)}, from {min(counts)} to {max(counts)}: {sorted(counts)}")
    until(lambda: len(answers_of(site, round)) == len(forty), "the last of them is stored")
    check_stored(answers_of(site, round), forty)
    assert median(counts) <= 8


@pytest.mark.long
def test_mouse_and_keys_take_four_actions_or_fewer(visit: Callable[..., Visit], site: Site, forty: list[Task]) -> None:
    round = open_round(site, f"forty-{uuid.uuid4().hex[:8]}", [t.text for t in forty])
    at = WorkPage(visit("ann1", height=1200), round).open()
    counts = []
    for task in forty:
        cut = words_of(task.text)
        at.until_text(task.text).presses = 0
        for pieces, key in ((task.polarity_cue, POLARITY[task.polarity]), (task.modality_cue, MODALITY[task.modality])):
            if not key:
                continue
            for i, piece in enumerate(pieces):
                first = next(k for k, w in enumerate(cut) if w[0] == piece[0])
                last = next(k for k, w in enumerate(cut) if w[1] == piece[1])
                at.drag(first, last)
                if i < len(pieces) - 1:
                    at.press("space")
            at.press(key)
        if waits(task):
            at.press("Enter")
        counts.append(at.presses)
    expect(at.page.get_by_role("listbox")).to_have_count(0)
    at.until_saved()
    print(f"actions: median {median(counts)}, from {min(counts)} to {max(counts)}: {sorted(counts)}")
    until(lambda: len(answers_of(site, round)) == len(forty), "the last of them is stored")
    check_stored(answers_of(site, round), forty)
    assert median(counts) <= 4
