"""Which sentence encoder a version uses, without loading it: a folder in the form of sentence-transformers."""

import json
from collections.abc import Mapping
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import weights
from ..protocol import BackendError

#: The parts that an encoder may be made of; other classes would be other programs.
PARTS = ("Transformer", "Pooling", "Dense", "Normalize")
_PICKLES = (".bin", ".ckpt", ".pt", ".pth", ".pkl", ".pickle")
#: What is read of a folder: whatever else lies there cannot act.
_READ = (".safetensors", ".json", ".txt", ".model")


def facts_of(model: str) -> dict[str, Any]:
    """SHA-256 of each file that can change a vector, by its path in the folder, and the libraries that read them.

    Raises `BackendError` for a folder that is not there or is no encoder, and for weights that are no safetensors.
    """
    folder = weights.find(model)
    parts(folder.path)
    files = sorted(path for path in folder.path.rglob("*") if path.is_file() and path.suffix in _READ)
    try:
        libraries = weights.libraries() | {"sentence-transformers": version("sentence-transformers")}
    except PackageNotFoundError as missing:
        raise BackendError(f"This worker has no {missing.name}: see requirements/gpu.txt.") from missing
    return {
        "encoder": {path.relative_to(folder.path).as_posix(): _sha256(path) for path in files},
        "commit": folder.commit,
        "libraries": libraries,
    }


def parts(folder: Path) -> dict[str, Path]:
    """The folders of the encoder's parts, by the name of their class. Raises `BackendError`."""
    found = {_class(entry): folder / str(entry.get("path", "")) for entry in _modules(folder)}
    if foreign := [name for name in found if name not in PARTS]:
        raise BackendError(f"The encoder has a part {foreign[0]!r}; known are {', '.join(PARTS)}.")
    if "Transformer" not in found or "Pooling" not in found:
        raise BackendError("A sentence encoder needs a Transformer and a Pooling in its modules.json.")
    for path in found.values():
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BackendError("modules.json names a folder outside of the encoder.")
        here = list(path.iterdir()) if path.is_dir() else []
        if any(file.suffix in _PICKLES for file in here) and not any(file.suffix == ".safetensors" for file in here):
            raise BackendError(
                "The encoder's weights are in a format that can hold programs. Only safetensors are read: "
                "convert them offline, then bring the folder again."
            )
    return found


def _modules(folder: Path) -> list[Mapping[str, Any]]:
    path = folder / "modules.json"
    if not path.is_file():
        raise BackendError("The folder has no modules.json: it is no encoder of sentence-transformers.")
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as wrong:
        raise BackendError(f"modules.json is no JSON: {wrong}") from wrong
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BackendError("modules.json is no list of modules.")
    return entries


def _class(entry: Mapping[str, Any]) -> str:
    package, _, name = str(entry.get("type", "")).rpartition(".")
    if package.partition(".")[0] != "sentence_transformers":
        raise BackendError(f"The encoder has a part {entry.get('type')!r}, which is not of sentence-transformers.")
    return name


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
