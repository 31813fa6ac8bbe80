"""A sequence classifier that reads directions, loaded strictly: its classes are exactly the three that are named."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from api.templates import fill
from measures.direction import Distribution

from ...backends import weights
from ...backends.protocol import BackendError
from ...metrics.classifier import LABELS, Asked, folder
from ...metrics.protocol import MetricError, Params

BATCH = 32
LONGEST = 512


def facts(params: Params) -> dict[str, Any]:
    """Versions and hashes of weights and tokenizer. Raises `MetricError`."""
    where = folder(params)
    try:
        found = weights.hashes(where)
        return {
            **weights.libraries(), "commit": where.commit, "weights": found["weights"],
            "tokenizer": found["tokenizer"], "config": found["config"],
        }  # fmt: skip
    except BackendError as error:
        raise MetricError(str(error)) from None


def load(params: Params) -> "Reader":
    """Raises `MetricError` where classes or weights are not those that are needed."""
    where = folder(params).path
    try:
        weights.shards(where)
    except BackendError as error:
        raise MetricError(str(error)) from None
    try:
        config = AutoConfig.from_pretrained(where, **weights.STRICTLY)
        order = columns(dict(config.id2label), [params[name] for name in LABELS])
        model, report = AutoModelForSequenceClassification.from_pretrained(
            where, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **weights.STRICTLY
        )
        tokenizer = AutoTokenizer.from_pretrained(where, **weights.STRICTLY)
    except weights.UNLOADABLE as wrong:
        raise MetricError(f"The classifier cannot be loaded: {weights.said(wrong, where)}") from wrong
    if missing := sorted(report["missing_keys"]):
        raise MetricError(f"The weights lack {missing[0]}: random numbers would stand there.")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Reader(model.to(device).eval(), tokenizer, order, params["prompt"])


def columns(id2label: dict[int, str], wanted: Sequence[str]) -> list[int]:
    """Which output stands for each of the wanted classes, in their order. Raises `MetricError`."""
    ids = {label: int(number) for number, label in id2label.items()}
    if sorted(ids) != sorted(wanted):
        raise MetricError(
            f"The classifier's classes are {', '.join(sorted(ids))}; named were {', '.join(sorted(wanted))}. All three "
            "must be named, and no other may be left over."
        )
    return [ids[label] for label in wanted]


class Reader:
    def __init__(self, model: Any, tokenizer: Any, order: list[int], prompt: str) -> None:
        self.model, self.tokenizer, self.order, self.prompt = model, tokenizer, order, prompt
        offset = model.config.pad_token_id + 1 if model.config.model_type in ("roberta", "xlm-roberta") else 0
        self.longest = min(LONGEST, model.config.max_position_embeddings - offset)

    def directions(self, asked: Sequence[Asked]) -> list[Distribution]:
        """Batches of like length; a text that is too long loses its end, never the pair before it."""
        order = sorted(range(len(asked)), key=lambda i: len(asked[i][0]))
        found: dict[int, Distribution] = {}
        for begin in range(0, len(order), BATCH):
            chunk = order[begin : begin + BATCH]
            found |= dict(zip(chunk, self._batch([asked[i] for i in chunk]), strict=True))
        return [found[i] for i in range(len(asked))]

    def _batch(self, asked: Sequence[Asked]) -> list[Distribution]:
        first = [
            fill(self.prompt, {"intervention": one, "outcome": other}) for _, one, other in asked
        ]  # fmt: skip
        made = self.tokenizer(
            first, [text for text, _, _ in asked], truncation="only_second", max_length=self.longest, padding=True,
            return_tensors="pt",
        ).to(self.model.device)  # fmt: skip
        with torch.inference_mode():
            shares = self.model(**made).logits.float().softmax(dim=-1)[:, self.order]
        return [tuple(row) for row in shares.cpu().tolist()]
