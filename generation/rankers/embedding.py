"""Rank by cosine similarity of sentence embeddings, with any encoder in the sentence-transformers format."""

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.rankers import Comparer, NotReady, Ranker

from ..backends.extractive.encoder import facts_of
from ..backends.extractive.methods import Encoder
from ..backends.protocol import BackendError

#: Version of the ranking rule. Increase it with any change that can change a ranking.
VERSION = 1


class EmbeddingRanker(Ranker):
    """A sentence encoder below ``MODELS_DIR``. Its ``modules.json`` selects CLS or mean pooling."""

    key = "embeddings"
    title = "Sentence embeddings (cosine)"
    queue = "gpu"
    takes = "Encoder (a folder below the models folder)"

    def name(self, model: str) -> str:
        """Return the name of the ranker, with the first 12 digits of a SHA-256 over the encoder files and library
        versions.
        """
        try:
            facts = facts_of(model)
        except BackendError as error:
            raise NotReady(str(error)) from error
        digest = sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return f"embeddings: {model}, {digest[:12]}, {VERSION}"

    def open(self, model: str) -> Comparer:
        return _Cosines(self._encoder(model))

    def vectors(self, model: str, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        return self._encoder(model).encode(texts)

    def _encoder(self, model: str) -> Encoder:
        if find_spec("sentence_transformers") is None:
            raise NotReady("sentence-transformers is not installed on this worker: see requirements/gpu.txt.")
        from ..neural.encoders.embedding import SentenceEncoder, device

        try:
            return SentenceEncoder(model, device())
        except BackendError as error:
            raise NotReady(str(error)) from error


class _Cosines:
    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def similarities(self, targets: Sequence[str], sentences: Sequence[str]) -> list[list[float]]:
        vectors = self._encoder.encode([*targets, *sentences])
        cosines: list[list[float]] = (vectors[: len(targets)] @ vectors[len(targets) :].T).tolist()
        return cosines
