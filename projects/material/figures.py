"""Stored rows of states by which lists of material are filtered."""

from collections.abc import Collection, Mapping
from typing import Any

from api.pagination import MOST_MATCHES

from ..jobs.batches import Progress
from ..models import Project
from ..stored_figures.queries import stored
from ..stored_figures.registry import FigureSet
from . import registry
from .registry import Material

STATES = "states"


class StateFigures(FigureSet):
    """The ids of the rows in each of `Material.stored_states`, by kind; None for more than a list shows."""

    key = STATES

    def compute(self, project: Project, progress: Progress) -> Any:
        return {kind.key: self._of_kind(project, kind) for kind in registry.every() if kind.stored_states}

    def _of_kind(self, project: Project, kind: Material) -> dict[str, list[int] | None]:
        states, ids = kind.states_of(project), kind.all(project).order_by().values_list("pk", flat=True)
        found = {state: list(ids.filter(states[state][1])[: MOST_MATCHES + 1]) for state in kind.stored_states}
        return {state: rows if len(rows) <= MOST_MATCHES else None for state, rows in found.items()}


def current_states(project: Project) -> Mapping[str, Mapping[str, list[int] | None]]:
    """Return the stored states by kind; empty if they are not current. Two queries."""
    known = stored(project, STATES)
    return dict(known.figures) if known.is_current else {}


def rows_in_state(project: Project, kind: Material, state: str) -> Collection[int] | None:
    """Return the ids of all rows in a state, if they are stored and current. Two queries at most."""
    if state not in kind.stored_states:
        return None
    return current_states(project).get(kind.key, {}).get(state)
