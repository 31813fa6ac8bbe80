"""Rendering Markdown takes linear time, also for malicious input."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.guidelines.markdown import MAX_DEPTH, MAX_LENGTH, as_html
from tests.growth import seconds

Text = Callable[[int], str]
#: Repeated patterns that took quadratic time in some renderer of Markdown or parser of HTML.
REPEATED = (
    "[",
    "![",
    "[a](",
    "[a](<b",
    "[a]( '",
    "[a][",
    "[[a]",
    "[^a]",
    "][",
    "![[]()",
    "**[",
    "*a_ ",
    "*a **b ",
    "a**b",
    "_a__b",
    "*a ",
    "a* ",
    "a***b ",
    "`a ``b ",
    "a`b``c```d ",
    "|`",
    "> ",
    ">",
    "> a\nb\n",
    "- ",
    "1. ",
    "* - + ",
    "-\n",
    "- a\n\n",
    "- x\n    - y\n        - z\n",
    "> - ",
    "> *a\n> _b\n",
    "<",
    "<a ",
    "<!--",
    "<!- ",
    "<?",
    "<![CDATA[",
    "<!A ",
    "</",
    "<a href='",
    "<a b=c ",
    "<div>\n\n",
    "<b><i>",
    "<p>a",
    "<b>x</p>",
    "<kbd>",
    "<kbd><p></kbd></p>",
    "<em><p></em></p>",
    "<ul></li>",
    "<dl><dt><dd>",
    "<table>a<tr>b<td>c",
    "<table><tr><td>",
    "<h1><h2>",
    "<style>",
    "<style></script>",
    '<a "',
    "<http:",
    "<a@b",
    "|a|b|\n|-|-|\n\n",
    "a|\n-|-\n",
    "[a]: u\n",
    "[a]: u 'x\n",
    "[a\n",
    "&",
    "&#1",
    "\\\n",
    "a  \n",
    "# a\n",
    "a\n===\n",
    "```\n",
    "    a\n",
    "http://a",
    "www.a",
    "a.a@",
    "'\" ",
    "\0",
)
GROWN: dict[str, Text] = {
    "backticks of growing length": lambda n: " ".join("`" * k for k in range(1, round((2 * n) ** 0.5))),
    "brackets that close": lambda n: "[" * n + "a" + "]" * n,
    "a table of many columns": lambda n: f"|{'a|' * n}\n|{'-|' * n}\n|{'b|' * n}",
    "a wide table of short rows": lambda n: f"{'|' * n}\n|{'-|' * n}\n" + "|\n" * n,
    "a definition of many uses": lambda n: f"[a]: {'u' * n}\n\n" + "[a] " * n,
    "many definitions": lambda n: "".join(f"[a{i}]: u\n" for i in range(n)) + "".join(f"[a{i}]" for i in range(n)),
    "a title without an end": lambda n: "[a]: u '" + "a\n" * n,
    "a list of growing depth": lambda n: "".join(f"{' ' * 2 * i}- a\n" for i in range(round(n**0.5))),
    "emphasis within emphasis": lambda n: "*a **a " * n + "b" + "* a**" * n,
    "quotes, then lazy lines": lambda n: "> " * n + "a\n" + "a\n" * n,
    "quotes, then empty lines": lambda n: "> " * n + "a\n" + "\n" * n,
    "lists, then paragraphs": lambda n: "* " * n + "a\n" + "\nb\n" * n,
    "elements unlike each other, never closed": lambda n: "".join(f"<em id={i}>" for i in range(n)) + "<p>x" * n,
    "links never closed": lambda n: "".join(f"<a href={i}>" for i in range(n)) + "<p>x" * n,
    "what no table holds": lambda n: "<table>" + "a<br>" * n,
    "more elements than are shown": lambda n: "<kbd>" * n + "</kbd><em>" * n,
    "an attribute without an end": lambda n: f"<a {'a' * n}><a {'b  ' * n}><a {'c = ' * n}>",
}
TEXTS: dict[str, Text] = {repr(piece): lambda n, piece=piece: piece * n for piece in REPEATED} | GROWN


def longest(text: Text) -> str:
    """Return the longest such text that a guideline may have."""
    return text(MAX_LENGTH // max(len(text(100)) // 100, 1))[:MAX_LENGTH]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.row(53)
def test_the_longest_text_is_rendered_in_a_second(name: str) -> None:
    text = longest(TEXTS[name])
    assert seconds(lambda: as_html.__wrapped__(text), enough=1) <= 1


@pytest.mark.row(53)
def test_deep_nesting_is_shown_at_the_maximum_depth() -> None:
    for text in ("> " * 5000 + "words", "<kbd>" * 5000 + "words" + "</kbd>" * 5000, "- " * 5000 + "words"):
        html = as_html(text)
        assert "words" in html
        assert len(re.findall(r"<\w", html)) <= MAX_DEPTH
        assert html.count("</") == len(re.findall(r"<\w", html))


def test_html_that_is_allowed_stays_and_the_rest_leaves_its_words() -> None:
    assert as_html("H<sub>2</sub>O <kbd>K</kbd><br>x<br/>").strip() == "<p>H<sub>2</sub>O <kbd>K</kbd><br>x<br></p>"
    assert as_html('<span class="x">a</span> <b>b</b> <!-- c -->d').strip() == "<p>a b d</p>"
    table = as_html('<table>\n<tr><td align="right" onclick="x()">1</td></tr>\n</table>')
    assert '<td align="right">1</td>' in table
    assert as_html("<a href='https://a.example' title=t>x</a> 1 < 2 &amp; `<kbd>`") == (
        '<p><a href="https://a.example" title="t" rel="noopener noreferrer nofollow">x</a> 1 &lt; 2 &amp; '
        "<code>&lt;kbd&gt;</code></p>\n"
    )


def test_an_element_that_is_never_closed_ends_with_what_it_stands_in() -> None:
    assert as_html("a <kbd>b\n\n> c</blockquote>\n\nd").replace("\n", "") == (
        "<p>a <kbd>b</kbd></p><blockquote><p>c</p></blockquote><p>d</p>"
    )


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.lists(st.sampled_from(REPEATED)).map("".join))
def test_any_text_can_be_rendered(text: str) -> None:
    assert isinstance(as_html(text), str)
