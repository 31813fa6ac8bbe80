"""The benchmarks run and report ratios; times are not tested."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks import coverage, generation, overlap, probe, ratings, results, stopping
from benchmarks.agreement import Plan, run
from benchmarks.load import said
from benchmarks.random_models import BASE
from benchmarks.report import Found, Line, table


@pytest.mark.long
def test_the_loop_runs_against_the_bare_app_and_says_its_ratio(tmp_path: Path) -> None:
    tiny = {"engines": "sqlite", "units": 600, "large": 0, "annotators": 2, "seconds": 0.5, "repeats": 1}
    options = [str(part) for name, value in tiny.items() for part in (f"--{name}", value)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "loop", *options, "--out", str(tmp_path)],
        cwd=settings.ROOT,
        env={**os.environ, "DEBUG": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
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


@pytest.mark.long
def test_coverage_is_simulated_for_every_kind_of_figure_and_written_into_its_document(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = tmp_path / "measures.md"
    document.write_text(f"before\n{coverage.BEGIN}\nold\n{coverage.END}\nafter\n")
    plan = coverage.Plan(
        reviews=(10, 40),
        prevalences=(0.9,),
        raters=(2,),
        layouts=(coverage.Layout(2, 0.2),),
        drawn=6,
        many=200,
        document=document,
    )
    found = coverage.run(plan)
    written = document.read_text()
    assert written.startswith(f"before\n{coverage.BEGIN}\nOf the ")
    assert written.endswith(f"{coverage.END}\nafter\n")
    assert "old" not in written
    for figure in ("ac1", "cohen", "share", "direction kappa", "Bradley-Terry strength", "mean of Likert points"):
        assert any(what.startswith(f"{figure}: ") for what in found.figures), figure
        assert f"| {figure} | none printed | " in written
    assert "| reviews | 10 | 40 |" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("figure", ["percent_agreement", "ac1", "fleiss", "alpha", "share", "mean of differences"])
def test_the_rule_of_intervals_holds_in_a_small_simulation(figure: str, small: dict[str, list[float]]) -> None:
    """Fails if the rule breaks: three standard errors around the band."""
    assert small[figure]
    assert all(0.90 < each < 0.99 for each in small[figure]), small[figure]


@pytest.fixture(scope="module")
def small() -> dict[str, list[float]]:
    """Coverage of 300 studies of 100 reviews of three units, by figure."""
    plan = coverage.Plan(
        reviews=(100,),
        prevalences=(0.8,),
        raters=(3,),
        layouts=(coverage.Layout(3, 0.2),),
        drawn=300,
        many=100_000,
        document=None,
    )
    covered: dict[str, list[float]] = {}
    for what, cell in coverage.run(plan).figures.items():
        covered.setdefault(what.split(":")[0], []).append(cell["held"] / cell["printed"])
    return covered


def test_studies_of_ratings_are_simulated_and_their_figures_timed() -> None:
    found = ratings.run(ratings.Plan(studies=2, sources=40, judgements=400))
    told = {line.what for line in found.lines}
    for design in (ratings.ALL, ratings.ONE):
        assert f"ratings, {design}: family-wise error, score" in told
        assert f"ratings, {design}: 95 % intervals that hold the truth: share, ci" in told
        assert found.figures[f"{design}: effects"]["held"]["difference, ci"][1] == 12
    assert "ratings: all figures of 400 judgements" in told


@pytest.mark.long
def test_pages_of_rounds_with_many_ratings_are_timed_against_those_of_few() -> None:
    tiny = results.Plan(480, few=120, systems=2, crowd=8, replicates=10, repeats=1, engines=("sqlite",))
    found = results.run(tiny)
    told = {line.what for line in found.lines}
    assert "results, sqlite, 480 ratings, many raters: examples / of 120" in told
    assert {name: one["ratings"] for name, one in found.figures["sqlite"]["made"].items()} == {
        "reference": 120,
        "many texts": 480,
        "many raters": 480,
    }


def test_rouge_and_copying_are_compared_with_rouge_score_and_give_its_figures(tmp_path: Path) -> None:
    item = {"target_text": "Risk of death fell.", "input_studies": [{"source_text": "Death was rarer. Risk fell."}] * 2}
    (tmp_path / "few.jsonl").write_text(json.dumps(item) + "\n")
    found = overlap.run(tmp_path / "few.jsonl", n_reviews=1, repeats=1, studies=2)  # raises if a figure differs
    assert [figures["outputs"] for figures in found.figures.values()] == [3, 3]
    assert overlap.run(tmp_path / "none.jsonl", n_reviews=1, repeats=1, studies=1).skipped


@pytest.mark.long
def test_summaries_are_compared_with_the_plain_loop_and_are_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {
        "d_model": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_ffn_dim": 16,
        "decoder_ffn_dim": 16,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
    }
    monkeypatch.setattr(stopping, "STEPS", 3)
    sizes = {"items": 2, "same": 3, "natural": 4, "batches": (2, 3), "inputs": (4, 9), "output": 5, "beams": 2}
    found = generation.run(generation.Plan(**sizes, size=tiny, vocabulary=90))  # type: ignore[arg-type]
    assert [figures["identical"] for figures in list(found.figures.values())[:2]] == [3, 2]
    assert found.figures["3 items, small model"]["tokens"] == 15
    told = [line.what for line in found.lines]
    assert "generation, bart-base-sized, fp32, CPU: times faster than one by one" in told
    natural = found.figures["small model, ending by itself"]
    ways = ("ours", "one by one", "sorted batches of 2", "sorted batches of 3")
    assert [natural[way]["identical"] for way in ways] == [4, 4, 4, 4]
    assert "generation, small model, texts that end by themselves: times faster than sorted batches of 3" in told


def test_the_probe_gives_the_likelihoods_of_one_pass_per_text() -> None:
    tiny = {name: 2 if "layers" in name or "heads" in name else 16 for name in BASE}
    plan = probe.Plan(items=3, repeats=1, inputs=(8, 12), targets=(8, 12), size=tiny, vocabulary=90)
    ratio, difference, told, *shared = probe.run(plan).lines
    assert "times faster than one forward pass per text" in ratio.what
    assert difference.met
    assert float(difference.reached) < 1e-5
    assert told.reached
    assert ["encodes each input once" in line.what and bool(line.reached) for line in shared] == [True, True]


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
