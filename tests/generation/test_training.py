"""Fine-tuning of tiny models on the parts of a split: data, weights, resuming, and what is refused."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from annotation.models import DataSplit
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from api.problems import Refused
from generation.backends.protocol import Source, InputText
from generation.models import FineTuning, TrainedStudy, TrainingState
from generation.training.actions import KIND, request_training, resume
from projects.jobs.running import run_job
from projects.models import Job, Project
from tests.annotation.m3_files import import_records, write
from tests.annotation.test_splits import item

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytestmark = pytest.mark.django_db
FAMILIES = ("bart", "pegasus", "t5", "led", "primera")


@pytest.fixture
def split(project: Project, settings: LazySettings, tmp_path: Path) -> DataSplit:
    """A split of twenty clusters: sixteen to train on, two for development, two for tests."""
    settings.DATA_DIR = tmp_path / "data"
    import_records(project, write(tmp_path / "a.jsonl", [item(200 + n, str(300 + n)) for n in range(20)]))
    parts = parse_parts("train=80,development=10,test=10")
    return create_split(project=project, asked=SplitParameters("main", parts=parts), by=None)


@pytest.fixture
def train(split: DataSplit, models: Callable[[str], str]) -> Callable[..., FineTuning]:
    numbers: Iterator[int] = iter(range(100))

    def start(
        family: str = "bart",
        *,
        name: str = "",
        seed: int = 1,
        backend: str = "seq2seq",
        parts: dict[str, str] | None = None,
        assembly: dict[str, Any] | None = None,
        runs: bool = True,
        **training: Any,
    ) -> FineTuning:
        version = {
            "backend": backend,
            "level": "proposition",
            "seed": seed,
            "model": {"model": models(family)},
            "assembly": assembly or {},
            "decoding": {"max_length": 20},
        }
        hyperparameters = {"epochs": 2, "learning_rate": 1e-3, "evaluate_every": 2, "target_tokens": 32} | training
        tuning = request_training(
            project=split.project,
            name=name or f"{family}-{next(numbers)}",
            trainer="seq2seq",
            split=split,
            config={
                "version": version,
                "training": hyperparameters,
                "parts": parts or {"training": "train", "development": "development"},
            },
            by=None,
        )
        if runs:
            run(tuning)
        return tuning

    return start


def run(tuning: FineTuning) -> None:
    run_job(Job.objects.filter(kind=KIND, params={"training": tuning.pk}).latest("pk").pk)
    tuning.refresh_from_db()


def test_a_training_stores_a_model_that_a_version_can_use(
    train: Callable[..., FineTuning], split: DataSplit, settings: LazySettings
) -> None:
    tuning = train()
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")
    assert tuning.data["training"]["examples"] == 16
    assert tuning.data["development"]["examples"] == 2
    assert tuning.result["steps"] == 4
    assert (Path(settings.MODELS_DIR) / tuning.result["folder"] / "training.json").is_file()
    assert not list((Path(settings.DATA_DIR) / "training").iterdir())
    assert TrainedStudy.objects.filter(fine_tuning=tuning).count() == 18


def test_the_same_training_gives_the_same_weights_and_another_seed_or_input_another_hash(
    train: Callable[..., FineTuning], settings: LazySettings
) -> None:
    first, again = train(), train()
    assert (first.hash, first.result["weights"]) == (again.hash, again.result["weights"])
    others = [train(seed=2), train(assembly={"question": True}), train("t5"), train(epochs=3)]
    assert len({first.hash, *(other.hash for other in others)}) == 5


@pytest.mark.parametrize("part", ["test", "elsewhere", ""])
def test_a_test_part_or_an_unknown_part_is_refused(train: Callable[..., FineTuning], part: str) -> None:
    with pytest.raises(Refused):
        train(parts={"training": part, "development": ""}, runs=False)
