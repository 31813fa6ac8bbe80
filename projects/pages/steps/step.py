"""One step of a project's way: what its page says of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...models import Project

#: How far a step is.
Begun = Literal["to do", "begun", "done"]
#: When something is done: before anything new is begun, in its turn, or once nothing else is to do.
Turn = Literal["first", "in turn", "last"]


@dataclass(frozen=True)
class Next:
    """What a lead does next, as one button: ``words`` in the imperative, why, and the page below the project's own.
    ``also``: what is worth a look before it, and its page; empty where nothing is."""

    words: str
    why: str
    button: str
    page: str
    also: str = ""
    also_page: str = ""
    turn: Turn = "in turn"


@dataclass(frozen=True)
class Step:
    """``count`` of what ``of`` says; None where nothing is counted. ``page``: below the project's own. ``done`` of
    ``wanted`` where it is under way. ``next``: None where nobody has to do anything for it now. ``options``: what
    may be left out, to be offered once nothing else is to do."""

    title: str
    count: int | None
    of: str
    state: Begun
    page: str
    done: int = 0
    wanted: int = 0
    next: Next | None = None
    options: Sequence[Next] = ()


class Stretch:
    """A part of the way: a class in a module of an app's folder of steps. ``order``: where it stands, by tens.

    A stretch says `step`, or `steps` where several are read together."""

    key: str
    order: int

    def steps(self, project: Project) -> Iterable[tuple[str, Step]]:
        """The steps of a project with their keys, in order. A fixed number of queries."""
        step = self.step(project)
        return [] if step is None else [(self.key, step)]

    def step(self, project: Project) -> Step | None:
        """The step of a project; None where it is not on its way. A fixed number of queries."""
        raise NotImplementedError
