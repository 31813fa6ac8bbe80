"""Every released value can be traced to a pseudonym, a guideline version, or an imported file."""

import csv
import hashlib
import json
import re
import uuid
from pathlib import Path

import pytest
from pyarrow import parquet as pq

from accounts.models import User
from annotation.curation.actions import add_clusters
from annotation.models import Review
from projects.curation.actions import correct
from projects.models import Answer, Decision, Guideline, Import, Member, Project
from projects.people.actions import change_project
from projects.queue.actions import next_assignments
from releases.publishing.actions import write_release
from releases.sources.checks import run
from tests.annotation.m3_files import cluster, import_records, write
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db(transaction=True)
Rows = list[dict[str, str]]


def rows(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    return project


def test_every_current_value_names_its_source(corpus: Project, tmp_path: Path) -> None:
    write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    values = rows(tmp_path / "r" / "provenance" / "values.csv")
    assert len(values) == Decision.objects.count() == 2 * (4 + 4 + 1)
    [source] = rows(tmp_path / "r" / "provenance" / "sources.csv")
    assert {v["source"] for v in values} == {source["source"]}
    assert source["sha256"] == hashlib.sha256((tmp_path / "level3.jsonl").read_bytes()).hexdigest()
    assert (source["file"], source["format"], Import.objects.count()) == ("level3.jsonl", "m3", 1)


def test_a_corrected_value_names_the_curator_by_pseudonym_and_the_guideline(
    corpus: Project, lead: User, tmp_path: Path
) -> None:
    member = Member.objects.get(user=lead)
    unit = corpus.units.get(type="proposition", key="26258610_0/0")
    value = label_value("negative", "moderate")
    correct(unit=unit, kind="label", value=value, reason="Read\r\nagain, =1+1", by=member)
    write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    values = rows(tmp_path / "r" / "provenance" / "values.csv")
    assert len(values) == 18
    [changed] = [v for v in values if v["unit"] == unit.key and v["field"] == "polarity"]
    assert (changed["rater"], changed["decided_by"], changed["origin"]) == ("R0", "R0", "decided by a curator")
    assert (changed["guideline"], changed["reason"]) == ("1", "Read\r\nagain, =1+1")
    assert changed["answer"] == str(Answer.objects.get().pk)
    guideline = Guideline.objects.get()
    assert (tmp_path / "r" / "provenance" / "guidelines" / "label-1.md").read_text() == guideline.text


def test_no_file_of_a_release_names_a_person(corpus: Project, lead: User, tmp_path: Path) -> None:
    member = Member.objects.get(user=lead)
    build_cluster(corpus, 9, inputs=0)
    answer(lead, next_assignments(user=lead, round=build_round(corpus, [member], filters={"cluster": "DEMO0009_0"}))[0])
    write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    for file in (tmp_path / "r").rglob("*.*"):
        if file.is_file() and file.suffix != ".md":
            is_parquet = file.suffix == ".parquet"
            text = str(pq.read_table(file).to_pylist()) if is_parquet else file.read_text()
            assert not re.search(rf"{lead.email}|\b{lead.name}\b", text), file.name


def test_comments_are_released_only_if_the_lead_chose_so(corpus: Project, lead: User, tmp_path: Path) -> None:
    build_cluster(corpus, 9, inputs=0)
    round = build_round(corpus, [Member.objects.get(user=lead)], filters={"cluster": "DEMO0009_0"})
    assert {c["name"]: c["detail"] for c in run(corpus)}["comments"] == "", "nobody wrote any"
    first = answer(lead, next_assignments(user=lead, round=round)[0], comment="My neighbour has this.")
    assert first.answer.comment == "My neighbour has this."
    made = write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    files = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert len(files) > 8
    assert not [path.name for path in files if b"My neighbour" in path.read_bytes()]
    assert rows(tmp_path / "r" / "answers" / "label.csv")[0]["comment"] == ""
    assert made["counts"]["comments_left_out"] == 1
    assert "Annotators' comments are omitted (1)" in (tmp_path / "r" / "README.md").read_text()
    assert {c["name"]: c["detail"] for c in run(corpus)}["comments"].startswith("1 comment of annotators is omitted")
    change_project(project=corpus, by=lead, publish_comments=True)
    write_release(project=corpus, version="1.1.0", out=tmp_path / "s")
    assert rows(tmp_path / "s" / "answers" / "label.csv")[0]["comment"] == "My neighbour has this."
    assert "Annotators' comments are in the column" in (tmp_path / "s" / "README.md").read_text()
    assert {c["name"]: c["detail"] for c in run(corpus)}["comments"].startswith("1 comment of annotators is published")


def test_texts_in_a_csv_cell_come_back_exactly(corpus: Project, lead: User, tmp_path: Path) -> None:
    build_cluster(corpus, 9, inputs=0)
    change_project(project=corpus, by=lead, publish_comments=True)
    round = build_round(corpus, [Member.objects.get(user=lead)], filters={"cluster": "DEMO0009_0"})
    comment = '=SUM(A1)\rlone return, "quoted", tab\t\nnew line ; Ä \U0001f600  '
    answer(lead, next_assignments(user=lead, round=round)[0], comment=comment)
    write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    [row] = rows(tmp_path / "r" / "answers" / "label.csv")
    assert row["comment"] == comment


def test_typed_values_name_their_author(corpus: Project, lead: User, tmp_path: Path) -> None:
    member, review = Member.objects.get(user=lead), Review.objects.get()
    typed = {"text": "It helps.", "sentence": None, "tuple": None, "label": None, "relation": None}
    row = typed | {"inputs": [{"pmid": "444", "text": "It helped.", "label": None}]}
    add_clusters(review=review, rows=[row], by=member, batch=uuid.uuid4())
    write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    assert rows(tmp_path / "r" / "provenance" / "typed.csv") == [
        {"unit_type": type, "unit": key, "typed_by": "R0"}
        for type, key in (("cluster", "26258610_2"), ("proposition", "26258610_2/0"), ("proposition", "26258610_2/1"))
    ]
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert "26258610_2" in str(manifest), "it is named among those left out"
