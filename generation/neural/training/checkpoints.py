"""Complete checkpoints of a training. A checkpoint is complete once its trainer_state.json can be read."""

import json
import re
import shutil
from pathlib import Path

_NAME = re.compile(r"checkpoint-(\d+)")
STATE = "trainer_state.json"


def step_of(checkpoint: Path) -> int:
    """Return the optimizer step of a checkpoint folder."""
    match = _NAME.fullmatch(checkpoint.name)
    return int(match[1]) if match else -1


def last_complete(folder: Path) -> Path | None:
    """Return the newest complete checkpoint, and delete incomplete ones after it.

    The Trainer writes trainer_state.json last. It would choose a checkpoint without one, and fail.
    """
    checkpoints = sorted((path for path in folder.glob("checkpoint-*") if step_of(path) >= 0), key=step_of)
    for checkpoint in reversed(checkpoints):
        if _is_complete(checkpoint):
            return checkpoint
        shutil.rmtree(checkpoint)
    return None


def _is_complete(checkpoint: Path) -> bool:
    try:
        state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and state.get("global_step") == step_of(checkpoint)
