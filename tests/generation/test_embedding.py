"""MMR over embeddings: a sentence encoder from a folder, hashed and loaded strictly."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import LazySettings

from generation import backends
from generation.backends.identity import checked
from generation.backends.protocol import BackendError, InputText, Output, Source
from tests.generation.tiny_encoders import build_sentence_encoder
from tests.generation.tiny_models import SENTENCES

CONFIG: dict[str, Any] = checked(
    {"backend": "extractive", "decoding": {"method": "MMR", "vectors": "embeddings", "encoder": "encoder"}}
)
UNITS = [Source(1, "a", tuple(map(InputText, SENTENCES[:5]))), Source(2, "b", tuple(map(InputText, SENTENCES[3:])))]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    build_sentence_encoder(folder / "encoder")
    return folder


@pytest.fixture
def encoder(built: Path, tmp_path: Path, settings: LazySettings) -> Path:
    shutil.copytree(built, tmp_path / "models")
    settings.MODELS_DIR = tmp_path / "models"
    return tmp_path / "models" / "encoder"


def facts() -> dict[str, Any]:
    return backends.get("extractive").facts(CONFIG)


def texts(units: list[Source]) -> list[str]:
    summariser = backends.get("extractive").load(CONFIG, facts())
    made = [one for group in summariser.summarise(units) for one in group]
    assert all(isinstance(one, Output) for one in made)
    summariser.close()
    return [one.text for one in made if isinstance(one, Output)]


def test_mmr_over_embeddings_is_the_same_alone_and_together(encoder: Path) -> None:
    together = texts(UNITS)
    assert together == [*texts(UNITS[:1]), *texts(UNITS[1:])]
    assert all(len([s for s in SENTENCES if s in text]) == 3 for text in together)


def test_vectors_have_length_one(encoder: Path) -> None:
    from generation.neural.encoders.embedding import SentenceEncoder

    vectors = SentenceEncoder("encoder", "cpu").encode(list(SENTENCES))
    assert vectors.shape == (len(SENTENCES), 32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)


def test_facts_hash_every_file_that_can_change_a_vector(encoder: Path) -> None:
    before = facts()
    assert {"model.safetensors", "modules.json", "tokenizer.json", "1_Pooling/config.json"} <= set(before["encoder"])
    assert before["libraries"].keys() >= {"sentence-transformers", "torch", "transformers", "numpy"}
    pooling = encoder / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text() + " ")
    after = facts()
    changed = {name for name, digest in after["encoder"].items() if before["encoder"][name] != digest}
    assert changed == {"1_Pooling/config.json"}
    with pytest.raises(BackendError, match="has changed since it was recorded"):
        backends.get("extractive").load(CONFIG, before)


def test_weights_that_lack_a_key_are_refused_instead_of_filled_with_random_numbers(encoder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(encoder / "model.safetensors")
    gone = next(name for name in tensors if "attention" in name and name.endswith("weight"))
    del tensors[gone]
    save_file(tensors, encoder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BackendError, match=r"weights lack .*attention"):
        backends.get("extractive").load(CONFIG, facts())


def test_pickled_weights_foreign_parts_and_folders_outside_are_refused(encoder: Path) -> None:
    modules = json.loads((encoder / "modules.json").read_text())

    def refused(changed: Any) -> str:
        (encoder / "modules.json").write_text(json.dumps(changed))
        with pytest.raises(BackendError) as refusal:
            facts()
        return str(refusal.value)

    assert "os.system" in refused([*modules, {"type": "os.system", "path": ""}])
    assert "Router" in refused([*modules, {"type": "sentence_transformers.base.modules.Router", "path": ""}])
    assert "outside" in refused([modules[0] | {"path": "../.."}, *modules[1:]])
    assert "Pooling" in refused(modules[:1])
    assert "must be a list" in refused({})
    (encoder / "model.safetensors").rename(encoder / "pytorch_model.bin")
    assert "safetensors" in refused(modules)
    (encoder / "modules.json").unlink()
    with pytest.raises(BackendError, match="not a sentence-transformers encoder"):
        facts()


@pytest.mark.parametrize("name", ["../encoder", "/etc", "nowhere"])
def test_an_encoder_must_be_inside_the_models_folder(encoder: Path, name: str) -> None:
    config = checked(CONFIG | {"decoding": CONFIG["decoding"] | {"encoder": name}})
    with pytest.raises(BackendError):
        backends.get("extractive").facts(config)
