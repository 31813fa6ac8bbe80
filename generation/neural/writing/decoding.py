"""The full decoding settings of a version: the defaults of the checkpoint, overridden by the configuration."""

from collections.abc import Mapping
from types import MethodType
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.masking_utils import create_bidirectional_mask

from generation.backends.protocol import BackendError

#: Names of the cross-attention modules in the model families.
_CROSS = ("encoder_attn", "EncDecAttention")


def share_cross_attention(model: Any) -> None:
    """Let each decoder layer accept ``k`` times as many rows as encoder states: row ``i`` uses states ``i // k``.

    With equal numbers the behaviour is unchanged. The mask must be 4D: see `cross_mask`.
    """
    for name, module in model.get_decoder().named_modules():
        if name.rpartition(".")[2] in _CROSS:
            module.forward = MethodType(_fold_rows(module.forward), module)


def _fold_rows(forward: Any) -> Any:
    def cross(self: Any, hidden_states: Tensor, *, key_value_states: Tensor, **inputs: Any) -> Any:
        rows, queries, width = hidden_states.shape
        items = key_value_states.shape[0]
        if rows == items:
            return forward(hidden_states, key_value_states=key_value_states, **inputs)
        folded = hidden_states.view(items, rows // items * queries, width)
        name = "mask" if "mask" in inputs else "attention_mask"
        if inputs.get(name) is not None:
            # LED requires a mask of the exact shape. Expanding copies nothing.
            inputs[name] = inputs[name].expand(-1, -1, folded.shape[1], -1)
        output, *rest = forward(folded, key_value_states=key_value_states, **inputs)
        return (output.reshape(rows, queries, width), *rest)

    return cross


def cross_mask(model: Any, states: Tensor, mask: Tensor) -> Tensor:
    """Return the attention mask (n, 1, 1, S) of ``states`` (n, S, d), from ``mask`` (n, S) with 1 for each token."""
    config = model.config
    attention_mask = create_bidirectional_mask(
        config=config, inputs_embeds=states[:, :1], attention_mask=mask, encoder_hidden_states=states
    )
    if attention_mask is None:
        # Nothing is masked. A 4D mask is still needed, because the decoder would otherwise create one for n rows.
        attention_mask = torch.ones(len(states), 1, 1, states.shape[1], dtype=torch.bool, device=states.device)
    return attention_mask


class Shared:
    """The cache of a decoder: one row per beam for generated tokens, one row per item for encoder states."""

    def __init__(self) -> None:
        self.written, self.read = DynamicCache(), DynamicCache()
        self.both = EncoderDecoderCache(self.written, self.read)

    def follow(self, rows: Tensor) -> None:
        """Let row ``i`` continue row ``rows[i]``. The number of rows may decrease."""
        self.written.reorder_cache(rows)

    def keep(self, items: Tensor) -> None:
        """Keep only some items. `follow` selects the rows of generated tokens."""
        self.read.batch_select_indices(items)


FALLBACK_LENGTH = 128
#: Defaults of a checkpoint that do not affect the generated tokens.
_IGNORED = (
    "transformers_version",
    "_from_model_config",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "output_logits",
    "return_dict_in_generate",
    "use_cache",
    "cache_implementation",
    "num_return_sequences",
    "max_new_tokens",
)
#: Settings that would need the encoder input, other weights or another search at every step.
_UNSUPPORTED = (
    "encoder_repetition_penalty",
    "encoder_no_repeat_ngram_size",
    "diversity_penalty",
    "guidance_scale",
    "constraints",
    "force_words_ids",
    "penalty_alpha",
    "dola_layers",
    "assistant_early_exit",
    "prompt_lookup_num_tokens",
    "watermarking_config",
)


def resolve(defaults: GenerationConfig, section: Mapping[str, Any], *, longest: int | None) -> dict[str, Any]:
    """Return everything that `GenerationConfig` needs to decode a version, as JSON. It becomes a fact.

    ``defaults`` are those of the checkpoint, ``section`` is the section "decoding", and ``longest`` the number of
    decoder positions. Raise `BackendError` if the checkpoint requires an unsupported setting.
    """
    checkpoint = defaults.to_diff_dict()
    if unsupported := [name for name in _UNSUPPORTED if checkpoint.get(name) not in (None, 0, 1, 1.0)]:
        raise BackendError(
            f"The generation defaults of the checkpoint require {', '.join(unsupported)}, which is not supported."
        )
    settings = {name: value for name, value in checkpoint.items() if name not in _IGNORED}
    if checkpoint.get("max_new_tokens"):
        settings["max_length"] = checkpoint["max_new_tokens"] + 1
    settings |= {name: value for name, value in _configured(section).items() if value is not None}
    settings["max_length"] = min(settings.get("max_length") or FALLBACK_LENGTH, longest or 1_000_000)
    bos = settings.get("bos_token_id")
    if section.get("decoder_start") == "bos" or settings.get("decoder_start_token_id") is None:
        settings["decoder_start_token_id"] = _required_token(bos)
    if section.get("forced_bos", "default") != "default":
        settings["forced_bos_token_id"] = _required_token(bos) if section["forced_bos"] == "bos" else None
    return settings


def _configured(section: Mapping[str, Any]) -> dict[str, Any]:
    sampling = section.get("method") == "sampling"
    stop = {"yes": True, "no": False, "never": "never"}.get(section.get("early_stopping", "default"))
    common = {
        "max_length": section.get("max_length"),
        "min_length": section.get("min_length"),
        "no_repeat_ngram_size": section.get("no_repeat_ngram"),
        "do_sample": sampling,
    }
    if sampling:
        # Only configured settings apply. A top k of the checkpoint would have an unrecorded effect.
        return {
            **common,
            "num_beams": 1,
            "temperature": section.get("temperature"),
            "top_p": section.get("top_p"),
            "top_k": 0,
        }
    return {
        **common,
        "num_beams": section.get("beams"),
        "length_penalty": section.get("length_penalty"),
        "early_stopping": stop,
    }


def configuration(settings: Mapping[str, Any]) -> GenerationConfig:
    """Return the settings from `resolve` as a `GenerationConfig`. Missing ones take the transformers defaults."""
    full = {"num_beams": 1, "length_penalty": 1.0, "early_stopping": False, **settings}
    return GenerationConfig(**full)


def _required_token(token: int | None) -> int:
    if token is None:
        raise BackendError("The checkpoint defines no start token (bos_token_id).")
    return token
