"""Convert user-written Markdown to safe HTML: render it, flatten it, then reduce it to an allow-list.

All steps take time linear in the length of the text. The last step reads HTML as browsers do. It is linear only if
elements close in order and are not nested too deeply, which the second step ensures.
"""

import re
from collections import Counter
from functools import lru_cache

import nh3
import pyromark

#: Maximum length of a Markdown text in characters: about 8000 words.
MAX_LENGTH = 50_000
#: Maximum nesting depth of elements. Deeper elements are shown at this depth.
MAX_DEPTH = 40
TAGS = {
    "a",
    "blockquote",
    "br",
    "code",
    "dd",
    "del",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
#: No class, style, id or event attributes, because they could affect the rest of the page. No images, because they
#: would load external files.
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}
SCHEMES = {"http", "https", "mailto"}
_EMPTY = {"br", "hr"}
#: The page has its own first-level heading. If the text has one too, all headings of the text move down one level.
_BELOW = {f"h{level}": f"h{min(level + 1, 6)}" for level in range(1, 7)}
_FIRST = re.compile(r"<h1\b", re.IGNORECASE)
# Match markup that is removed with its content (up to the end of the text if it is not closed), or a single tag.
_PIECE = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<whole>script|style)\b(?:.*?</(?P=whole)\s*+>|.*)|<[!?][^<>]*+>"
    r"|<(?P<close>/?)(?P<tag>[a-z][a-z0-9]*)\b(?P<attributes>[^<>]*+)>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([a-z]++)\s*+=\s*+("[^"]*"|'[^']*'|[^\s"'=]++)""", re.IGNORECASE)


@lru_cache(maxsize=64)
def as_html(text: str) -> str:
    """Return the HTML of a Markdown text with tables. Raw HTML in the text is reduced to the allow-list."""
    html = pyromark.html(text, options=pyromark.Options.ENABLE_TABLES)
    return nh3.clean(
        _flat(html), tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel="noopener noreferrer nofollow"
    )


def _flat(html: str) -> str:
    """Return the HTML with allowed elements only, closed in order and nested at most `MAX_DEPTH` deep."""
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
        elif len(open_) < MAX_DEPTH:
            open_.append(tag)
            out.append(f"<{tag}{_attributes(tag, piece['attributes'])}>")
        else:
            too_deep[tag] += 1
    out.append(_text(html[at:]))
    out.extend(f"</{tag}>" for tag in reversed(open_))
    return "".join(out)


def _text(between: str) -> str:
    """Escape the brackets in text between tags."""
    return between.replace("<", "&lt;")


def _attributes(tag: str, source: str) -> str:
    allowed = ATTRIBUTES.get(tag, ())
    attributes = ((name.lower(), value.strip("\"'")) for name, value in _ATTRIBUTE.findall(source))
    return "".join(f' {name}="{value.replace(chr(34), "&quot;")}"' for name, value in attributes if name in allowed)
