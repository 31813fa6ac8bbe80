"""Where the encoder of BERTScore lies, and the file that rescales what it finds."""

from importlib.util import find_spec
from pathlib import Path

from ..backends import weights
from ..backends.protocol import BackendError
from .protocol import MetricError, Params

LANGUAGE = "en"


def folder(params: Params) -> Path:
    """Where the weights lie. Raises `MetricError`."""
    try:
        return weights.find(params["model"], params["revision"]).path
    except BackendError as error:
        raise MetricError(str(error)) from None


def baseline(model: str) -> Path:
    """The file by which scores of an encoder of this name are rescaled. Raises `MetricError` where there is none."""
    spec = find_spec("bert_score")
    if spec is None or spec.origin is None:
        raise MetricError("This worker has no bert-score: see requirements/gpu.txt.")
    root = Path(spec.origin).parent / "rescale_baseline" / LANGUAGE
    for name in (model, model.rsplit("/", 1)[-1]):
        found = (root / f"{name}.tsv").resolve()
        if found.is_relative_to(root.resolve()) and found.is_file():
            return found
    raise MetricError(
        f"bert-score has no baseline for an encoder called {model!r}: these scores cannot be rescaled. Leave it off."
    )
