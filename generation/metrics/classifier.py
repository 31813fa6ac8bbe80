"""What a classifier of directions is asked, by which names, and where a trained one lies."""

from collections.abc import Sequence
from typing import Protocol

from measures.direction import CLASSES, Distribution

from ..backends import weights
from ..backends.protocol import BackendError
from .protocol import MetricError, Params

#: Parameter -> class, in the order of `CLASSES`.
LABELS = dict(zip(("decreases", "no_change", "increases"), CLASSES, strict=True))
#: (text, intervention, outcome)
Asked = tuple[str, str, str]


class Classifier(Protocol):
    def directions(self, asked: Sequence[Asked]) -> list[Distribution]:
        """For each, a distribution over `CLASSES`."""


def folder(params: Params) -> weights.Folder:
    """Where the classifier lies. Raises `MetricError`."""
    try:
        return weights.find(params["model"], params["revision"])
    except BackendError as error:
        raise MetricError(str(error)) from None
