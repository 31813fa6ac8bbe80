"""BERTScore with the matching of bert-score, and an encoder that is loaded strictly and truncated at the chosen layer.

bert-score 0.3.13 loads encoders by name: it treats every path that contains "t5" as a T5, and does not detect missing
weights. Its tokenization fails on an empty text and on a tokenizer without a maximum length. This module therefore
loads the encoder, sets the maximum length and skips empty texts. Scores are those of ``bert_cos_score_idf``.
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
from ...metrics.protocol import MetricError, Params, baseline, folder

#: Longer texts are truncated, as in bert-score with its tuned encoders.
LONGEST = 512
BATCH = 64
#: Prefixes of encoder weights that BERTScore does not use.
UNUSED = ("pooler.",)

Prf = tuple[float, float, float]


def facts(params: Params) -> dict[str, Any]:
    """Return versions, hashes of weights and tokenizer, and the hash string of bert-score."""
    path = folder(params)
    try:
        hashes = weights.hashes(weights.Folder(path))
    except BackendError as error:
        raise MetricError(str(error)) from None
    rescale = params["rescale"]
    bert_score_hash = get_hash(params["model"], params["layers"], False, rescale, False, True)
    return {
        "bert-score": version("bert-score"),
        **weights.libraries(),
        "hash": bert_score_hash,
        "weights": hashes["weights"],
        "tokenizer": hashes["tokenizer"],
        "config": hashes["config"],
        "texts": f"cut at {LONGEST} tokens",
        "baseline": baseline(params["model"]).name if rescale else "",
    }


def load(params: Params) -> "Encoder":
    """Load the encoder. Raise `MetricError` if a weight is missing or the encoder has no such layer."""
    path = folder(params)
    try:
        weights.shards(path)
    except BackendError as error:
        raise MetricError(str(error)) from None
    try:
        model, report = AutoModel.from_pretrained(
            path, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **weights.STRICT_OPTIONS
        )
        tokenizer = AutoTokenizer.from_pretrained(path, **weights.STRICT_OPTIONS)
    except weights.LOAD_ERRORS as wrong:
        raise MetricError(f"The encoder cannot be loaded: {weights.error_message(wrong, path)}") from wrong
    if missing := sorted(name for name in report["missing_keys"] if not name.startswith(UNUSED)):
        raise MetricError(f"The weights lack {missing[0]} and {len(missing) - 1} more; these would be random.")
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if layers is None:
        raise MetricError(f"A {model.config.model_type} is not a supported encoder, such as BERT, RoBERTa or DeBERTa.")
    if params["layers"] > len(layers):
        raise MetricError(f"The encoder has {len(layers)} layers, so there is no layer {params['layers']}.")
    model.encoder.layer = torch.nn.ModuleList(layers[: params["layers"]])
    tokenizer.model_max_length = min(tokenizer.model_max_length, LONGEST, _positions(model.config))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Encoder(model.to(device).eval(), tokenizer, device, _baseline(params))


def _positions(config: Any) -> int:
    """Return the number of token positions. RoBERTa positions begin after the padding id."""
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
        """The score of an empty summary."""
        return self._rescaled((0.0, 0.0, 0.0))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Prf]:
        """Return (precision, recall, F1) of each (summary, reference), neither empty."""
        if not pairs:
            return []
        weight: defaultdict[int, float] = defaultdict(lambda: 1.0)
        weight[self.tokenizer.sep_token_id] = weight[self.tokenizer.cls_token_id] = 0.0
        scores = bert_cos_score_idf(
            self.model,
            [reference for _, reference in pairs],
            [text for text, _ in pairs],
            self.tokenizer,
            weight,
            device=self.device,
            batch_size=BATCH,
        )
        return [self._rescaled((p, r, f)) for p, r, f in scores.cpu().tolist()]

    def _rescaled(self, values: Prf) -> Prf:
        if self.baseline is None:
            return values
        p, r, f = ((value - low) / (1 - low) for value, low in zip(values, self.baseline, strict=True))
        return p, r, f
