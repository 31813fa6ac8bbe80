import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from projects.models import Project
from tests.config.other_project import OtherProject, make_other_project


@pytest.fixture(scope="module")
def shared_other(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[OtherProject, Path]:
    """A filled project for all tests of a module, and the folder with its files: freezing its release is slow."""
    files = tmp_path_factory.mktemp("world")
    with override_settings(MEDIA_ROOT=files):
        return make_other_project(), files


@pytest.fixture
def other(shared_other: tuple[OtherProject, Path], project: Project, tmp_path: Path, settings: Any) -> OtherProject:
    """A second project, which each test may change."""
    other, files = shared_other
    settings.MEDIA_ROOT = shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return copy.deepcopy(other)
