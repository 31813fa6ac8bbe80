"""Which sentence encoder a version uses, without loading it: a folder in the form of sentence-transformers."""

import json
import re
from collections.abc import Mapping
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import weights
from ..protocol import BackendError

#: The parts that an encoder may be made of; other classes would be other programs.
PARTS = ("Transformer", "Pooling", "Dense", "Normalize")
#: What is read of a folder: whatever else lies there cannot act.
READ = (".safetensors", ".json", ".txt", ".model")
#: What the settings of a Transformer may say: all else there names files, or is handed to what loads them.
_SETTINGS = ("max_seq_length", "do_lower_case", "transformer_task", "modality_config", "module_output_name",
             "unpad_inputs")  # fmt: skip
#: What a Dense part may end in. Of other names sentence-transformers would take another one, with a line in the log.
_ACTIVATION = re.compile(r"torch\.nn\.modules\.(activation\.\w+|linear\.Identity)")


def facts_of(model: str) -> dict[str, Any]:
    """SHA-256 of each file that can change a vector, by its path in the folder, and the libraries that read them.

    Raises `BackendError` for a folder that is not there or is no encoder, and for weights that are no safetensors.
    """
    folder = weights.find(model)
    parts(folder.path)
    files = sorted(path for path in folder.path.rglob("*") if path.is_file() and path.suffix in READ)
    try:
        libraries = weights.libraries() | {"sentence-transformers": version("sentence-transformers")}
    except PackageNotFoundError as missing:
        raise BackendError(f"This worker has no {missing.name}: see requirements/gpu.txt.") from missing
    return {
        "encoder": {path.relative_to(folder.path).as_posix(): _sha256(path) for path in files},
        "commit": folder.commit,
        "libraries": libraries,
    }


def parts(folder: Path) -> list[tuple[str, Path]]:
    """Each part of the encoder, in order: the name of its class and its folder. Raises `BackendError` unless of every
    one of them all that is loaded is safetensors or settings that name no files."""
    found = [(_class(entry), _inside(folder, entry.get("path", ""))) for entry in _modules(folder)]
    names = [name for name, _ in found]
    if foreign := [name for name in names if name not in PARTS]:
        raise BackendError(f"The encoder has a part {foreign[0]!r}; known are {', '.join(PARTS)}.")
    if names.count("Transformer") != 1 or "Pooling" not in names:
        raise BackendError("A sentence encoder needs one Transformer, and a Pooling, in its modules.json.")
    said = _settings(folder / "config_sentence_transformers.json").get("model_type", "SentenceTransformer")
    if said != "SentenceTransformer":
        # What modules.json says would be passed over.
        raise BackendError(f"config_sentence_transformers.json gives the folder the model_type {said!r}.")
    for name, path in found:
        if name == "Transformer":
            _check_transformer(path)
        elif name == "Dense":
            _check_dense(path)
    return found


def transformer(folder: Path) -> Path:
    """The folder of the encoder's Transformer. Raises `BackendError` as `parts` does."""
    return dict(parts(folder))["Transformer"]


def _check_transformer(path: Path) -> None:
    weights.shards(path)
    for file in sorted(path.glob("sentence_*_config.json")):
        said = _settings(file)
        if other := sorted(set(said) - set(_SETTINGS)):
            raise BackendError(f"{file.name} sets {other[0]}, which is not supported.")
        ways = said.get("modality_config", {})
        plain = isinstance(ways, dict) and all(
            isinstance(way, dict) and way.get("method") == "forward" for way in ways.values()
        )
        if said.get("transformer_task", "feature-extraction") != "feature-extraction" or not plain:
            raise BackendError(f"{file.name} makes something else of the model than an encoder.")


def _check_dense(path: Path) -> None:
    """Without a file of just this name a pickle beside it would be loaded."""
    if not (path / "model.safetensors").is_file():
        raise BackendError(
            f"The part {path.name} has no model.safetensors. Only safetensors are read, for other formats can hold "
            "programs: convert its weights offline, then bring the folder again."
        )
    name = _settings(path / "config.json").get("activation_function")
    if name is not None and not _ACTIVATION.fullmatch(str(name)):
        raise BackendError(f"The part {path.name} has the activation {name!r}, which is not one of torch.")


def _inside(folder: Path, path: object) -> Path:
    if not isinstance(path, str) or not (folder / path).resolve().is_relative_to(folder.resolve()):
        raise BackendError("modules.json names a folder outside of the encoder.")
    return folder / path


def _modules(folder: Path) -> list[Mapping[str, Any]]:
    path = folder / "modules.json"
    if not path.is_file():
        raise BackendError("The folder has no modules.json: it is no encoder of sentence-transformers.")
    entries = _json(path)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BackendError("modules.json is no list of modules.")
    names = [str(entry.get("name")) for entry in entries]
    if len(set(names)) < len(names):
        raise BackendError("modules.json has a name twice: one part would take the place of another.")
    return entries


def _settings(path: Path) -> Mapping[str, Any]:
    """What a file of settings says; nothing where it is not there."""
    found = _json(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise BackendError(f"{path.name} is no JSON object.")
    return found


def _json(path: Path) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise BackendError(f"{path.name} says something twice.")
        return dict(pairs)

    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)
    except ValueError as wrong:
        raise BackendError(f"{path.name} is no JSON: {wrong}") from wrong


def _class(entry: Mapping[str, Any]) -> str:
    package, _, name = str(entry.get("type", "")).rpartition(".")
    if package.partition(".")[0] != "sentence_transformers":
        raise BackendError(f"The encoder has a part {entry.get('type')!r}, which is not of sentence-transformers.")
    return name


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
