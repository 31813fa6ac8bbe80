from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True)
def kept_in_a_folder_of_its_own(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("files")
    return Path(settings.MEDIA_ROOT)


@pytest.fixture(autouse=True)
def parquet_only_where_it_is_tested(request: pytest.FixtureRequest) -> Iterator[None]:
    """Write no Parquet files, which take a fifth of the time of these tests. Tests with the mark ``parquet`` do."""
    if "parquet" in request.keywords:
        yield
    else:
        with patch("releases.publishing.actions._write_parquet", lambda *args: ([], {})):
            yield
