"""The API of trainings: choices, a start with field errors, and a version of the trained model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import DataSplit, SplitUnit
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from generation.exposure import Exposures
from generation.models import FineTuning, Run, System
from generation.systems.actions import create_system, make_version
from projects.jobs.jobs import cancel
from projects.jobs.running import run_job
from projects.models import Job, Member, Project
from tests.annotation.m3_files import import_records, write
from tests.annotation.test_splits import item

pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/projects/eye/trainings/"


@pytest.fixture
def split(project: Project, settings: LazySettings, tmp_path: Path) -> DataSplit:
    settings.DATA_DIR = tmp_path / "data"
    import_records(project, write(tmp_path / "a.jsonl", [item(200 + n, str(300 + n)) for n in range(10)]))
    parts = parse_parts("train=70,dev=10,test=20")
    return create_split(project=project, asked=SplitParameters("main", parts=parts), by=None)


@pytest.fixture
def system(project: Project, lead: User, models: Callable[[str], str]) -> System:
    system = create_system(project=project, name="BART", by=lead)
    config = {"backend": "seq2seq", "level": "proposition", "model": {"model": models("bart")}}
    make_version(system=system, config=config, by=lead)
    return system


def test_a_lead_trains_the_model_of_a_version_and_uses_it(
    split: DataSplit, system: System, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)
    choices = client.get(f"{ADDRESS}choices/").json()
    assert choices["splits"][0]["parts"] == ["train", "dev", "test"]
    [version] = choices["versions"]
    assert version["level"] == "proposition"
    body = {
        "name": "BART on main",
        "trainer": "seq2seq",
        "split": split.pk,
        "part": "train",
        "development": "dev",
        "version": version["id"],
        "training": {"steps": 2, "evaluate_every": 1, "target_tokens": 32},
    }
    started = client.post(ADDRESS, body, format="json")
    assert started.status_code == 201, started.json()
    address = f"/api/v1/trainings/{started.json()['id']}/"
    early = client.post(f"{address}version/", {"system": "Trained"}, format="json")
    assert (early.status_code, early.json()["detail"]) == (422, "The training has not ended: it has no model yet.")
    run_job(started.json()["job"]["id"])
    done = client.get(address).json()
    assert (done["state"], done["error"], done["checkpoint"]) == ("done", "", None)
    settings = {each["label"]: each["value"] for each in done["settings"]}
    assert settings | {"Base model": "bart", "Maximum updates": 2, "Batch size": 8} == settings
    assert "LoRA alpha" not in settings
    log = [(event["step"], event["text"]) for event in done["log"]]
    assert log[0] == (0, "Started with 8 examples in memory.")
    assert [step for step, text in log if text.startswith("Evaluated: loss ") and "Checkpoint" in text] == [1, 2]
    assert log[-1] == (2, f"Model {done['folder']} stored.")
    refused = client.delete(f"{address}checkpoints/")
    assert refused.status_code == 409
    assert [row["name"] for row in client.get(ADDRESS).json()["results"]] == ["BART on main"]
    made = client.post(f"{address}version/", {"system": "Trained"}, format="json")
    run_job(made.json()["id"])
    trained = System.objects.get(name="Trained").versions.get()
    assert trained.config["model"]["model"] == done["folder"]
    assert trained.facts["weights"] == done["result"]["weights"]
    assert trained.note == "Training: BART on main"
    Run.objects.create(version=trained)
    parts = SplitUnit.objects.filter(split=split, part__in=("train", "dev"))
    assert Exposures(split.project).units(trained.pk) == set(parts.values_list("unit", flat=True))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"part": "test"}, "parts.training"),
        ({"development": "train"}, "parts.development"),
        ({"split": 0}, "split"),
        ({"version": 0}, "version"),
        ({"training": {"epochs": -1}}, "training.epochs"),
        ({"trainer": "tokens", "task": "pio"}, "model.model"),
    ],
)
def test_what_a_training_cannot_be_made_of_is_refused_by_field(
    change: dict[str, object],
    field: str,
    split: DataSplit,
    system: System,
    lead: User,
    client_of: Callable[[User], APIClient],
) -> None:
    body = {
        "name": "BART on main",
        "trainer": "seq2seq",
        "split": split.pk,
        "part": "train",
        "version": system.versions.get().pk,
    }
    reply = client_of(lead).post(ADDRESS, body | change, format="json")
    assert reply.status_code == 422
    assert field in [error["field"] for error in reply.json()["errors"]]
    assert not FineTuning.objects.exists()
    assert not Job.objects.filter(kind="train").exists()


def test_only_a_lead_of_the_splits_project_starts_and_continues_a_training(
    split: DataSplit, system: System, lead: User, stranger: User, client_of: Callable[[User], APIClient]
) -> None:
    bee = Project.objects.create(slug="bee", name="Bee")
    for user in (lead, stranger):
        Member.objects.create(project=bee, user=user, role="lead", pseudonym=user.name[:1])
    body = {
        "name": "M3",
        "trainer": "seq2seq",
        "split": split.pk,
        "part": "train",
        "preset": "m3-bart",
        "level": "proposition",
        "model": system.versions.get().config["model"]["model"],
    }
    address, other = "/api/v1/projects/bee/trainings/", client_of(stranger)
    # A split of another project and one that does not exist have the same reply.
    refused = [other.post(address, body | {"split": pk}, format="json") for pk in (split.pk, 0)]
    assert [reply.status_code for reply in refused] == [422, 422]
    assert refused[0].json() == refused[1].json()
    started = client_of(lead).post(address, body, format="json").json()
    cancel(Job.objects.get(pk=started["job"]["id"]))
    again = f"/api/v1/trainings/{started['id']}/resume/"
    assert other.get(f"/api/v1/trainings/{started['id']}/").status_code == 200
    assert other.post(again).status_code == 422
    assert client_of(lead).post(again).status_code == 200
