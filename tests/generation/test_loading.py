import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TokenizersBackend

from generation.backends import weights
from generation.backends.protocol import BackendError
from generation.metrics.classifier import LABELS
from generation.metrics.protocol import MetricError
from generation.neural.checkpoints import families, loading
from generation.neural.encoders import bertscore, classifier, embedding
from tests.generation import tiny_models

Models = Callable[[str], str]
ROOT = Path(__file__).parents[2]


def of(model: str, **section: str) -> dict[str, Any]:
    return {"model": {"model": model, **section}}


def copied(models: Models, folder: Path, kind: str = "bart") -> Path:
    copy = folder / f"{kind}-copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / models(kind), copy)
    return copy


@pytest.mark.parametrize("kind", tiny_models.KINDS)
def test_every_family_loads_and_is_known(models: Models, kind: str) -> None:
    task = "causal" if kind == "llama" else "seq2seq"
    facts = loading.facts(of(models(kind)), task)
    loaded = loading.load(of(models(kind)), facts, task)
    assert facts["family"] == loaded.family.key == ("causal" if kind == "llama" else kind)
    assert not loaded.model.training
    # On a GPU the default dtype is half as wide; the version records it.
    chosen = ("cuda", "bfloat16") if torch.cuda.is_available() else ("cpu", "float32")
    assert (facts["device"], facts["dtype"]) == chosen
    assert {str(weight.dtype) for weight in loaded.model.parameters()} == {f"torch.{facts['dtype']}"}
    assert {weight.device.type for weight in loaded.model.parameters()} == {facts["device"]}
    assert facts["attention"] == ("eager" if kind in ("led", "primera", "bigbird_pegasus") else "sdpa")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_float32_is_not_reduced_by_machine_settings(device: str) -> None:
    """NVIDIA's images allow TF32 with 10 bits, which would change figures."""
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    program = f"""
import generation.neural, torch
torch.manual_seed(0)
one, other = torch.randn(2, 256, 256, device={device!r})
exact = one.double() @ other.double()
print(torch.get_float32_matmul_precision(), float(((one @ other) - exact).abs().max()) < 1e-4)
"""
    environment = {**os.environ, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=ROOT, check=True
    )
    assert ran.stdout.split() == ["highest", "True"]


def test_a_missing_weight_is_refused_by_its_name_and_never_made_up(models: Models, models_folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = copied(models, models_folder)
    tensors = load_file(copy / "model.safetensors")
    del tensors["model.decoder.layers.1.fc1.weight"]
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BackendError, match=r"lack model\.decoder\.layers\.1\.fc1\.weight"):
        loading.load(of(copy.name), loading.facts(of(copy.name), "seq2seq"), "seq2seq")


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the weights of a folder in place."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def loads(folder: Path, kind: str = "seq2seq", **section: str) -> Any:
    config = of(folder.name, **section)
    return loading.load(config, loading.facts(config, kind), kind).model


def test_published_pegasus_weights_lack_their_positions_which_are_computed(models: Models, models_folder: Path) -> None:
    """google/pegasus-xsum is such a file; the positions are computed, not random."""
    copy = copied(models, models_folder, "pegasus")
    names = [f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")]
    rewritten(copy, lambda tensors: [tensors.pop(name) for name in names])
    model = loads(copy, dtype="float32")
    for name in names:
        assert model.get_parameter(name)[2, [0, 1, 16, 17]].tolist() == pytest.approx(
            [math.sin(2), math.sin(2 / 10_000 ** (2 / 32)), math.cos(2), math.cos(2 / 10_000 ** (2 / 32))], abs=1e-6
        )
    recorded = loading.facts(of(copy.name), "seq2seq")
    rounded = loading.load(of(copy.name), recorded, "seq2seq", dtype="bfloat16").model
    assert rounded.get_parameter(names[0]).dtype == torch.bfloat16


def test_positions_that_transformers_draws_at_random_are_refused(
    models: Models, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.models.pegasus.modeling_pegasus import PegasusPreTrainedModel, PreTrainedModel

    copy = copied(models, models_folder, "pegasus")
    rewritten(copy, lambda tensors: tensors.pop("model.encoder.embed_positions.weight"))
    monkeypatch.setattr(PegasusPreTrainedModel, "_init_weights", PreTrainedModel._init_weights)
    with pytest.raises(BackendError, match=r"lack model\.encoder\.embed_positions\.weight"):
        loads(copy)


def test_weights_of_a_classifier_are_no_summariser_although_none_is_missing(
    models: Models, models_folder: Path
) -> None:
    copy = copied(models, models_folder)
    rewritten(copy, lambda tensors: tensors.update({"classification_head.dense.weight": torch.zeros(4, 4)}))
    with pytest.raises(BackendError, match=r"contain classification_head\.dense\.weight.*another model"):
        loads(copy)


def test_tied_weights_may_be_saved_once_or_twice(models: Models, models_folder: Path) -> None:
    copy = copied(models, models_folder)
    rewritten(copy, lambda tensors: tensors.update({"lm_head.weight": tensors["model.shared.weight"].clone()}))
    model = loads(copy)
    assert model.lm_head.weight is model.model.shared.weight


def test_weights_in_float16_are_read_as_float32_on_a_cpu(models: Models, models_folder: Path) -> None:
    copy = copied(models, models_folder)
    rewritten(copy, lambda tensors: tensors.update({name: value.half() for name, value in tensors.items()}))
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"dtype": "float16"}))
    assert {parameter.dtype for parameter in loads(copy, device="cpu").parameters()} == {torch.float32}


def test_a_tokenizer_as_pegasus_is_published_is_read(models: Models, models_folder: Path) -> None:
    """A SentencePiece model alone: ids are shifted by 103, for PEGASUS's pre-training tokens."""
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    copy = copied(models, models_folder, "pegasus")
    before = weights.hashes(weights.Folder(copy))["tokenizer"]
    (copy / "tokenizer.json").unlink()
    SentencePieceTrainer.train(
        sentence_iterator=iter(tiny_models.SENTENCES * 20),
        model_prefix=str(copy / "spiece"),
        vocab_size=100,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=["<n>"],
        minloglevel=2,
    )
    (copy / "tokenizer_config.json").write_text('{"tokenizer_class": "PegasusTokenizer"}')
    words = loading.tokenizer(of(copy.name))
    own = SentencePieceProcessor(model_file=str(copy / "spiece.model")).encode(tiny_models.SENTENCES[0])
    assert words(tiny_models.SENTENCES[0]).input_ids == [*(token + 103 for token in own), words.eos_token_id]
    assert words.convert_tokens_to_ids("<n>") != words.unk_token_id
    assert weights.hashes(weights.Folder(copy))["tokenizer"] != before


def test_a_model_folder_without_a_tokenizer_is_refused(models: Models, models_folder: Path) -> None:
    copy = copied(models, models_folder)
    (copy / "tokenizer.json").unlink()
    (copy / "tokenizer_config.json").write_text('{"tokenizer_class": "BartTokenizer"}')
    with pytest.raises(BackendError, match=r"has no vocabulary\. Copy its files"):
        loading.tokenizer(of(copy.name))
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(BackendError, match=r"has no tokenizer\. Copy its files"):
        weights.hashes(weights.Folder(copy))


def test_a_tokenizer_that_reads_what_nobody_hashes_is_refused(
    models: Models, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copied(models, models_folder)
    (copy / "emoji.json").write_text("{}")
    loading.tokenizer(of(copy.name))
    monkeypatch.setattr(TokenizersBackend, "vocab_files_names", {"emoji_file": "emoji.json"})
    with pytest.raises(BackendError, match=r"reads emoji\.json, which is not part of a version's hash"):
        loading.tokenizer(of(copy.name))


#: transformers chooses where the code is; here it would create a file.
PROGRAM = """
from pathlib import Path
Path({touched!r}).touch()
from transformers import BartConfig
"""


@pytest.mark.parametrize("model_type", ["bart", "of_ones_own"])
@pytest.mark.parametrize("use", ["seq2seq", "causal", "sentences", "bertscore", "classifier"])
def test_code_in_a_model_folder_is_never_executed(
    models: Models, models_folder: Path, use: str, model_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("transformers asks whether to run a program"))
    copy = copied(models, models_folder)
    (copy / "program.py").write_text(PROGRAM.format(touched=str(copy / "was-run")))
    autos = (
        "AutoConfig",
        "AutoModel",
        "AutoModelForSeq2SeqLM",
        "AutoModelForCausalLM",
        "AutoModelForSequenceClassification",
    )
    mapped = {"auto_map": dict.fromkeys(autos, "program.BartConfig")}
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | mapped | {"model_type": model_type}))
    words = json.loads((copy / "tokenizer_config.json").read_text())
    words["auto_map"] = {"AutoTokenizer": ["program.BartConfig", None]}
    (copy / "tokenizer_config.json").write_text(json.dumps(words))
    refused: Exception | None = None
    try:
        if use in ("seq2seq", "causal"):
            loads(copy, use)
        elif use == "sentences":
            (copy / "pooling").mkdir()
            parts = [
                {"type": f"sentence_transformers.models.{part}", "path": path}
                for part, path in (("Transformer", ""), ("Pooling", "pooling"))
            ]
            (copy / "modules.json").write_text(json.dumps(parts))
            embedding.SentenceEncoder(copy.name, "cpu")
        elif use == "bertscore":
            bertscore.load({"model": copy.name, "revision": "main", "layers": 1, "rescale": False})
        else:
            classifier.load({"model": copy.name, "revision": "main", "prompt": "", **dict.fromkeys(LABELS, "x")})
    except (BackendError, MetricError) as error:
        refused = error
    assert not (copy / "was-run").exists()
    # A known type has its code in transformers; others are refused.
    assert refused or (model_type, use) == ("bart", "seq2seq")
    assert str(copy.parent) not in str(refused)


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


def test_changed_weights_in_the_model_folder_change_the_version(models: Models, models_folder: Path) -> None:
    copy = copied(models, models_folder)
    recorded = loading.facts(of(copy.name), "seq2seq")
    shutil.rmtree(copy)
    tiny_models.build("bart", copy, seed=1)
    with pytest.raises(BackendError, match="weights: "):
        loading.load(of(copy.name), recorded, "seq2seq")


def test_another_version_of_a_library_changes_the_version(models: Models) -> None:
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


def test_led_without_sdpa_is_refused_with_a_message(models: Models) -> None:
    with pytest.raises(BackendError, match="do not support sdpa"):
        loading.facts(of(models("led"), attention="sdpa"), "seq2seq")


def test_bigbird_is_set_back_to_sparse_attention_after_a_short_text(models: Models) -> None:
    loaded = loading.load(of(models("bigbird_pegasus")), loading.facts(of("bigbird_pegasus"), "seq2seq"), "seq2seq")
    encoder = loaded.model.get_encoder()
    assert [loaded.family.bucket(loaded.model.config, length) for length in (5, 28, 29, 32, 33)] == [0, 0, 8, 8, 9]
    families.reset_attention(loaded.model, 0)
    assert encoder.attention_type == "original_full"
    families.reset_attention(loaded.model, 8)
    assert encoder.attention_type == encoder.layers[0].self_attn.attention_type == "block_sparse"
