import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.backends.protocol import BackendError
from generation.neural import families, loading
from tests.generation import tiny

Models = Callable[[str], str]


def of(model: str, **section: str) -> dict[str, Any]:
    return {"model": {"model": model, **section}}


def copied(models: Models, folder: Path, kind: str = "bart") -> Path:
    copy = folder / f"{kind}-copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / models(kind), copy)
    return copy


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_every_family_loads_and_is_known(models: Models, kind: str) -> None:
    task = "causal" if kind == "llama" else "seq2seq"
    facts = loading.facts(of(models(kind)), task)
    loaded = loading.load(of(models(kind)), facts, task)
    assert facts["family"] == loaded.family.key == ("causal" if kind == "llama" else kind)
    assert not loaded.model.training
    assert (facts["device"], facts["dtype"]) == ("cpu", "float32")
    assert facts["attention"] == ("eager" if kind in ("led", "primera", "bigbird_pegasus") else "sdpa")


def test_a_missing_weight_is_refused_by_its_name_and_never_made_up(models: Models, models_folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = copied(models, models_folder)
    tensors = load_file(copy / "model.safetensors")
    del tensors["model.decoder.layers.1.fc1.weight"]
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BackendError, match=r"lack model\.decoder\.layers\.1\.fc1\.weight"):
        loading.load(of(copy.name), loading.facts(of(copy.name), "seq2seq"), "seq2seq")


def test_weights_of_another_shape_are_refused(models: Models, models_folder: Path) -> None:
    copy = copied(models, models_folder)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "decoder_ffn_dim": 50}))
    with pytest.raises(BackendError, match="cannot be loaded"):
        loading.load(of(copy.name), loading.facts(of(copy.name), "seq2seq"), "seq2seq")


@pytest.mark.parametrize(("kind", "task"), [("bart", "causal"), ("llama", "seq2seq")])
def test_a_model_of_the_wrong_architecture_is_refused(models: Models, kind: str, task: str) -> None:
    with pytest.raises(BackendError, match="this backend needs"):
        loading.facts(of(models(kind)), task)


def test_other_weights_in_the_same_folder_are_not_the_version(models: Models, models_folder: Path) -> None:
    copy = copied(models, models_folder)
    recorded = loading.facts(of(copy.name), "seq2seq")
    shutil.rmtree(copy)
    tiny.build("bart", copy, seed=1)
    with pytest.raises(BackendError, match="weights: "):
        loading.load(of(copy.name), recorded, "seq2seq")


def test_another_version_of_a_library_is_not_the_version(models: Models) -> None:
    recorded = loading.facts(of(models("bart")), "seq2seq")
    recorded["libraries"] = {**recorded["libraries"], "transformers": "4.0.0"}
    with pytest.raises(BackendError, match=r"libraries\.transformers: 4\.0\.0 became 5"):
        loading.load(of(models("bart")), recorded, "seq2seq")


@pytest.mark.parametrize("kind", ["pegasus", "bigbird_pegasus", "t5"])
def test_float16_is_refused_where_it_overflows(models: Models, kind: str) -> None:
    with pytest.raises(BackendError, match="overflow in float16"):
        loading.facts(of(models(kind), dtype="float16"), "seq2seq")


def test_a_version_for_a_gpu_does_not_run_without_one(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(BackendError, match="has none"):
        loading.facts(of(models("bart"), device="cuda"), "seq2seq")


def test_led_has_no_sdpa_and_says_so(models: Models) -> None:
    with pytest.raises(BackendError, match="no sdpa"):
        loading.facts(of(models("led"), attention="sdpa"), "seq2seq")


def test_bigbird_is_set_back_to_sparse_attention_after_a_short_text(models: Models) -> None:
    loaded = loading.load(of(models("bigbird_pegasus")), loading.facts(of("bigbird_pegasus"), "seq2seq"), "seq2seq")
    encoder = loaded.model.get_encoder()
    assert [loaded.family.bucket(loaded.model.config, length) for length in (5, 28, 29, 32, 33)] == [0, 0, 8, 8, 9]
    families.reset_attention(loaded.model, 0)
    assert encoder.attention_type == "original_full"
    families.reset_attention(loaded.model, 8)
    assert encoder.attention_type == encoder.layers[0].self_attn.attention_type == "block_sparse"
