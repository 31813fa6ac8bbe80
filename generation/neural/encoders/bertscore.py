"""BERTScore by bert-score's own matching, with the encoder loaded strictly and cut at the wanted layer.

bert-score 0.3.13 loads an encoder by its name: it takes every path with "t5" in it for a T5, and knows nothing of
weights that are missing. Its tokenising breaks on an empty text and on a tokenizer without a longest input. So we load,
set the longest input, and leave empty texts out; the figures are those of its ``bert_cos_score_idf``.
"""

import csv
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import torch
from bert_score.utils import bert_cos_score_idf, get_hash
from transformers import AutoModel, AutoTokenizer

from ...backends import weights
from ...backends.protocol import BackendError
from ...metrics.encoder import baseline, folder
from ...metrics.protocol import MetricError, Params

#: Longer texts are cut, as bert-score does with the encoders that it was tuned on.
LONGEST = 512
BATCH = 64
#: What an encoder has beside its layers, and BERTScore never looks at.
UNUSED = ("pooler.",)

Prf = tuple[float, float, float]


def facts(params: Params) -> dict[str, Any]:
    """Versions, hashes of weights and tokenizer, and bert-score's own hash string."""
    where = folder(params)
    try:
        found = weights.hashes(weights.Folder(where))
    except BackendError as error:
        raise MetricError(str(error)) from None
    rescale = params["rescale"]
    said = get_hash(params["model"], params["layers"], False, rescale, False, True)
    return {
        "bert-score": version("bert-score"), **weights.libraries(), "hash": said, "weights": found["weights"],
        "tokenizer": found["tokenizer"], "config": found["config"], "texts": f"cut at {LONGEST} tokens",
        "baseline": baseline(params["model"]).name if rescale else "",
    }  # fmt: skip


def load(params: Params) -> "Encoder":
    """Raises `MetricError` where a weight is missing or the encoder has no such layer."""
    where = folder(params)
    try:
        weights.shards(where)
    except BackendError as error:
        raise MetricError(str(error)) from None
    try:
        model, report = AutoModel.from_pretrained(
            where, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **weights.STRICTLY
        )
        tokenizer = AutoTokenizer.from_pretrained(where, **weights.STRICTLY)
    except weights.UNLOADABLE as wrong:
        raise MetricError(f"The encoder cannot be loaded: {weights.said(wrong, where)}") from wrong
    if missing := sorted(name for name in report["missing_keys"] if not name.startswith(UNUSED)):
        raise MetricError(
            f"The weights lack {missing[0]} and {len(missing) - 1} more: random numbers would stand there."
        )
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if layers is None:
        raise MetricError(f"A {model.config.model_type} is no encoder such as BERT, RoBERTa or DeBERTa.")
    if params["layers"] > len(layers):
        raise MetricError(f"This encoder has {len(layers)} layers, no layer {params['layers']}.")
    model.encoder.layer = torch.nn.ModuleList(layers[: params["layers"]])
    tokenizer.model_max_length = min(tokenizer.model_max_length, LONGEST, _positions(model.config))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Encoder(model.to(device).eval(), tokenizer, device, _baseline(params))


def _positions(config: Any) -> int:
    """Positions for tokens: RoBERTa's begin behind its padding id."""
    offset = config.pad_token_id + 1 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return int(config.max_position_embeddings) - offset


def _baseline(params: Params) -> Prf | None:
    if not params["rescale"]:
        return None
    with baseline(params["model"]).open(encoding="utf-8", newline="") as file:
        rows = {int(row["LAYER"]): row for row in csv.DictReader(file)}
    row = rows[params["layers"]]
    return float(row["P"]), float(row["R"]), float(row["F"])


class Encoder:
    def __init__(self, model: Any, tokenizer: Any, device: str, baseline: Prf | None) -> None:
        self.model, self.tokenizer, self.device, self.baseline = model, tokenizer, device, baseline

    @property
    def of_nothing(self) -> Prf:
        """What an empty summary gets."""
        return self._rescaled((0.0, 0.0, 0.0))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Prf]:
        """(precision, recall, F1) of each (summary, reference), neither empty."""
        if not pairs:
            return []
        weight: defaultdict[int, float] = defaultdict(lambda: 1.0)
        weight[self.tokenizer.sep_token_id] = weight[self.tokenizer.cls_token_id] = 0.0
        found = bert_cos_score_idf(
            self.model, [reference for _, reference in pairs], [text for text, _ in pairs], self.tokenizer, weight,
            device=self.device, batch_size=BATCH,
        )  # fmt: skip
        return [self._rescaled((p, r, f)) for p, r, f in found.cpu().tolist()]

    def _rescaled(self, values: Prf) -> Prf:
        if self.baseline is None:
            return values
        p, r, f = ((value - low) / (1 - low) for value, low in zip(values, self.baseline, strict=True))
        return p, r, f
