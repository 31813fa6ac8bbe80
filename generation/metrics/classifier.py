"""The interface of direction classifiers, the names of their classes, and the folder of a trained one."""

from collections.abc import Sequence
from typing import Protocol

from measures.direction import CLASSES, Distribution

from ..backends import weights
from ..backends.protocol import BackendError
from .protocol import MetricError, Params

#: Maps each parameter to its class, in the order of `CLASSES`.
LABELS = dict(zip(("decreases", "no_change", "increases"), CLASSES, strict=True))
#: (text, intervention, outcome)
ClassifierItem = tuple[str, str, str]


class Classifier(Protocol):
    def directions(self, items: Sequence[ClassifierItem]) -> list[Distribution]:
        """Return a distribution over `CLASSES` for each item."""


def folder(params: Params) -> weights.Folder:
    """Return the folder of the classifier. Raise `MetricError` if there is none."""
    try:
        return weights.find(params["model"], params["revision"])
    except BackendError as error:
        raise MetricError(str(error)) from None
