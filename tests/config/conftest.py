"""What tests of routes share."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from projects.models import Project
from tests.config.world import World, make_world


@pytest.fixture(scope="module")
def made_world(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    """A world for all tests of a module, and the folder with its files: its release is dear to freeze."""
    files = tmp_path_factory.mktemp("world")
    with override_settings(MEDIA_ROOT=files):
        return make_world(), files


@pytest.fixture
def world(made_world: tuple[World, Path], project: Project, tmp_path: Path, settings: Any) -> World:
    """A second project, beside the cast's; each test may do to it what it likes."""
    world, files = made_world
    settings.MEDIA_ROOT = shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return copy.deepcopy(world)
