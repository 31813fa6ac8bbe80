"""BERTScore of each summary against each of its references, from weights by their path."""

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from api.parameters import Parameter, Takes

from ..backends import weights
from .encoder import baseline
from .protocol import Figure, Judged, MetricError, Params, Row

EMPTY_REFERENCE = "the reference is empty"


class BertScoreMetric:
    key = "bertscore"
    name = "BERTScore"
    description = (
        "Greedy matching of contextual embeddings, without idf. Texts are cut at the longest input of the encoder, 512 "
        "tokens at most. Figures of other weights, layers or with rescaling are not comparable."
    )
    parameters: tuple[Parameter, ...] = (
        Parameter("model", Takes.TEXT, "Encoder", "roberta-large", required=True,
                  help="A folder below the models' folder, or a hub id (FacebookAI/roberta-large, as MSLR)."),
        weights.REVISION,
        Parameter("layers", Takes.INTEGER, "Layer", 17, minimum=1, maximum=200, required=True,
                  help="Whose output is compared: 17 for roberta-large."),
        Parameter("rescale", Takes.SWITCH, "Rescale with baseline", False,
                  help="By the file that bert-score has for an encoder of this name. M3 and MSLR did not."),
    )  # fmt: skip
    figures: tuple[Figure, ...] = tuple(
        Figure(
            f"bertscore_{part}", f"BERTScore {words}", decimals=3, bounds=(-math.inf, 1.0), better="higher",
            headline=part == "f1",
        )
        for part, words in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
    )  # fmt: skip
    has_corpus = False

    def needs_torch(self, params: Params) -> bool:
        return True

    def check(self, params: Params) -> None:
        # A machine without bert-score cannot tell; the worker, which has it, looks again.
        if params["rescale"] and find_spec("bert_score") is not None:
            baseline(params["model"])

    def libraries(self, params: Params) -> dict[str, Any]:
        from ..neural.encoders import bertscore

        return bertscore.facts(params)

    def load(self, params: Params) -> "BertScorer":
        return BertScorer(params)


class BertScorer:
    """Scores whole batches: the encoder sees every text of a batch once."""

    def __init__(self, params: Params) -> None:
        from ..neural.encoders import bertscore

        self.encoder = bertscore.load(params)

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        asked = [
            (judged.text, reference.text)
            for judged in batch
            for reference in judged.material.references
            if judged.text.strip() and reference.text.strip()
        ]
        found = dict(zip(asked, self.encoder.score(asked), strict=True))
        return [
            [self._row(r.unit, judged.text, r.text, found) for r in judged.material.references] for judged in batch
        ]  # fmt: skip

    def _row(self, unit: int, text: str, reference: str, found: Mapping[tuple[str, str], Sequence[float]]) -> Row:
        names = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
        if not reference.strip():
            return Row(unit, dict.fromkeys(names), dict.fromkeys(names, EMPTY_REFERENCE))
        # Nothing matches nothing: 0 before rescaling, as bert-score says of an empty text.
        values = found[text, reference] if text.strip() else self.encoder.of_nothing
        return Row(unit, dict(zip(names, values, strict=True)))

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        raise MetricError("This metric has no figure of the whole corpus.")
