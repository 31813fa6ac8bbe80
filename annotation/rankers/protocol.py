from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from api.problems import Conflict
from api.registry import Registry

#: Name under which lexical ranks are stored; they need no model (`rankers.lexical`).
BY_WORDS = "words: BM25, 1"


class NotReady(Conflict):
    """The ranker cannot rank on this installation. The message gives the reason and the remedy."""


class Comparer(Protocol):
    """A loaded ranker."""

    def similarities(self, targets: Sequence[str], sentences: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the similarities of t targets to the n sentences of one abstract.

        The result has t rows of n values; larger is more similar.
        """


class Ranker:
    """A ranking method.

    The ranks of an abstract must not depend on other abstracts, because ranks are stored by content.
    """

    key: str
    title: str
    #: Queue whose workers can run this ranker.
    queue: str = "default"
    #: Label of the parameter ``model``; empty if the ranker has none.
    takes: str = ""

    def name(self, model: str) -> str:
        """Return the name that ranks are stored under. It must change if the ranking changes. Raise `NotReady`."""
        raise NotImplementedError

    def open(self, model: str) -> Comparer:
        """Load the ranker. Raise `NotReady`."""
        raise NotImplementedError

    def vectors(self, model: str, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Return a vector per text, if the ranker compares vectors. Raise `NotReady`."""
        raise NotReady(f"The ranker {self.key} has no vectors.")


_RANKERS: Registry[Ranker] = Registry(Ranker, "ranker")
discover = _RANKERS.discover
get = _RANKERS.get
every = _RANKERS.every
