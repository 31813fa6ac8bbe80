"""Sentence encoders, loaded strictly."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

from ...backends import weights
from ...backends.extractive.encoder import READ, transformer
from ...backends.protocol import BackendError

BATCH = 32


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


class SentenceEncoder:
    """An encoder in float32. What it says of a unit's sentences does not depend on other units: they come alone."""

    def __init__(self, model: str, where: str) -> None:
        """Load a folder onto a device. Raises `BackendError` where a weight is missing, or it cannot be read."""
        folder = weights.find(model).path
        try:
            _complete(transformer(folder))
            self._model: Any = SentenceTransformer(
                str(folder), device=where, model_kwargs={"use_safetensors": True, "dtype": torch.float32},
                **weights.STRICTLY,
            )  # fmt: skip
        except (OSError, ValueError, RuntimeError, KeyError, TypeError) as wrong:
            raise BackendError(f"The encoder cannot be loaded: {weights.said(wrong, folder)}") from wrong
        for name in getattr(self._model.tokenizer, "vocab_files_names", {}).values():
            if Path(name).suffix not in READ and (transformer(folder) / name).is_file():
                raise BackendError(f"The tokenizer reads {name}, which is no part of a version's hash.")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """(n, size) vectors of length 1; what is longer than the encoder reads is cut by it."""
        with torch.inference_mode():
            vectors = self._model.encode(
                list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float64)


def _complete(folder: Path) -> None:
    """Transformers fills what the file lacks with random numbers. The pooler alone may lack: pooling reads states."""
    _, report = AutoModel.from_pretrained(folder, use_safetensors=True, output_loading_info=True, **weights.STRICTLY)
    missing = [name for name in report.get("missing_keys", ()) if not name.startswith("pooler.")]
    missing += [key[0] for key in report.get("mismatched_keys") or ()]
    if missing:
        raise BackendError(f"The encoder's weights lack {', '.join(sorted(missing)[:5])}; the rest would be random.")
