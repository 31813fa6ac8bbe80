"""A whole study played by simulated annotators through a running server, from invitation to release.

Uses M3's published level 3 if available, otherwise the sample corpus.
"""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from measures.agreement import Ratings, all_coefficients, prepare
from operations.sample_project import SAMPLE
from operations.simulation.annotator import Annotator, Noise
from operations.simulation.history import Joined, Study, work_together
from operations.simulation.labels import from_file
from tests.annotation.m3_files import LEVEL3
from tests.processes.site import Site

pytestmark = pytest.mark.processes
ORACLE = Path(__file__).resolve().parents[1] / "measures" / "irrcac_oracle.py"
#: `make soak` runs irrCAC itself, whose installation takes longer than the study.
SOAK = "SOAK" in os.environ
Case = dict[str, Any]
UNITS = 40
#: Our name -> irrCAC's, and the declared scale of the measure.
NAMES = {"ac1": "ac", "fleiss": "fleiss", "conger": "conger", "brennan_prediger": "bp"}
POLARITY = ["positive", "no effect", "negative", "n/a"]
MODALITY = ["strong", "moderate", "weak", "no evidence"]


@pytest.fixture
def file() -> Path:
    return LEVEL3 if LEVEL3.exists() else SAMPLE


@pytest.fixture
def study(site: Site, file: Path) -> Study:
    """A project with corpus and guideline, and a worker."""
    site.start_worker()
    study = site.study("Eye")
    done = study.import_file("level3.jsonl", file.read_bytes())
    assert done["counts"]["clusters"] == len(file.read_text(encoding="utf-8").splitlines())
    study.write_guideline("# Labels\n\nMark what shows it.")
    return study


@pytest.fixture
def team(site: Site, study: Study) -> list[Joined]:
    return [study.join(site.client(), f"robot{n}@example.org", f"Robot {n}") for n in range(3)]


def labelled(study: Study, team: list[Joined], file: Path, name: str, **plan: Any) -> int:
    """A closed round of three simulated annotators with three error rates; its id."""
    round = study.open_round(name, [j.member for j in team], overlap=3, sample=UNITS, seed=11, **plan)
    annotators = [
        Annotator(joined.client, round, truth=from_file(file), noise=Noise.of(share), seed=n)
        for n, (joined, share) in enumerate(zip(team, (0.05, 0.1, 0.3), strict=True))
    ]
    assert work_together(annotators) == [UNITS] * 3
    # Cards are requested once; then each answer returns the next unit.
    assert [a.requests for a in annotators] == [UNITS + 1] * 3
    study.close(round)
    return round


@pytest.mark.long
def test_a_reliability_study_leaves_the_data_as_they_were_and_measures_what_was_released(
    study: Study, team: list[Joined], file: Path
) -> None:
    before = study.release("1.0.0")
    round = labelled(study, team, file, "reliability", purpose="measure only", allocation="dealt", order="shuffled")
    report = study.agreement(round)
    after = study.release("1.1.0")

    published = hashlib.sha256(file.read_bytes()).hexdigest()
    for release in (before, after):
        assert hashlib.sha256(study.release_file(release, "m3/level3.jsonl")).hexdigest() == published
        assert study.lead.get(f"releases/{release}/verify/")["findings"] == []

    assert (report["units_answered"], len(report["raters"]), report["answers"]) == (UNITS, 3, 3 * UNITS)
    rows = list(csv.DictReader(io.StringIO(study.release_file(after, "answers/label.csv").decode())))
    assert len(rows) == 3 * UNITS
    assert {row["rater"] for row in rows} == {j.pseudonym for j in team}
    assert not any("robot" in cell.lower() for row in rows for cell in row.values()), "only pseudonyms leave the house"
    compare_with_oracle(report, rows)


def irrcac(cases: list[Case]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(ORACLE)], input=json.dumps({"cases": cases}), capture_output=True, text=True, check=False
    )
    if done.returncode == 3:
        pytest.skip(f"the study went well; the irrCAC oracle cannot be installed: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["results"])


def of_measures(cases: list[Case]) -> list[dict[str, Any]]:
    """Return the figures that are compared with irrCAC's recorded results, computed from the released labels."""
    found = [all_coefficients(prepare(Ratings.from_matrix(c["matrix"], c["categories"]), c["weights"])) for c in cases]
    return [{theirs: {"value": of[ours].value, "se": of[ours].se} for ours, theirs in NAMES.items()} for of in found]


def compare_with_oracle(report: dict[str, Any], rows: list[dict[str, str]]) -> None:
    """Compare value and standard error of each coefficient, using the released CSV only."""
    cases = []
    for name, scale in (("polarity", POLARITY), ("modality", MODALITY)):
        matrix: dict[str, dict[str, float]] = defaultdict(dict)
        for row in rows:
            if row["counted"] == "true":
                matrix[row["unit"]][row["rater"]] = scale.index(row[name]) + 1.0
        raters = sorted({row["rater"] for row in rows})
        table = [[said.get(rater) for rater in raters] for said in matrix.values()]
        cases.append({"matrix": table, "categories": [i + 1.0 for i in range(len(scale))], "weights": "identity"})
    compared = 0
    for case, name in zip((irrcac if SOAK else of_measures)(cases), ("polarity", "modality"), strict=True):
        [measure] = [m for m in report["measures"] if m["name"] == name]
        assert measure["units"] == UNITS
        for ours, theirs in NAMES.items():
            mine, oracle = measure["coefficients"][ours], case[theirs]
            # irrCAC prints five digits of the value, more of the standard error. Its intervals follow another rule.
            assert mine["value"] == pytest.approx(oracle["value"], abs=1.01e-5), (name, ours)
            assert mine["se"] == pytest.approx(oracle["se"], abs=1.01e-5), (name, ours)
            compared += 1
    assert compared == 8


def test_a_gold_round_forms_gold_by_its_policy_and_leaves_ties_to_a_curator(
    study: Study, team: list[Joined], file: Path
) -> None:
    before = study.release_file(study.release("1.0.0"), "m3/level3.jsonl").splitlines()
    round = labelled(study, team, file, "gold", purpose="gold", policy={"cues": "ignore"})
    gold = study.lead.get(f"rounds/{round}/progress/")["gold"]
    said = _said(study, round)
    expected: dict[str, int] = defaultdict(int)
    for answers in said.values():
        for field in ("polarity", "modality"):
            values = [answer[field] for answer in answers]
            most = max(values.count(value) for value in values)
            expected[{3: "unanimous", 2: "by majority", 1: "contested"}[most]] += 1
    assert gold == {origin: 2 * n for origin, n in expected.items()}, "where cues are ignored they follow their value"
    assert sum(gold.values()) == 4 * UNITS
    assert expected["unanimous"] > expected["contested"] > 0, "the noise must give ties, or nothing is shown here"

    release = study.release("1.1.0")
    after = study.release_file(release, "m3/level3.jsonl").splitlines()
    units = {line_of(item): item for item in before}
    checked = 0
    for unit, answers in said.items():
        docid, _, position = unit.rpartition("/")
        [line] = [json.loads(item) for item in after if json.loads(item)["docid"] == docid]
        old = json.loads(units[docid])
        for field, theirs in (("polarity", "direction"), ("modality", "modality")):
            values = [answer[field] for answer in answers]
            winners = [value for value in set(values) if values.count(value) >= 2]
            expected_value = winners[0] if winners else _field(old, int(position), theirs)
            assert _field(line, int(position), theirs) == expected_value, (unit, field)
            checked += 1
    assert checked == 2 * UNITS
    touched = {unit.rpartition("/")[0] for unit in said}
    changed = {line_of(new) for old_line, new in zip(before, after, strict=True) if old_line != new}
    assert changed <= touched, "a cluster that was not in the round has changed"


def line_of(line: bytes) -> str:
    return str(json.loads(line)["docid"])


def _field(item: dict[str, Any], position: int, name: str) -> str:
    return str(item[f"target_{name}"] if position == 0 else item["input_studies"][position - 1][f"source_{name}"])


def _said(study: Study, round: int) -> dict[str, list[dict[str, str]]]:
    """Return the counted answers by unit from a release's CSV."""
    release = study.release("1.0.9")
    rows = csv.DictReader(io.StringIO(study.release_file(release, "answers/label.csv").decode()))
    name = study.lead.get(f"rounds/{round}/")["name"]
    said: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        if row["round"] == name and row["counted"] == "true":
            said[row["unit"]].append(row)
    return said
