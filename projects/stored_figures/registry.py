"""Registry of sets of figures, found in a module `figures` of a feature package."""

from typing import Any

from api.registry import Registry

from ..jobs.batches import Progress
from ..models import Project


class FigureSet:
    """Figures that are computed together and stored in one row of `StoredFigures`. Stateless."""

    key: str
    #: Version of the computation. Increase it whenever figures change: rows of other versions are computed anew.
    rule = 1

    def compute(self, project: Project, progress: Progress) -> Any:
        """Return the figures as JSON. Memory must not grow with the number of texts.

        Report done and total items, and a note on the current work, with ``progress``.
        """
        raise NotImplementedError


_SETS: Registry[FigureSet] = Registry(FigureSet, "set of figures", module="figures")
#: Register the sets of a package. Called from ``AppConfig.ready``.
discover = _SETS.discover
register = _SETS.register
get = _SETS.get
every = _SETS.every
