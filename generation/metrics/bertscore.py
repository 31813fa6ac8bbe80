"""BERTScore of each summary against each of its references, with a configurable encoder."""

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from api.parameters import Parameter, Takes

from ..backends import weights
from .protocol import Figure, Judged, MetricError, Params, Row, baseline

EMPTY_REFERENCE = "the reference is empty"


class BertScoreMetric:
    key = "bertscore"
    name = "BERTScore"
    description = (
        "Greedy matching of contextual embeddings, without idf. Texts are cut at the longest input of the encoder, 512 "
        "tokens at most. Figures of other weights, layers or with rescaling are not comparable."
    )
    parameters: tuple[Parameter, ...] = (
        Parameter(
            "model",
            Takes.TEXT,
            "Encoder",
            "roberta-large",
            required=True,
            help="A folder below the models folder, or a hub ID (FacebookAI/roberta-large, as in MSLR).",
        ),
        weights.REVISION,
        Parameter(
            "layers",
            Takes.INTEGER,
            "Layer",
            17,
            minimum=1,
            maximum=200,
            required=True,
            help="Encoder layer: 17 for roberta-large.",
        ),
        Parameter(
            "rescale",
            Takes.SWITCH,
            "Rescale with baseline",
            False,
            help="Uses the baseline file of bert-score for an encoder of this name. M3 and MSLR did not.",
        ),
    )
    figures: tuple[Figure, ...] = tuple(
        Figure(
            f"bertscore_{part}",
            f"BERTScore {words}",
            decimals=3,
            bounds=(-math.inf, 1.0),
            better="higher",
            headline=part == "f1",
        )
        for part, words in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
    )
    has_corpus = False

    def needs_torch(self, params: Params) -> bool:
        return True

    def check(self, params: Params) -> None:
        # This check is skipped where bert-score is not installed. The worker has it, and checks again.
        if params["rescale"] and find_spec("bert_score") is not None:
            baseline(params["model"])

    def libraries(self, params: Params) -> dict[str, Any]:
        from ..neural.encoders import bertscore

        return bertscore.facts(params)

    def load(self, params: Params) -> "BertScorer":
        return BertScorer(params)


class BertScorer:
    """Scores whole batches, so that the encoder encodes every text of a batch once."""

    def __init__(self, params: Params) -> None:
        from ..neural.encoders import bertscore

        self.encoder = bertscore.load(params)

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        pairs = [
            (judged.text, reference.text)
            for judged in batch
            for reference in judged.material.references
            if judged.text.strip() and reference.text.strip()
        ]
        scores = dict(zip(pairs, self.encoder.score(pairs), strict=True))
        return [
            [self._row(r.unit, judged.text, r.text, scores) for r in judged.material.references] for judged in batch
        ]

    def _row(self, unit: int, text: str, reference: str, scores: Mapping[tuple[str, str], Sequence[float]]) -> Row:
        names = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
        if not reference.strip():
            return Row(unit, dict.fromkeys(names), dict.fromkeys(names, EMPTY_REFERENCE))
        # An empty text matches nothing: 0 before rescaling, as in bert-score.
        values = scores[text, reference] if text.strip() else self.encoder.of_nothing
        return Row(unit, dict(zip(names, values, strict=True)))

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        raise MetricError("This metric has no corpus figures.")
