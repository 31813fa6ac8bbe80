"""The steps that apps know of, and those of a project."""

from collections.abc import Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from api.registry import Registry

from ...models import Project
from .step import Next, Step, Stretch

_STRETCHES: Registry[Stretch] = Registry(Stretch, "step")
discover = _STRETCHES.discover


def of(project: Project) -> dict[str, Any]:
    """The steps of a project in their order, what comes next, and what follows that. A fixed number of queries."""
    found: list[tuple[str, Step]] = [
        step for one in sorted(_STRETCHES.every(), key=attrgetter("order")) for step in one.steps(project)
    ]
    ahead = _in_turn([step.next for _, step in found if step.next])
    is_free = not ahead or ahead[0].turn == "last"
    return {
        "steps": [asdict(step) | {"key": key} for key, step in found],
        "next": asdict(ahead[0]) if ahead else None,
        "then": [each.words for each in ahead[1:3]],
        "options": [asdict(one) for _, step in found for one in step.options] if is_free else [],
    }


def _in_turn(ahead: Sequence[Next]) -> Sequence[Next]:
    """What people have done waits for the lead first; what comes last is said when it is all that is left."""
    waiting = [one for one in ahead if one.turn == "first"]
    others = [one for one in ahead if one.turn == "in turn"]
    return [*waiting, *others] or ahead
