"""Shipped protocol templates. Each is a JSON file with the content of a version, in Concord's own words."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..content import parse
from ..parts import Content

HERE = Path(__file__).parent
#: In the order in which they are offered.
KEYS = (
    "guideline",
    "m3-table-3",
    "m3-table-5",
    "m3-table-5-blind",
    "ms2-direction",
    "mslr-facets",
    "preference",
    "best-worst",
    "direct-assessment",
    "error-spans",
)


@dataclass(frozen=True)
class Template:
    """A protocol template. ``about`` describes it and names the publication it follows."""

    key: str
    about: str
    content: Content

    @property
    def name(self) -> str:
        return self.content.title


@cache
def templates() -> tuple[Template, ...]:
    return tuple(Template(key, _about(content), content) for key, content in ((key, _read(key)) for key in KEYS))


def get(key: str) -> Template:
    """Return a template by its key. Raise `KeyError` if there is none."""
    return {template.key: template for template in templates()}[key]


def _read(key: str) -> Content:
    return parse(json.loads((HERE / f"{key}.json").read_text(encoding="utf-8")))


def _about(content: Content) -> str:
    """Return the first paragraph of the instructions."""
    return " ".join(content.instructions.partition("\n\n")[0].split())
