"""Markdown that people wrote, as HTML that is safe to show: rendered, then reduced to an allow-list."""

from functools import lru_cache

import markdown
import nh3

TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "kbd",
    "li", "mark", "ol", "p", "pre", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
#: No class, style, id, or event: nothing that could reach the page's own parts. No images: nothing is loaded.
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}
SCHEMES = {"http", "https", "mailto"}


@lru_cache(maxsize=64)
def as_html(text: str) -> str:
    """The HTML of a Markdown text with tables. Raw HTML in it survives only as far as the allow-list goes."""
    html = markdown.markdown(text, extensions=["tables", "sane_lists"], output_format="html")
    return nh3.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel="noopener noreferrer nofollow"
    )  # fmt: skip
