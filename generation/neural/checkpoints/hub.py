"""Models of the hub: from the local cache, and from the net only where the operator allows it."""

from pathlib import Path

from django.conf import settings
from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ...backends.protocol import BackendError

#: Never a pickle, never a program: a snapshot holds what `weights.hashes` covers, and nothing else can act.
FILES = ("*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model", "*.jinja")


def snapshot(model: str, revision: str) -> Path:
    """The snapshot of a hub id at a revision; a folder that is named by the commit. Raises `BackendError`."""
    online = settings.MODELS_ONLINE
    try:
        path = Path(snapshot_download(model, revision=revision, local_files_only=not online, allow_patterns=FILES))
    except LocalEntryNotFoundError as missing:
        forbidden = " HF_HUB_OFFLINE keeps the worker from the hub." if constants.HF_HUB_OFFLINE else ""
        advice = forbidden if online else " MODELS_ONLINE=1 would let the worker download it."
        raise BackendError(f"{model} at {revision} is not in this worker's cache.{advice}") from missing
    except (HfHubHTTPError, HFValidationError) as wrong:
        raise BackendError(f"{model} at {revision} cannot be had from the hub: {wrong}") from wrong
    return path
