"""One release of M3's level 3 with everything: others load it, and each drawn value has the origin that SQL finds."""

import json
import random
import re
import subprocess
import sys
import uuid
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from jsonschema import Draft7Validator

from accounts.models import User
from annotation.curation.actions import add_clusters
from annotation.models import Proposition, Review
from projects.adjudication.actions import adjudicate
from projects.adjudication.queries import decisions_of
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Answer, Decision, Member, Origin, Project, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.citation.actions import change_citation
from releases.folders import standalone
from releases.models import Release
from releases.origins import queries
from releases.storage.registry import folder_of
from tests.annotation import ms2_files
from tests.builders import answer, build_round, label_value
from tests.evaluation.rating_rounds import open_rating, rate_all
from tests.generation.summaries import build_run, first_sentence, scored, the_target
from tests.releases.test_parquet import in_new_process
from tests.releases.test_ratings_released import told
from tests.releases.test_releases import M3, imported
from tests.releases.test_without_texts import assert_no_texts

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long, pytest.mark.parquet]
DOI = "10.5281/zenodo.1234567"
VALUES = 500
#: Own SQL: what was decided on a field of a unit, oldest first: origin, person, reason.
DECIDED = """
    SELECT d.id, d.origin, COALESCE(p.pseudonym, ''), d.reason, d.imported_id
    FROM projects_unit u JOIN projects_decision d ON d.unit_id = u.id
    LEFT JOIN projects_member p ON p.user_id = d.decided_by_id AND p.project_id = u.project_id
    WHERE u.project_id = %s AND u.type = 'proposition' AND u.key = %s AND d.kind = 'label' AND d.field = %s
    ORDER BY d.id
"""
#: Own SQL: file and line of the cluster of a unit, and the texts of the machine.
LINE = """
    SELECT f.name, r.line FROM projects_importedrecord r
    JOIN projects_importfile f ON f.imported_id = r.imported_id
    JOIN projects_import i ON i.id = r.imported_id
    WHERE i.project_id = %s AND r.key = %s
"""


def sql(statement: str, *parameters: str | int) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


@pytest.fixture
def whole(project: Project, lead: User, ann1: User, ann2: User, evaluator: User, tmp_path: Path) -> Project:
    if not M3.exists():
        pytest.skip("../shared/data/m3/level3.jsonl is absent: M3's published file is no part of the project")
    imported(M3)
    by = Member.objects.get(project=project, user=lead)
    people = [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]
    # Corrected twice.
    for text in list(Proposition.objects.in_corpus_order()[:30]):
        for polarity in ("negative", "positive"):
            before = current_values([text.unit], "label")[text.unit_id]
            value = label_value(polarity, "strong") | {"polarity_cue": before["polarity_cue"], "modality_cue": []}
            correct(unit=text.unit, kind="label", value=value, reason=f"Read as {polarity}.", by=by)
    # Typed.
    row: dict[str, Any] = {"text": "It helps.", "sentence": None, "tuple": None, "relation": "agreement"}
    study = {"pmid": "444", "text": "It helped.", "label": label_value("positive")}
    row |= {"label": label_value("negative"), "inputs": [study]}
    add_clusters(review=Review.objects.earliest("pk"), rows=[row], by=by, batch=uuid.uuid4())
    # Adjudicated.
    cluster = Proposition.objects.in_corpus_order()[100].cluster.key
    round = build_round(project, people, name="labels", overlap=2, filters={"cluster": cluster})
    for user, polarity in ((ann1, "positive"), (ann2, "negative")):
        while slots := next_assignments(user=user, round=round):
            answer(user, slots[0], label_value(polarity))
    close_round(round=round, by=lead)
    finish_round(round=round, by=None)
    for contested in Decision.objects.filter(origin=Origin.CONTESTED, field="polarity").select_related("unit"):
        chosen = Answer.objects.filter(assignment__unit=contested.unit, author=people[1]).get()
        seen = max(d.pk for d in decisions_of(contested.unit, "label"))
        how: dict[str, Any] = {"seen": seen, "reason": "The second reading.", "answer": chosen.pk}
        adjudicate(round=round, unit=contested.unit, by=by, called=lambda user: "", **how)
    # Read by a machine.
    ms2_files.import_records(project, ms2_files.write(tmp_path / "ms2.jsonl", [ms2_files.review(n) for n in (7, 8)]))
    classes = {"options": {"sentence_task": "sentence_classes"}, "purpose": "review and correct"}
    build_round(project, [by], name="classes", kind="sentences", **classes)
    # Counterfactuals, written in a round.
    asking = {"kind": "counterfactual", "options": {"counterfactual_kinds": ["negation", "modality"]}, "sample": 12}
    written = build_round(project, people[:1], name="counterfactuals", **asking)
    while slots := next_assignments(user=ann1, round=written):
        target = Proposition.objects.get(unit=slots[0].unit_id).text
        value = {
            name: {"text": f"{words} {target}", "origin": "written", "rule": "", "reason": ""}
            for name, words in (("negation", "Not so:"), ("modality", "Perhaps"))
        }
        answer(ann1, slots[0], value, kind="counterfactual")
    close_round(round=written, by=lead)
    finish_round(round=written, by=None)
    # Two runs, a rating round, a split.
    runs = [build_run(project, name, write=write) for name, write in (("Lead", first_sentence), ("Oracle", the_target))]
    for run in runs:
        scored(run, "length", "rouge")
    rater = [project.members.get(user=evaluator)]
    ratings = open_rating(project, rater, runs, sample=6)
    assert rate_all(evaluator, ratings) == 6
    told(ratings)
    call_command("split", project="eye", stdout=StringIO())
    creators = [{"family": "Lead", "given": "Lea", "orcid": "0000-0002-1825-0097", "affiliation": "Melbourne"}]
    change_citation(project=project, by=lead, creators=creators, language="en", keywords=["trials"])
    Project.objects.filter(pk=project.pk).update(licence="CC-BY-4.0")
    return project


def release(out: Path, version: str = "1.0.0", **options: Any) -> Path:
    said = StringIO()
    given = {"force": True, "reason": "A test.", "doi": DOI} | options
    call_command("release", project="eye", release=version, out=out, stdout=said, stderr=said, **given)
    return out


def test_others_load_cite_and_trace_a_release_of_level_3(
    whole: Project, lead: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = release(tmp_path / "one")
    again = release(tmp_path / "two")
    assert (folder / "SHA256SUMS").read_bytes() == (again / "SHA256SUMS").read_bytes()
    assert (folder / "manifest.json").read_bytes() == (again / "manifest.json").read_bytes()

    out = in_new_process("-m", "tests.releases.load_offline", str(folder), str(tmp_path / "cache"))
    for reader, found in json.loads(out.splitlines()[-1]).items():
        assert [line for line in found if line[2]] == [], reader
        rows = {name: n for name, n, _ in found}
        assert rows["m3_level3/train"] > 250
        for name in ("m3_counterfactuals/train", "ratings_ratings/full", "systems_summaries/test", "splits_main/full"):
            assert rows[name], name

    schemas = Path(settings.ROOT) / "releases/citation/schemas"
    for name, schema in (("CITATION.cff", "cff-1.2.0.json"), ("datacite.json", "datacite-4.5.json")):
        content = yaml.load((folder / name).read_text(), Loader=yaml.BaseLoader)
        if name == "datacite.json":
            content = json.loads((folder / name).read_text())
        Draft7Validator(json.loads((schemas / schema).read_text())).validate(content)
    assert DOI in (folder / "CITATION.cff").read_text()

    assert_origins(whole, lead, folder, capsys)
    assert_deposit(folder, tmp_path / "bundle")


def test_without_texts_none_of_them_is_in_any_file(whole: Project, tmp_path: Path) -> None:
    release(tmp_path / "full")
    assert_no_texts(whole, release(tmp_path / "bare", "1.1.0", without=["texts"]))


def assert_origins(project: Project, lead: User, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Draw values of level 3, and compare what SQL, the page and the command say of each."""
    lines = [json.loads(line) for line in (folder / "m3/level3.jsonl").read_text().splitlines()]
    every = []
    for row in lines:
        for n, labels in enumerate([row, *row["input_studies"]]):
            side = "source" if n else "target"
            every += [(f"{row['docid']}/{n}", "polarity", labels[f"{side}_direction"])]
            every += [(f"{row['docid']}/{n}", "modality", labels[f"{side}_modality"])]
    units = {unit.key: unit for unit in Unit.objects.filter(project=project, type="proposition", superseded_by=None)}
    ways: dict[str, str] = {}
    for key in units:
        history = [origin for _, origin, *_ in sql(DECIDED, project.pk, key, "polarity")]
        times = history.count(Origin.CURATED)
        way = "adjudicated" if Origin.CONTESTED in history else ("imported", "typed", "twice")[times]
        ways.setdefault(way, key)
    assert set(ways) == {"typed", "twice", "adjudicated", "imported"}
    named = [one for one in every if one[0] in ways.values()]
    member, seen = Member.objects.get(project=project, user=lead), set()
    for key, field, value in [*named, *random.Random(30).sample(every, VALUES)]:
        decided = sql(DECIDED, project.pk, key, field)
        [record] = sql(LINE, project.pk, key.partition("/")[0]) or [("", 0)]
        page = queries.page(units[key], member)["steps"]
        capsys.readouterr()
        assert standalone.main(["origin", str(folder), "m3/level3.jsonl", key], "no settings") == 0
        command = capsys.readouterr().out
        shown = {v["decision"]: (s, v["value"]) for s in page if s["role"] == "unit" for v in s["values"]}
        for pk, origin, person, reason, source in decided:
            step, told_value = shown[pk]
            if source:
                assert (step["what"], step["file"], step["line"]) == ("imported", *record)
                assert f"{record[0]}, line {record[1]}" in command
            else:
                assert (step["origin"], step["by"], step["reason"]) == (origin, person, reason)
                assert not reason or f"Reason: {reason}" in command
            seen.add(origin)
        assert told_value == value
        assert re.search(rf"^.*{field}: {re.escape(value)}$", command, re.MULTILINE), command
    assert {Origin.IMPORTED, Origin.CURATED} <= seen
    machine = Decision.objects.filter(origin=Origin.MACHINE, unit__project=project).latest("pk")
    steps = queries.page(machine.unit, member)["steps"]
    assert [s["what"] for s in steps if s["origin"] == "machine"] == ["decided"]
    assert any(v["decision"] == machine.pk for s in steps for v in s["values"])
    name = f"{machine.unit.type} {machine.unit.key} {machine.kind} {machine.field}"
    assert standalone.main(["origin", str(folder), "provenance/values.csv", name], "no settings") == 0
    assert "machine" in capsys.readouterr().out


def assert_deposit(folder: Path, out: Path) -> None:
    """A deposit that is killed in the middle leaves nothing, and runs again."""
    at = folder_of(Release.objects.get(version="1.0.0"))
    killed = (
        "import os, sys; from pathlib import Path; from types import SimpleNamespace as S; import json;"
        "from releases.storage import deposits, downloads;"
        "n = 0\n"
        "def file(release, path):\n"
        "    global n; n += 1\n"
        "    if n == 20: os.kill(os.getpid(), 9)\n"
        "    return 0, [Path(sys.argv[1], path).read_bytes()]\n"
        "downloads.file = file\n"
        "made = json.loads(Path(sys.argv[1], 'manifest.json').read_text())\n"
        "deposits.write_deposit(S(manifest=made), Path(sys.argv[2]))"
    )
    setup = "import django; django.setup();"
    done = subprocess.run(
        [sys.executable, "-c", setup + killed, str(at), str(out)], check=False, capture_output=True, text=True
    )
    assert done.returncode == -9, done.stderr
    assert not out.exists()
    call_command("deposit", "--project", "eye", "--version", "1.0.0", "--out", str(out), stdout=StringIO())
    files = {path.name for path in out.iterdir()}
    assert all(path.is_file() for path in out.iterdir())
    assert {"m3--level3.jsonl", "zenodo.json", "CHECKSUMS.sha256", "PATHS.csv"} <= files
    assert json.loads((out / "zenodo.json").read_text())["metadata"]["doi"] == DOI
    assert not [path for path in out.parent.iterdir() if path.name.startswith(".bundle")]
