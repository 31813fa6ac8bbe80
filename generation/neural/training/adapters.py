"""LoRA: train small matrices beside the weights, and merge them at the end."""

from importlib.metadata import version
from typing import Any

from peft import LoraConfig, PeftModel, get_peft_model

from .settings import Settings


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that only a training needs."""
    return {name: version(name) for name in ("accelerate", "peft")}


def with_lora(model: Any, settings: Settings) -> Any:
    """Return the model with LoRA's matrices on all linear layers, or unchanged if the rank is 0."""
    if not settings.lora_rank:
        return model
    return get_peft_model(
        model,
        LoraConfig(
            r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules="all-linear",
        ),
    )


def merged(model: Any) -> Any:
    """Return the model without LoRA: the products of its matrices are added to the weights."""
    return model.merge_and_unload() if isinstance(model, PeftModel) else model
