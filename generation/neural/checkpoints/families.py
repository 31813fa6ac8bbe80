"""Settings of each model family: separators, newlines, padding, attention and number formats."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...backends.protocol import BackendError


def _one_bucket(config: Any, length: int) -> int:
    return 0


def _blocks(config: Any, length: int) -> int:
    """Return the BigBird-Pegasus bucket: 0 for full attention, else the number of blocks.

    At or below ``(5 + 2 * random blocks) * block size`` tokens (704 in the published models), the encoder switches to
    full attention. Above it, all tokens attend to the last block. Padding from another text moves that block and
    changes the result, so only texts with equally many blocks share a batch.
    """
    threshold = (5 + 2 * config.num_random_blocks) * config.block_size
    if config.attention_type != "block_sparse" or length <= threshold:
        return 0
    blocks: int = math.ceil(length / config.block_size)
    return blocks


def _led_padding(config: Any) -> int:
    windows = config.attention_window
    return windows if isinstance(windows, int) else max(windows)


@dataclass(frozen=True)
class Family:
    """Input and output settings of one model family.

    ``separator`` joins documents if the configuration is auto. ``newline`` is the model's output for a line break.
    Lengths are padded to a multiple of ``padding(config)``. Only texts of the same ``bucket(config, tokens)`` may share
    a batch. ``global_separator`` gives full attention to the first token and to every separator.
    """

    key: str
    separator: str = " "
    newline: str = ""
    float16: bool = True
    bfloat16: bool = True
    longest: Callable[[Any], int | None] = lambda config: getattr(config, "max_position_embeddings", None)
    padding: Callable[[Any], int] = lambda config: 1
    bucket: Callable[[Any, int], int] = _one_bucket
    global_attention: bool = False
    global_separator: bool = False


_BART = Family("bart")
# Pegasus overflows in fp16 (transformers #12225).
_PEGASUS = Family("pegasus", newline="<n>", float16=False)
_LED = Family(
    "led", longest=lambda config: config.max_encoder_position_embeddings, padding=_led_padding, global_attention=True
)
#: By ``model_type``. PRIMERA is an LED whose tokenizer has ``<doc-sep>``.
SEQ2SEQ = {
    "bart": _BART,
    "pegasus": _PEGASUS,
    "bigbird_pegasus": replace(_PEGASUS, key="bigbird_pegasus", bucket=_blocks),
    "led": _LED,
    # T5 has relative positions, so the limit is its training length. It also overflows in fp16.
    "t5": Family("t5", float16=False, longest=lambda config: getattr(config, "n_positions", None) or 512),
}
PRIMERA = replace(_LED, key="primera", separator="<doc-sep>", global_separator=True)
CAUSAL = Family("causal")


def family_of(config: Any, vocabulary: Callable[[], dict[str, int]]) -> Family:
    """Return the family of a sequence-to-sequence model. Raise `BackendError` if the family is not supported."""
    family = SEQ2SEQ.get(config.model_type)
    if family is None:
        raise BackendError(
            f"Models of type {config.model_type!r} are not supported; supported are {', '.join(SEQ2SEQ)}."
        )
    return PRIMERA if family is _LED and PRIMERA.separator in vocabulary() else family


def reset_attention(model: Any, bucket: int) -> None:
    """Set the attention type of BigBird-Pegasus for a batch.

    For a short batch the encoder switches from sparse to full attention and never back (transformers #20031). Without
    this reset, outputs would depend on earlier batches.
    """
    if model.config.model_type == "bigbird_pegasus":
        model.get_encoder().set_attention_type("block_sparse" if bucket else "original_full")
