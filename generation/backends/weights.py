"""Locate and hash the weights of a version without loading them, and record the library versions.

A model is a folder below ``MODELS_DIR`` or a hub id (``owner/name``) with a revision. Weights are read from safetensors
only. The other formats are pickles, and unpickling an untrusted file runs its code.
"""

import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings

from api.parameters import Parameter, Takes
from generation.backends.protocol import BackendError, Config, Facts, Summariser

MODEL = Parameter(
    "model",
    Takes.TEXT,
    "Model",
    "",
    required=True,
    help="A folder below the models folder, or a hub ID such as facebook/bart-large-xsum.",
)
REVISION = Parameter(
    "revision", Takes.TEXT, "Revision", "main", help="For a hub ID: a branch, tag or commit. The commit is recorded."
)
DTYPE = Parameter(
    "dtype",
    Takes.CHOICE,
    "Number format",
    "auto",
    choices=("auto", "float32", "bfloat16", "float16"),
    help="auto: bfloat16 on a GPU if the model supports it, otherwise float32.",
)
ATTENTION = Parameter(
    "attention",
    Takes.CHOICE,
    "Attention",
    "auto",
    choices=("auto", "eager", "sdpa"),
    help="auto: sdpa if the model supports it, otherwise eager.",
)
DEVICE = Parameter(
    "device",
    Takes.CHOICE,
    "Device",
    "auto",
    choices=("auto", "cpu", "cuda"),
    help="auto: the worker's GPU, if it has one.",
)
#: Parameters in section "model" of every backend with weights.
WEIGHTS = (MODEL, REVISION, DTYPE, ATTENTION, DEVICE)

LIBRARIES = ("torch", "transformers", "tokenizers")
#: Files that determine tokenization; missing ones are skipped. A tokenizer that reads another file is rejected when it
#: is loaded.
TOKENIZER_FILES = (
    "added_tokens.json",
    "bpe.codes",
    "merges.txt",
    "sentencepiece.bpe.model",
    "sentencepiece.model",
    "special_tokens_map.json",
    "spiece.model",
    "spm.model",
    "tekken.json",
    "tiktoken.model",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.bpe",
    "vocab.json",
    "vocab.txt",
)
TOKENIZER_ADVICE = "Copy its files (tokenizer.json, or spiece.model, or vocab.json and merges.txt) beside the weights."
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_REVISION = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w./-]*")
#: Exceptions that transformers raises for an invalid folder (ImportError: another library would read it).
LOAD_ERRORS = (OSError, ValueError, RuntimeError, KeyError, ImportError)
#: Load from disk only, and never run code stored beside the weights (``auto_map``). If unset, transformers would prompt
#: on the terminal of the worker.
STRICT_OPTIONS: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_PICKLES = (".bin", ".ckpt", ".pt", ".pth", ".pkl", ".pickle", ".h5", ".msgpack")


@dataclass(frozen=True)
class Folder:
    """The folder of a model. ``commit`` is the hub commit, or empty for a local folder."""

    path: Path
    commit: str = ""


def cache_key(config: Config) -> str:
    """Return the cache key of a configuration. Configurations with equal keys share loaded weights."""
    model = config["model"]
    return ":".join(str(model.get(parameter.name, parameter.default)) for parameter in WEIGHTS)


def at_commit(config: Config, recorded: Facts) -> Config:
    """Return the configuration at its recorded commit. A branch of the hub can move, but a version must not change."""
    if not recorded.get("commit"):
        return config
    return {**config, "model": {**config["model"], "revision": recorded["commit"]}}


def find(model: str, revision: str = "main") -> Folder:
    """Return the folder of a model, below ``MODELS_DIR`` or in the hub cache. Raise `BackendError` if there is none.

    With ``MODELS_ONLINE``, files missing from the cache are downloaded. Only a worker may resolve a hub id.
    """
    if folder := _local_folder(model):
        return Folder(folder)
    if not _HUB_ID.fullmatch(model):
        raise BackendError(f"{_no_folder(model)}, and it is not a hub ID (owner/name).")
    if not _REVISION.fullmatch(revision):
        raise BackendError("A revision must be a branch, a tag or a commit.")
    from generation.neural.checkpoints import hub

    snapshot = hub.snapshot(model, revision)
    return Folder(snapshot, commit=snapshot.name)


class MissingFolder(BackendError):
    """This machine has no such folder. Another one may have it."""


def find_local(model: str) -> Path:
    """Return the folder of a model below ``MODELS_DIR``. Raise `MissingFolder` if there is none."""
    folder = _local_folder(model)
    if folder is None:
        raise MissingFolder(f"{_no_folder(model)}.")
    return folder


def local_folders() -> list[str]:
    """Return the names of the folders in ``MODELS_DIR``, without those that are being written."""
    root = Path(settings.MODELS_DIR)
    return sorted(path.name for path in root.glob("[!.]*") if path.is_dir())


def _no_folder(model: str) -> str:
    return f"There is no folder {model!r} below the models folder ({_list_folders()})"


def _list_folders() -> str:
    """List the first available folders, for the message about an unknown one."""
    names = local_folders()
    return f"it has {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}" if names else "it is empty"


def _local_folder(model: str) -> Path | None:
    """Return a folder below MODELS_DIR, or None.

    Links are resolved, so that user input cannot reach other files of the server.
    """
    root = Path(settings.MODELS_DIR).resolve()
    if "\0" in model or "\\" in model or Path(model).is_absolute() or ".." in Path(model).parts:
        raise BackendError("A model must be a folder below the models folder: no absolute path, no '..'.")
    folder = (root / model).resolve()
    if model in ("", ".") or not folder.is_dir():
        return None
    for path in (folder, *(Path(parent, name) for parent, *names in os.walk(folder) for name in chain(*names))):
        if not path.resolve().is_relative_to(root):
            raise BackendError(f"{path.name!r} of the model {model!r} is a link to a place outside the models folder.")
        if path.is_symlink() and path.is_dir():
            # Links inside the linked folder would not be checked.
            raise BackendError(f"{path.name!r} of the model {model!r} is a link to a folder: copy the folder itself.")
    return folder


def shards(folder: Path) -> tuple[Path, ...]:
    """Return the safetensors files of a model, sorted by name.

    Raise `BackendError` if there are none, or if a file beside them refers to other weights.
    """
    _refuse_other_weights(folder)
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    # Look in the order of transformers: the hashed files must be the loaded ones.
    if single.is_file():
        return (single,)
    if index.is_file():
        weight_map = _json(index).get("weight_map")
        names = sorted({str(name) for name in weight_map.values()}) if isinstance(weight_map, dict) else []
        if not names or any("/" in name or not (folder / name).is_file() for name in names):
            raise BackendError("The index of the weights names missing files.")
        if other_files := [name for name in names if not name.endswith(".safetensors")]:
            raise BackendError(f"The index of the weights names {other_files[0]}, which is not a safetensors file.")
        return tuple(folder / name for name in names)
    if pickles := sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLES):
        raise BackendError(
            f"The weights are in {', '.join(pickles[:3])}, a format that can contain code. "
            "Only safetensors are read: convert the weights offline, then copy the folder again."
        )
    raise BackendError("The folder has no model.safetensors.")


def hashes(folder: Folder) -> dict[str, Any]:
    """Return the SHA-256 of everything in the folder that can change an output, and the full decoding defaults.

    ``weights`` is the hash of the concatenated shards, so for a single file it equals the hash of that file.
    """
    path = folder.path
    defaults = path / "generation_config.json"
    return {
        "commit": folder.commit,
        "weights": _digest(shards(path)),
        "tokenizer": _tokenizer(path),
        "config": _digest([_required_file(path / "config.json")]),
        "generation defaults": _json(defaults) if defaults.is_file() else {},
        "chat template": _digest_by_name(sorted(path.glob("*.jinja"))),
    }


def _refuse_other_weights(path: Path) -> None:
    """Raise `BackendError` if the folder refers to unhashed weights, because transformers would load them."""
    if "transformers_weights" in _json(_required_file(path / "config.json")):
        raise BackendError("config.json names other weights (transformers_weights): remove this entry.")
    if (path / "adapter_config.json").is_file():
        raise BackendError("The folder contains an adapter (adapter_config.json): merge it into its model first.")


def error_message(error: Exception, folder: Path) -> str:
    """Return an error message without the path of the folder on this machine, because leads read it."""
    return str(error).replace(str(folder), folder.name)


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that run a model, without importing them.

    Raise `BackendError` if one is missing.
    """
    try:
        return {name: version(name) for name in LIBRARIES}
    except PackageNotFoundError as missing:
        raise BackendError(f"{missing.name} is not installed on this worker: see requirements/gpu.txt.") from missing


def unchanged(recorded: Facts, current: Facts) -> None:
    """Raise `BackendError` with the differences if the facts are not those recorded with the version."""
    differences = [
        f"{'.'.join(name)}: {_short(_value_at(recorded, name))} became {_short(_value_at(current, name))}"
        for name in sorted({*_names(recorded), *_names(current)})
        if _value_at(recorded, name) != _value_at(current, name)
    ]
    if differences:
        raise BackendError(
            f"The version has changed since it was recorded ({'; '.join(differences)}). Create a new version."
        )


def _names(facts: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield from _names(value, (*prefix, name))
        else:
            yield (*prefix, name)


def _value_at(facts: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        facts = facts.get(name) if isinstance(facts, Mapping) else None
    return facts


def _short(value: Any) -> str:
    text = "nothing" if value in (None, "") else str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."


def _required_file(path: Path) -> Path:
    if not path.is_file():
        raise BackendError(f"The folder has no {path.name}.")
    return path


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as wrong:
        raise BackendError(f"{path.name} is not valid JSON: {wrong}") from wrong
    if not isinstance(content, dict):
        raise BackendError(f"{path.name} must be a JSON object.")
    return content


def _tokenizer(path: Path) -> str:
    """Return the hash of the tokenizer files. Without any, transformers would create a tokenizer without vocabulary."""
    digest = _digest_by_name([*(path / name for name in TOKENIZER_FILES), *sorted(path.glob("tokenizer.*.json"))])
    if not digest:
        raise BackendError(f"The folder has no tokenizer. {TOKENIZER_ADVICE}")
    return digest


def _digest_by_name(paths: Iterable[Path]) -> str:
    """Return a hash of the names and contents of the existing files, or an empty string if none exists."""
    digests = {path.name: _digest([path]) for path in paths if path.is_file()}
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest() if digests else ""


def _digest(paths: Iterable[Path]) -> str:
    stats = [(path, path.stat()) for path in paths]
    return _digest_files(tuple((str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino) for path, stat in stats))


@lru_cache(maxsize=256)
def _digest_files(files: tuple[tuple[str, int, int, int], ...]) -> str:
    # Cached by size, modification time and inode, so that gigabytes are not read each time a worker loads a model.
    digest = hashlib.sha256()
    for name, *_ in files:
        with open(name, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


class Weighted(ABC):
    """Subclasses override `neural`.

    Its module has ``facts(config)`` and ``load(config, facts)``, as in `protocol.Backend`.
    """

    no_probe = ""

    @abstractmethod
    def neural(self) -> Any:
        """Return the module of ``generation.neural``. Only workers call this, because the import needs torch."""

    def needs_torch(self, config: Config) -> bool:
        return True

    def weights(self, config: Config) -> str:
        return cache_key(config)

    def facts(self, config: Config) -> dict[str, Any]:
        facts: dict[str, Any] = self.neural().facts(config)
        return facts

    def load(self, config: Config, facts: Facts) -> Summariser:
        summariser: Summariser = self.neural().load(at_commit(config, facts), facts)
        return summariser
