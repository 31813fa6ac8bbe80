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
    """A float32 encoder. Each unit is encoded separately, so its vectors do not depend on other units."""

    def __init__(self, model: str, device: str) -> None:
        """Load a folder onto a device. Raise `BackendError` if a weight is missing or the folder is invalid."""
        folder = weights.find(model).path
        try:
            _refuse_incomplete(transformer(folder))
            self._model: Any = SentenceTransformer(
                str(folder),
                device=device,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
                **weights.STRICT_OPTIONS,
            )
        except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
            raise BackendError(f"The encoder cannot be loaded: {weights.error_message(error, folder)}") from error
        for name in getattr(self._model.tokenizer, "vocab_files_names", {}).values():
            if Path(name).suffix not in READ and (transformer(folder) / name).is_file():
                raise BackendError(f"The tokenizer reads {name}, which is not part of a version's hash.")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return (n, size) vectors of length 1. Texts longer than the encoder's limit are truncated."""
        with torch.inference_mode():
            vectors = self._model.encode(
                list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float64)


def _refuse_incomplete(folder: Path) -> None:
    """Raise `BackendError` if a weight is missing, because transformers would initialise it at random.

    Only the pooler may be missing, because pooling reads the hidden states.
    """
    _, report = AutoModel.from_pretrained(
        folder, use_safetensors=True, output_loading_info=True, **weights.STRICT_OPTIONS
    )
    missing = [name for name in report.get("missing_keys", ()) if not name.startswith("pooler.")]
    missing += [key[0] for key in report.get("mismatched_keys") or ()]
    if missing:
        raise BackendError(f"The encoder's weights lack {', '.join(sorted(missing)[:5])}; the rest would be random.")
