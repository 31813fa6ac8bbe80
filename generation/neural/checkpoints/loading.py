"""Load models strictly: reject a model unless every weight comes from the file."""

import gc
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from ...backends import weights
from ...backends.protocol import BackendError, Config, Facts
from ..batches import Memory
from .families import CAUSAL, Family, family_of

_CLASSES = {"seq2seq": AutoModelForSeq2SeqLM, "causal": AutoModelForCausalLM}
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class LoadedModel:
    """A model in evaluation mode on its device, with its tokenizer, family and generation defaults."""

    model: Any
    tokenizer: Any
    family: Family
    generation: GenerationConfig
    device: torch.device

    def close(self) -> None:
        """Release the weights and the GPU memory."""
        self.model = None
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def facts(config: Config, kind: str) -> dict[str, Any]:
    """Resolve the facts of a configuration with weights on this worker. ``kind`` is seq2seq or causal.

    Raise `BackendError` if the model is missing, of another kind, or does not support the number format.
    """
    section, folder = config["model"], _folder(config)
    hashes = weights.hashes(folder)
    model_config = _config(folder, kind)
    device = _device(section.get("device", "auto"))
    family = _family(folder, model_config, kind)
    facts = {**hashes, "libraries": weights.libraries(), "family": family.key, "device": device}
    facts["dtype"] = _dtype(section.get("dtype", "auto"), family, device)
    facts["attention"] = _attention(section.get("attention", "auto"), model_config, kind)
    if device == "cuda":
        facts["cuda name"] = torch.cuda.get_device_name()
    return facts


def load(config: Config, recorded: Facts, kind: str, *, dtype: str = "") -> LoadedModel:
    """Load the model of a version. Raise `BackendError` if its facts have changed or a weight is missing.

    ``dtype`` overrides the number format of the version: the probe reads the same file in float32.
    """
    current = facts(config, kind)
    # A backend may record further facts and compares those itself.
    weights.unchanged({name: recorded.get(name) for name in current}, current)
    folder = _folder(config)
    model = _model(folder, kind, _DTYPES[dtype or recorded["dtype"]], recorded["attention"])
    device = torch.device(recorded["device"])
    return LoadedModel(
        model.to(device).eval(),
        _tokenizer(folder),
        _family(folder, model.config, kind),
        model.generation_config,
        device,
    )


def tokenizer(config: Config) -> Any:
    """Return the tokenizer of a configuration. Raise `BackendError`."""
    return _tokenizer(_folder(config))


def generation_defaults(config: Config, kind: str) -> tuple[Any, GenerationConfig]:
    """Return the configuration of a model and its generation defaults, from their own file or an old config.json.

    Raise `BackendError` if they are invalid.
    """
    folder = _folder(config)
    model_config = _config(folder, kind)
    try:
        if (folder.path / "generation_config.json").is_file():
            return model_config, GenerationConfig.from_pretrained(folder.path, local_files_only=True)
        # ``model_config`` contains the special tokens but drops the generation settings of config.json, so both are
        # read.
        defaults = GenerationConfig.from_model_config(model_config)
        old_settings = GenerationConfig.from_pretrained(
            folder.path, config_file_name="config.json", _from_model_config=True, local_files_only=True
        )
        defaults.update(**old_settings.to_diff_dict())
        return model_config, defaults
    except (*weights.LOAD_ERRORS, TypeError) as error:
        raise BackendError(f"The generation defaults of the checkpoint are invalid: {error}") from error


def _folder(config: Config) -> weights.Folder:
    section = config["model"]
    return weights.find(section["model"], section.get("revision") or "main")


def _model(folder: weights.Folder, kind: str, dtype: torch.dtype, attention: str) -> Any:
    try:
        model, report = _CLASSES[kind].from_pretrained(
            folder.path,
            config=_config(folder, kind),
            dtype=dtype,
            attn_implementation=attention,
            use_safetensors=True,
            output_loading_info=True,
            **weights.STRICT_OPTIONS,
        )
    except weights.LOAD_ERRORS as error:
        raise BackendError(f"The model cannot be loaded: {weights.error_message(error, folder.path)}") from error
    _refuse_incomplete(model, report)
    return model


def _refuse_incomplete(model: Any, report: Mapping[str, Any]) -> None:
    """Raise `BackendError` unless the file and the model have exactly the same weights.

    Transformers initialises missing weights at random, ignores surplus ones, and only prints a report. Such a model
    produces noise or is not the model of the file. (For the BART of a classifier nothing is missing.)
    """
    random_rest = "The rest would be random, so the model is refused."
    for problem, names, consequence in (
        ("lack", [name for name in report.get("missing_keys") or () if not _is_computed(model, name)], random_rest),
        ("have other shapes for", [key[0] for key in report.get("mismatched_keys") or ()], random_rest),
        ("could not be read for", report.get("error_msgs"), random_rest),
        ("contain", report.get("unexpected_keys"), "The model has no such weights: the file belongs to another model."),
    ):
        if names:
            listed = ", ".join(sorted(map(str, names))[:5])
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            raise BackendError(f"The weights {problem} {listed}{more}. {consequence}")


def _is_computed(model: Any, name: str) -> bool:
    """Return whether a missing weight is computed rather than learned.

    PEGASUS positions are sines, which its published checkpoints leave out. The values are checked, because some
    releases of transformers initialised them at random.
    """
    module = model.get_submodule(name.rpartition(".")[0])
    return hasattr(module, "create_weight") and torch.allclose(
        module.weight.float(), _sine_positions(*module.weight.shape), atol=0.01
    )


def _sine_positions(positions: int, size: int) -> torch.Tensor:
    """Return (positions, size): the sines of the angles of each position, then their cosines.

    The implementation of transformers takes seconds.
    """
    angles = torch.arange(positions).double()[:, None] / 10_000 ** (torch.arange(0, size, 2).double() / size)
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :size].float()


def _config(folder: weights.Folder, kind: str) -> Any:
    try:
        config = AutoConfig.from_pretrained(folder.path, **weights.STRICT_OPTIONS)
    except weights.LOAD_ERRORS as error:
        raise BackendError(f"config.json is invalid: {weights.error_message(error, folder.path)}") from error
    if bool(config.is_encoder_decoder) != (kind == "seq2seq"):
        actual = "an encoder-decoder" if config.is_encoder_decoder else "a decoder-only model"
        expected = "an encoder-decoder" if kind == "seq2seq" else "a decoder-only model"
        raise BackendError(f"The model is {actual} ({config.model_type}); this backend needs {expected}.")
    if type(config) not in _CLASSES[kind]._model_mapping:
        raise BackendError(f"Models of type {config.model_type!r} do not generate text.")
    return config


def _family(folder: weights.Folder, config: Any, kind: str) -> Family:
    return CAUSAL if kind == "causal" else family_of(config, lambda: _tokenizer(folder).get_vocab())


def _tokenizer(folder: weights.Folder) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder.path, **weights.STRICT_OPTIONS)
    except weights.LOAD_ERRORS as error:
        raise BackendError(f"The tokenizer cannot be loaded: {weights.error_message(error, folder.path)}") from error
    for name in getattr(tokenizer, "vocab_files_names", {}).values():
        if name not in weights.TOKENIZER_FILES and (folder.path / name).is_file():
            # The file could change without changing the version.
            raise BackendError(
                f"The tokenizer reads {name}, which is not part of a version's hash, so it is not supported."
            )
    if not tokenizer("Words.", add_special_tokens=False)["input_ids"]:
        raise BackendError(f"The tokenizer has no vocabulary. {weights.TOKENIZER_ADVICE}")
    return tokenizer


def _device(requested: str) -> str:
    has_cuda = torch.cuda.is_available()
    if requested == "cuda" and not has_cuda:
        raise BackendError("The version requires a GPU, but this worker has none.")
    return "cpu" if requested == "cpu" or not has_cuda else "cuda"


def _dtype(requested: str, family: Family, device: str) -> str:
    if requested == "auto":
        has_bfloat16 = device == "cuda" and family.bfloat16 and torch.cuda.is_bf16_supported()
        return "bfloat16" if has_bfloat16 else "float32"
    if requested == "float16" and not family.float16:
        raise BackendError(f"Models of the family {family.key} overflow in float16: use bfloat16 or float32.")
    return requested


def _attention(requested: str, config: Any, kind: str) -> str:
    has_sdpa = bool(getattr(_CLASSES[kind]._model_mapping[type(config)], "_supports_sdpa", False))
    if requested == "sdpa" and not has_sdpa:
        raise BackendError(f"Models of type {config.model_type!r} do not support sdpa attention: use eager.")
    return requested if requested != "auto" else "sdpa" if has_sdpa else "eager"


def out_of_memory(error: BaseException) -> bool:
    """Return whether the batch was too large, on any device."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError))


def is_unusable(error: BaseException) -> bool:
    """Return whether the GPU context is lost. Then the process can do no further work, and no item is at fault."""
    kind = getattr(torch, "AcceleratorError", None)
    return kind is not None and isinstance(error, kind) and not out_of_memory(error)


def free() -> None:
    """Free the memory of a failed batch before a smaller one is tried."""
    gc.collect()
    if torch.cuda.is_available():
        with suppress(RuntimeError):
            torch.cuda.empty_cache()


#: Memory handling for `batches.run`.
MEMORY = Memory(out=out_of_memory, free=free, fatal=is_unusable)
