"""What tests of routes share."""

from pathlib import Path
from typing import Any

import pytest

from projects.models import Project
from tests.config.world import World, make_world


@pytest.fixture
def world(project: Project, tmp_path: Path, settings: Any) -> World:
    """A second project, beside the cast's."""
    settings.MEDIA_ROOT = tmp_path
    return make_world()
