"""Markdown that people wrote, as HTML that is safe to show: rendered, made flat, then reduced to an allow-list.

All three take time in proportion to the text. The first does by itself. The last, which reads HTML as browsers do, only
while elements close in their order and are not nested without end: that is what the second is for.
"""

import re
from collections import Counter
from functools import lru_cache

import nh3
import pyromark

#: The most characters of a text that is written to be read as Markdown: some 8000 words.
LONGEST = 50_000
#: How deep elements may be nested: what goes deeper is shown at this depth.
DEEPEST = 40
TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "kbd",
    "li", "mark", "ol", "p", "pre", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
#: No class, style, id, or event: nothing that could reach the page's own parts. No images: nothing is loaded.
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}
SCHEMES = {"http", "https", "mailto"}
_EMPTY = {"br", "hr"}
#: The page that shows a text has its own first heading: where the text has one too, all of its stand one below.
_BELOW = {f"h{level}": f"h{min(level + 1, 6)}" for level in range(1, 7)}
_FIRST = re.compile(r"<h1\b", re.IGNORECASE)
# What is left out with all that is in it, if need be to the end; or a tag, which holds no other one.
_PIECE = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<whole>script|style)\b(?:.*?</(?P=whole)\s*+>|.*)|<[!?][^<>]*+>"
    r"|<(?P<close>/?)(?P<tag>[a-z][a-z0-9]*)\b(?P<attributes>[^<>]*+)>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([a-z]++)\s*+=\s*+("[^"]*"|'[^']*'|[^\s"'=]++)""", re.IGNORECASE)


@lru_cache(maxsize=64)
def as_html(text: str) -> str:
    """The HTML of a Markdown text with tables. Raw HTML in it survives only as far as the allow-list goes."""
    html = pyromark.html(text, options=pyromark.Options.ENABLE_TABLES)
    return nh3.clean(
        _flat(html), tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel="noopener noreferrer nofollow"
    )  # fmt: skip


def _flat(html: str) -> str:
    """The same, of elements that are allowed, closed in their order, and nested no deeper than `DEEPEST`."""
    out: list[str] = []
    open_: list[str] = []
    too_deep: Counter[str] = Counter()
    below = _BELOW if _FIRST.search(html) else {}
    at = 0
    for piece in _PIECE.finditer(html):
        out.append(_text(html[at : piece.start()]))
        at = piece.end()
        tag = (piece["tag"] or "").lower()
        if tag not in TAGS:
            continue
        tag = below.get(tag, tag)
        if piece["close"]:
            if too_deep[tag]:
                too_deep[tag] -= 1
            elif tag in open_:
                while (last := open_.pop()) != tag:
                    out.append(f"</{last}>")
                out.append(f"</{tag}>")
        elif tag in _EMPTY:
            out.append(f"<{tag}>")
        elif len(open_) < DEEPEST:
            open_.append(tag)
            out.append(f"<{tag}{_attributes(tag, piece['attributes'])}>")
        else:
            too_deep[tag] += 1
    out.append(_text(html[at:]))
    out.extend(f"</{tag}>" for tag in reversed(open_))
    return "".join(out)


def _text(between: str) -> str:
    """What stands between tags; a bracket there is none of a tag."""
    return between.replace("<", "&lt;")


def _attributes(tag: str, given: str) -> str:
    allowed = ATTRIBUTES.get(tag, ())
    found = ((name.lower(), value.strip("\"'")) for name, value in _ATTRIBUTE.findall(given))
    return "".join(f' {name}="{value.replace(chr(34), "&quot;")}"' for name, value in found if name in allowed)
