"""Writing summaries of the passages of a question: by keyboard, by mouse, on a phone, and across interruptions."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PEOPLE, Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

Visiting = Callable[..., Visit]
#: Invented passages in the published form: one line, a title, lists after several blanks.
USE = (
    "Nepralin (Use): If you have a liver disease, see a doctor first. Do not drink alcohol with nepralin.   Otherwise, "
    "to take nepralin at home:     - Take one tablet in the morning. Drink a glass of water.   - Keep the tablets dry."
    "   - Store them in a cool place.      When you stop:     - Halve the dose for a week.   - Do not stop at once."
    "      Nepralin does not cure migraine. It prevents attacks."
)
SUMMARY = (
    "Nepralin (Summary): Nepralin prevents attacks of migraine. It has been sold since 1998. It is sold as tablets."
)
SIGNS = (
    "Nepralin (When to call a doctor): Call your doctor if you notice:     - Fever   - A rash   - Dark urine   "
    "- Yellow eyes   - Pain in the belly   - Swollen legs   - A fast heartbeat   - Confusion"
)
TIPS = (
    "Nepralin (Prevention): Nausea may return. To prevent it, follow these tips:     - Eat small meals   - Drink enough"
)
QUESTIONS = {
    "1": ("What should I know before I take nepralin, and when should I call a doctor?", [USE, SUMMARY, SIGNS, TIPS]),
    "2": ("Does nepralin make you tired?", [TIPS, SUMMARY]),
}
OPEN = """
import json, tempfile
from pathlib import Path
from accounts.models import User
from annotation.imports.actions import check_files, import_files
from projects.people.actions import add_member, create_project
from projects.uploads.files import Source
from tests.builders import build_round
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name='Questions about nepralin', by=lead)
name = 'section2answer_multi_abstractive_summ'
value = {{key: {{'summary': 'One.', 'articles': {{f'{{key}}_Answer{{n + 1}}': [text, '4-Excellent'] for n, text in
         enumerate(texts)}}, 'question': question}} for key, (question, texts) in given['questions'].items()}}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, f'{{name}}.json')
    path.write_text(json.dumps(value))
    checked = check_files(project=project, format='mediqa-ans', sources=[Source.of(path)])
    import_files(project=project, format='mediqa-ans', checked=checked, by=lead)
person = add_member(project=project, user=User.objects.get(email=given['who']), role='annotator', by=lead)
plan = {{'name': 'Summaries, first half', 'kind': 'write', 'purpose': 'collection', 'options': given['options']}}
round = build_round(project, [person], **plan)
print(json.dumps(round.pk))
"""
SAID = """
import json
from projects import kinds
from projects.models import Answer
rows = list(Answer.objects.filter(assignment__round={round}).order_by('assignment__position', 'revision'))
values = kinds.get('write').values(rows)
print(json.dumps([[row.assignment.unit.key, row.comment, values[row.pk]['steps']] for row in rows]))
"""
#: Milliseconds from each key press to the next frame.
TIMES = """window.times = []
addEventListener('keydown', () => {
  const begun = performance.now(), drawn = new MessageChannel()
  drawn.port1.onmessage = () => times.push(performance.now() - begun)
  requestAnimationFrame(() => drawn.port2.postMessage(0))
}, true)"""
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "mediqa_ans"


def run(site: Site, code: str) -> Any:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


def open_writing(site: Site, slug: str, questions: dict[str, Any] = QUESTIONS, **options: Any) -> int:
    """Create a project with the questions and open a round for one person; return the round's id."""
    given = {
        "slug": slug,
        "questions": questions,
        "who": PEOPLE["ann1"],
        "options": {"asked_passages": "all"} | options,
    }
    return int(run(site, OPEN.format(given=json.dumps(given))))


def said(site: Site, round: int) -> list[Any]:
    """Return the question, the comment and the steps of every answer."""
    return list(run(site, SAID.format(round=round)))


@dataclass
class Writer:
    """A person who writes, with the number of their actions; a typed text is one."""

    visit: Visit
    round: int
    actions: int = 0

    @property
    def page(self) -> Page:
        return self.visit.page

    def open(self) -> Self:
        self.page.goto(f"{self.visit.address}/work/{self.round}")
        return self.ready()

    def ready(self) -> Self:
        self.page.wait_for_selector(".unit[tabindex='0']", state="attached")
        self.page.wait_for_timeout(SETTLED)
        return self

    def press(self, *keys: str) -> Self:
        for key in keys:
            self.page.keyboard.press(key)
            self.actions += 1
        return self

    def type(self, text: str) -> Self:
        expect(self.page.locator("textarea")).to_be_focused()
        self.page.keyboard.insert_text(text)
        self.actions += 1
        return self

    def click(self, target: Locator) -> Self:
        target.click()
        self.actions += 1
        return self

    def counted(self) -> int:
        """Return the number of actions since the last call."""
        actions, self.actions = self.actions, 0
        return actions

    def unit(self, text: str) -> Locator:
        return self.page.locator(".unit", has_text=text).first

    def at(self, step: str) -> Self:
        expect(self.page.locator(".asked h2")).to_have_text(step)
        return self

    def sent(self) -> Self:
        expect(self.page.locator(".saved")).to_contain_text("Saved")
        return self

    def next(self) -> Self:
        return self.click(self.page.locator(".bar .own"))

    def insert(self) -> Self:
        return self.click(self.page.get_by_role("button", name="Insert extractive text"))

    def boxes(self) -> Any:
        """Return the positions of all sentences."""
        tops = "all => all.map((one) => one.getBoundingClientRect().top)"
        return self.page.locator(".unit").evaluate_all(tops)


def test_all_types_of_a_question_are_written_by_keyboard_alone(site: Site, visit: Visiting) -> None:
    """The numbers of key presses are at most those of the design."""
    round = open_writing(site, "write-keys", limit_passage_abstractive=8)
    w = Writer(visit("ann1"), round).open().at("Passage 1 of 4, extractive")
    assert violations(w.visit) == []
    w.press("ArrowDown", "Space", "Enter").at("Passage 1 of 4, extractive")
    w.actions = 2  # Enter was only to show that it does nothing
    w.press("Control+Enter").at("Passage 1 of 4, abstractive")
    assert w.counted() <= 3
    assert violations(w.visit) == []
    w.type("Ask a doctor first if you have a liver disease.").press("Control+Enter").at("Passage 2 of 4, extractive")
    assert w.counted() <= 2
    w.press("ArrowDown", "Space", "Control+Enter", "Alt+S", "Control+Enter").at("Passage 3 of 4, extractive")
    assert w.counted() <= 5
    w.press("ArrowDown", "l", "Space")
    expect(w.page.locator(".counts")).to_contain_text("9 sentences")
    w.press("Control+Enter").at("Passage 3 of 4, abstractive")
    assert w.counted() <= 4
    w.type("Call a doctor if you have fever or a rash.").press("Control+Enter")
    w.press("ArrowDown", "ArrowDown", "Space", "Control+Enter").type("Eat small meals.").press("Control+Enter")
    w.at("All passages, extractive").counted()
    w.press("Alt+S", "n", "Alt+ArrowDown", "Control+Enter").at("All passages, abstractive")
    assert w.counted() <= 5
    w.type("Ask first, and call a doctor if you feel ill.").press("Control+Enter").at("Last look")
    assert violations(w.visit) == []
    w.press("Control+Enter").sent()
    expect(w.page.locator(".question")).to_contain_text("tired")
    key, _, steps = said(site, round)[0]
    assert key == "1"
    texts = [step["text"] for step in steps]
    assert texts[0] == "If you have a liver disease, see a doctor first."
    assert texts[2] == texts[3] == "Nepralin prevents attacks of migraine."
    assert texts[4] == SIGNS[SIGNS.index("Call") :], "an exact slice, with its blanks"
    assert [c["passage"][-1] for c in steps[8]["chunks"]] == ["2", "1", "3", "4"]
    assert steps[8]["text"] == " ".join(c["quote"] for c in steps[8]["chunks"])
    assert all(c["quote"] == QUESTIONS["1"][1][0][c["start"] : c["end"]] for c in steps[0]["chunks"])

    # The second question: nothing relevant, words instead of sentences, one undo for typing and chunks.
    w.ready().at("Passage 1 of 2, extractive").press("0", "Control+Enter").at("Passage 2 of 2, extractive")
    w.press("ArrowDown", ",", ",", "Space")
    expect(w.page.locator("ol[aria-label='Chunks in order']")).to_contain_text("Nepralin prevents attacks")
    w.press("ArrowDown", "Space", "z", "z")
    expect(w.page.locator("ol[aria-label='Chunks in order']")).to_have_count(0)
    w.press("Shift+Z", "Control+Enter").type("It does not say so.")
    w.press("Control+z", "Control+z").at("Passage 2 of 2, extractive")
    w.press("Shift+Z").at("Passage 2 of 2, extractive")
    w.press("Control+Enter").type("It does not say so.").press("Control+Enter")
    w.press("Alt+S", "Control+Enter", "Alt+A", "Control+Enter").at("Last look").press("Control+Enter")
    w.sent()
    expect(w.page.get_by_role("heading", name="All done")).to_be_visible()
    _, _, steps = said(site, round)[1]
    assert [step["nothing"] for step in steps] == [True, True, False, False, False, False]
    assert [step["text"] for step in steps[2:]] == ["Nepralin prevents attacks", "It does not say so."] * 2


def test_a_mouse_takes_sentences_lists_and_words(site: Site, visit: Visiting) -> None:
    round = open_writing(site, "write-mouse")
    w = Writer(visit("ann1", scheme="dark"), round).open()
    before = w.boxes()
    w.click(w.unit("see a doctor first")).next().at("Passage 1 of 4, abstractive")
    assert w.counted() <= 2
    assert before == w.boxes()
    w.insert().next().at("Passage 2 of 4, extractive")
    assert w.counted() <= 2
    drag(w, "Nepralin prevents", "attacks of migraine")
    w.click(w.page.get_by_role("button", name="Take Space")).next().at("Passage 2 of 4, abstractive")
    w.counted()
    w.insert().next().at("Passage 3 of 4, extractive").counted()
    w.click(w.page.get_by_role("button", name="Take the list")).next().at("Passage 3 of 4, abstractive")
    assert w.counted() <= 2
    w.insert().next().click(w.unit("follow these tips")).next()
    w.insert().next().at("All passages, extractive").counted()
    w.click(w.page.get_by_role("button", name="Start from my chunks")).next().at("All passages, abstractive")
    assert w.counted() <= 2
    w.click(w.page.locator("button[aria-label^='All passages, extractive']"))
    w.click(w.page.get_by_role("button", name="Move chunk 2 up"))
    w.click(w.page.get_by_role("button", name="Remove chunk 4"))
    w.click(w.page.get_by_role("button", name="Undo", exact=False).first).click(w.unit("Eat small meals"))
    expect(w.page.locator("ol[aria-label='Chunks in order'] > li")).to_have_count(4)
    assert violations(w.visit) == []
    w.next().click(w.page.get_by_role("button", name="Insert my abstractive texts")).next().at(
        "Last look"
    ).next().sent()
    expect(w.page.locator(".question")).to_contain_text("tired")
    steps = said(site, round)[0][2]
    assert steps[4]["text"] == SIGNS[SIGNS.index("Call") :]
    assert steps[2]["text"] == "Nepralin prevents attacks of migraine"
    assert [c["passage"][-1] for c in steps[8]["chunks"]] == ["2", "1", "3", "4"]
    assert steps[8]["chunks"][-1]["quote"].endswith("- Eat small meals")


def drag(w: Writer, first: str, last: str) -> None:
    """Select from the beginning of one text to the end of another, which may be inside a sentence."""
    boxes = w.page.evaluate(
        """([first, last]) => [first, last].map((words, end) => {
          const node = [...document.querySelectorAll('.unit')].find(u => u.textContent.includes(words)).firstChild
          const at = node.data.indexOf(words) + (end ? words.length - 1 : 0), range = new Range()
          range.setStart(node, at); range.setEnd(node, at + 1)
          const box = range.getBoundingClientRect()
          return [box.left + box.width * (end ? .9 : .1), box.top + box.height / 2] })""",
        [first, last],
    )
    w.page.mouse.move(*boxes[0])
    w.page.mouse.down()
    w.page.wait_for_timeout(30)
    w.page.mouse.move(*boxes[1], steps=5)
    w.page.wait_for_timeout(50)
    w.page.mouse.up()
    w.page.wait_for_timeout(60)
    w.actions += 1


def test_a_phone_shows_one_side_at_a_time(site: Site, visit: Visiting) -> None:
    questions = {"1": (QUESTIONS["1"][0], [USE, SIGNS])}
    round = open_writing(site, "write-phone", questions, limit_passage_abstractive=4, limits_refuse=True)
    w = Writer(visit("ann1", scheme="dark", width=390, height=844, touch=True), round).open()
    w.unit("see a doctor first").tap()
    expect(w.page.get_by_role("button", name="Source (1 of 13)")).to_be_visible()
    assert violations(w.visit) == []
    w.page.get_by_role("button", name="Text (10 words)").tap()
    assert violations(w.visit) == []
    for width in (320, 390):
        w.page.set_viewport_size({"width": width, "height": 844})
        assert w.page.evaluate("document.documentElement.scrollWidth") <= width
    bar = w.page.locator(".switch")
    bar.get_by_role("button", name="Next step").tap()
    w.at("Passage 1 of 2, abstractive").page.locator("textarea").fill("See a doctor before you take it.")
    bar.get_by_role("button", name="Next step").tap()
    expect(w.page.get_by_role("alert")).to_contain_text("3 words too many")
    w.page.locator("textarea").fill("See a doctor first.")
    bar.get_by_role("button", name="Next step").tap()
    w.at("Passage 2 of 2, extractive").page.get_by_role("button", name="Take the list").tap()
    bar.get_by_role("button", name="Next step").tap()
    w.page.locator("textarea").fill("Call a doctor.")
    bar.get_by_role("button", name="Next step").tap()
    w.page.get_by_role("button", name="Text (0 words)").tap()
    w.page.get_by_role("button", name="Start from my chunks").tap()
    bar.get_by_role("button", name="Next step").tap()
    w.page.locator("textarea").fill("Ask a doctor.")
    bar.get_by_role("button", name="Next step").tap()
    w.at("Last look")
    assert violations(w.visit) == []
    bar.get_by_role("button", name="Submit").tap()
    w.sent()
    expect(w.page.get_by_role("heading", name="All done")).to_be_visible()
    assert [step["text"] for step in said(site, round)[0][2]][1::2] == [
        "See a doctor first.",
        "Call a doctor.",
        "Ask a doctor.",
    ]


def test_nothing_is_lost_by_a_reload_without_network_in_two_tabs_or_a_day_later(site: Site, visit: Visiting) -> None:
    round = open_writing(site, "write-interrupted")
    w = Writer(visit("ann1", height=600), round).open()
    w.press("ArrowDown", "Space", "Control+Enter").type("Ask a doctor").at("Passage 1 of 4, abstractive")
    w.page.reload()
    w.ready().at("Passage 1 of 4, abstractive")
    expect(w.page.locator("textarea")).to_have_value("Ask a doctor")
    expect(w.page.locator("textarea")).to_be_focused()
    expect(w.page.locator(".draft")).to_contain_text("Continued at passage 1 of 4, abstractive. Draft of")
    # The sentence and the scroll position of the step before.
    w.page.locator("button[aria-label^='Passage 1 of 4, extractive']").click()
    w.press("End", "Space")
    where = w.page.locator(".source").evaluate("e => e.scrollTop")
    assert where > 0
    w.page.wait_for_timeout(500)
    w.page.reload()
    w.ready().at("Passage 1 of 4, extractive")
    assert abs(w.page.locator(".source").evaluate("e => e.scrollTop") - where) < 2
    expect(w.unit("It prevents attacks.")).to_be_focused()

    # A second tab: both show the newest texts, and say so.
    other = w.page.context.new_page()
    other.goto(f"{w.visit.address}/work/{round}")
    second = Writer(Visit(other, w.visit.address), round).ready()
    second.press("Control+Enter").at("Passage 1 of 4, abstractive").type(" in the second tab")
    expect(w.page.locator(".draft")).to_contain_text("Changed in another tab")
    w.press("Control+Enter").at("Passage 1 of 4, abstractive").press("End").type(" and in the first")
    expect(other.locator("textarea")).to_have_value("Ask a doctor in the second tab and in the first")
    # A comment of the second tab is not lost when the first one writes its draft and submits.
    second.press("Escape", "m")
    other.get_by_label("Comment for the curator").fill("Two tabs")
    other.close()

    # Without a network all steps can be written and submitted.
    w.page.context.set_offline(True)
    w.press("Control+Enter").at("Passage 2 of 4, extractive")
    for step in ("2", "3", "4"):
        w.at(f"Passage {step} of 4, extractive").press("ArrowDown", "Space", "Control+Enter", "Alt+S", "Control+Enter")
    w.press("Alt+S", "Control+Enter", "Alt+S", "Control+Enter").at("Last look")
    expect(w.page.locator(".draft")).to_contain_text("Offline.")
    w.press("Control+Enter")
    expect(w.page.locator(".saved")).to_contain_text("1 answer stored on this computer, not sent yet")
    w.ready().at("Passage 1 of 2, extractive").press("ArrowDown", "Space", "m")
    w.page.get_by_label("Comment for the curator").fill("Unclear question")
    w.page.keyboard.press("Control+Enter")
    w.page.context.set_offline(False)
    w.sent()
    _, comment, steps = said(site, round)[0]
    assert (comment, steps[1]["text"]) == ("Two tabs", "Ask a doctor in the second tab and in the first")

    later = w.page.context.new_page()
    w.page.close()
    later.clock.install(time=datetime.now(UTC) + timedelta(days=1))
    later.goto(f"{w.visit.address}/work/{round}")
    w.visit.page = later
    w.ready().at("Passage 1 of 2, extractive")
    expect(later.locator("ol[aria-label='Chunks in order']")).to_contain_text("Nausea may return.")
    w.press("Control+Enter", "Alt+S", "Control+Enter", "0", "Control+Enter", "0", "Control+Enter").at("Last look")
    w.press("Control+Enter").sent()
    expect(later.get_by_role("heading", name="All done")).to_be_visible()
    _, comment, steps = said(site, round)[1]
    assert comment == "Unclear question"
    assert steps[0]["text"] == "Nausea may return."


def long_passage() -> str:
    """Return an invented passage of 44,000 characters in 450 sentences, some of them in lists."""
    item = "   - Sign number {n}, which people notice after some weeks and which their doctor should know about"
    prose = " Sentence number {n} says what nepralin does and when it is better not to take it, as is known today."
    parts = [item if n % 10 < 4 else f"  {prose}" if n % 10 == 4 else prose for n in range(450)]
    return "Nepralin (All):" + "".join(part.format(n=n) for n, part in enumerate(parts))


def published() -> dict[str, tuple[str, list[str]]]:
    """Return the published questions with their passages, by key; skip the test without the files."""
    files = sorted(REAL.glob("*abstractive*.json"))
    if not files:
        pytest.skip("the published files are not here")
    rows = json.loads(files[0].read_text(encoding="utf-8"))
    return {key: (row["question"], [text for text, _ in row["articles"].values()]) for key, row in rows.items()}


def test_five_published_questions_are_written_by_keyboard(site: Site, visit: Visiting) -> None:
    """Question 49 takes at most the key presses of the design."""
    found = published()
    most = max(found, key=lambda key: len(found[key][1]))
    questions = {key: found[key] for key in ("49", "86", "33", "1", most)}
    assert len(questions) == 5
    round = open_writing(site, "write-published", questions)
    w = Writer(visit("ann1"), round).open()
    presses: dict[str, int] = {}
    for left in range(len(questions), 0, -1):
        question = w.page.locator(".question p").inner_text()
        key = next(key for key, (text, _) in questions.items() if squeezed(text) == squeezed(question))
        w.counted()
        for _ in questions[key][1]:
            w.press("ArrowDown", "Space", "Control+Enter").type("An answer.").press("Control+Enter")
        w.press("Alt+S", "Control+Enter").type("One answer.").press("Control+Enter").at("Last look").press(
            "Control+Enter"
        )
        presses[key] = w.counted()
        if left > 1:
            expect(w.page.locator(".question p")).not_to_have_text(question)
            w.ready()
    w.sent()
    expect(w.page.get_by_role("heading", name="All done")).to_be_visible()
    assert presses["49"] <= 34
    answers = said(site, round)
    assert {key for key, _, _ in answers} == set(questions)
    for key, _, steps in answers:
        for step in steps:
            for c in step["chunks"]:
                texts = dict(zip((f"{key}_Answer{n + 1}" for n in range(20)), questions[key][1], strict=False))
                assert texts[c["passage"]][c["start"] : c["end"]] == c["quote"]


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("source", ["invented", "published"])
def test_a_key_in_44000_characters_takes_less_than_100_ms(site: Site, visit: Visiting, source: str) -> None:
    text = long_passage()
    if source == "published":
        text = max((text for _, texts in published().values() for text in texts), key=len)
    assert len(text) > 44_000
    round = open_writing(site, f"write-long-{source}", {"1": ("What is it?", [text])})
    at = visit("ann1")
    at.page.add_init_script(TIMES)
    w = Writer(at, round).open()
    slow: dict[str, float] = {}
    for name, keys in {
        "arrow": ["ArrowDown"] * 20,
        "take": ["ArrowDown", "ArrowDown", "Space"] * 20,
        "move": ["Alt+ArrowUp"] * 10,
        "step": ["Control+Enter"],
        "type": list("nepralin prevents attacks"),
    }.items():
        w.page.evaluate("times.length = 0")
        for key in keys:
            w.press(key)
            w.page.wait_for_timeout(30)
        w.page.wait_for_function("n => times.length >= n", arg=len(keys))
        times = sorted(w.page.evaluate("times"))
        slow[name] = times[int(len(times) * 0.9) - 1] if len(times) > 1 else 0
    assert max(slow.values()) < 100, slow
