"""Training of tiny classifiers of sequences and words on separable texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from annotation.models import ReadingTask
from generation import trainers
from generation.readings import tasks
from generation.trainers.protocol import Example, Parts
from tests.generation.tiny_encoders import build

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
from generation.neural.training.settings import Listener  # noqa: E402

DRUGS = ("Statins", "Aspirin", "Insulin", "Exercise")
TEXTS = ("{drug} lowered the risk of death.", "We included twelve trials of {drug}.")


def config(trainer: str, **fields: Any) -> dict[str, Any]:
    training = {"epochs": 100, "learning_rate": 1e-2, "evaluate_every": 40, "metric": "f1"}
    return trainers.get(trainer).checked({"model": {"model": "base"}, "training": training, "seed": 3, **fields})


@pytest.fixture
def base(settings: LazySettings, tmp_path: Path) -> Path:
    """An encoder without a head."""
    settings.MODELS_DIR = tmp_path
    return build("bert", tmp_path / "base", positions=64)


def sentence(number: int) -> Example:
    text = TEXTS[number % 2].format(drug=DRUGS[number % 4])
    return Example(str(number), {"text": text, "label": ("EFFECT", "METHODS")[number % 2]})


def abstract(number: int) -> Example:
    drug = DRUGS[number % 4]
    text = f"{drug} reduced stroke in adults with heart disease."
    spans = [
        {"element": "i", "start": 0, "end": len(drug)},
        {"element": "o", "start": text.index("stroke"), "end": text.index("stroke") + 6},
        {"element": "p", "start": text.index("adults"), "end": len(text) - 1},
    ]
    return Example(str(number), {"text": text, "spans": spans})


@pytest.mark.parametrize(
    ("trainer", "task", "example", "majority"),
    [("sequences", ReadingTask.SENTENCES, sentence, 2 / 3), ("tokens", ReadingTask.PIO, abstract, 0.2)],
)
def test_a_classifier_learns_separable_labels_and_reads_texts(
    trainer: str, task: ReadingTask, example: Callable[[int], Example], majority: float, base: Path, tmp_path: Path
) -> None:
    made = config(trainer, task=task.value)
    parts = Parts([example(n) for n in range(16)], [example(n) for n in range(16, 20)])
    model = trainers.get(trainer).train(made, parts, tmp_path / "checkpoints", Listener())
    assert model.result.best_value > majority + 0.2
    model.save(tmp_path / "trained")
    reader = tasks.of(task, "trained")
    reader.open()
    assert reader.meanings()["model"]
