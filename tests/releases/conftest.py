from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def kept_in_a_folder_of_its_own(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("files")
    return Path(settings.MEDIA_ROOT)
