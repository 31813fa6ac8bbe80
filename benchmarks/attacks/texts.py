"""Markdown that takes long to render, previewed and written as guidelines by one account."""

import json

from .bounds import Attack

#: Characters of a text. Longer ones, up to what the API takes, are the same attack with fewer requests.
SIZE = 4_000
PAUSE, SENDERS = 0.25, 4
#: What is repeated: each makes another part of a renderer look back, or nest.
SHAPES = (
    "[", "![", "[a](", "*a ", "**a", "_a_", "`a", "> ", "- ", "<a ", "&a", "|a\n|-\n", "[a]: b\n", "1. a\n ", "a\n=\n",
    "\\", "<!--", "[a][", "<b>", "***a",
)  # fmt: skip


def bombs(attack: Attack) -> None:
    """Four senders: a shape at the preview, the next as a new version of a guideline, and that version read. The first
    shape, the worst that was found, comes every other time."""

    def work(number: int) -> None:
        for strike in attack.strikes(PAUSE):
            shape = SHAPES[0] if strike % 2 else SHAPES[strike // 2 % len(SHAPES)]
            # Another text each time: what was rendered is kept for a while.
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
