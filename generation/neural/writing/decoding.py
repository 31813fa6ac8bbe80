"""The decoding of a version in full: the checkpoint's own defaults, and what the configuration says instead."""

from collections.abc import Mapping
from typing import Any

from transformers import GenerationConfig

from ...backends.protocol import BackendError

FALLBACK_LENGTH = 128
#: Of a checkpoint's defaults, what says nothing about the tokens that come out.
_IDLE = ("transformers_version", "_from_model_config", "output_attentions", "output_hidden_states", "output_scores",
         "output_logits", "return_dict_in_generate", "use_cache", "cache_implementation", "num_return_sequences",
         "max_new_tokens")  # fmt: skip
#: What would need the encoder's input, other weights or another search at every step.
_UNSUPPORTED = ("encoder_repetition_penalty", "encoder_no_repeat_ngram_size", "diversity_penalty", "guidance_scale",
                "constraints", "force_words_ids", "penalty_alpha", "dola_layers", "assistant_early_exit",
                "prompt_lookup_num_tokens", "watermarking_config")  # fmt: skip


def resolve(defaults: GenerationConfig, given: Mapping[str, Any], *, longest: int | None) -> dict[str, Any]:
    """Everything that `GenerationConfig` needs to decode a version, as JSON; it becomes a fact.

    ``defaults``: the checkpoint's; ``given``: the section "decoding"; ``longest``: positions of the decoder.
    Raises `BackendError` where the checkpoint asks for what is not done here.
    """
    own = defaults.to_diff_dict()
    if asked := [name for name in _UNSUPPORTED if own.get(name) not in (None, 0, 1, 1.0)]:
        raise BackendError(f"The checkpoint's defaults of generation ask for {', '.join(asked)}: not supported here.")
    settings = {name: value for name, value in own.items() if name not in _IDLE}
    if own.get("max_new_tokens"):
        settings["max_length"] = own["max_new_tokens"] + 1
    settings |= {name: value for name, value in _given(given).items() if value is not None}
    settings["max_length"] = min(settings.get("max_length") or FALLBACK_LENGTH, longest or 1_000_000)
    bos = settings.get("bos_token_id")
    if given.get("decoder_start") == "bos" or settings.get("decoder_start_token_id") is None:
        settings["decoder_start_token_id"] = _needed(bos)
    if given.get("forced_bos", "default") != "default":
        settings["forced_bos_token_id"] = _needed(bos) if given["forced_bos"] == "bos" else None
    return settings


def _given(given: Mapping[str, Any]) -> dict[str, Any]:
    sampling = given.get("method") == "sampling"
    stop = {"yes": True, "no": False, "never": "never"}.get(given.get("early_stopping", "default"))
    either = {
        "max_length": given.get("max_length"),
        "min_length": given.get("min_length"),
        "no_repeat_ngram_size": given.get("no_repeat_ngram"),
        "do_sample": sampling,
    }
    if sampling:
        # Only what is configured acts: a checkpoint's top k would be an unseen third hand.
        return {**either, "num_beams": 1, "temperature": given.get("temperature"), "top_p": given.get("top_p"),
                "top_k": 0}  # fmt: skip
    return {**either, "num_beams": given.get("beams"), "length_penalty": given.get("length_penalty"),
            "early_stopping": stop}  # fmt: skip


def configuration(settings: Mapping[str, Any]) -> GenerationConfig:
    """What `resolve` found, as transformers takes it; what is not said has transformers' own value."""
    full = {"num_beams": 1, "length_penalty": 1.0, "early_stopping": False, **settings}
    return GenerationConfig(**full)


def _needed(token: int | None) -> int:
    if token is None:
        raise BackendError("The checkpoint names no token that a text begins with (bos_token_id).")
    return token
