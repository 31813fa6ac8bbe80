"""Hub models: found in the worker's cache by commit, downloaded only if the operator allows it."""

import json
import shutil
import socket
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from rest_framework.test import APIClient

from accounts.models import User
from generation import backends
from generation.backends import weights
from generation.backends.protocol import BackendError
from generation.models import System
from generation.neural.checkpoints import hub
from projects.models import Job, Project
from tests.generation import unbatched

Models = Callable[[str], str]
FIRST, SECOND = "a" * 40, "b" * 40


@pytest.fixture
def cache(tmp_path: Path, models: Models, models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache with two commits of lab/bart, the first one being ``main``; without network."""
    from huggingface_hub import constants

    root = tmp_path / "hub"
    repository = root / "models--lab--bart"
    for commit in (FIRST, SECOND):
        shutil.copytree(models_folder / models("bart"), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(FIRST)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(root))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("something asked the net"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("something asked for an address"))
    return repository


def config() -> Any:
    return unbatched.configured(backends.get("seq2seq"), "lab/bart", decoding={"beams": 1, "max_length": 8})


@pytest.mark.parametrize(("online", "offline"), [(False, False), (False, True), (True, True)])
def test_a_model_in_the_cache_needs_no_net_and_one_that_is_not_is_not_fetched(
    cache: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, online: bool, offline: bool
) -> None:
    """Without MODELS_ONLINE whatever HF_HUB_OFFLINE says, and with it if HF_HUB_OFFLINE forbids it."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    settings.MODELS_ONLINE = online
    assert weights.find("lab/bart") == weights.Folder(cache / "snapshots" / FIRST, FIRST)
    assert weights.find("lab/bart", SECOND).commit == SECOND
    for model, revision in (("lab/other", "main"), ("lab/bart", "c" * 40)):
        with pytest.raises(BackendError, match=f"{model} at {revision} is not in this worker's cache") as refused:
            weights.find(model, revision)
        assert ("HF_HUB_OFFLINE prevents" if online else "Set MODELS_ONLINE=1") in str(refused.value)


def test_a_version_stays_with_its_commit_when_the_branch_moves_on(cache: Path) -> None:
    backend = backends.get("seq2seq")
    facts = backend.facts(config())
    before = unbatched.summarised(backend.load(config(), facts), unbatched.sources(1))
    (cache / "refs" / "main").write_text(SECOND)
    (cache / "snapshots" / SECOND / "model.safetensors").write_bytes(b"other weights")
    assert unbatched.summarised(backend.load(config(), facts), unbatched.sources(1))[0].token_ids == before[0].token_ids


def test_a_missing_commit_is_not_replaced_by_the_branch_head(cache: Path) -> None:
    backend = backends.get("seq2seq")
    facts = backend.facts(config())
    (cache / "refs" / "main").write_text(SECOND)
    shutil.rmtree(cache / "snapshots" / FIRST)
    with pytest.raises(BackendError, match=f"lab/bart at {FIRST} is not in this worker's cache"):
        backend.load(config(), facts)


def test_only_what_is_hashed_is_fetched_and_never_a_pickle_or_a_program(
    cache: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def fetch(model: str, **given: Any) -> str:
        asked.update(given, model=model)
        return str(cache / "snapshots" / FIRST)

    monkeypatch.setattr(hub, "snapshot_download", fetch)
    settings.MODELS_ONLINE = True
    assert weights.find("lab/bart", "v1").commit == FIRST
    assert (asked["model"], asked["revision"], asked["local_files_only"]) == ("lab/bart", "v1", False)
    kept = {"model.safetensors", "config.json", "tokenizer.json", "spiece.model", "merges.txt", "chat_template.jinja"}
    left = {"pytorch_model.bin", "modeling_lab.py", "model.ckpt", "a.pt", "b.pkl", "tf_model.h5"}
    assert {name for name in kept | left if any(fnmatch(name, p) for p in asked["allow_patterns"])} == kept


@pytest.mark.parametrize("backend", ["seq2seq", "multi_encode", "chat", "extractive"])
def test_hub_ids_are_resolved_by_workers(
    project: Project, lead: User, client_of: Callable[[User], APIClient], monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setattr(weights, "find", lambda *_: pytest.fail("the web process looked for a model"))
    system = System.objects.create(project=project, name="s")
    given: dict[str, Any] = {"backend": backend, "model": {"model": "lab/bart"}}
    if backend == "extractive":
        given = {"backend": backend, "decoding": {"method": "MMR", "vectors": "embeddings", "encoder": "lab/bart"}}
    reply = client_of(lead).post(f"/api/v1/systems/{system.pk}/versions/", {"config": given}, format="json")
    assert reply.status_code == 202, reply.content
    job = Job.objects.get()
    assert (job.kind, job.queue) == ("make_version", "gpu")
    assert "lab/bart" in json.dumps(job.params)
