"""What ranks the sentences of a study's abstract by how near they are to a target: one module each, found here and in
the app above that has the encoders (`generation/rankers/`)."""

from .protocol import Comparer, NotReady, Ranker, discover, every, get

__all__ = ["Comparer", "NotReady", "Ranker", "discover", "every", "get"]
