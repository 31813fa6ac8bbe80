"""Load a model strictly: every weight comes from the file, or it is refused."""

import gc
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
)

from ...backends import weights
from ...backends.protocol import BackendError, Config, Facts
from ..batches import Memory
from .families import CAUSAL, Family, family_of

_CLASSES = {"seq2seq": AutoModelForSeq2SeqLM, "causal": AutoModelForCausalLM}
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class Loaded:
    """A model in evaluation mode on its device, its tokenizer, family and own defaults of generation."""

    model: Any
    tokenizer: Any
    family: Family
    generation: GenerationConfig
    device: torch.device

    def close(self) -> None:
        """Let go of the weights; the memory of the GPU is given back too."""
        self.model = None
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def facts(config: Config, kind: str) -> dict[str, Any]:
    """What a configuration with weights points at, resolved on this worker. ``kind``: seq2seq or causal.

    Raises `BackendError` for a model that is not there, is of another kind, or whose number format is not possible.
    """
    section, folder = config["model"], _folder(config)
    found = weights.hashes(folder)
    model_config = _config(folder, kind)
    device = _device(section.get("device", "auto"))
    family = _family(folder, model_config, kind)
    facts = {**found, "libraries": weights.libraries(), "family": family.key, "device": device}
    facts["dtype"] = _dtype(section.get("dtype", "auto"), family, device)
    facts["attention"] = _attention(section.get("attention", "auto"), model_config, kind)
    if device == "cuda":
        facts["cuda name"] = torch.cuda.get_device_name()
    return facts


def load(config: Config, recorded: Facts, kind: str, *, dtype: str = "") -> Loaded:
    """Load what a version names. Raises `BackendError` where the facts changed or a weight is missing.

    ``dtype``: another number format than the version's; the probe reads the same file in float32.
    """
    found = facts(config, kind)
    # A backend may have recorded more, which it compares by itself.
    weights.unchanged({name: recorded.get(name) for name in found}, found)
    folder = _folder(config)
    model = _model(folder, kind, _DTYPES[dtype or recorded["dtype"]], recorded["attention"])
    device = torch.device(recorded["device"])
    return Loaded(model.to(device).eval(), _tokenizer(folder), _family(folder, model.config, kind),
                  model.generation_config, device)  # fmt: skip


def tokenizer(config: Config) -> Any:
    """The tokenizer of what a configuration names. Raises `BackendError`."""
    return _tokenizer(_folder(config))


def generation_defaults(config: Config, kind: str) -> tuple[Any, GenerationConfig]:
    """A model's configuration, and how its checkpoint says that it should generate: by itself, or by an old
    config.json. Raises `BackendError`."""
    folder = _folder(config)
    model_config = _config(folder, kind)
    try:
        if (folder.path / "generation_config.json").is_file():
            return model_config, GenerationConfig.from_pretrained(folder.path, local_files_only=True)
        # What config.json says of generating is not in ``model_config``, which drops it; that has the special tokens.
        found = GenerationConfig.from_model_config(model_config)
        said = GenerationConfig.from_pretrained(
            folder.path, config_file_name="config.json", _from_model_config=True, local_files_only=True
        )
        found.update(**said.to_diff_dict())
        return model_config, found
    except (*weights.UNLOADABLE, TypeError) as wrong:
        raise BackendError(f"The checkpoint's defaults of generation are not understood: {wrong}") from wrong


def _folder(config: Config) -> weights.Folder:
    section = config["model"]
    return weights.find(section["model"], section.get("revision") or "main")


def _model(folder: weights.Folder, kind: str, dtype: torch.dtype, attention: str) -> Any:
    try:
        model, report = _CLASSES[kind].from_pretrained(
            folder.path, config=_config(folder, kind), dtype=dtype, attn_implementation=attention,
            use_safetensors=True, output_loading_info=True, **weights.STRICTLY,
        )  # fmt: skip
    except weights.UNLOADABLE as wrong:
        raise BackendError(f"The model cannot be loaded: {weights.said(wrong, folder.path)}") from wrong
    _complete(model, report)
    return model


def _complete(model: Any, report: Mapping[str, Any]) -> None:
    """Transformers fills what the file lacks with random numbers, leaves out what the model has no place for, and only
    prints a report: such a model is noise, or another one than the file's. (A classifier's BART lacks nothing.)"""
    noise = "The rest would be random, so it is refused."
    for words, names, so in (
        ("lack", [name for name in report.get("missing_keys") or () if not _computed(model, name)], noise),
        ("have other shapes for", [key[0] for key in report.get("mismatched_keys") or ()], noise),
        ("could not be read for", report.get("error_msgs"), noise),
        ("hold", report.get("unexpected_keys"), "This model has no place for that: they are another model's."),
    ):
        if names:
            some = ", ".join(sorted(map(str, names))[:5])
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            raise BackendError(f"The weights {words} {some}{more}. {so}")


def _computed(model: Any, name: str) -> bool:
    """Whether a weight that the file lacks is no number of anybody's: PEGASUS's positions are sines, which its
    published checkpoints leave out. They are looked at, for releases of transformers have drawn them at random."""
    module = model.get_submodule(name.rpartition(".")[0])
    return hasattr(module, "create_weight") and torch.allclose(
        module.weight.float(), _sines(*module.weight.shape), atol=0.01
    )


def _sines(positions: int, size: int) -> torch.Tensor:
    """(positions, size): of each position the sines of its angles, then their cosines. (Transformers' own way to make
    them takes seconds.)"""
    angles = torch.arange(positions).double()[:, None] / 10_000 ** (torch.arange(0, size, 2).double() / size)
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :size].float()


def _config(folder: weights.Folder, kind: str) -> Any:
    try:
        config = AutoConfig.from_pretrained(folder.path, **weights.STRICTLY)
    except weights.UNLOADABLE as wrong:
        raise BackendError(f"config.json is not understood: {weights.said(wrong, folder.path)}") from wrong
    if bool(config.is_encoder_decoder) != (kind == "seq2seq"):
        is_one = "an encoder-decoder" if config.is_encoder_decoder else "a decoder alone"
        needs = "one with an encoder and a decoder" if kind == "seq2seq" else "a decoder alone"
        raise BackendError(f"The model is {is_one} ({config.model_type}); this backend needs {needs}.")
    if type(config) not in _CLASSES[kind]._model_mapping:
        raise BackendError(f"Models of type {config.model_type!r} do not write text.")
    return config


def _family(folder: weights.Folder, config: Any, kind: str) -> Family:
    return CAUSAL if kind == "causal" else family_of(config, lambda: _tokenizer(folder).get_vocab())


def _tokenizer(folder: weights.Folder) -> Any:
    try:
        found = AutoTokenizer.from_pretrained(folder.path, **weights.STRICTLY)
    except weights.UNLOADABLE as wrong:
        raise BackendError(f"The tokenizer cannot be loaded: {weights.said(wrong, folder.path)}") from wrong
    for name in getattr(found, "vocab_files_names", {}).values():
        if name not in weights.TOKENIZER_FILES and (folder.path / name).is_file():
            # It could change, and the version would not.
            raise BackendError(
                f"The tokenizer reads {name}, which is no part of a version's hash: it is not supported."
            )
    if not found("Words.", add_special_tokens=False)["input_ids"]:
        raise BackendError(f"The tokenizer knows no words. {weights.TOKENIZER_ADVICE}")
    return found


def _device(asked: str) -> str:
    available = torch.cuda.is_available()
    if asked == "cuda" and not available:
        raise BackendError("The version asks for a GPU, and this worker has none.")
    return "cpu" if asked == "cpu" or not available else "cuda"


def _dtype(asked: str, family: Family, device: str) -> str:
    if asked == "auto":
        fits = device == "cuda" and family.bfloat16 and torch.cuda.is_bf16_supported()
        return "bfloat16" if fits else "float32"
    if asked == "float16" and not family.float16:
        raise BackendError(f"Models of the family {family.key} overflow in float16: take bfloat16 or float32.")
    return asked


def _attention(asked: str, config: Any, kind: str) -> str:
    sdpa = bool(getattr(_CLASSES[kind]._model_mapping[type(config)], "_supports_sdpa", False))
    if asked == "sdpa" and not sdpa:
        raise BackendError(f"Models of type {config.model_type!r} have no sdpa attention: take eager.")
    return asked if asked != "auto" else "sdpa" if sdpa else "eager"


def out_of_memory(error: BaseException) -> bool:
    """Whether a batch was too large, on whatever device."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError))


def unusable(error: BaseException) -> bool:
    """Whether the GPU's context is lost: nothing more can be done in this process, so no item is to blame."""
    kind = getattr(torch, "AcceleratorError", None)
    return kind is not None and isinstance(error, kind) and not out_of_memory(error)


def free() -> None:
    """Give back what a failed batch held, before a smaller one is tried."""
    gc.collect()
    if torch.cuda.is_available():
        with suppress(RuntimeError):
            torch.cuda.empty_cache()


#: What `batches.run` does where memory runs out.
MEMORY = Memory(out=out_of_memory, free=free, fatal=unusable)
