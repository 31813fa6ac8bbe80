"""Workflow stages of a project, their state and their next actions."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, Literal

from api.registry import Registry
from projects.models import Project

#: The state of a step.
Begun = Literal["to do", "begun", "done"]
#: Priority of an action: before any new work, in the order of the stages, or if nothing else is to do.
Turn = Literal["first", "in turn", "last"]


@dataclass(frozen=True)
class Next:
    """The next action of a lead, shown as a button.

    ``words`` is an imperative. ``page`` is a path relative to the project. ``also`` and ``also_page`` are an optional
    second link.
    """

    words: str
    why: str
    button: str
    page: str
    also: str = ""
    also_page: str = ""
    turn: Turn = "in turn"
    #: Whether the action is optional for a data set. Optional actions are listed separately.
    is_optional: bool = False


@dataclass(frozen=True)
class Step:
    """The state of a workflow stage.

    ``count`` is None if the stage has no count; ``of`` is the label after it. ``page`` is relative to the project.
    ``done`` and ``wanted`` are the progress. ``next`` is None if the stage needs no action now. ``options`` are
    optional actions, offered if nothing else is to do.
    """

    title: str
    count: int | None
    of: str
    state: Begun
    page: str
    done: int = 0
    wanted: int = 0
    next: Next | None = None
    options: Sequence[Next] = ()


class WorkflowStage:
    """A workflow stage, found in a module `workflow` of a feature package. ``order`` is its position, in tens.

    A subclass defines `step`, or `steps` if it has several.
    """

    key: str
    order: int

    def steps(self, project: Project) -> Iterable[tuple[str, Step]]:
        """Return the steps of a project with their keys, in order. Uses a fixed number of queries."""
        step = self.step(project)
        return [] if step is None else [(self.key, step)]

    def step(self, project: Project) -> Step | None:
        """Return the step of a project, or None if it does not apply. Uses a fixed number of queries."""
        raise NotImplementedError


_STRETCHES: Registry[WorkflowStage] = Registry(WorkflowStage, "step", module="workflow")
discover = _STRETCHES.discover


def of(project: Project) -> dict[str, Any]:
    """Return the steps of a project, its next actions and its optional actions. Uses a fixed number of queries."""
    found: list[tuple[str, Step]] = [
        step for one in sorted(_STRETCHES.every(), key=attrgetter("order")) for step in one.steps(project)
    ]
    following = [step.next for _, step in found if step.next]
    ahead = _in_turn([each for each in following if not each.is_optional])
    optional = [each for each in following if each.is_optional]
    if not ahead or ahead[0].turn == "last":
        optional += [one for _, step in found for one in step.options]
    return {
        "steps": [asdict(step) | {"key": key} for key, step in found],
        "next": asdict(ahead[0]) if ahead else None,
        "then": [asdict(each) for each in ahead[1:3]],
        "options": [asdict(one) for one in optional],
    }


def _in_turn(ahead: Sequence[Next]) -> Sequence[Next]:
    """Sort next actions. Actions on finished work come first; "last" actions are used only if there is no other."""
    waiting = [one for one in ahead if one.turn == "first"]
    others = [one for one in ahead if one.turn == "in turn"]
    return [*waiting, *others] or ahead
