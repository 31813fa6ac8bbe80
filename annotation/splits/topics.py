"""Topics from titles: clusters of their vectors. Only workers and commands import scikit-learn."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rankers import get
from .near import NotInstalled

#: Number of nearest titles that a title can be merged with. All pairs of 20,000 titles would need 3.3 GB.
NEIGHBOURS = 15
#: Number of dimensions of the vectors of words, where there is no encoder.
DIMENSIONS = 100
#: Number of words that name a topic.
NAMED_BY = 3
#: Key of the ranker whose models encode titles.
ENCODERS = "embeddings"


def topics_of(titles: Sequence[str], *, count: int, encoder: str = "") -> list[str]:
    """Return the topic of each title: the most typical words of its cluster. "" for a title without words.

    The vectors are those of ``encoder``, a folder below the models folder, else weighted words (TF-IDF). Clusters are
    merged by Ward's method along the `NEIGHBOURS` nearest titles. Raise `NotInstalled` and `NotReady`.
    """
    if find_spec("sklearn") is None:
        raise NotInstalled("Topics from titles", "scikit-learn")
    from sklearn.feature_extraction.text import TfidfVectorizer

    written = [n for n, title in enumerate(titles) if title.strip()]
    texts = [titles[n] for n in written]
    topics = [""] * len(titles)
    if len(texts) <= count:
        return topics
    vectorizer = TfidfVectorizer(
        stop_words="english", token_pattern=r"[^\W\d_]{3,}", max_features=20_000, dtype=np.float32
    )
    words = vectorizer.fit_transform(texts)
    vectors = get(ENCODERS).vectors(encoder, texts) if encoder else _reduced(words)
    clusters = _clusters(vectors, count)
    names = vectorizer.get_feature_names_out()
    for cluster in range(count):
        members = np.flatnonzero(clusters == cluster)
        typical = np.argsort(-np.asarray(words[members].mean(0)).ravel(), kind="stable")[:NAMED_BY]
        for member in members:
            topics[written[member]] = f"{cluster + 1}: {', '.join(names[typical])}"
    return topics


def _reduced(words: Any) -> NDArray[np.float32]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    dimensions = min(DIMENSIONS, words.shape[1] - 1, words.shape[0] - 1)
    return np.asarray(normalize(TruncatedSVD(dimensions, random_state=0).fit_transform(words)), np.float32)


def _clusters(vectors: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the cluster of each vector, from 0. Clusters are numbered by their first member."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(vectors, min(NEIGHBOURS, len(vectors) - 1), include_self=False)
    found = AgglomerativeClustering(n_clusters=count, connectivity=graph, linkage="ward").fit_predict(vectors)
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
