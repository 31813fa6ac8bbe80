"""What a version's weights are, without loading them: where they lie, what they hash to, which libraries run them.

A model is a folder below ``MODELS_DIR`` or a hub id (``owner/name``) with a revision. Weights are read from safetensors
only: the other formats are pickles, and unpickling a file somebody gave us is running their program.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings

from api.parameters import Parameter, Takes

from .protocol import BackendError, Config, Facts

MODEL = Parameter("model", Takes.TEXT, "Model", "", required=True,
                  help="A folder below the models' folder, or a hub id such as facebook/bart-large-xsum.")  # fmt: skip
REVISION = Parameter("revision", Takes.TEXT, "Revision", "main",
                     help="Of a hub id: a branch, a tag or a commit. Its commit is recorded.")  # fmt: skip
DTYPE = Parameter("dtype", Takes.CHOICE, "Number format", "auto", choices=("auto", "float32", "bfloat16", "float16"),
                  help="auto: bfloat16 on a GPU where the model bears it, else float32.")  # fmt: skip
ATTENTION = Parameter("attention", Takes.CHOICE, "Attention", "auto", choices=("auto", "eager", "sdpa"),
                      help="auto: sdpa where the model has it, else eager.")  # fmt: skip
DEVICE = Parameter("device", Takes.CHOICE, "Device", "auto", choices=("auto", "cpu", "cuda"),
                   help="auto: the worker's GPU where it has one.")  # fmt: skip
#: What every backend with weights takes in its section "model".
WEIGHTS = (MODEL, REVISION, DTYPE, ATTENTION, DEVICE)

LIBRARIES = ("torch", "transformers", "tokenizers")
#: Files that decide how a text becomes tokens; one that is not there is left out. A tokenizer that reads another one
#: is refused when it is loaded.
TOKENIZER_FILES = ("added_tokens.json", "bpe.codes", "merges.txt", "sentencepiece.bpe.model", "sentencepiece.model",
                   "special_tokens_map.json", "spiece.model", "spm.model", "tekken.json", "tiktoken.model",
                   "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.bpe", "vocab.json",
                   "vocab.txt")  # fmt: skip
TOKENIZER_ADVICE = "Copy its files (tokenizer.json, or spiece.model, or vocab.json and merges.txt) beside the weights."
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_REVISION = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w./-]*")
#: What transformers raises for a folder that it cannot make sense of (ImportError: another library would read it).
UNLOADABLE = (OSError, ValueError, RuntimeError, KeyError, ImportError)
#: How everything is loaded: from the disk, and never a program that lies beside weights (``auto_map``). Left unset,
#: transformers would ask whoever sits before the worker whether to run it.
STRICTLY: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_PICKLES = (".bin", ".ckpt", ".pt", ".pth", ".pkl", ".pickle", ".h5", ".msgpack")


@dataclass(frozen=True)
class Folder:
    """Where the files of a model lie. ``commit`` is the hub's, and empty for a folder of one's own."""

    path: Path
    commit: str = ""


def held(config: Config) -> str:
    """What a warm worker holds for a configuration: equal where nothing needs to be loaded anew."""
    model = config["model"]
    return ":".join(str(model.get(parameter.name, parameter.default)) for parameter in WEIGHTS)


def at_commit(config: Config, recorded: Facts) -> Config:
    """A branch of the hub moves on; a version stays with the commit that it was made with."""
    if not recorded.get("commit"):
        return config
    return {**config, "model": {**config["model"], "revision": recorded["commit"]}}


def find(model: str, revision: str = "main") -> Folder:
    """The folder of a model: below ``MODELS_DIR``, else in the hub's cache. Raises `BackendError`.

    With ``MODELS_ONLINE`` what the cache lacks is downloaded. Only a worker may ask for a hub id.
    """
    if folder := _own(model):
        return Folder(folder)
    if not _HUB_ID.fullmatch(model):
        raise BackendError(
            f"There is no folder {model!r} below the models' folder ({_there()}), and it is no hub id (owner/name)."
        )
    if not _REVISION.fullmatch(revision):
        raise BackendError("A revision is a branch, a tag or a commit.")
    from ..neural.checkpoints import hub

    found = hub.snapshot(model, revision)
    return Folder(found, commit=found.name)


def _there() -> str:
    """The first folders that there are, for whoever mistyped one."""
    root = Path(settings.MODELS_DIR)
    names = sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    return f"it has {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}" if names else "it is empty"


def _own(model: str) -> Path | None:
    """A folder below MODELS_DIR, also after links are followed: a lead's word must not open the server's disk."""
    root = Path(settings.MODELS_DIR).resolve()
    if "\0" in model or "\\" in model or Path(model).is_absolute() or ".." in Path(model).parts:
        raise BackendError("A model is named by its folder below the models' folder: no absolute path, no '..'.")
    folder = (root / model).resolve()
    if model in ("", ".") or not folder.is_dir():
        return None
    for path in (folder, *(Path(where, name) for where, *names in os.walk(folder) for name in chain(*names))):
        if not path.resolve().is_relative_to(root):
            raise BackendError(f"{path.name!r} of the model {model!r} is a link that leads out of the models' folder.")
        if path.is_symlink() and path.is_dir():
            # Links that lie behind it would be followed unseen.
            raise BackendError(f"{path.name!r} of the model {model!r} is a link to a folder: bring the folder itself.")
    return folder


def shards(folder: Path) -> tuple[Path, ...]:
    """The safetensors files of a model, in the order of their names. Raises `BackendError` where there are none, or
    where something beside them names others."""
    _alone(folder)
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    # In this order, as transformers looks for them: what is hashed must be what is loaded.
    if single.is_file():
        return (single,)
    if index.is_file():
        named = _json(index).get("weight_map")
        names = sorted({str(name) for name in named.values()}) if isinstance(named, dict) else []
        if not names or any("/" in name or not (folder / name).is_file() for name in names):
            raise BackendError("The index of the weights names files that are not there.")
        if foreign := [name for name in names if not name.endswith(".safetensors")]:
            raise BackendError(f"The index of the weights names {foreign[0]}, which is no safetensors file.")
        return tuple(folder / name for name in names)
    if pickles := sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLES):
        raise BackendError(
            f"The weights are in {', '.join(pickles[:3])}, whose format can hold programs that loading would run. "
            "Only safetensors are read: convert them offline, then bring the folder again."
        )
    raise BackendError("The folder has no model.safetensors.")


def hashes(folder: Folder) -> dict[str, Any]:
    """SHA-256 of everything in the folder that can change an output, as facts; the defaults of decoding in full.

    ``weights``: over the bytes of the shards one after the other, so for a single file it is that file's own hash.
    """
    path = folder.path
    defaults = path / "generation_config.json"
    return {
        "commit": folder.commit,
        "weights": _digest(shards(path)),
        "tokenizer": _tokenizer(path),
        "config": _digest([_needed(path / "config.json")]),
        "generation defaults": _json(defaults) if defaults.is_file() else {},
        "chat template": _named(sorted(path.glob("*.jinja"))),
    }


def _alone(path: Path) -> None:
    """Nothing in the folder may name other weights than those that are hashed, as transformers would follow it."""
    if "transformers_weights" in _json(_needed(path / "config.json")):
        raise BackendError("config.json names other weights (transformers_weights): take that out.")
    if (path / "adapter_config.json").is_file():
        raise BackendError("The folder holds an adapter (adapter_config.json): merge it into its model first.")


def said(error: Exception, folder: Path) -> str:
    """What a library says of a folder, without where on this machine it lies: leads read it."""
    return str(error).replace(str(folder), folder.name)


def libraries() -> dict[str, str]:
    """The versions of the libraries that run a model, without importing them. Raises `BackendError`."""
    try:
        return {name: version(name) for name in LIBRARIES}
    except PackageNotFoundError as missing:
        raise BackendError(f"This worker has no {missing.name}: see requirements/gpu.txt.") from missing


def unchanged(recorded: Facts, found: Facts) -> None:
    """Raise `BackendError`, saying what differs, unless the facts are what they were when the version was made."""
    differing = [
        f"{'.'.join(name)}: {_short(_at(recorded, name))} became {_short(_at(found, name))}"
        for name in sorted({*_names(recorded), *_names(found)})
        if _at(recorded, name) != _at(found, name)
    ]
    if differing:
        raise BackendError(
            f"This is no longer the version that was recorded ({'; '.join(differing)}). Make a new version."
        )


def _names(facts: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield from _names(value, (*before, name))
        else:
            yield (*before, name)


def _at(facts: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        facts = facts.get(name) if isinstance(facts, Mapping) else None
    return facts


def _short(value: Any) -> str:
    words = "nothing" if value in (None, "") else str(value)
    return words if len(words) <= 40 else f"{words[:12]}..."


def _needed(path: Path) -> Path:
    if not path.is_file():
        raise BackendError(f"The folder has no {path.name}.")
    return path


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as wrong:
        raise BackendError(f"{path.name} is no JSON: {wrong}") from wrong
    if not isinstance(content, dict):
        raise BackendError(f"{path.name} is no JSON object.")
    return content


def _tokenizer(path: Path) -> str:
    """The hash of the tokenizer's files. Where there is none transformers makes up one that knows no word."""
    found = _named([*(path / name for name in TOKENIZER_FILES), *sorted(path.glob("tokenizer.*.json"))])
    if not found:
        raise BackendError(f"The folder has no tokenizer. {TOKENIZER_ADVICE}")
    return found


def _named(paths: Iterable[Path]) -> str:
    """A hash over names and contents of the files that exist; empty where none does."""
    found = {path.name: _digest([path]) for path in paths if path.is_file()}
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest() if found else ""


def _digest(paths: Iterable[Path]) -> str:
    stamps = [(path, path.stat()) for path in paths]
    return _read(tuple((str(path), stamp.st_size, stamp.st_mtime_ns, stamp.st_ino) for path, stamp in stamps))


@lru_cache(maxsize=256)
def _read(files: tuple[tuple[str, int, int, int], ...]) -> str:
    # Remembered while a file keeps its size, time and inode: gigabytes need not be read at every load of a warm worker.
    digest = hashlib.sha256()
    for name, *_ in files:
        with open(name, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
