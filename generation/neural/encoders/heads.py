"""Encoders with a classification head over tokens or sequences, loaded strictly."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

from ...backends import weights
from ...backends.protocol import BackendError

#: Longer texts are truncated or divided.
LONGEST = 512
_CLASSES = {"sequences": AutoModelForSequenceClassification, "tokens": AutoModelForTokenClassification}


@dataclass(frozen=True)
class Head:
    """A model in evaluation mode with its tokenizer. ``longest``: maximum number of tokens of an input."""

    model: Any
    tokenizer: Any
    longest: int


def load(path: Path, kind: str) -> Head:
    """Load a folder in float32. ``kind``: tokens or sequences. Raise `BackendError` if a weight is missing."""
    weights.shards(path)
    try:
        model, report = _CLASSES[kind].from_pretrained(
            path, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **weights.STRICT_OPTIONS
        )
        tokenizer = AutoTokenizer.from_pretrained(path, **weights.STRICT_OPTIONS)
    except weights.LOAD_ERRORS as wrong:
        raise BackendError(f"The classifier cannot be loaded: {weights.error_message(wrong, path)}") from wrong
    if missing := sorted(report["missing_keys"]):
        raise BackendError(f"The weights lack {missing[0]}, which would be random.")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Head(model.to(device).eval(), tokenizer, longest_of(model.config))


def longest_of(config: Any) -> int:
    """Return the maximum number of tokens of an input."""
    # RoBERTa's positions begin after the padding id.
    offset = config.pad_token_id + 1 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return min(LONGEST, int(config.max_position_embeddings) - offset)
