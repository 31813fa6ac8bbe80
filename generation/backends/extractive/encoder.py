"""Check the sentence encoder of a version without loading it.

The encoder is a folder in the sentence-transformers format.
"""

import json
import re
from collections.abc import Mapping
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import weights
from ..protocol import BackendError

#: The supported modules of an encoder. Other classes would run other code.
MODULES = ("Transformer", "Pooling", "Dense", "Normalize")
#: Suffixes of the files that are read. Other files in the folder have no effect.
READ = (".safetensors", ".json", ".txt", ".model")
#: The supported settings of a Transformer. Other settings name files or are passed to the loader.
_SETTINGS = (
    "max_seq_length",
    "do_lower_case",
    "transformer_task",
    "modality_config",
    "module_output_name",
    "unpad_inputs",
)
#: The supported activations of a Dense module. For other names sentence-transformers only logs a message and uses
#: another activation.
_ACTIVATION = re.compile(r"torch\.nn\.modules\.(activation\.\w+|linear\.Identity)")


def facts_of(model: str) -> dict[str, Any]:
    """Return the SHA-256 of each file that can change a vector, by relative path, and the library versions.

    Raise `BackendError` if the folder is missing or is not an encoder, or if its weights are not safetensors.
    """
    folder = weights.find(model)
    parts(folder.path)
    files = sorted(path for path in folder.path.rglob("*") if path.is_file() and path.suffix in READ)
    try:
        libraries = weights.libraries() | {"sentence-transformers": version("sentence-transformers")}
    except PackageNotFoundError as missing:
        raise BackendError(f"{missing.name} is not installed on this worker: see requirements/gpu.txt.") from missing
    return {
        "encoder": {path.relative_to(folder.path).as_posix(): _sha256(path) for path in files},
        "commit": folder.commit,
        "libraries": libraries,
    }


def parts(folder: Path) -> list[tuple[str, Path]]:
    """Return the class name and folder of each module of the encoder, in order.

    Raise `BackendError` unless all loaded files are safetensors, or settings that name no files.
    """
    modules = [(_class_name(entry), _folder_inside(folder, entry.get("path", ""))) for entry in _modules(folder)]
    names = [name for name, _ in modules]
    if unsupported := [name for name in names if name not in MODULES]:
        raise BackendError(f"The encoder has the module {unsupported[0]!r}; supported are {', '.join(MODULES)}.")
    if names.count("Transformer") != 1 or "Pooling" not in names:
        raise BackendError("modules.json of a sentence encoder must list exactly one Transformer and a Pooling.")
    model_type = _settings(folder / "config_sentence_transformers.json").get("model_type", "SentenceTransformer")
    if model_type != "SentenceTransformer":
        # With another model type, sentence-transformers would ignore modules.json.
        raise BackendError(f"config_sentence_transformers.json has model_type {model_type!r}, not SentenceTransformer.")
    for name, path in modules:
        if name == "Transformer":
            _check_transformer(path)
        elif name == "Dense":
            _check_dense(path)
    return modules


def transformer(folder: Path) -> Path:
    """Return the folder of the Transformer module. Raise `BackendError` as `parts` does."""
    return dict(parts(folder))["Transformer"]


def _check_transformer(path: Path) -> None:
    weights.shards(path)
    for file in sorted(path.glob("sentence_*_config.json")):
        settings = _settings(file)
        if unsupported := sorted(set(settings) - set(_SETTINGS)):
            raise BackendError(f"{file.name} sets {unsupported[0]}, which is not supported.")
        modalities = settings.get("modality_config", {})
        is_plain = isinstance(modalities, dict) and all(
            isinstance(modality, dict) and modality.get("method") == "forward" for modality in modalities.values()
        )
        if settings.get("transformer_task", "feature-extraction") != "feature-extraction" or not is_plain:
            raise BackendError(f"{file.name} configures the model for another task than encoding.")


def _check_dense(path: Path) -> None:
    """Check a Dense module.

    Without a file of exactly this name, sentence-transformers would load a pickle beside it.
    """
    if not (path / "model.safetensors").is_file():
        raise BackendError(
            f"The module {path.name} has no model.safetensors. Other formats can contain code and are not read: "
            "convert the weights to safetensors offline, then copy the folder again."
        )
    name = _settings(path / "config.json").get("activation_function")
    if name is not None and not _ACTIVATION.fullmatch(str(name)):
        raise BackendError(f"The module {path.name} has the activation {name!r}, which is not a torch activation.")


def _folder_inside(folder: Path, path: object) -> Path:
    if not isinstance(path, str) or not (folder / path).resolve().is_relative_to(folder.resolve()):
        raise BackendError("modules.json refers to a folder outside the encoder.")
    return folder / path


def _modules(folder: Path) -> list[Mapping[str, Any]]:
    path = folder / "modules.json"
    if not path.is_file():
        raise BackendError("The folder has no modules.json, so it is not a sentence-transformers encoder.")
    entries = _json(path)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BackendError("modules.json must be a list of modules.")
    names = [str(entry.get("name")) for entry in entries]
    if len(set(names)) < len(names):
        raise BackendError("modules.json has a duplicate name: names of modules must be unique.")
    return entries


def _settings(path: Path) -> Mapping[str, Any]:
    """Return the contents of a settings file, or an empty mapping if it is missing."""
    settings = _json(path) if path.is_file() else {}
    if not isinstance(settings, dict):
        raise BackendError(f"{path.name} must be a JSON object.")
    return settings


def _json(path: Path) -> Any:
    def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise BackendError(f"{path.name} has a duplicate key.")
        return dict(pairs)

    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=refuse_duplicates)
    except ValueError as error:
        raise BackendError(f"{path.name} is not valid JSON: {error}") from error


def _class_name(entry: Mapping[str, Any]) -> str:
    package, _, name = str(entry.get("type", "")).rpartition(".")
    if package.partition(".")[0] != "sentence_transformers":
        raise BackendError(
            f"The encoder has the module {entry.get('type')!r}, which is not part of sentence-transformers."
        )
    return name


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
