"""Rankers: they order the sentences of a study's abstract by similarity to a target.

Each ranker is one module. They are discovered here and in `generation/rankers/`, which has the encoders.
"""

from .protocol import Comparer, NotReady, Ranker, discover, every, get

__all__ = ["Comparer", "NotReady", "Ranker", "discover", "every", "get"]
