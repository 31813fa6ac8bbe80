"""Which queue a version's work waits in: one a model, so that a worker goes on with the weights it has loaded."""

import hashlib

from projects.background.waiting import NEEDS_TORCH

from ..backends.protocol import Config
from ..systems.identity import backend_of

#: What workers without torch do.
DEFAULT = "default"
#: A broker has one queue for the whole family (`docs/decisions/0012-runs.md`).
GPU = NEEDS_TORCH


def queue_of(config: Config) -> str:
    """``default`` where no torch is needed, else ``gpu.`` and twelve hex digits that stand for the weights."""
    backend = backend_of(config)
    if not backend.needs_torch(config):
        return DEFAULT
    return f"{GPU}.{hashlib.sha256(backend.weights(config).encode()).hexdigest()[:12]}"
