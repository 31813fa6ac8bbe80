"""The figures of a release can be recomputed from its folder, and changed files are detected."""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import User
from annotation.models import Proposition
from generation.models import ProbeFigures, Scoring
from generation.scoring.computing import means_of
from projects.agreement.queries import report
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Member, Project, Round
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.uploads.files import Source
from tests.annotation.m3_files import LEVEL3, cluster, import_records, published, write
from tests.annotation.test_cluster_kinds import tuple_value
from tests.annotation.test_counterfactual_import import ANTONYM, NEGATION, as_jsonl, bring
from tests.builders import answer, build_round, label_value
from tests.generation.conftest import staged
from tests.generation.staged import StagedBackend
from tests.generation.summaries import build_run, first_sentence, scored, the_target
from tests.generation.test_probing import judging, levels, probed
from tests.generation.workers import staged_version
from tests.releases.recompute_runner import recompute, recompute_in_new_process
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db
REPORTS, SCORINGS = "agreement/reports.jsonl", "systems/scorings.jsonl"
__all__ = ["judging", "levels", "staged"]


def changed(folder: Path, to: Path, name: str, change: Callable[[str], str]) -> Path:
    """Return a copy with one changed file."""
    shutil.copytree(folder, to)
    path = to / name
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")
    return to


def cell(row: int, column: str, value: str) -> Callable[[str], str]:
    """Change a cell of a CSV file; rows from 0, -2 is the last."""

    def change(text: str) -> str:
        rows = list(csv.reader(io.StringIO(text, newline="")))
        rows[row + 1][rows[0].index(column)] = value
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows(rows)
        return out.getvalue()

    return change


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]


def say_something(round: Round, people: list[Member]) -> None:
    """Answer all units, partly differently, with cues of one word and of the whole text."""
    for place, person in enumerate(people):
        number = 0
        while held := next_assignments(user=person.user, round=round):
            text = Proposition.objects.get(unit=held[0].unit_id).text
            end = len(text.split()[0]) if (number + place) % 2 else len(text)
            said = label_value("negative" if number % 3 == place else "positive", "weak" if number % 2 else "strong")
            said["polarity_cue"] = [{"start": 0, "end": end, "quote": text[:end]}]
            answer(person.user, held[0], said)
            number += 1


@pytest.fixture
def corpus(project: Project, people: list[Member], tmp_path: Path) -> Project:
    """Three clusters of two reviews; a closed label round with gold, and a tuple round."""
    records = [cluster("26258610_0"), cluster("26258610_1"), cluster("30000001_0")]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    labels = build_round(project, people, name="Study, first", purpose="measure only", overlap=3, seed=11)
    say_something(labels, people)
    tuples = build_round(project, people, name="Tuples", kind="tuple", overlap=3)
    for person, o in zip(people, ("relapse", "risk of relapse", "Relapse"), strict=True):
        while held := next_assignments(user=person.user, round=tuples):
            answer(person.user, held[0], tuple_value(i="nepralin", o=o), kind="tuple")
    for round in (labels, tuples):
        close_round(round=round, by=None)
        round.refresh_from_db()
        finish_round(round=round, by=None)
    build_round(project, people, name="Open rounds")
    return project


METRICS = ("rouge", "bleu", "chrf", "copying", "length", "repetition", "direction")


@pytest.fixture
def study(corpus: Project, judging: StagedBackend, tmp_path: Path) -> Project:
    """With counterfactuals, two systems scored by every metric without weights, and a probe."""
    given = [
        ("26258610_0", "negation", NEGATION),
        ("26258610_0", "antonym", ANTONYM),
        ("30000001_0", "negation", NEGATION),
    ]
    bring(corpus, tmp_path / "given.jsonl", as_jsonl(given))
    for name, wrote in (("Lead", first_sentence), ("Oracle", the_target)):
        scored(build_run(corpus, name, write=wrote), *METRICS)
    probed(staged_version(corpus))
    return corpus


@pytest.fixture(scope="module")
def written() -> dict[str, Path]:
    """Releases of `corpus` and `study` by name, written once; tests change copies only."""
    return {}


@pytest.fixture
def release_of(
    request: pytest.FixtureRequest, written: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """``release_of("study")`` returns the folder of its release, creating the project on demand."""

    def release_of(name: str) -> Path:
        if name not in written:
            written[name] = released(request.getfixturevalue(name), tmp_path_factory.mktemp(name) / "r")
        return written[name]

    return release_of


def test_every_agreement_figure_of_a_closed_round_is_repeated_from_the_folder(corpus: Project, tmp_path: Path) -> None:
    folder = released(corpus, tmp_path / "r")
    lines = [json.loads(line) for line in (folder / REPORTS).read_text().splitlines()]
    assert [line["round"] for line in lines] == ["Study, first", "Tuples"]
    first = Round.objects.get(project=corpus, name="Study, first")
    assert lines[0]["report"] == json.loads(json.dumps(report(first)))
    polarity = lines[0]["report"]["measures"][0]
    assert polarity["gold"]
    assert polarity["coefficients"]["ac1"]["ci_reason"]
    assert lines[0]["report"]["spans"][0]["value"] is not None
    status, said, failed = recompute_in_new_process(folder)
    assert (status, failed) == (0, ""), said
    assert f"{REPORTS}: " in said
    assert "all figures that the folder allows to recompute equal the printed ones" in said
    assert re.search(r"Not recomputable from the folder: \d+ counts of statistics.json", said), said


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("answers/label.csv", cell(0, "polarity", "no effect"), "round Study, first, measures, polarity, "),
        ("answers/label.csv", cell(0, "polarity_cue", ""), "round Study, first, spans, polarity cue"),
        ("answers/label.csv", cell(0, "counted", "false"), "round Study, first, answers"),
        ("answers/label.csv", cell(0, "polarity", "good"), "labels outside the scale: 'good'"),
        ("answers/tuple.csv", cell(0, "o", "death"), "round Tuples, spans, O slot"),
        ("agreement/gold.csv", cell(0, "value", "n/a"), "round Study, first, measures, polarity, gold"),
        ("agreement/units.csv", cell(-2, "text", "."), "round Study, first, spans, polarity cue"),
        ("rounds.jsonl", lambda text: text.replace('"seed": 11', '"seed": 12'), "seed: printed 11, recomputed 12"),
        (REPORTS, lambda text: re.sub(r'"ratings": \d+', '"ratings": 999', text), "ratings: printed 999, recomputed "),
        (REPORTS, lambda text: "\n".join(text.split("\n")[1:]), "round Study, first is closed but has no report"),
        (
            "statistics.json",
            lambda text: re.sub(r'"targets": \d+', '"targets": 99', text, count=1),
            "targets: printed 99",
        ),
        ("statistics.json", lambda text: re.sub(r'"weak": \d+', '"weak": 99', text), "weak: printed 99"),
        ("README.md", lambda text: text.replace("| Study, first |", "| Study, last |"), "table of rounds, row "),
        (
            "README.md",
            lambda text: re.sub(r"(\| proposition \|) \d+", r"\1 99", text),
            "table of levels, row 1: printed 99",
        ),
        ("m3/level3.jsonl", lambda text: text.replace("agreement", "contradiction", 1), "relation"),
    ],
)
def test_one_altered_answer_is_found_in_the_figures(
    release_of: Callable[[str], Path], tmp_path: Path, name: str, change: Callable[[str], str], told: str
) -> None:
    status, said, failed = recompute(changed(release_of("corpus"), tmp_path / "c", name, change))
    assert (status, told in said) == (1, True), (said, failed)
    assert "differ from the printed ones" in failed


def test_every_score_of_every_system_is_repeated_from_the_folder(study: Project, tmp_path: Path) -> None:
    folder = released(study, tmp_path / "r")
    scorings = [json.loads(line) for line in (folder / SCORINGS).read_text().splitlines()]
    assert {(line["metric"], line["run"]) for line in scorings} == set(Scoring.objects.values_list("metric", "run"))
    assert len(scorings) == 2 * len(METRICS)
    for scoring in Scoring.objects.all():
        [line] = [line for line in scorings if (line["metric"], line["run"]) == (scoring.metric, scoring.run_id)]
        assert line["means"] == json.loads(json.dumps(scoring.means)) == json.loads(json.dumps(means_of(scoring)))
    [probe] = [json.loads(line) for line in (folder / "systems" / "probes.jsonl").read_text().splitlines()]
    assert probe["rows"] == ProbeFigures.objects.get().rows
    status, said, failed = recompute_in_new_process(folder)
    assert (status, failed) == (0, ""), said
    assert "Not recomputed" not in said
    for name in (REPORTS, SCORINGS, "systems/probes.jsonl", "systems/summaries.jsonl", "systems/pairs.jsonl"):
        assert re.search(f"^{re.escape(name)}: [1-9][0-9]* figures equal the printed ones$", said, re.MULTILINE), said


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("systems/scores/rouge.csv", cell(0, "rouge1_f1", "0.123"), "rouge of Lead v1 (proposition), run "),
        ("systems/scores/rouge.csv", cell(0, "rouge1_f1", "0.123"), "systems/scores/rouge.csv: summary "),
        ("systems/scores/rouge.csv", cell(0, "review", "3"), "rouge1_f1, own target, mean, clusters: printed 2"),
        (
            "systems/scores/length.csv",
            cell(1, "words_ratio", ""),
            "words_ratio, own target, mean, n: printed 3, recomputed 2",
        ),
        ("systems/scores/direction.csv", cell(0, "increases/increases", "7.0"), "corpus, n_pairs"),
        (
            "systems/summaries.jsonl",
            lambda text: text.replace("may reduce", "did reduce", 1),
            "does not match its hash",
        ),
        ("systems/summaries.jsonl", lambda text: "\n".join(text.split("\n")[1:]), "summaries: printed 3, recomputed 2"),
        ("systems/references.csv", cell(0, "text", "Nothing."), "bleu of Lead v1 (proposition), run "),
        ("systems/likelihoods.csv", cell(0, "all_sum", "99.5"), "probe of Staged v1 (proposition), run "),
        ("systems/likelihoods.csv", cell(0, "target", "7"), "a counterfactual without its target"),
        (
            SCORINGS,
            lambda text: text.replace('"summaries": 3', '"summaries": 4', 1),
            "summaries: printed 4, recomputed 3",
        ),
    ],
)
def test_one_altered_score_is_found_in_the_figures(
    release_of: Callable[[str], Path], tmp_path: Path, name: str, change: Callable[[str], str], told: str
) -> None:
    status, said, failed = recompute(changed(release_of("study"), tmp_path / "c", name, change))
    assert (status, told in said) == (1, True), (said, failed)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("systems/scores/rouge.csv", cell(0, "rouge1_f1", "much")),
        ("systems/scores/rouge.csv", cell(0, "run", "much")),
        ("systems/pairs.jsonl", lambda text: text.replace('"side"', '"page"', 1)),
        ("systems/pairs.jsonl", lambda text: text.replace('"first": ', '"first": 9', 1)),
        ("systems/scores/rouge.csv", lambda text: text.replace("review", "study", 1)),
        ("systems/likelihoods.csv", cell(0, "all_sum", "much")),
        (SCORINGS, lambda text: text.replace("{", "", 1)),
        ("answers/label.csv", lambda text: text + "more\n"),
    ],
)
def test_an_unreadable_release_file_is_reported_in_one_line(
    release_of: Callable[[str], Path], tmp_path: Path, name: str, change: Callable[[str], str]
) -> None:
    status, _, failed = recompute(changed(release_of("study"), tmp_path / "c", name, change))
    assert (status, failed.count("\n")) == (2, 1), failed
    assert "Traceback" not in failed


@pytest.mark.long
def test_figures_not_recomputed_are_reported_as_such(study: Project, tmp_path: Path) -> None:
    Scoring.objects.filter(metric="rouge").update(means=None)
    ProbeFigures.objects.all().delete()
    status, said, _ = recompute(released(study, tmp_path / "r"))
    assert status == 3, "some figures could have been repeated and were not"
    assert said.count("Not recomputed: rouge of ") == 2
    assert "Not recomputed: probe of Staged v1 (proposition), run " in said


@pytest.mark.long
def test_documents_are_compared_with_their_propositions_too(levels: Project, tmp_path: Path) -> None:
    scored(build_run(levels, "Lead", "document"), "rouge", "bleu", "direction")
    scored(build_run(levels, "Lead", "sentence", number=2), "rouge", "chrf")
    folder = released(levels, tmp_path / "r")
    with (folder / "systems" / "scores" / "rouge.csv").open(newline="") as file:
        sides = [(row["against"], row["reference_type"]) for row in csv.DictReader(file)]
    assert set(sides) == {
        ("own target", "target document"),
        ("own target", "target sentence"),
        ("propositions of its review", "proposition"),
    }
    status, said, failed = recompute(folder)
    assert (status, failed) == (0, ""), said


@pytest.mark.long
@published
def test_figures_of_m3s_level_3_are_repeated_from_its_release(
    project: Project, people: list[Member], judging: StagedBackend, tmp_path: Path
) -> None:
    """381 clusters: a closed round over 60 of the propositions, counterfactuals of 40 targets, two runs and a probe."""
    import_records(project, Source.of(LEVEL3))
    round = build_round(project, people, name="Study", purpose="measure only", overlap=3, sample=60, seed=5)
    say_something(round, people)
    close_round(round=round, by=None)
    targets = Proposition.objects.filter(cluster__project=project, position=0).select_related("cluster")
    rows = [(t.cluster.key, "negation", f"It is not true that {t.text}") for t in targets.order_by("pk")[:40]]
    bring(project, tmp_path / "given.jsonl", as_jsonl(rows))
    for name, wrote in (("Lead", first_sentence), ("Oracle", the_target)):
        scored(build_run(project, name, write=wrote), "rouge", "bleu", "direction")
    probed(staged_version(project))
    folder = released(project, tmp_path / "r")
    modality = json.loads((folder / REPORTS).read_text())["report"]["measures"][1]["coefficients"]
    assert all(modality[name]["ci"] or modality[name]["ci_reason"] for name in ("ac1", "alpha", "conger"))
    status, said, failed = recompute(folder)
    assert (status, failed) == (0, ""), said
    assert "Not recomputed" not in said
    assert "systems/pairs.jsonl: " in said
    status, said, _ = recompute(
        changed(folder, tmp_path / "c", "systems/scores/rouge.csv", cell(300, "rougeL_f1", "1.5"))
    )
    assert (status, "rougeL_f1, own target, mean, value" in said) == (1, True), said
    assert "rougeL_f1, own target, difference, value" in said
    status, said, _ = recompute(
        changed(folder, tmp_path / "d", "answers/label.csv", cell(100, "modality", "no evidence"))
    )
    assert (status, "round Study, measures, modality" in said) == (1, True), said


def test_folders_that_are_no_complete_release_are_reported_in_one_line(corpus: Project, tmp_path: Path) -> None:
    assert recompute(tmp_path)[::2] == (
        2,
        f"{tmp_path}: manifest.json: cannot be read (No such file or directory), so the folder is not a release.\n",
    )
    folder = released(corpus, tmp_path / "r")
    (folder / "answers" / "label.csv").unlink()
    status, _, failed = recompute(folder)
    assert (status, failed.count("\n")) == (2, 1)
    assert "answers/label.csv: cannot be read" in failed


@pytest.mark.long
def test_later_corrections_do_not_change_the_report(corpus: Project, people: list[Member], tmp_path: Path) -> None:
    """Later decisions change the gold that raters are compared with, in the report and in its inputs."""
    unit = Proposition.objects.filter(cluster__project=corpus, position=0)[0].unit
    value = label_value("n/a", "no evidence")
    correct(unit=unit, kind="label", value=value, reason="Read again.", by=people[0])
    folder = released(corpus, tmp_path / "r")
    gold = (folder / "agreement" / "gold.csv").read_text()
    assert f"polarity,{unit.key},n/a" in gold
    assert recompute(folder)[0] == 0


def test_a_project_without_closed_rounds_has_no_report(project: Project, people: list[Member], tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0")]))
    build_round(project, people, name="Open rounds")
    folder = released(project, tmp_path / "r")
    assert not (folder / "agreement").exists()
    assert recompute(folder)[0] == 0
