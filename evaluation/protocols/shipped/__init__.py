"""Protocols to begin with, in our own words: one JSON file each, the content of a version."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..content import parse
from ..parts import Content

HERE = Path(__file__).parent
#: In the order in which they are offered.
KEYS = ("guideline", "m3-table-3", "m3-table-5", "m3-table-5-blind", "ms2-direction", "mslr-facets", "preference",
        "error-spans")  # fmt: skip


@dataclass(frozen=True)
class Template:
    """A protocol to start from. ``about``: what it is and which publication asks so."""

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
    """A template by its key; KeyError where there is none."""
    return {template.key: template for template in templates()}[key]


def _read(key: str) -> Content:
    return parse(json.loads((HERE / f"{key}.json").read_text(encoding="utf-8")))


def _about(content: Content) -> str:
    """The first paragraph of the instructions."""
    return " ".join(content.instructions.partition("\n\n")[0].split())
