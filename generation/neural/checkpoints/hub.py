"""Models of the hub: read from the local cache, and downloaded only if the operator allows it."""

from pathlib import Path

from django.conf import settings
from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ...backends.protocol import BackendError

#: Excludes pickles and code. A snapshot contains what `weights.hashes` covers; other files cannot affect the model.
FILES = ("*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model", "*.jinja")


def snapshot(model: str, revision: str) -> Path:
    """Return the snapshot folder of a hub id at a revision, named by its commit. Raise `BackendError`."""
    online = settings.MODELS_ONLINE
    try:
        path = Path(snapshot_download(model, revision=revision, local_files_only=not online, allow_patterns=FILES))
    except LocalEntryNotFoundError as missing:
        offline = " HF_HUB_OFFLINE prevents a download." if constants.HF_HUB_OFFLINE else ""
        advice = offline if online else " Set MODELS_ONLINE=1 to let the worker download it."
        raise BackendError(f"{model} at {revision} is not in this worker's cache.{advice}") from missing
    except (HfHubHTTPError, HFValidationError) as error:
        raise BackendError(f"{model} at {revision} cannot be downloaded from the hub: {error}") from error
    return path
