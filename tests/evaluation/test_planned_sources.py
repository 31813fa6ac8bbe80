"""The target that raters see beside the summaries of a document."""

from pathlib import Path

import pytest

from annotation.models import Target
from evaluation.design.sources import sources_of
from evaluation.protocols import shipped
from generation.models import UnitLevel
from generation.sources import units_of
from projects.models import Project
from tests.annotation.m3_files import cluster, import_records, plain, source, write

pytestmark = pytest.mark.django_db
PROTOCOL = shipped.get("m3-table-3").content


@pytest.mark.parametrize("withheld", [False, True])
def test_a_document_is_rated_against_each_proposition_of_its_review(
    project: Project, tmp_path: Path, withheld: bool
) -> None:
    document = plain("111", "It helps.", ("1", "Trial one."))
    import_records(project, write(tmp_path / "1.jsonl", [document]), level="1")
    claims = [cluster(f"111_{n}", [source("One helped.", "1")], target_text=f"Claim {n}.") for n in range(2)]
    import_records(project, write(tmp_path / "3.jsonl", claims), level="3")
    if withheld:
        Target.objects.filter(level="document").update(is_withheld=True, text="")
    units = units_of(project, UnitLevel.DOCUMENT)
    planned = sources_of(project, UnitLevel.DOCUMENT, units, PROTOCOL)
    assert [one.reference for one in planned] == ["Claim 0.", "Claim 1."]


def test_a_withheld_document_without_propositions_is_not_rated_against_a_target(
    project: Project, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "1.jsonl", [plain("111", "It helps.", ("1", "Trial one."))]), level="1")
    units = units_of(project, UnitLevel.DOCUMENT)
    assert [one.reference for one in sources_of(project, UnitLevel.DOCUMENT, units, PROTOCOL)] == ["It helps."]
    Target.objects.update(is_withheld=True, text="")
    assert sources_of(project, UnitLevel.DOCUMENT, units, PROTOCOL) == []
