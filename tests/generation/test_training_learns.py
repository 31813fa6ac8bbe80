"""A trained version reads its inputs: the loss falls, and the probe prefers the targets to their opposites."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from generation.models import System, TrainingState, Version
from generation.runs.actions import start_run
from generation.systems.actions import create_system, make_version
from generation.training.actions import request_training, use
from projects.models import Project
from tests.generation import tiny_models
from tests.generation.findings import TRAINING, import_findings, probed
from tests.generation.workers import work

pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytestmark = pytest.mark.django_db


@pytest.mark.long
def test_a_trained_model_prefers_what_its_inputs_say(project: Project, settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.MODELS_DIR = tmp_path / "data", tmp_path / "models"
    tiny_models.build("bart", tmp_path / "models" / "bart", is_trainable=True)
    split = import_findings(project, tmp_path / "findings.jsonl")
    config = {"backend": "seq2seq", "level": "proposition", "seed": 1, "model": {"model": "bart"}}
    base = make_version(system=create_system(project=project, name="BART", by=None), config=config, by=None)
    parts = {"training": "train", "development": ""}
    training = request_training(
        project=project,
        name="BART",
        trainer="seq2seq",
        split=split,
        config={"version": config, "training": {**TRAINING, "epochs": 15}, "parts": parts},
        by=None,
    )
    work()
    training.refresh_from_db()
    assert (training.state, training.error) == (TrainingState.DONE, "")
    use(training=training, system="BART, trained", by=None)
    work()
    trained = Version.objects.get(system=System.objects.get(name="BART, trained"))
    before, after = (probe(version) for version in (base, trained))
    assert before["pairs"] == 50
    assert after["loss"] < before["loss"] / 4
    assert after["delta"] > max(before["delta"], 0.1)
    assert after["accuracy"] > 0.8


def probe(version: Version) -> dict[str, float]:
    run = start_run(version=version, by=None, purpose="probe")
    work()
    run.refresh_from_db()
    assert run.status == "done", run.error
    return probed(run)
