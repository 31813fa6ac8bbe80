import json
from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import LazySettings

from generation.backends import weights
from generation.backends.protocol import BackendError


@pytest.fixture
def root(tmp_path: Path, settings: LazySettings) -> Path:
    settings.MODELS_DIR = tmp_path / "models"
    (tmp_path / "models" / "lab" / "bart").mkdir(parents=True)
    folder = tmp_path / "models" / "lab" / "bart"
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    return tmp_path / "models"


def test_a_model_is_a_folder_below_the_models_folder(root: Path) -> None:
    assert weights.find("lab/bart") == weights.Folder(root / "lab" / "bart")


@pytest.mark.parametrize("model", ["../outside", "lab/../../outside", "/etc", "lab\\bart", "a\0b"])
def test_paths_out_of_the_models_folder_are_refused(root: Path, model: str) -> None:
    (root.parent / "outside").mkdir()
    with pytest.raises(BackendError, match="no absolute path"):
        weights.find(model)


def test_links_out_of_the_models_folder_are_refused(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "model.safetensors").write_bytes(b"secret")
    (root / "linked").symlink_to(outside)
    (root / "lab" / "bart" / "vocab.json").symlink_to(outside / "model.safetensors")
    for model in ("linked", "lab/bart"):
        with pytest.raises(BackendError, match="outside the models folder"):
            weights.find(model)


@pytest.mark.parametrize("model", ["bart", "", "no folder here", "a/b/c"])
def test_invalid_model_names_are_reported(root: Path, model: str) -> None:
    with pytest.raises(BackendError, match=r"\(it has lab\), and it is not a hub ID"):
        weights.find(model)


def test_a_pickle_is_refused_with_the_reason(root: Path) -> None:
    folder = root / "lab" / "bart"
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(BackendError, match=r"pytorch_model\.bin.*convert the weights offline"):
        weights.hashes(weights.Folder(folder))


def test_the_hash_of_one_file_is_its_own_and_shards_follow_in_order(root: Path) -> None:
    folder = root / "lab" / "bart"
    assert weights.hashes(weights.Folder(folder))["weights"] == sha256(b"weights").hexdigest()
    (folder / "model.safetensors").unlink()
    (folder / "model-2.safetensors").write_bytes(b"two")
    (folder / "model-1.safetensors").write_bytes(b"one")
    index = {"weight_map": {"z": "model-1.safetensors", "a": "model-2.safetensors", "b": "model-1.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert weights.hashes(weights.Folder(folder))["weights"] == sha256(b"onetwo").hexdigest()
    (folder / "model-2.safetensors").unlink()
    with pytest.raises(BackendError, match="names missing files"):
        weights.hashes(weights.Folder(folder))


@pytest.mark.parametrize(
    ("file", "fact"),
    [
        ("model.safetensors", "weights"),
        ("config.json", "config"),
        ("chat_template.jinja", "chat template"),
        ("generation_config.json", "generation defaults"),
        # Added and special tokens matter as much as the vocabulary; tokenizer_config.json may contain a chat template.
        *(
            (file, "tokenizer")
            for file in (
                "tokenizer.json",
                "vocab.json",
                "merges.txt",
                "spiece.model",
                "tokenizer.model",
                "added_tokens.json",
                "special_tokens_map.json",
                "tokenizer_config.json",
            )
        ),
    ],
)
def test_every_file_that_can_change_an_output_changes_one_fact(root: Path, file: str, fact: str) -> None:
    folder = weights.Folder(root / "lab" / "bart")
    before = weights.hashes(folder)
    (folder.path / file).write_text('{"num_beams": 7}')
    after = weights.hashes(folder)
    assert {name for name in after if after[name] != before[name]} == {fact}


def test_changed_facts_are_named() -> None:
    recorded = {"weights": "a" * 64, "libraries": {"torch": "2.12.0", "transformers": "5"}, "device": "cpu"}
    weights.unchanged(recorded, dict(recorded))
    found = {**recorded, "libraries": {"torch": "2.13.0", "transformers": "5"}, "cuda name": "H200"}
    with pytest.raises(BackendError, match=r"cuda name: nothing became H200; libraries\.torch: 2\.12\.0 became 2\.13"):
        weights.unchanged(recorded, found)


def test_hashed_files_are_those_that_transformers_loads(root: Path) -> None:
    """Beside a single file transformers ignores an index; configurations that name other files are refused."""
    folder = root / "lab" / "bart"
    (folder / "other.safetensors").write_bytes(b"other")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "other.safetensors"}}))
    assert weights.hashes(weights.Folder(folder))["weights"] == sha256(b"weights").hexdigest()
    (folder / "config.json").write_text('{"transformers_weights": "other.safetensors"}')
    with pytest.raises(BackendError, match="names other weights"):
        weights.hashes(weights.Folder(folder))
    (folder / "config.json").write_text("{}")
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    with pytest.raises(BackendError, match="adapter"):
        weights.hashes(weights.Folder(folder))


@pytest.mark.parametrize(
    "named",
    [{"a": "pytorch_model.bin"}, {"a": 3}, {"a": "../bart/config.json"}, {"a": "../lent.safetensors"}, [], None, {}],
)
@pytest.mark.row(61)
def test_an_index_names_safetensors_of_the_folder_and_nothing_else(root: Path, named: object) -> None:
    folder = root / "lab" / "bart"
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    (folder.parent / "lent.safetensors").write_bytes(b"another's")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": named}))
    with pytest.raises(BackendError, match="The index of the weights names"):
        weights.shards(folder)


def test_a_tokenizer_file_for_a_release_of_transformers_is_hashed_too(root: Path) -> None:
    folder = root / "lab" / "bart"
    before = weights.hashes(weights.Folder(folder))["tokenizer"]
    (folder / "tokenizer.4.0.0.json").write_text("{}")
    assert weights.hashes(weights.Folder(folder))["tokenizer"] != before


@pytest.mark.parametrize("revision", ["../../refs/main", "/etc/passwd", "a/../b", "", "main\n", "-x"])
def test_revisions_with_paths_out_of_the_cache_are_refused(root: Path, revision: str) -> None:
    with pytest.raises(BackendError, match="a branch, a tag or a commit"):
        weights.find("owner/name", revision)


def test_messages_of_libraries_are_passed_on_without_paths(root: Path) -> None:
    folder = root / "lab" / "bart"
    assert (
        weights.error_message(OSError(f"no file model.safetensors in {folder}."), folder)
        == "no file model.safetensors in bart."
    )
