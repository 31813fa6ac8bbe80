from pathlib import Path

import pytest

from projects.models import Member, Project
from tests.annotation.m3_files import cluster, import_records, source, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.jsonl"


@pytest.fixture
def cases() -> Path:
    """A folder of small files with cases from former bugs."""
    return Path(__file__).with_name("cases")


@pytest.fixture
def corpus(project: Project, file: Path) -> Project:
    """The project with three clusters of two reviews."""
    unlike = source(
        "Nepralin had no effect on relapse.",
        "222",
        source_direction="no effect",
        source_modality="moderate",
        source_direction_span="no effect",
        source_modality_span="",
    )
    records = [
        cluster("26258610_0"),
        cluster("26258610_1", [source(), unlike], discourse_relation="contradiction"),
        cluster("30000001_0", [source("Über 100 Äpfel may reduce relapse.", "333")], target_direction="negative"),
    ]
    import_records(project, write(file, records))
    return project


@pytest.fixture
def viewer(project: Project) -> Member:
    from tests.conftest import person

    return Member.objects.create(project=project, user=person("viewer"), role="viewer", pseudonym="V1")
