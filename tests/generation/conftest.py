from collections.abc import Iterator
from datetime import timedelta

import pytest

from generation import backends
from generation.runs import chunks
from projects.jobs import running
from tests.generation.staged import StagedBackend
from tests.generation.tiny_models import models, models_folder

__all__ = ["models", "models_folder"]


@pytest.fixture
def staged(monkeypatch: pytest.MonkeyPatch) -> Iterator[StagedBackend]:
    """A backend that tests control."""
    backend = StagedBackend()
    monkeypatch.setitem(backends._BACKENDS, backend.key, backend)
    yield backend
    chunks.release_summariser()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry failed jobs at once."""
    monkeypatch.setattr(running, "BACK_OFF", timedelta(0))
