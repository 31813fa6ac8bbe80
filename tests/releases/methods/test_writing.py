"""Names in a methods text print as they are in Markdown and LaTeX, and numbers have one form."""

import re
from datetime import date
from html import unescape

import pytest

from projects.guidelines.markdown import as_html
from releases.methods import latex, markdown
from releases.methods.text import Document, Gap, Section, count, day, interval, listed, named, of_total, share
from tests.releases.methods.latex_text import faults, printed

NAMES = [
    "50% of A_B & C#1",
    r"\input{x} $y$ ^~ {z}",
    "<b>bold</b> *stars* _under_ `code`",
    "[link](http://example.org) ![image](x)",
    "1. First | second",
    "- dash -- and --- more",
    "# Heading",
    "+ plus = equals",
    "naïve Łódź “quoted” ≥ 3",
    "قياس 👁️",
    "?` and !`",
    "a\nb\r\nc",
]


def document(name: str) -> Document:
    section = Section(name)
    section.say(name, f"In {name}, 3 people.")
    section.gap(name)
    return Document(name, name, (section,))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_prints_as_it_is(name: str) -> None:
    line = " ".join(name.split())
    html = as_html(markdown.escaped(name))
    assert not re.search(r"<(?!/?p>)", html), html
    assert " ".join(unescape(re.sub(r"</?p>", "", html)).split()) == line
    assert printed(latex.escaped(name)) == line.replace("“", "“")


@pytest.mark.parametrize("name", NAMES)
def test_latex_has_no_character_with_a_meaning_and_names_those_that_pdflatex_lacks(name: str) -> None:
    source = latex.latex(document(name))
    assert faults(source) == []
    assert source.count(r"\subsection*{") == 1
    beyond = any(ord(character) > 0x17F for character in latex.escaped(name))
    assert ("pdfLaTeX prints only the codes" in source) == (r"\providecommand{\characters}" in source) == beyond


def test_what_is_missing_is_listed_at_the_end_with_its_page() -> None:
    section = Section("People")
    section.say(section.stated("Ethical approval", ""), section.stated("Consent", "Given on paper.\nBy all."))
    written = Document("Methods", "", (section,))
    assert section.paragraphs == ["Ethical approval: NOT PROVIDED. Consent: Given on paper. By all."]
    assert written.gaps == [Gap("People", "Ethical approval", "settings?tab=citation")]
    last = "People, ethical approval: NOT PROVIDED (enter it on Settings, Citation)."
    assert markdown.markdown(written).endswith(f"## Not provided\n\n* {last}\n")
    assert latex.latex(written).endswith(f"% {last}\n")


def test_numbers_have_one_form() -> None:
    assert [count(n, "study", "studies") for n in (0, 1, 1204)] == ["0 studies", "1 study", "1,204 studies"]
    assert interval((-0.1, 0.84), 0.95) == "95% CI [\u22120.10, 0.84]"
    assert (of_total(3, 12), of_total(0, 0), of_total(1, 1, "unit")) == (
        "3 of 12 (25.0%)",
        "0 of 0",
        "1 of 1 unit (100.0%)",
    )
    assert (share(0.1), share(0.125), day(date(2026, 11, 5))) == ("10%", "12.5%", "5 Nov 2026")
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("", "a", "a, b and c")
    assert named([*"abcdef"], 2) == "a, b and 4 more"
