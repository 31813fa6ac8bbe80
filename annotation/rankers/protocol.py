"""What a ranker is."""

from collections.abc import Sequence
from typing import Protocol

from api.problems import Conflict
from api.registry import Registry


class NotReady(Conflict):
    """A ranker cannot rank here; the message says why, and what helps."""


class Comparer(Protocol):
    """A ranker that is loaded."""

    def similarities(self, targets: Sequence[str], sentences: Sequence[str]) -> Sequence[Sequence[float]]:
        """Of each of t targets to each of the n sentences of one abstract: t rows of n, larger is nearer."""


class Ranker:
    """One way to rank. What it says of an abstract must not depend on other abstracts: ranks are kept by content."""

    key: str
    title: str
    #: The queue whose workers have what it needs.
    queue: str = "default"
    #: What ``model`` names; empty where it takes none.
    takes: str = ""

    def name(self, model: str) -> str:
        """What ranks are kept under: another name wherever it would rank otherwise. Raises `NotReady`."""
        raise NotImplementedError

    def open(self, model: str) -> Comparer:
        """Load it. Raises `NotReady`."""
        raise NotImplementedError


_RANKERS: Registry[Ranker] = Registry(Ranker, "ranker")
discover = _RANKERS.discover
get = _RANKERS.get
every = _RANKERS.every
