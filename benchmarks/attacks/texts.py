"""Preview Markdown that takes long to render, and store it as guidelines, with one account."""

import json

from .bounds import Attack

#: Characters of a text. Longer texts would be the same attack with fewer requests.
SIZE = 4_000
PAUSE, SENDERS = 0.25, 4
#: Repeated parts. Each causes backtracking or nesting in another part of a renderer.
SHAPES = (
    "[",
    "![",
    "[a](",
    "*a ",
    "**a",
    "_a_",
    "`a",
    "> ",
    "- ",
    "<a ",
    "&a",
    "|a\n|-\n",
    "[a]: b\n",
    "1. a\n ",
    "a\n=\n",
    "\\",
    "<!--",
    "[a][",
    "<b>",
    "***a",
)


def bombs(attack: Attack) -> None:
    """Run four senders: preview one shape, store the next as a guideline version, and read that version.

    The first shape is the most expensive known one and is used every second time.
    """

    def work(number: int) -> None:
        for strike in attack.strikes(PAUSE):
            shape = SHAPES[0] if strike % 2 else SHAPES[strike // 2 % len(SHAPES)]
            # The text changes each time, because rendered texts are cached.
            text = f"{strike}\n\n" + (shape * SIZE)[:SIZE]
            _strike(attack, text, write=strike % 3 == 0)

    attack.side_by_side(SENDERS, work)


def _strike(attack: Attack, text: str, *, write: bool) -> None:
    if not write:
        attack.strike("POST", "/api/v1/guideline-preview/", json.dumps({"text": text}).encode())
        return
    path = f"/api/v1/projects/{attack.slug}/guidelines/"
    status, found = attack.strike("POST", path, json.dumps({"kind": "label", "text": text}).encode())
    if status == 201:
        attack.strike("GET", f"{path}{json.loads(found)['id']}/")
