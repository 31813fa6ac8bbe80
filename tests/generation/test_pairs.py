"""Pairwise comparison of systems on common units: who stores it, and the tables beside Tables 4, 6 and 7."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from generation.models import (
    CommonProbe,
    Embargo,
    ItemStatus,
    ProbeComparison,
    ProbeFigures,
    ProbeScore,
    Run,
    RunItem,
    RunPurpose,
    RunStatus,
    Scoring,
    ScoringComparison,
)
from generation.results.tables.scored import Scores
from generation.scoring.actions import compute_probe_figures, request_scores
from generation.scoring.comparing import latest_probes
from measures.comparison import holm
from measures.counterfactuals import Kind
from projects import reports
from projects.jobs.running import run_job
from projects.models import Job, Member, Project
from projects.reports.table import Missing, Table
from projects.reports.writing import as_csv, latex, markdown, words
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.builders import build_cluster
from tests.conftest import person
from tests.generation.summaries import Write, build_run, build_version, scored
from tests.generation.test_probing import TEXTS, add

pytestmark = pytest.mark.django_db
#: ROUGE-1 of "a b c d" with "a b c d" is 1, and 0 without a common word.
RIGHT, HALF, WRONG = "a b c d", "a b x y", "w x y z"


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    """Seven units of six reviews; the last review has two."""
    keys = ["111_0", "222_0", "333_0", "444_0", "555_0", "666_0", "666_1"]
    records = [cluster(key, [source("a b c d", str(n))], target_text=RIGHT) for n, key in enumerate(keys, start=1)]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    return project


def written(texts: Mapping[str, str | None], otherwise: str | None) -> Write:
    """Text of a system for each unit, None if it has none."""
    return lambda material: texts.get(material.source.key, otherwise)


def table(project: Project, key: str = "m3-4-pairs", member: Member | None = None) -> Table:
    return reports.get(key).build(Scores(project, member))


def rows(made: Table) -> list[dict[str, str]]:
    titles = [column.title for column in made.columns]
    return [
        dict(zip(titles, (words(cell) or f"undefined: {cell.undefined}" for cell in row), strict=True))
        for row in made.rows
    ]


def steps(made: Table) -> list[Missing]:
    """Without BERTScore, which needs weights."""
    return [step for step in made.missing if step.metric != "bertscore"]


def of(made: Table, figure: str) -> list[dict[str, str]]:
    return [row for row in rows(made) if row["Figure"] == figure]


def test_two_systems_are_compared_on_the_units_that_both_have(corpus: Project) -> None:
    """A is right except for a unit of 111, which it lacks; B is half right and lacks 666_1. Five units of five
    reviews remain, in all of which A is better: p is 2 of 2 ** 5."""
    scored(build_run(corpus, "A", write=written({"111_0": None}, RIGHT)), "rouge")
    scored(build_run(corpus, "B", write=written({"666_1": None}, HALF)), "rouge")
    made = table(corpus)
    (row,) = of(made, "ROUGE-1 F1")
    assert [row[name] for name in ("Level", "Against", "First", "Second", "n", "Reviews")] == [
        "proposition",
        "own target",
        "A",
        "B",
        "5",
        "5",
    ]
    assert [row[name] for name in ("Mean of first", "Mean of second", "Difference")] == ["100.0", "50.0", "50.0"]
    assert [row[name] for name in ("p", "p (Holm)", "Least p")] == ["0.0625"] * 3
    assert any("If two systems differ in fewer than 6 reviews, no p below .05" in note for note in made.notes)
    assert any("3 of 3 rows" in note for note in made.notes)
    assert any(note.startswith("In 3 of 3 rows no reliable interval (few reviews") for note in made.notes)
    assert steps(made) == []


def test_six_reviews_are_enough_and_both_units_of_one_are_swapped_together(corpus: Project) -> None:
    scored(build_run(corpus, "A", write=written({}, RIGHT)), "rouge")
    scored(build_run(corpus, "B", write=written({"111_0": WRONG}, HALF)), "rouge")
    made = table(corpus)
    (row,) = of(made, "ROUGE-1 F1")
    assert (row["n"], row["Reviews"], row["p"], row["Least p"]) == ("7", "6", "0.0312", "0.0312")
    # Six of 50 and one of 100, with the interval of these means over reviews.
    assert row["Difference"].startswith("57.1")
    assert not [note for note in made.notes if "Least p" in note]


def test_p_is_adjusted_over_all_pairs_of_a_figure(corpus: Project) -> None:
    few = {"111_0": WRONG, "222_0": WRONG}
    for name, text in (("A", RIGHT), ("B", HALF), ("C", None)):
        scored(build_run(corpus, name, write=written({} if text else few, text or RIGHT)), "rouge")
    found = of(table(corpus), "ROUGE-1 F1")
    assert [(row["First"], row["Second"]) for row in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    # A is better than B in all six reviews, and better than C in two.
    assert [row["p"] for row in found][:2] == ["0.0312", "0.5000"]
    raw = [cell.value for row in table(corpus).rows[:3] for cell in row[-3:-2]]
    adjusted = [cell.value for row in table(corpus).rows[:3] for cell in row[-2:-1]]
    assert adjusted == pytest.approx(holm([float(p) for p in raw if isinstance(p, float)]))
    assert adjusted[0] == pytest.approx(3 * 0.03125)


def test_a_pair_does_not_depend_on_which_run_was_scored_first(corpus: Project) -> None:
    runs = [build_run(corpus, "A", write=written({}, RIGHT)), build_run(corpus, "B", write=written({}, HALF))]
    for run in reversed(runs):
        scored(run, "rouge")
    (row,) = of(table(corpus), "ROUGE-1 F1")
    assert (row["First"], row["Difference"]) == ("A", "50.0")


def test_missing_comparisons_of_old_scores_are_computed_by_a_job(corpus: Project) -> None:
    runs = [build_run(corpus, name, write=written({}, text)) for name, text in (("A", RIGHT), ("B", HALF))]
    for run in runs:
        scored(run, "rouge")
    whole = rows(table(corpus))
    for left in (lambda: ScoringComparison.objects.all().delete(), lambda: ScoringComparison.objects.update(rule="x")):
        left()
        made = table(corpus)
        assert made.rows == []
        (step,) = steps(made)
        assert step.words == "the comparison of ROUGE of B (proposition) with others"
        assert (step.runs, step.metric) == ([runs[1].pk], "rouge")
        job = request_scores(run=runs[1], metric="rouge", params={}, by=None)
        assert isinstance(job, Job)
        run_job(job.pk)
        assert rows(table(corpus)) == whole
    assert isinstance(request_scores(run=runs[1], metric="rouge", params={}, by=None), Scoring), "nothing is left"


def test_differently_scored_runs_are_not_compared(corpus: Project) -> None:
    scored(build_run(corpus, "A"), "rouge")
    scored(build_run(corpus, "B"), "rouge", stemmer=True)
    made = table(corpus)
    assert (made.rows, steps(made)) == ([], [])
    assert "ROUGE of A (proposition) and B (proposition) is not compared: the settings differ." in made.notes


def test_levels_and_kinds_of_references_are_kept_apart(corpus: Project, tmp_path: Path) -> None:
    import_records(corpus, write(tmp_path / "level1.jsonl", [plain("666", RIGHT, ("1", "One."))]), level="1")
    for name in ("A", "B"):
        scored(build_run(corpus, name, write=written({}, RIGHT)), "rouge")
        scored(build_run(corpus, name, "document", write=written({}, HALF), number=2), "rouge")
    found = of(table(corpus), "ROUGE-1 F1")
    assert [(row["Level"], row["Against"], row["n"], row["Reviews"]) for row in found] == [
        ("document", "own target", "1", "1"),
        ("document", "propositions of its review", "2", "1"),
        ("proposition", "own target", "7", "6"),
    ]


def test_systems_without_a_common_unit_have_no_difference(corpus: Project) -> None:
    scored(build_run(corpus, "A", write=written({"111_0": RIGHT}, None)), "rouge")
    scored(build_run(corpus, "B", write=written({"222_0": RIGHT}, None)), "rouge")
    made = table(corpus)
    (row,) = of(made, "ROUGE-1 F1")
    assert (row["n"], row["p"]) == ("0", "undefined: no unit that both have")
    for write_as in (markdown, latex, as_csv):
        assert "no unit that both have" in write_as(made)


def test_an_embargoed_system_is_in_no_pair_and_changes_no_p_value(corpus: Project) -> None:
    viewer = Member.objects.create(project=corpus, user=person("viewer"), role="viewer", pseudonym="V")
    runs = [build_run(corpus, name, write=written({}, text)) for name, text in (("A", RIGHT), ("B", HALF))]
    for run in runs:
        scored(run, "rouge")
    before = rows(table(corpus))
    hidden = build_run(corpus, "C", write=written({}, WRONG))
    scored(hidden, "rouge")
    Embargo.objects.create(run=hidden, member=viewer)
    assert rows(table(corpus, member=viewer)) == before
    assert len(of(table(corpus), "ROUGE-1 F1")) == 3


def test_copying_is_compared_by_all_that_its_table_prints(corpus: Project) -> None:
    scored(build_run(corpus, "A", write=written({}, RIGHT)), "copying")
    scored(build_run(corpus, "B", write=written({"111_0": "a", "222_0": "a"}, HALF)), "copying")
    found = {row["Figure"]: row for row in rows(table(corpus, "m3-6-pairs"))}
    assert len(found) == 10
    assert (found["Coverage"]["Mean of first"], found["Coverage"]["Against"]) == ("100.0", "inputs")
    assert found["ROUGE-1 F1, inputs - target"]["Against"] == "own target"
    # The inputs equal the targets, so both distances agree.
    assert found["ROUGE-1 F1, inputs - target"]["Difference"] == "0.0"
    assert found["ROUGE-1 F1, inputs - target"]["p"] == "1.0000"


def test_a_new_scoring_is_compared_with_what_tables_show(corpus: Project) -> None:
    runs = [build_run(corpus, name, write=written({}, text)) for name, text in (("A", RIGHT), ("B", HALF))]
    for run in runs:
        scored(run, "rouge")
    scored(runs[0], "rouge", stemmer=True)
    assert table(corpus).rows == []
    scored(runs[1], "rouge", stemmer=True)
    assert len(table(corpus).rows) == 3
    scored(runs[0], "rouge")
    scored(runs[1], "rouge")
    assert len(table(corpus).rows) == 3


def build_probe(project: Project, name: str, found: Mapping[int, Mapping[Kind, float]], number: int = 1) -> Run:
    """Create a probe: cluster number -> kind -> delta, with one token each."""
    run = Run.objects.create(
        version=build_version(project, name, number=number),
        purpose=RunPurpose.PROBE,
        status=RunStatus.DONE,
        units_count=len(found),
    )
    for cluster_number, deltas in found.items():
        made = project.clusters.get(key=f"DEMO{cluster_number:04d}_0")
        target = made.propositions.get(position=0)
        item = RunItem.objects.create(run=run, unit=made.unit, size=1, status=ItemStatus.DONE)
        texts = {None: 1.0} | {target.counterfactuals.get(kind=kind.value): 1.0 + d for kind, d in deltas.items()}
        for counterfactual, total in texts.items():
            ProbeScore.objects.create(
                item=item,
                target=target,
                counterfactual=counterfactual,
                content_sum=total,
                content_tokens=1,
                all_sum=total,
                all_tokens=1,
                token_ids=[1],
                nll=[total],
            )
    compute_probe_figures(run)
    return run


@pytest.fixture
def clusters(project: Project) -> Project:
    for number in range(7):
        add(build_cluster(project, number), TEXTS, f"{number}.csv")
    return project


@pytest.fixture
def probes(clusters: Project) -> tuple[Run, Run]:
    """A has judged six units, B five of these and another one; A is right everywhere, B nowhere."""
    right, wrong = ({Kind.NEGATION: d, Kind.MODALITY: d} for d in (0.5, -0.25))
    return (
        build_probe(clusters, "A", dict.fromkeys(range(6), right)),
        build_probe(clusters, "B", dict.fromkeys(range(1, 7), wrong)),
    )


def test_probes_are_compared_on_the_pairs_that_both_have_judged(clusters: Project, probes: tuple[Run, Run]) -> None:
    made = table(clusters, "m3-7-pairs")
    found = {(row["Figure"], row["Counterfactual"]): row for row in rows(made)}
    delta, accuracy = found["Delta", "negation"], found["Accuracy", "overall"]
    assert [delta[name] for name in ("First", "Second", "n", "Reviews", "Difference", "p")] == [
        "A",
        "B",
        "5",
        "5",
        "0.750",
        "0.0625",
    ]
    assert [accuracy[name] for name in ("n", "Mean of first", "Mean of second", "Difference")] == [
        "10",
        "1.00",
        "0.00",
        "1.00",
    ]
    assert found["Delta", "antonym"]["p"] == "undefined: no unit that both have"
    assert made.missing == []


def test_table_7_can_be_read_on_the_pairs_that_every_system_has(clusters: Project, probes: tuple[Run, Run]) -> None:
    assert {row["n"] for row in rows(table(clusters, "m3-7")) if row["Counterfactual"] == "overall"} == {"12"}
    made = table(clusters, "m3-7-common")
    found = {(row["System"], row["Counterfactual"]): row for row in rows(made)}
    assert [found[name, "overall"]["n"] for name in "AB"] == ["10", "10"]
    assert [found[name, "negation"]["n"] for name in "AB"] == ["5", "5"]
    assert found["A", "overall"]["Accuracy"] == "1.00"
    assert "A (proposition): 10 of 12 pairs are included." in made.notes
    assert made.missing == []


def test_a_third_probe_narrows_what_is_common(clusters: Project, probes: tuple[Run, Run]) -> None:
    build_probe(clusters, "C", {2: {Kind.NEGATION: 0.1}})
    found = rows(table(clusters, "m3-7-common"))
    assert {row["n"] for row in found if row["Counterfactual"] in ("negation", "overall")} == {"1"}
    assert {row["n"] for row in found if row["Counterfactual"] == "modality"} == {"0"}
    assert CommonProbe.objects.count() == 1
    assert {(r["First"], r["Second"]) for r in rows(table(clusters, "m3-7-pairs"))} == {
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    }


def test_common_pairs_of_probes_are_missing_until_computed(clusters: Project, probes: tuple[Run, Run]) -> None:
    whole = {key: rows(table(clusters, key)) for key in ("m3-7-common", "m3-7-pairs")}
    CommonProbe.objects.all().delete()
    ProbeComparison.objects.update(rule="another")
    for key, words_of in (
        ("m3-7-common", "the pairs that A (proposition) and B (proposition) have in common"),
        ("m3-7-pairs", "the comparison of B (proposition) with others"),
    ):
        made = table(clusters, key)
        assert made.rows == []
        (step,) = made.missing
        assert step.words == words_of
        assert step.command == "manage.py probe --project eye --system B --version 1"
    compute_probe_figures(probes[1])
    assert {key: rows(table(clusters, key)) for key in whole} == whole


def test_a_single_probe_has_no_common_pairs_and_none_missing(clusters: Project) -> None:
    build_probe(clusters, "A", {0: {Kind.NEGATION: 0.5}})
    for key in ("m3-7-common", "m3-7-pairs"):
        made = table(clusters, key)
        assert (made.rows, made.missing) == ([], [])


def test_an_embargoed_probe_has_no_row_and_still_limits_common_pairs(
    clusters: Project, probes: tuple[Run, Run]
) -> None:
    """So the table is the same for every reader."""
    viewer = Member.objects.create(project=clusters, user=person("viewer"), role="viewer", pseudonym="V")
    Embargo.objects.create(run=probes[1], member=viewer)
    found = rows(table(clusters, "m3-7-common", viewer))
    assert {row["System"] for row in found} == {"A"}
    assert [row["n"] for row in found if row["Counterfactual"] == "overall"] == ["10"]
    assert table(clusters, "m3-7-pairs", viewer).rows == []
    for key in ("m3-7", "m3-7-wide", "m3-7-common", "m3-7-pairs"):
        assert "B" not in {row.get("System") for row in rows(table(clusters, key, viewer))}


def test_the_wide_form_has_a_row_a_system_and_says_the_same(clusters: Project, probes: tuple[Run, Run]) -> None:
    long = {(row["System"], row["Counterfactual"]): row for row in rows(table(clusters, "m3-7"))}
    wide = rows(table(clusters, "m3-7-wide"))
    assert [row["System"] for row in wide] == ["A", "B"]
    for row in wide:
        for kind in ("negation", "modality", "overall"):
            mine, name = long[row["System"], kind], kind.capitalize()
            assert row[f"{name}: delta"] == f"{mine['Delta']} (n = {mine['n']})"
            assert row[f"{name}: accuracy"] == mine["Accuracy"]
        assert row["Antonym: delta"] == "undefined: no pairs"


def test_only_figures_of_the_current_rule_are_compared(clusters: Project, probes: tuple[Run, Run]) -> None:
    ProbeFigures.objects.filter(run=probes[0]).update(rule="another")
    assert [figures.run for figures in latest_probes(clusters, "proposition")] == [probes[1]]
