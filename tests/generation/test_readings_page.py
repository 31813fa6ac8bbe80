"""The page that starts and withdraws readings: the check of labels, the job, and the models that have read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import SENTENCE_CLASSES, MachineReading, ReadingTask, Review
from generation.readings.actions import FORMAT
from projects.jobs.running import run_job
from projects.models import Import, Job, JobStatus, Project
from tests.annotation.ms2_files import import_records, review, write

Client = Callable[[User], APIClient]
ADDRESS = "/api/v1/projects/{}/readings/"


def folder(root: Path, name: str, labels: tuple[str, ...], head: str = "BertForSequenceClassification") -> None:
    (root / name).mkdir()
    config = {"architectures": [head], "id2label": {str(n): label for n, label in enumerate(labels)}}
    (root / name / "config.json").write_text(json.dumps(config))


@pytest.fixture
def ms2(settings: LazySettings, project: Project, tmp_path: Path) -> Project:
    (models := tmp_path / "models").mkdir()
    settings.MODELS_DIR = models
    folder(models, "classes", SENTENCE_CLASSES)
    folder(models, "others", ("GOOD", "BAD"))
    folder(models, "finder", ("no", "yes"))
    folder(models, "tagger", ("O", "B-P", "I-P", "B-I", "I-I", "B-O", "I-O"), "BertForTokenClassification")
    folder(models, "directions", ("increases", "no change", "decreases"))
    import_records(project, write(tmp_path / "a.jsonl", [review(7), review(8)]))
    return project


def add_readings(project: Project, model: str = "tagger") -> None:
    imported = Import.objects.create(
        project=project,
        format=FORMAT,
        level="pio",
        sha256="a" * 64,
        file_name=model,
        size=1,
        report={},
        created_at=timezone.now(),
    )
    for one in Review.objects.filter(project=project):
        MachineReading.objects.create(
            task=ReadingTask.PIO, review=one, values={"tags": []}, model=model, weights="b" * 64, imported=imported
        )


@pytest.mark.django_db
def test_the_check_shows_what_each_label_means_or_why_a_folder_does_not_fit(
    ms2: Project, lead: User, client_of: Client
) -> None:
    client = client_of(lead)

    def check(task: str, model: str, evidence: str = "") -> dict[str, object]:
        query = {"task": task, "model": model, "evidence": evidence}
        found: dict[str, object] = client.get(f"{ADDRESS.format(ms2.slug)}check/", query).json()
        return found

    found = check("effects", "directions", "finder")
    assert (found["problem"], found["head"]) == ("", "sequences")
    labels = [(one["folder"], one["name"], one["meaning"]) for one in found["labels"]]  # type: ignore[attr-defined]
    assert labels[:3] == [
        ("model", "increases", "significantly increased"),
        ("model", "no change", "no significant difference"),
        ("model", "decreases", "significantly decreased"),
    ]
    assert labels[3:] == [("evidence", "no", "no evidence"), ("evidence", "yes", "evidence")]
    tags = check("pio", "tagger")
    assert tags["head"] == "tokens"
    assert [one["meaning"] for one in tags["labels"]][:3] == ["no span", "begin pop", "pop"]  # type: ignore[attr-defined]
    assert check("sentences", "classes")["texts"] == 2
    for task, model, why in (
        ("sentences", "others", "GOOD"),
        ("pio", "classes", "tokens"),
        ("pio", "../models/tagger", "folder"),
        ("sentences", "absent", "folder"),
    ):
        refused = check(task, model)
        assert why in str(refused["problem"]), (task, model, refused)
        assert refused["labels"] == []


@pytest.mark.django_db
def test_a_reading_is_queued_once_and_only_with_a_folder_that_fits(ms2: Project, lead: User, client_of: Client) -> None:
    client, address = client_of(lead), ADDRESS.format(ms2.slug)
    refused = client.post(address, {"task": "sentences", "model": "others"}, format="json")
    assert refused.status_code == 422
    assert not Job.objects.filter(kind="read_texts").exists()
    first, second = (client.post(address, {"task": "pio", "model": "tagger"}, format="json") for _ in range(2))
    assert (first.status_code, first.json()["id"]) == (202, second.json()["id"])
    page = client.get(address).json()
    assert page["job"]["id"] == first.json()["id"]
    assert page["folders"] == ["classes", "directions", "finder", "others", "tagger"]


@pytest.mark.django_db
def test_a_folder_of_a_worker_is_checked_by_the_job_only(ms2: Project, lead: User, client_of: Client) -> None:
    client, address = client_of(lead), ADDRESS.format(ms2.slug)
    body = {"task": "pio", "model": "elsewhere"}
    assert client.post(address, body, format="json").status_code == 422
    # A folder that is here is checked here, and no path leaves the models folder.
    for model in ("others", "../models/tagger"):
        refused = client.post(address, body | {"model": model, "on_worker": True}, format="json")
        assert refused.status_code == 422, model
    job = client.post(address, body | {"on_worker": True}, format="json").json()["id"]
    run_job(job)
    failed = Job.objects.get(pk=job)
    assert (failed.status, "no folder 'elsewhere'" in failed.error) == (JobStatus.FAILED, True)


@pytest.mark.django_db
def test_readings_are_withdrawn_by_a_job_but_not_while_their_model_reads(
    ms2: Project, lead: User, client_of: Client
) -> None:
    client, address = client_of(lead), ADDRESS.format(ms2.slug)
    body = {"task": "pio", "model": "tagger"}
    assert client.post(f"{address}withdraw/", body, format="json").status_code == 422
    add_readings(ms2)
    imported = MachineReading.objects.filter(weights="").count()
    (model,) = client.get(address).json()["models"]
    assert (model["task"], model["model"], model["readings"]) == ("pio", "tagger", 2)
    job = client.post(address, body, format="json").json()["id"]
    assert client.post(f"{address}withdraw/", body, format="json").status_code == 409
    Job.objects.filter(pk=job).update(status=JobStatus.CANCELLED)
    withdrawal = client.post(f"{address}withdraw/", body, format="json").json()["id"]
    assert client.post(address, body, format="json").status_code == 409
    run_job(withdrawal)
    assert Job.objects.get(pk=withdrawal).result == {"removed": 2}
    assert MachineReading.objects.count() == imported
    assert client.get(address).json()["models"] == []


@pytest.mark.django_db
def test_pages_of_reviews_and_studies_name_the_models_of_current_readings(
    ms2: Project, lead: User, client_of: Client
) -> None:
    client = client_of(lead)
    one = Review.objects.filter(project=ms2).first()
    assert one
    page = client.get(f"/api/v1/reviews/{one.pk}/readings/").json()
    assert {each["task"]: each["models"] for each in page["readers"]} == {
        "sentences": [""],
        "pio": [""],
        "effects": [""],
    }
    add_readings(ms2)
    page = client.get(f"/api/v1/reviews/{one.pk}/readings/").json()
    # Its studies still have the tags of the file.
    assert {each["task"]: each["models"] for each in page["readers"]}["pio"] == ["", "tagger"]
    study = page["studies"][0]["id"]
    readers = client.get(f"/api/v1/studies/{study}/readings/").json()["readers"]
    assert {each["task"]: each["models"] for each in readers} == {"pio": [""], "effects": [""]}
