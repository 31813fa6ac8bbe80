"""Differences of releases by row and field, with the decision and its reason."""

import json
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from projects.curation.actions import correct
from projects.models import Decision, Member, Project, Unit
from releases.folders import standalone
from releases.folders.diffs import data_files, row_changes
from releases.folders.folder import read
from releases.publishing.actions import freeze
from releases.storage.registry import folder_of
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.builders import label_value

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    records = [cluster(f"26258610_{n}", [source(), source(pmid="112")]) for n in range(20)]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    return project


def test_one_edit_is_one_row_with_its_field_decision_and_reason(
    corpus: Project, lead: User, capsys: pytest.CaptureFixture[str]
) -> None:
    member = Member.objects.get(user=lead)
    first = freeze(project=corpus, version="1.0.0", by=lead)
    assert not (folder_of(first) / "CHANGELOG.md").exists()
    unit = Unit.objects.get(type="cluster", key="26258610_7")
    correct(unit=unit, kind="discourse", value={"relation": "contradiction"}, reason="They differ.", by=member)
    second = freeze(project=corpus, version="1.1.0", by=lead)
    old, new = ((folder_of(one), read(folder_of(one))) for one in (first, second))
    [change] = row_changes(old, new, data_files(old, new))
    [field] = change.fields
    newest = Decision.objects.latest("pk")
    assert (change.path, change.key, change.change) == ("m3/level3.jsonl", "26258610_7", "changed")
    assert (field.field, field.before, field.after) == ("relation", "agreement", "contradiction")
    assert (field.decision, field.reason, field.by) == (str(newest.pk), "They differ.", "R0")
    line = f"26258610_7: relation agreement -> contradiction (decision {newest.pk}, decided by a curator by R0: They"
    assert f"- {line} differ.)" in (folder_of(second) / "CHANGELOG.md").read_text()
    arguments = ["diff_releases", str(old[0]), str(new[0]), "--format", "json"]
    assert standalone.main(arguments, "no settings") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["key"] for row in rows if row["path"].startswith("m3/")] == ["26258610_7"]
    client = APIClient()
    client.force_login(lead)
    page = client.get(f"/api/v1/releases/{second.pk}/difference/").json()
    assert [(row["key"], row["fields_changed"][0]["after"]) for row in page["rows"]] == [
        ("26258610_7", "contradiction")
    ]


def test_inputs_texts_and_new_rows_are_named_and_texts_are_not_quoted(
    corpus: Project, lead: User, tmp_path: Path
) -> None:
    member = Member.objects.get(user=lead)
    freeze(project=corpus, version="1.0.0", by=lead)
    texts = Proposition.objects.in_corpus_order()
    correct(unit=texts[2].unit, kind="label", value=label_value("negative", "strong"), reason="So.", by=member)
    new_text = supersede_text(proposition=texts[3], text="A sentence of nobody.", reason="Typing error.", by=member)
    value = label_value("negative", "strong")
    correct(unit=new_text.unit, kind="label", value=value, reason="Again.", by=member)
    import_records(corpus, write(tmp_path / "more.jsonl", [cluster("26258611_0")]))
    second = freeze(project=corpus, version="1.1.0", by=lead)
    lines = (folder_of(second) / "CHANGELOG.md").read_text().splitlines()
    assert any(line.startswith("- 26258610_0: input 2 polarity positive -> negative (decision") for line in lines)
    assert "- 26258611_0: added" in lines
    assert any("target text changed" in line for line in lines)
    assert "A sentence of nobody" not in "".join(lines)
    again = freeze(project=corpus, version="1.1.0", by=lead)
    assert again.pk == second.pk, "the same state and version give the same bytes"
