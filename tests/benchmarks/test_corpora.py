"""The synthetic corpora have the published forms: they are imported without faults, and released byte for byte."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from benchmarks.corpora import WRITERS
from projects.models import Project
from releases.publishing.actions import write_release

PATHS = {"m3": "m3/level1.jsonl", "ms2": "ms2/reviews.jsonl", "mslr": "mslr/train-inputs.csv"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("form", WRITERS)
def test_a_corpus_comes_back_byte_for_byte(form: str, project: Project, tmp_path: Path) -> None:
    (folder := tmp_path / "files").mkdir()
    paths, out = WRITERS[form](folder, 3), StringIO()
    call_command("import_data", form, *map(str, paths), project=project.slug, stdout=out, stderr=out)
    assert "warning" not in out.getvalue().lower()
    write_release(project=project, version="1.0.0", out=tmp_path / "release")
    for path in paths:
        released = (tmp_path / "release" / PATHS[form]).parent / path.name
        assert released.read_bytes() == path.read_bytes(), path.name
