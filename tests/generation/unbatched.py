"""Reference for the fast implementations: one `generate` call per unit, on the same device and in the same dtype."""

from typing import Any

import torch
from transformers import GenerationConfig

from api.parameters import check
from generation.backends import weights
from generation.backends.protocol import Backend, Config, Failure, InputText, Output, Source, Summariser
from generation.neural.checkpoints import loading
from tests.generation import tiny_models


def configured(backend: Backend, folder: str, **sections: dict[str, Any]) -> Config:
    """Return a checked configuration, in float32 also where a GPU would choose bfloat16."""
    config: dict[str, Any] = {"backend": backend.key, "level": "proposition", "seed": 0}
    for name, parameters in backend.sections.items():
        given = {"model": folder, "dtype": "float32"} if name == "model" else {}
        config[name], faults = check(parameters, {**given, **sections.get(name, {})})
        assert not faults
    return config


def sources(count: int = 12) -> list[Source]:
    """Return units of one to three inputs of one to three sentences."""
    return [
        Source(n, f"unit {n}", tuple(InputText(tiny_models.text(n * 7 + i, 1 + (n + i) % 3)) for i in range(1 + n % 3)))
        for n in range(count)
    ]


def summarised(summariser: Summariser, units: list[Source]) -> dict[int, Output]:
    """Return the output of every unit; each must come once and none may fail."""
    found: dict[int, Output] = {}
    for batch in summariser.summarise(units):
        for output in batch:
            assert not isinstance(output, Failure), output
            assert output.unit not in found
            found[output.unit] = output
    assert found.keys() == {unit.unit for unit in units}
    return found


def model(config: Config, facts: dict[str, Any]) -> Any:
    """Load the model without Concord's changes."""
    folder = weights.find(config["model"]["model"])
    return loading._model(folder, "seq2seq", torch.float32, facts["attention"]).to(facts["device"]).eval()


def generated(fresh: Any, facts: dict[str, Any], row: tuple[int, ...], **given: Any) -> list[int]:
    """Return the generated token ids of one row, including the end token."""
    ids = torch.tensor([row], device=fresh.device)
    with torch.inference_mode():
        found = fresh.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            **given,
            generation_config=GenerationConfig(**facts["decoding"]),
        )[0, 1:].tolist()
    end = facts["decoding"]["eos_token_id"]
    tokens: list[int] = found[: found.index(end) + 1] if end in found else found
    return tokens
