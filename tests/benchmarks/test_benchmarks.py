"""The benchmarks run and say their ratios; how long anything takes is not tested here."""

import json
import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from benchmarks.agreement import Plan, run
from benchmarks.load import said
from benchmarks.report import Found, Line, table


def test_the_loop_runs_against_the_bare_app_and_says_its_ratio(tmp_path: Path) -> None:
    tiny = {"engines": "sqlite", "units": 600, "large": 0, "annotators": 2, "seconds": 0.5, "repeats": 1}
    options = [str(part) for name, value in tiny.items() for part in (f"--{name}", value)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "loop", *options, "--out", str(tmp_path)], cwd=settings.ROOT,
        env={**os.environ, "DEBUG": "1"}, capture_output=True, text=True, check=False, timeout=170,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "loop, sqlite, 2 annotators: rate / bare app's" in done.stdout
    assert "To repeat: python -m benchmarks loop" in done.stdout
    (kept,) = tmp_path.glob("*.json")
    figures = json.loads(kept.read_text())["results"]["loop"]["figures"]["sqlite, 2 annotators"]
    for name in ("concord", "reference"):
        assert figures[name]["annotations"] > 0
        assert (figures[name]["error_count"], figures[name]["duplicates"], figures[name]["lost"]) == (0, 0, 0)
    assert figures["ratio"]["rate"] > 0


def test_agreement_is_compared_with_krippendorff_and_with_itself() -> None:
    found = run(Plan(sizes=((60, 3),), replicates=20, oracle=False))
    told = [line.what for line in found.lines]
    assert "agreement, 60 x 3: times faster than krippendorff's alpha alone" in told
    assert "agreement, 60 x 3: bootstrap of 20 / one evaluation" in told
    assert found.skipped


def test_the_table_says_which_aims_are_met() -> None:
    found = Found()
    found.at_least("a", 0.4, 0.5)
    found.at_most("b", 2, 3, " s")
    found.told("c", "7")
    assert [line.met for line in found.lines] == [False, True, None]
    rows = table([*found.lines, Line("d", "", "")]).splitlines()
    assert rows[1].split() == ["a", ">=", "0.5", "0.4", "NO"]
    assert rows[2].split() == ["b", "<=", "3", "s", "2", "s", "yes"]


def test_annotators_quote_the_text_they_mark() -> None:
    import random

    text = "The trial showed a significant reduction of mortality at twelve weeks in adults."
    for seed in range(50):
        value = said(text, random.Random(seed))
        for cue in (*value["polarity_cue"], *value["modality_cue"]):
            assert text[cue["start"] : cue["end"]] == cue["quote"] != ""
