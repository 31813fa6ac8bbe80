"""All attacks, by the name under which the benchmark shows them."""

from collections.abc import Callable
from dataclasses import dataclass

from . import bodies, floods, imports, slow, texts, workbooks
from .bounds import Attack


def _nothing(attack: Attack) -> None:
    """Most attacks need nothing done before time runs."""


@dataclass(frozen=True)
class Known:
    """One attack, the finding that it repeats or is a brother of, and what is done before time runs."""

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
