"""A sequence classifier of directions, loaded strictly. It must have exactly the three configured classes."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoConfig

from api.templates import fill
from measures.direction import Distribution

from ...backends import weights
from ...backends.protocol import BackendError
from ...metrics.classifier import LABELS, ClassifierItem, folder
from ...metrics.protocol import MetricError, Params
from . import heads

BATCH = 32


def facts(params: Params) -> dict[str, Any]:
    """Return versions, and hashes of weights and tokenizer. Raise `MetricError`."""
    folder_path = folder(params)
    try:
        hashes = weights.hashes(folder_path)
        return {
            **weights.libraries(),
            "commit": folder_path.commit,
            "weights": hashes["weights"],
            "tokenizer": hashes["tokenizer"],
            "config": hashes["config"],
        }
    except BackendError as error:
        raise MetricError(str(error)) from None


def load(params: Params) -> "Reader":
    """Load the classifier. Raise `MetricError` if its classes or weights do not match."""
    path = folder(params).path
    try:
        config = AutoConfig.from_pretrained(path, **weights.STRICT_OPTIONS)
        order = columns(dict(config.id2label), [params[name] for name in LABELS])
        return Reader(heads.load(path, "sequences"), order, params["prompt"])
    except weights.LOAD_ERRORS as wrong:
        raise MetricError(f"The classifier cannot be loaded: {weights.error_message(wrong, path)}") from wrong
    except BackendError as error:
        raise MetricError(str(error)) from None


def columns(id2label: dict[int, str], wanted: Sequence[str]) -> list[int]:
    """Return the output index of each wanted class, in order. Raise `MetricError` if the classes differ."""
    ids = {label: int(number) for number, label in id2label.items()}
    if sorted(ids) != sorted(wanted):
        raise MetricError(
            f"The classifier's classes are {', '.join(sorted(ids))}; the configuration names "
            f"{', '.join(sorted(wanted))}. Name exactly the classes of the classifier."
        )
    return [ids[label] for label in wanted]


class Reader:
    def __init__(self, head: heads.Head, order: list[int], prompt: str) -> None:
        self.model, self.tokenizer, self.longest = head.model, head.tokenizer, head.longest
        self.order, self.prompt = order, prompt

    def directions(self, items: Sequence[ClassifierItem]) -> list[Distribution]:
        """Classify in batches of similar length. A text that is too long is truncated; the pair before it never is."""
        order = sorted(range(len(items)), key=lambda i: len(items[i][0]))
        distributions: dict[int, Distribution] = {}
        for begin in range(0, len(order), BATCH):
            chunk = order[begin : begin + BATCH]
            distributions |= dict(zip(chunk, self._batch([items[i] for i in chunk]), strict=True))
        return [distributions[i] for i in range(len(items))]

    def _batch(self, items: Sequence[ClassifierItem]) -> list[Distribution]:
        prompts = [
            fill(self.prompt, {"intervention": intervention, "outcome": outcome}) for _, intervention, outcome in items
        ]
        encoded = self.tokenizer(
            prompts,
            [text for text, _, _ in items],
            truncation="only_second",
            max_length=self.longest,
            padding=True,
            return_tensors="pt",
        ).to(self.model.device)
        with torch.inference_mode():
            shares = self.model(**encoded).logits.float().softmax(dim=-1)[:, self.order]
        return [tuple(row) for row in shares.cpu().tolist()]
