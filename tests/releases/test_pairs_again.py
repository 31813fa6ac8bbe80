"""Pairwise comparisons in a release follow from its other files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from generation.models import CommonProbe, Embargo, ItemStatus, ProbeComparison, Run, RunItem, ScoringComparison
from generation.results.tables.scored import Scores
from measures.comparison import holm
from measures.recompute.pairs import COMMON, PAIRS, PROBE_PAIRS
from projects.models import Member, Project
from projects.reports.registry import get
from releases.formats import pairs
from releases.formats.notes import Notes
from tests.generation.summaries import build_run, first_sentence, scored, the_target
from tests.releases.recompute_runner import recompute
from tests.releases.systems import add_probe, add_system, beside, clusters
from tests.releases.test_again import cell, changed, people
from tests.releases.test_needed_again import released
from tests.releases.test_systems_released import whole

__all__ = ["beside", "clusters", "people"]
pytestmark = pytest.mark.django_db
Json = dict[str, Any]


def lines(folder: Path, name: str) -> list[Json]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


@pytest.fixture(scope="module")
def written() -> list[Path]:
    """A release of `beside`, written once; tests change copies only."""
    return []


@pytest.fixture
def release(request: pytest.FixtureRequest, written: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return its folder, creating the systems on demand."""
    if not written:
        written.append(released(request.getfixturevalue("beside"), tmp_path_factory.mktemp("beside") / "r"))
    return written[0]


def row(of: Json, **wanted: str) -> Json:
    (found,) = [row for row in of["rows"] if all(row[name] == value for name, value in wanted.items())]
    assert isinstance(found, dict)
    return found


def name_of(run: int) -> str:
    return Run.objects.get(pk=run).version.system.name


def test_every_two_systems_are_compared_as_their_table_prints_it(beside: Project, tmp_path: Path) -> None:
    folder = released(beside, tmp_path / "r")
    rouge = [line for line in lines(folder, PAIRS) if line["metric"] == "rouge"]
    assert [(name_of(line["first"]), name_of(line["second"])) for line in rouge] == [("A", "B"), ("A", "C"), ("B", "C")]
    found = [row(line, figure="rouge2_f1") for line in rouge]
    assert [each["p_holm"] for each in found] == holm([each["p"] for each in found])
    assert found[0]["p_holm"] != found[0]["p"]
    table = [cells for cells in get("m3-4-pairs").build(Scores(beside)).rows if cells[0].value == "ROUGE-2 F1"]
    assert [[cell.value for cell in cells[5:]] for cells in table] == [
        pytest.approx(
            [
                each["difference"]["n"],
                each["difference"]["clusters"],
                100 * each["first"],
                100 * each["second"],
                100 * each["difference"]["value"],
                each["p"],
                each["p_holm"],
                each["least"],
            ]
        )
        for each in found
    ]
    assert {line["metric"] for line in lines(folder, PAIRS)} == {"rouge", "bertscore", "copying"}


@pytest.mark.long
def test_probes_are_compared_and_restricted_to_common_pairs(beside: Project, tmp_path: Path) -> None:
    folder = released(beside, tmp_path / "r")
    probes = lines(folder, PROBE_PAIRS)
    assert [(name_of(line["first"]), name_of(line["second"])) for line in probes] == [
        ("P", "Q"),
        ("P", "R"),
        ("Q", "R"),
    ]
    assert [row(line, figure="delta", kind="overall")["difference"]["n"] for line in probes] == [14, 16, 16]
    found = lines(folder, COMMON)
    assert [row(line, basis="all", kind="overall")["n"] for line in found] == [14, 14, 14]
    assert {str(line["run"]): line["rows"] for line in found} == json.loads(json.dumps(CommonProbe.objects.get().rows))


def test_pairs_are_recomputed_completely_from_the_folder(release: Path) -> None:
    status, said, failed = recompute(release)
    assert (status, failed, "Not recomputed" in said) == (0, "", False), said
    for name in (PAIRS, PROBE_PAIRS, COMMON):
        (line,) = [line for line in said.splitlines() if line.startswith(f"{name}: ")]
        assert int(line.split()[1]) > 250, line


@pytest.mark.long
def test_released_pairs_do_not_depend_on_which_run_was_scored_first(clusters: Project, tmp_path: Path) -> None:
    """Stored is the lower id minus the higher; tables and releases order the systems."""
    runs = [build_run(clusters, "A", write=first_sentence), build_run(clusters, "B", write=the_target)]
    for run in reversed(runs):
        scored(run, "rouge")
    folder = released(clusters, tmp_path / "r")
    (line,) = lines(folder, PAIRS)
    assert (line["first"], line["second"]) == (runs[0].pk, runs[1].pk)
    assert ScoringComparison.objects.get().first.run == runs[1]
    assert row(line, figure="rouge1_f1")["second"] == 1.0
    assert recompute(folder)[0] == 0


def grown(value: Any) -> Any:
    """Return the object with every number changed."""
    if isinstance(value, dict):
        return {name: grown(each) for name, each in value.items()}
    if isinstance(value, list):
        return [grown(each) for each in value]
    return value + 1 if isinstance(value, int | float) and not isinstance(value, bool) else value


def numbers(value: Any) -> int:
    if isinstance(value, dict | list):
        return sum(map(numbers, value.values() if isinstance(value, dict) else value))
    return int(isinstance(value, int | float) and not isinstance(value, bool))


@pytest.mark.parametrize("name", [PAIRS, PROBE_PAIRS, COMMON])
def test_each_figure_that_is_altered_is_found(release: Path, tmp_path: Path, name: str) -> None:
    """All of them at once, and the same number is found."""

    def alter(text: str) -> str:
        made = [json.loads(line) for line in text.splitlines()]
        return "".join(json.dumps(line | {"rows": grown(line["rows"])}) + "\n" for line in made)

    count = numbers([line["rows"] for line in lines(release, name)])
    status, _, failed = recompute(changed(release, tmp_path / "c", name, alter))
    assert status == 1
    assert f" {count} figures or facts differ from the printed ones" in failed


def without_first(text: str) -> str:
    return "\n".join(text.split("\n")[1:])


def first_line_as(**other: Any) -> Callable[[str], str]:
    def change(text: str) -> str:
        line, *rest = text.split("\n")
        return "\n".join([json.dumps(json.loads(line) | other), *rest])

    return change


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("systems/scores/rouge.csv", cell(0, "rouge1_f1", "0.123"), "rouge of A v1 (proposition), run "),
        ("systems/scores/copying.csv", cell(1, "review", "DEMO0002"), "difference, clusters: printed 9, recomputed 8"),
        ("systems/scores/bertscore.csv", cell(0, "unit", "else"), "bertscore_f1, own target, difference, n: printed "),
        ("systems/likelihoods.csv", cell(10, "all_sum", "99.5"), "on common pairs, "),
        ("systems/likelihoods.csv", cell(10, "all_sum", "99.5"), "probes of P v1 (proposition), run "),
        (PAIRS, without_first, f"{PAIRS}: rouge of A v1 (proposition), run "),
        (PROBE_PAIRS, without_first, f"{PROBE_PAIRS}: probes of P v1 (proposition), run "),
        (COMMON, without_first, f"{COMMON}: P v1 (proposition), run "),
        (COMMON, first_line_as(of=[]), "on common pairs, of, length: printed 0, recomputed 3"),
        (PAIRS, first_line_as(metric="length"), "are compared, although their settings differ"),
    ],
)
def test_figures_that_do_not_follow_are_found(
    release: Path, tmp_path: Path, name: str, change: Callable[[str], str], told: str
) -> None:
    status, said, failed = recompute(changed(release, tmp_path / "c", name, change))
    assert (status, told in said) == (1, True), (said, failed)


@pytest.mark.long
@pytest.mark.parametrize("name", [PAIRS, PROBE_PAIRS])
def test_figures_by_another_rule_are_named_and_not_repeated(release: Path, tmp_path: Path, name: str) -> None:
    folder = changed(release, tmp_path / "c", name, first_line_as(rule="guessed"))
    said = recompute(folder)[1]
    assert "Not recomputed: " in said
    assert "computed by another rule: guessed" in said


@pytest.mark.long
def test_figures_not_compared_are_named_as_such(beside: Project, tmp_path: Path) -> None:
    ScoringComparison.objects.filter(first__metric="rouge").first().delete()  # type: ignore[union-attr]
    ProbeComparison.objects.all().delete()
    folder = released(beside, tmp_path / "r")
    assert sum(line["rows"] is None for line in lines(folder, PAIRS)) == 1
    status, said, _ = recompute(folder)
    assert status == 3, said
    assert said.count("not compared at the time of the release") == 1 + 3
    assert lines(folder, COMMON)[0]["rows"], "what is common follows from the likelihoods"


@pytest.mark.long
def test_a_probe_with_later_items_has_no_released_rows(beside: Project, tmp_path: Path) -> None:
    run = Run.objects.get(version__system__name="P")
    last = beside.clusters.get(key="DEMO0008_0")
    RunItem.objects.create(run=run, unit=last.unit, size=1, status=ItemStatus.DONE)
    folder = released(beside, tmp_path / "r")
    assert {line["rows"] for line in [*lines(folder, PROBE_PAIRS), *lines(folder, COMMON)]} == {None}
    status, said, _ = recompute(folder)
    assert status == 3, said
    assert said.count("on common pairs: a probe of its level had more results at the time of the release") == 3


@pytest.mark.long
@pytest.mark.row(37)
def test_an_embargoed_system_or_probe_does_not_change_other_figures(
    clusters: Project, people: list[Member], tmp_path: Path
) -> None:
    """Neither adjusted p values nor pairs of others change, though the page's Table 7 on common pairs is narrowed:
    comparing two releases reveals nothing."""
    for name in "AB":
        add_system(clusters, name, "rouge")
    for name in "QR":
        add_probe(clusters, name)
    without = whole(released(clusters, tmp_path / "without"))
    hidden = [add_system(clusters, "C", "rouge"), add_probe(clusters, "P")]
    there = whole(released(clusters, tmp_path / "there"))
    assert there[PAIRS] != without[PAIRS]
    assert there[COMMON] != without[COMMON]
    for run in hidden:
        Embargo.objects.create(run=run, member=people[1])
    folder = released(clusters, tmp_path / "embargoed")
    assert whole(folder) == without
    assert recompute(folder)[0] == 0
    seen = get("m3-7-common").build(Scores(clusters, people[1]))
    assert {cells[3].value for cells in seen.rows if cells[2].value == "overall"} == {14}
    assert [row(line, basis="all", kind="overall")["n"] for line in lines(folder, COMMON)] == [16, 16]


def test_one_system_alone_is_compared_with_nothing(clusters: Project, tmp_path: Path) -> None:
    add_system(clusters, "A", "rouge")
    add_probe(clusters, "P")
    folder = released(clusters, tmp_path / "r")
    assert not [name for name in (PAIRS, PROBE_PAIRS, COMMON) if (folder / name).exists()]
    assert recompute(folder)[0] == 0


def test_more_systems_take_no_more_queries(clusters: Project) -> None:
    counts = []
    for name, probe in zip("ABC", "PQR", strict=True):
        add_system(clusters, name, "rouge", "copying")
        add_probe(clusters, probe)
        with CaptureQueriesContext(connection) as found:
            for _, rows in pairs.files(clusters, Notes()):
                list(rows)
        counts.append(len(found))
    assert counts[1] == counts[2]
