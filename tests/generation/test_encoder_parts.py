"""Every part of a sentence encoder's folder is checked, and only hashed files are read."""

import json
import pickle
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from generation.backends.extractive import encoder as encoders
from generation.backends.protocol import BackendError
from tests.generation.tiny_encoders import build_sentence_encoder

DENSE = "sentence_transformers.models.Dense"


class Bomb:
    """Would run code when unpickled."""

    def __init__(self, touched: Path) -> None:
        self.touched = touched

    def __reduce__(self) -> Any:
        return Path.touch, (self.touched,)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Transformer, a Pooling, two Dense and a Normalize module in the published layout."""
    from safetensors.torch import save_file
    from sentence_transformers.sentence_transformer.modules import Dense

    folder = build_sentence_encoder(tmp_path_factory.mktemp("models") / "encoder")
    for name, sizes in (("2_Dense", (32, 16)), ("3_Dense", (16, 8))):
        (folder / name).mkdir()
        dense = Dense(*sizes)
        dense.save_config(str(folder / name))
        save_file(dense.state_dict(), folder / name / "model.safetensors")
    modules = json.loads((folder / "modules.json").read_text())
    modules += [
        {"idx": idx, "name": str(idx), "path": f"{idx}_{kind}", "type": f"sentence_transformers.models.{kind}"}
        for idx, kind in ((2, "Dense"), (3, "Dense"), (4, "Normalize"))
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path, settings: LazySettings) -> Path:
    settings.MODELS_DIR = tmp_path / "models"
    return Path(shutil.copytree(built, tmp_path / "models" / "encoder"))


def load() -> Any:
    from generation.neural.encoders.embedding import SentenceEncoder

    encoders.facts_of("encoder")
    return SentenceEncoder("encoder", "cpu")


def refusal() -> str:
    with pytest.raises(BackendError) as refused:
        encoders.facts_of("encoder")
    return str(refused.value)


def place(idx: int, path: object, modules: list[dict[str, Any]]) -> None:
    modules[idx]["path"] = path


def edit(path: Path, change: Callable[[Any], object]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_an_encoder_of_five_parts_is_loaded(folder: Path) -> None:
    assert load().encode(["Nepralin helps."]).shape == (1, 8)
    assert {"2_Dense/model.safetensors", "3_Dense/model.safetensors"} <= set(encoders.facts_of("encoder")["encoder"])


@pytest.mark.parametrize("part", ["2_Dense", "3_Dense", "."])
@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.row(61)
def test_a_pickle_in_any_part_is_refused_and_never_opened(
    folder: Path, tmp_path: Path, part: str, beside: bool
) -> None:
    """Also beside safetensors with another name, which would not be loaded."""
    weights = folder / part / "model.safetensors"
    if beside:
        weights.rename(weights.with_name("other.safetensors"))
    else:
        weights.unlink()
    (folder / part / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    assert "afetensors" in refusal()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("idx", [0, 1, 2, 3, 4])
@pytest.mark.row(61)
def test_no_part_is_outside_the_encoder_folder(folder: Path, idx: int) -> None:
    shutil.copytree(folder, folder.parent / "other")
    for path in ("../other", "../../other", "/etc", "1_Pooling/../../other", 3, None, ["2_Dense"]):
        edit(folder / "modules.json", partial(place, idx, path))
        assert "modules.json refers to" in refusal(), path


@pytest.mark.parametrize("named", ["2_Dense", "2_Dense/model.safetensors", "1_Pooling/config.json", "config.json"])
@pytest.mark.parametrize("to", ["outside", "models"])
@pytest.mark.row(61)
def test_a_link_below_an_encoder_is_refused_where_it_leads_out_or_to_a_folder(
    folder: Path, tmp_path: Path, named: str, to: str
) -> None:
    lent = tmp_path / to / "lent"
    lent.parent.mkdir(exist_ok=True)
    (folder / named).rename(lent)
    (folder / named).symlink_to(lent)
    if to == "models" and lent.is_file():
        load()  # a file in the models' folder, hashed like any other
    else:
        assert "is a link" in refusal()


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "0", "type": "sentence_transformers.models.Transformer", "path": "../other", "path": ""},'
        ' {"name": "1", "type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]',
        '[{"name": "0", "type": "sentence_transformers.models.Transformer", "path": ""},'
        ' {"name": "0", "type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]',
    ],
)
@pytest.mark.row(61)
def test_duplicate_modules_of_an_encoder_are_refused(folder: Path, text: str) -> None:
    (folder / "modules.json").write_text(text)
    assert "duplicate" in refusal()


def test_an_encoder_has_exactly_one_transformer(folder: Path) -> None:
    shutil.copytree(folder, folder / "5_Transformer")
    more = {"idx": 5, "name": "5", "path": "5_Transformer", "type": "sentence_transformers.models.Transformer"}
    edit(folder / "modules.json", lambda modules: modules.append(more))
    assert "one Transformer" in refusal()


@pytest.mark.parametrize("name", ["sentence_bert_config.json", "sentence_xlm-roberta_config.json"])
@pytest.mark.parametrize(
    "settings_of_transformer",
    [
        {"tokenizer_name_or_path": "/outside"},
        {"model_kwargs": {"gguf_file": "/outside"}},
        {"tokenizer_args": {"tokenizer_file": "/outside"}},
        {"config_kwargs": {"subfolder": "/outside"}},
        {"transformer_task": "any-to-any"},
        {"unknown": 1},
        {"modality_config": {"text": {"method": "save_pretrained"}}},
        {"modality_config": {"text": "x"}},
        {"modality_config": ["x"]},
    ],
)
@pytest.mark.row(61)
def test_the_settings_of_a_transformer_name_no_files_and_call_nothing_else(
    folder: Path, name: str, settings_of_transformer: dict[str, Any]
) -> None:
    (folder / "sentence_bert_config.json").unlink()
    (folder / name).write_text(json.dumps(settings_of_transformer))
    assert name in refusal()


def test_older_settings_of_a_transformer_are_read(folder: Path) -> None:
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16, "do_lower_case": false}')
    assert load()._model.max_seq_length == 16


@pytest.mark.parametrize("said", ["CrossEncoder", "SparseEncoder", 3])
def test_a_folder_of_another_type_is_not_read_as_an_encoder(folder: Path, said: object) -> None:
    """Otherwise modules.json would be ignored and the top folder loaded as a Transformer."""
    edit(folder / "config_sentence_transformers.json", lambda config: config.update(model_type=said))
    assert "model_type" in refusal()


def test_other_weights_and_adapters_are_not_followed(folder: Path) -> None:
    edit(folder / "config.json", lambda config: config.update(transformers_weights="other.safetensors"))
    assert "names other weights" in refusal()
    edit(folder / "config.json", lambda config: config.pop("transformers_weights"))
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/outside"}')
    assert "adapter" in refusal()


@pytest.mark.parametrize("name", ["torch.hub.load", "torch.nn.modules.container.Sequential", "program.Activation", 3])
def test_the_activation_of_a_dense_part_is_a_known_one(folder: Path, name: object) -> None:
    """An unknown activation would silently be replaced and change the vectors."""
    edit(folder / "2_Dense" / "config.json", lambda config: config.update(activation_function=name))
    assert "activation" in refusal()
    for known in ("torch.nn.modules.linear.Identity", "torch.nn.modules.activation.GELU"):
        (folder / "2_Dense" / "config.json").write_text(
            json.dumps({"in_features": 32, "out_features": 16, "bias": True, "activation_function": known})
        )
        load()


def test_a_tokenizer_that_reads_what_is_not_hashed_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import TokenizersBackend

    (folder / "bpe.codes").write_text("a b")
    load()
    monkeypatch.setattr(TokenizersBackend, "vocab_files_names", {"merges_file": "bpe.codes"})
    with pytest.raises(BackendError, match=r"bpe\.codes"):
        load()
