"""All attacks by name."""

from collections.abc import Callable
from dataclasses import dataclass

from . import bodies, floods, imports, slow, texts, workbooks
from .bounds import Attack


def _nothing(attack: Attack) -> None:
    """Do nothing. Most attacks need no preparation."""


@dataclass(frozen=True)
class Known:
    """An attack, the number of the finding that it repeats or resembles, and its preparation."""

    finding: int
    begin: Callable[[Attack], None]
    prepare: Callable[[Attack], None] = _nothing


ATTACKS = {
    "slow bodies": Known(1, slow.bodies),
    "slow heads, idle connections": Known(1, slow.heads),
    "slow uploads": Known(1, slow.uploads),
    "multipart anywhere": Known(2, bodies.anywhere),
    "markdown": Known(3, texts.bombs),
    "quadratic import": Known(4, imports.quadratic, imports.prepare),
    "workbooks": Known(11, workbooks.bombs),
    "releases": Known(12, floods.releases),
    "uploads": Known(12, floods.uploads),
    "revisions": Known(12, floods.revisions),
}
