"""By the cosine of sentence embeddings: any encoder in a folder of sentence-transformers, with the pooling it names."""

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec

from annotation.rankers import Comparer, NotReady, Ranker

from ..backends.extractive.encoder import facts_of
from ..backends.extractive.methods import Encoder
from ..backends.protocol import BackendError

#: Raised whenever what is done with the vectors changes.
VERSION = 1


class EmbeddingRanker(Ranker):
    """A sentence encoder below ``MODELS_DIR``. CLS or mean pooling is what its own ``modules.json`` says."""

    key = "embeddings"
    title = "Sentence embeddings (cosine)"
    queue = "gpu"
    takes = "Encoder (a folder below the models' folder)"

    def name(self, model: str) -> str:
        """With the first 12 digits of a SHA-256 over its files and the libraries that read them."""
        try:
            facts = facts_of(model)
        except BackendError as wrong:
            raise NotReady(str(wrong)) from wrong
        digest = sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return f"embeddings: {model}, {digest[:12]}, {VERSION}"

    def open(self, model: str) -> Comparer:
        if find_spec("sentence_transformers") is None:
            raise NotReady("This worker has no sentence-transformers: see requirements/gpu.txt.")
        from ..neural.encoders.embedding import SentenceEncoder, device

        try:
            return _Cosines(SentenceEncoder(model, device()))
        except BackendError as wrong:
            raise NotReady(str(wrong)) from wrong


class _Cosines:
    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def similarities(self, targets: Sequence[str], sentences: Sequence[str]) -> list[list[float]]:
        vectors = self._encoder.encode([*targets, *sentences])
        found: list[list[float]] = (vectors[: len(targets)] @ vectors[len(targets) :].T).tolist()
        return found
