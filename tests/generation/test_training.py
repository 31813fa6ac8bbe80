"""Fine-tuning of tiny models on the parts of a split: data, weights, resuming, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from accounts.models import User
from annotation.models import DataSplit
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from api.problems import Conflict, Refused
from generation.models import FineTuning, TrainedStudy, TrainingState
from generation.training.actions import request_training, resume
from generation.training.running import Recorder
from projects.jobs.running import Cancelled
from tests.generation.trainings import Train, run, split, train

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
from generation.neural.checkpoints import loading  # noqa: E402
from generation.neural.training import loop  # noqa: E402

__all__ = ["split", "train"]
pytestmark = pytest.mark.django_db
#: BART and PRIMERA have the two kinds of attention; the others run in `make soak`.
FAMILIES = ["bart", "primera", *(pytest.param(name, marks=pytest.mark.long) for name in ("pegasus", "t5", "led"))]


def test_a_training_stores_a_model_that_a_version_can_use(
    train: Train, split: DataSplit, settings: LazySettings
) -> None:
    tuning = train()
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")
    assert tuning.data["training"]["examples"] == 16
    assert tuning.data["development"]["examples"] == 2
    assert tuning.result["steps"] == 4
    assert (Path(settings.MODELS_DIR) / tuning.result["folder"] / "training.json").is_file()
    assert not list((Path(settings.DATA_DIR) / "training").iterdir())
    assert TrainedStudy.objects.filter(fine_tuning=tuning).count() == 36


def test_the_same_training_gives_the_same_weights_and_other_data_or_settings_another_hash(
    train: Train, split: DataSplit
) -> None:
    first, again = train(), train()
    assert (first.hash, first.result["weights"]) == (again.hash, again.result["weights"])
    assert first.result["folder"] != again.result["folder"]
    asked = SplitParameters("other", parts=parse_parts("train=80,development=10,test=10"), seed=1)
    other = create_split(project=split.project, asked=asked, by=None)
    others = [
        train(seed=2),
        train(of=other),
        train(assembly={"question": True}),
        train("t5"),
        train(epochs=3),
        train(parts={"training": "train", "development": ""}),
    ]
    assert len({first.hash, *(other.hash for other in others)}) == 7


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_do_not_depend_on_how_a_batch_is_divided(
    family: str, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = loading.load

    def load_without_dropout(*arguments: Any) -> loading.LoadedModel:
        loaded = load(*arguments)
        for module in loaded.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
            elif isinstance(getattr(module, "dropout", None), float):
                module.dropout = 0.0
        return loaded

    monkeypatch.setattr(loading, "load", load_without_dropout)
    norms = [train(family, micro=micro, steps=1, evaluate_every=1).curve[0]["gradient_norm"] for micro in (8, 4, 2)]
    assert norms[1:] == pytest.approx([norms[0]] * 2, rel=1e-3)


@pytest.mark.parametrize("part", ["test", "elsewhere", ""])
def test_a_test_part_or_an_unknown_part_is_refused(train: Train, part: str) -> None:
    with pytest.raises(Refused):
        train(parts={"training": part, "development": ""}, runs=False)


def test_short_memory_halves_the_batch_and_keeps_the_updates(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    call = loop.call

    def too_large(model: Any, inputs: dict[str, Any]) -> Any:
        if len(inputs["input_ids"]) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return call(model, inputs)

    monkeypatch.setattr(loop, "call", too_large)
    tuning = train()
    assert tuning.state == TrainingState.DONE
    assert [(phase["micro"], phase["accumulation"]) for phase in tuning.phases] == [(8, 1), (4, 2)]
    assert tuning.result["steps"] == 4


def test_an_example_that_does_not_fit_into_memory_ends_the_training_with_advice(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(model: Any, inputs: dict[str, Any]) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(loop, "call", too_large)
    tuning = train()
    assert tuning.state == TrainingState.FAILED
    assert tuning.error.startswith("One example does not fit into memory.")
    assert [phase["micro"] for phase in tuning.phases] == [8, 4, 2, 1]


def test_a_loss_that_is_not_a_number_ends_the_training_with_advice(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = loop.call

    def not_a_number(model: Any, inputs: dict[str, Any]) -> Any:
        outputs = call(model, inputs)
        outputs["loss"] = outputs["loss"] * float("nan")
        return outputs

    monkeypatch.setattr(loop, "call", not_a_number)
    tuning = train()
    assert tuning.state == TrainingState.FAILED
    assert tuning.error.startswith("The loss is not a number after update 1.")


def test_lora_trains_few_weights_and_stores_a_whole_model(train: Train) -> None:
    tuning = train(lora_rank=2)
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")


def test_inputs_encoded_separately_are_trained_as_they_are_read(train: Train) -> None:
    tuning = train(backend="multi_encode")
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")


def test_a_training_stops_early_by_rouge(train: Train) -> None:
    tuning = train(metric="rouge1", patience=1, learning_rate=1e-9, epochs=20)
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")
    assert tuning.result["stopped_early"]


def test_a_cancelled_training_continues_at_its_last_checkpoint(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel(recorder: Recorder, state: Any) -> None:
        if state.step == 3:
            raise Cancelled

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "report", cancel)
        tuning = train()
    assert tuning.state == TrainingState.CANCELLED
    resume(training=tuning, by=None)
    run(tuning)
    assert tuning.state == TrainingState.DONE
    assert [phase["step"] for phase in tuning.phases] == [0, 2]
    with pytest.raises(Conflict):
        resume(training=tuning, by=None)


def test_a_command_trains_and_names_the_model(
    split: DataSplit, models: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "bart.json"
    version = {"backend": "seq2seq", "level": "proposition", "model": {"model": models("bart")}}
    config.write_text(json.dumps({"version": version, "training": {"steps": 1, "target_tokens": 32}}))
    options = {"project": split.project.slug, "name": "BART", "here": True}
    call_command("train", config=config, split="main", development="development", **options)
    assert "BART: 1 updates on 16 examples. Model trained-" in capsys.readouterr().out
    call_command("train", **options)
    assert FineTuning.objects.count() == 1


def test_only_leads_of_the_project_of_a_split_train_on_it(
    split: DataSplit, models: Callable[[str], str], stranger: User
) -> None:
    with pytest.raises(Refused, match="no such split in a project that you lead"):
        request_training(project=split.project, name="BART", trainer="seq2seq", split=split, config={}, by=stranger)
