"""External ratings are imported as a closed, unblinded round from files of several formats."""

import csv
import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from openpyxl import Workbook

from accounts.models import User
from annotation.imports.actions import Checked, check_files, import_files, parse_mapping
from api.problems import Refused
from evaluation.design.stored import intact
from evaluation.imports.ratings import RatingsFile
from evaluation.judging.actions import licences_of
from evaluation.models import (
    ComparedSystem,
    PageText,
    PageTextOf,
    Preference,
    Protocol,
    Rating,
    RatingDesign,
    RatingSource,
)
from evaluation.results.actions import compute_ratings
from evaluation.results.computed import stored
from evaluation.results.tidy import BESIDE, RATED
from evaluation.unblinding.actions import unblind
from generation.backends.imported.storage import open_stored
from generation.imported_runs.actions import keep_outputs, prepare_run
from generation.models import Run, Summary
from projects.agreement.queries import report
from projects.jobs.batches import silent
from projects.models import Answer, Import, Job, Member, Project, Round, Unit
from projects.people.actions import create_project
from projects.rounds.actions import close_round
from projects.spreadsheets.cells import neutral
from projects.spreadsheets.delimited import CUT
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source
from tests.evaluation.rating_rounds import build_runs, open_rating, rate_all
from tests.generation.builders import build_version
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db

PIO = "Is the *{}* in the generated summary the same as the {} in the target summary?"
FACETS = (
    "ExpID",
    "ReviewID",
    "Target Summary",
    "Generated Summary",
    "Is the generated summary fluent?",
    *(PIO.format(name, name) for name in ("population", "intervention", "outcome")),
    "Comments about PIO agreement (optional)",
    "What is the effect direction in the *target* summary?",
    "What is the effect direction in the *generated* summary?",
    "Comments about effect directions (optional)",
    "What is the strength of the claim made in the *target* summary?",
    "What is the strength of the claim made in the *generated* summary?",
    "Comments about strength of claim (optional)",
)
PAIRS = (
    "review_id",
    "target",
    "sys_a",
    "A",
    "sys_b",
    "B",
    "Which of A or B is nearer? (Choices: A, B, Neither)",
    "Notes",
    "",
)
SAID = (
    "2: Yes--no errors",
    "2: Yes",
    "1: Partially",
    "0: No",
    "the outcome is another",
    "(+1): Positive effect",
    "(-1): Negative effect",
    "",
    "1: Weak claim",
    "0: Not enough evidence",
    "",
)
LONG = ("unit", "system", "rater", "criterion", "value", "comment", "summary")


def table(path: Path, head: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
    return path


def facets(path: Path, *rows: Sequence[str]) -> Path:
    return table(path, FACETS, rows, "\t")


def checked(project: Project, *paths: Path, **mapping: str) -> Checked:
    sources = [Source.of(path, path.name) for path in paths]
    return check_files(project=project, format="ratings", sources=sources, mapping=mapping)


def bring(project: Project, *paths: Path, **mapping: str) -> list[Import]:
    found = checked(project, *paths, **mapping)
    return import_files(project=project, format="ratings", checked=found, by=project.members.get(role="lead").user)


def faults(found: Checked) -> list[tuple[str, int, str]]:
    return [(fault.file, fault.line, fault.field) for fault in found.faults]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    rows = [
        (f"CD{n}", system, rater, criterion, str(points), "Why not." if n == 0 else "", f"{system} on CD{n}.")
        for n in range(6)
        for system in ("Alder", "Birch")
        for rater in ("Ada", "Bo")
        for criterion, points in (("Coherence", 1 + (n + len(system)) % 5), ("Is it true?", 1 + n % 2))
    ]
    return table(tmp_path / "points.csv", LONG, rows)


def test_a_long_table_becomes_a_round_that_is_closed_and_unblinded(project: Project, lead: User, long: Path) -> None:
    [imported] = bring(project, long)
    assert (imported.counts["ratings"], imported.counts["raters"]) == (48, 2)
    [round] = Round.objects.filter(project=project)
    assert (round.name, round.kind, round.status, round.overlap) == ("points", "rate", "closed", 2)
    design = RatingDesign.objects.get(round=round)
    intact(design)
    assert design.unblinding.by == lead
    assert [one.name for one in design.systems.all()] == ["Alder", "Birch"]
    assert set(PageTextOf.objects.values_list("exact", flat=True)) >= {"Alder on CD0.", "Birch on CD5."}
    assert Rating.objects.filter(reason="Why not.").count() == 8
    keys = [criterion["key"] for criterion in design.version.content["criteria"]]
    assert keys == ["coherence", "is-it-true"]
    figures = {measure["name"]: measure for measure in report(round)["measures"]}
    assert figures["coherence"]["all_agree"] == {"count": 12, "of": 12}
    raters = Member.objects.filter(answers__isnull=False).distinct()
    assert sorted(raters.values_list("rater", flat=True)) == ["Ada", "Bo"]
    assert not raters.filter(user__isnull=False).exists()
    job = Job.objects.get(kind="rating_figures")
    assert (job.params, job.created_by) == ({"round": round.pk}, lead)


def test_the_same_file_again_changes_nothing(project: Project, lead: User, long: Path) -> None:
    bring(project, long)
    before = Rating.objects.count(), Answer.objects.count(), Round.objects.count(), Unit.objects.count()
    assert checked(project, long).known
    assert bring(project, long) == []
    assert before == (Rating.objects.count(), Answer.objects.count(), Round.objects.count(), Unit.objects.count())


def test_a_repeat_that_a_column_numbers_is_kept_as_a_repeat(project: Project, lead: User, tmp_path: Path) -> None:
    said = [("CD1", "Alder", "Ada", "quality", "4", "0"), ("CD1", "Alder", "Ada", "quality", "2", "1")]
    bring(project, table(tmp_path / "twice.csv", (*LONG[:5], "repeat"), said))
    again = Answer.objects.order_by("assignment__repeat").values_list("assignment__repeat", "ratings__value")
    assert list(again) == [(0, "4"), (1, "2")]


def test_systems_and_units_of_the_project_are_found_by_their_names(
    project: Project, lead: User, tmp_path: Path
) -> None:
    runs = build_runs(project, clusters=2)
    rows = [(f"DEMO000{n}_0", "Birch", "Ada", "quality", str(n + 1)) for n in range(2)]
    bring(project, table(tmp_path / "own.csv", LONG[:5], rows))
    assert [system.run for system in ComparedSystem.objects.all()] == [runs[1]]
    assert {source.unit.type for source in RatingSource.objects.all()} == {"cluster"}
    assert not PageTextOf.objects.filter(summary=None).exists()
    other = [("DEMO0000_0", "Birch", "Ada", "quality", "1", "", "Birch never wrote this.")]
    found = checked(project, table(tmp_path / "other.csv", LONG, other))
    assert faults(found) == [("other.csv", 2, "summary")]


def test_no_import_reveals_systems_to_a_blind_rater(
    project: Project, lead: User, evaluator: User, tmp_path: Path
) -> None:
    raters = [project.members.get(user=evaluator)]
    round = open_rating(project, raters, build_runs(project, clusters=2, systems=("Alder", "Birch")))
    text = PageTextOf.objects.filter(system__name="Alder").order_by("pk")[0].exact
    rows = [("DEMO0000_0", system, "Ada", "Quality", "4", "", text) for system in ("Alder", "Birch", "Elm")]
    found = faults(checked(project, table(tmp_path / "guess.csv", LONG, rows)))
    assert found == [("guess.csv", 2, "system"), ("guess.csv", 3, "system")]
    close_round(round=round, by=lead)
    assert faults(checked(project, tmp_path / "guess.csv")) == found
    unblind(design=RatingDesign.objects.get(round=round), by=lead)
    assert faults(checked(project, tmp_path / "guess.csv")) == [("guess.csv", 3, "summary")]


def brought(project: Project, path: Path, *systems: str, unit: str = "DEMO000{}_0", raters: str = "AB") -> list[Import]:
    rows = [
        (unit.format(n), system, rater, "quality", str(n + 1), "", f"{system} wrote this of {n}.")
        for n in range(2)
        for system in systems
        for rater in raters
    ]
    return bring(project, table(path, LONG, rows))


def test_texts_of_known_units_become_imported_outputs_with_their_source(
    project: Project, lead: User, tmp_path: Path
) -> None:
    build_runs(project, clusters=2, systems=("Birch",))
    [imported] = brought(project, tmp_path / "paper.csv", "Elm", "Fir")
    assert imported.report["totals"] == {"imported outputs": 2}
    runs = list(Run.objects.filter(version__backend="imported").order_by("pk"))
    assert [(run.version.system.name, run.status, run.items.filter(status="done").count()) for run in runs] == [
        ("Elm", "done", 2),
        ("Fir", "done", 2),
    ]
    version = runs[0].version
    assert version.config["model"]["made_by"] == version.note
    assert version.note == f"Imported with the ratings in paper.csv, SHA-256 {imported.sha256}"
    with closing(open_stored(version.config["model"]["file"])) as kept:
        assert kept.text(kept.find("DEMO0001_0")) == "Elm wrote this of 1."  # type: ignore[arg-type]
    assert [system.run for system in ComparedSystem.objects.all()] == runs
    assert not PageTextOf.objects.filter(summary=None).exists()
    texts = Summary.objects.filter(item__run=runs[1]).order_by("item__unit__key").values_list("text", flat=True)
    assert list(texts) == ["Fir wrote this of 0.", "Fir wrote this of 1."]
    # The same systems with other raters: their runs are reused.
    brought(project, tmp_path / "again.csv", "Elm", "Fir", raters="CD")
    assert Run.objects.count() == 3
    assert [system.run for system in ComparedSystem.objects.order_by("pk")][2:] == runs


@pytest.mark.parametrize("unit", ["DEMO000{}_0", "elsewhere {}"])
def test_the_licence_of_ratings_holds_for_their_texts(project: Project, lead: User, tmp_path: Path, unit: str) -> None:
    build_runs(project, clusters=2, systems=("Birch",))
    [imported] = brought(project, tmp_path / "paper.csv", "Elm", unit=unit)
    design = RatingDesign.objects.get()
    Import.objects.filter(pk=imported.pk).update(may_redistribute=False)
    assert licences_of(design, None) == {"allowed": 0, "forbidden": 2, "unknown": 0}
    if runs := list(Run.objects.filter(compared_systems__design=design)):
        # The same texts in another round.
        people = [project.members.get(user=lead)]
        other = open_rating(project, people, [*runs, *Run.objects.exclude(pk__in=[run.pk for run in runs])])
        assert licences_of(RatingDesign.objects.get(round=other), None)["forbidden"] == 2


@pytest.mark.django_db(transaction=True)
def test_outputs_are_stored_and_prepared_before_the_transaction(
    project: Project, lead: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    within = []

    def keep(**given: Any) -> Any:
        within.append(connection.in_atomic_block)
        return keep_outputs(**given)

    monkeypatch.setattr("generation.imported_runs.actions.keep_outputs", keep)
    build_runs(project, clusters=2, systems=("Birch",))
    brought(project, tmp_path / "paper.csv", "Elm")
    assert within == [False]
    assert Summary.objects.filter(item__run__version__backend="imported").count() == 2


def test_imported_texts_make_no_generated_runs_and_no_runs_of_unknown_units(
    project: Project, lead: User, tmp_path: Path
) -> None:
    build_runs(project, clusters=2, systems=("Birch",))
    build_version(project, "Elm")  # generated here, but not yet
    [imported] = brought(project, tmp_path / "elm.csv", "Elm")
    assert imported.report["totals"] == {"no run": 1}
    brought(project, tmp_path / "else.csv", "Fir", unit="CD{}")
    with pytest.raises(Refused):
        prepare_run(project=project, level="proposition", name="Elm", texts={}, file="x", origin="x", by=lead)
    two = [("DEMO0000_0", "Oak", "Ada", "quality", "1", "", f"On {target}.", target) for target in ("a", "b")]
    path = table(tmp_path / "two.csv", (*LONG, "target"), two)
    assert bring(project, path)[0].report["totals"]["no run"] == 1
    assert Run.objects.count() == 1


def test_rows_that_lack_something_are_named_by_file_line_and_field(
    project: Project, lead: User, tmp_path: Path
) -> None:
    rows = [
        ("CD1", "Alder", "Ada", "quality", "4"),
        ("", "Alder", "Ada", "quality", "4"),
        ("CD1", "Alder", "", "quality", "4"),
        ("CD1", "Alder", "Ada", "quality", ""),
    ]
    found = checked(project, table(tmp_path / "bad.csv", LONG[:5], rows))
    assert faults(found) == [("bad.csv", 3, "unit"), ("bad.csv", 4, "rater")]
    with pytest.raises(BadFiles):
        bring(project, tmp_path / "bad.csv")
    assert not Round.objects.exists()
    found = checked(project, table(tmp_path / "else.csv", ("a", "b"), [("1", "2")]))
    assert faults(found) == [("else.csv", 1, "header")]


def test_values_outside_a_shipped_scale_are_mapped_or_added(project: Project, lead: User, tmp_path: Path) -> None:
    odd = ["S1", "CD1", "It helps.", "It may help.", *SAID]
    odd[7], odd[13] = "Other / uncertain (please comment)", "(+1): Positive effect"
    path = facets(tmp_path / "Facets - Ada.tsv", odd, ["S1", "CD2", "It harms.", "It may harm.", *SAID])
    kept = checked(project, path)
    assert not kept.faults
    [(_, file)] = kept.parsed
    assert file.summary()["Outcome"] == {"0": 1, "Other / uncertain (please comment)": 1}
    assert [notice.text for notice in file.notices(silent) if notice.kind == "own value"] == [odd[7], odd[13]]
    mapping = parse_mapping(["Other / uncertain (please comment)=n/a", "strength-generated:(+1): Positive effect=N/A"])
    bring(project, path, **mapping)
    assert Rating.objects.filter(is_na=True).count() == 2
    # The same words keep their meaning where it is declared.
    assert set(Rating.objects.filter(criterion="direction-target").values_list("value", flat=True)) == {"positive"}


def nominal(*declared: str) -> dict[str, str]:
    return parse_mapping([f"{criterion}:scale=nominal" for criterion in declared])


def test_a_criterion_can_be_declared_nominal(project: Project, lead: User, tmp_path: Path) -> None:
    said = [("2", "1"), ("4.0", "2"), ("4", "2"), ("n/a", "3")]
    rows = [
        (f"CD{n}", "Alder", rater, criterion, value)
        for n, values in enumerate(said)
        for rater in ("Ada", "Bo")
        for criterion, value in zip(("Which error", "quality"), values, strict=True)
    ]
    path = table(tmp_path / "r.csv", LONG[:5], rows)
    [(_, file)] = checked(project, path, **nominal("Which error")).parsed
    assert list(file.summary()) == ["Which error", "Quality"], "names, not keys"
    # A protocol of the project with an ordered scale is not reused.
    bring(project, table(tmp_path / "before.csv", LONG[:5], [(f"X{row[0]}", *row[1:]) for row in rows]))
    bring(project, path, **nominal("Which error"))
    criteria = RatingDesign.objects.latest("pk").version.content["criteria"]
    assert [(each["name"], each["scale"]["type"]) for each in criteria] == [
        ("Which error", "categorical"),
        ("Quality", "likert"),
    ]
    assert [option["value"] for option in criteria[0]["scale"]["options"]] == ["2", "4"]
    error, quality = report(Round.objects.latest("pk"))["measures"]
    assert "unweighted" not in error, "a nominal scale has one form"
    assert "unweighted" in quality


def test_a_criterion_of_a_shipped_protocol_can_be_declared_nominal(
    project: Project, lead: User, tmp_path: Path
) -> None:
    rows = [["S1", f"CD{n}", "It helps.", "It may help.", *SAID] for n in range(2)]
    bring(project, facets(tmp_path / "Facets - Ada.tsv", *rows), **nominal("fluency"))
    types = {each["key"]: each["scale"]["type"] for each in RatingDesign.objects.get().version.content["criteria"]}
    assert (types["fluency"], types["population"]) == ("categorical", "likert")


@pytest.mark.parametrize(
    ("declared", "field", "said"),
    [
        (
            {"style:scale": "nominal"},
            "map",
            "no criterion 'style' in the file, so it cannot be declared nominal; the file has: quality",
        ),
        ({"quality:scale": "nominal"}, "Quality", "cannot be nominal: a nominal scale has at most 30 values"),
    ],
)
def test_impossible_nominal_scales_are_faults(
    project: Project, lead: User, tmp_path: Path, declared: dict[str, str], field: str, said: str
) -> None:
    rows = [(f"CD{n}", "Alder", "Ada", "quality", str(n)) for n in range(40)]
    [fault] = checked(project, table(tmp_path / "r.csv", LONG[:5], rows), **declared).faults
    assert (fault.field, said in fault.message) == (field, True)
    with pytest.raises(Refused, match="Unknown scale 'ordinal'"):
        checked(project, tmp_path / "r.csv", **{"quality:scale": "ordinal"})


def test_facets_of_several_raters_are_one_round_by_the_shipped_protocol(
    project: Project, lead: User, tmp_path: Path
) -> None:
    rows = [[f"S{s}", f"CD{n}", "It helps.", f"S{s} says it helps in {n}.", *SAID] for s in range(2) for n in range(3)]
    paths = [facets(tmp_path / f"Facets - {rater} - Sheet1.tsv", *rows[k:]) for k, rater in ((0, "Ada"), (1, "Bo"))]
    bring(project, *paths)
    round = Round.objects.get(project=project)
    assert set(Member.objects.filter(answers__isnull=False).values_list("rater", flat=True)) == {"Ada", "Bo"}
    assert Protocol.objects.get(project=project).name == "MSLR facets"
    values = dict(Rating.objects.filter(answer__assignment__position=0).values_list("criterion", "value"))
    assert values == {
        "fluency": "2",
        "population": "2",
        "intervention": "1",
        "outcome": "0",
        "direction-target": "positive",
        "direction-generated": "negative",
        "strength-target": "1",
        "strength-generated": "0",
    }
    assert set(Rating.objects.exclude(reason="").values_list("criterion", "reason")) == {
        ("outcome", "the outcome is another")
    }
    assert {source.gold and source.gold["text"] for source in RatingSource.objects.all()} == {"It helps."}
    assert {measure["name"] for measure in report(round)["measures"]} == set(values)
    assert directions_of(project) == []
    assert bring(project, *paths) == []


def directions_of(project: Project) -> list[tuple[str, str, int, int]]:
    """Return the computed directions of the newest round: criterion, system, agreements with the reference, n."""
    design = RatingDesign.objects.select_related("round__project").latest("pk")
    compute_ratings(design=design, replicates=0)
    found = stored(design)
    assert found
    return [
        (made["criterion"], system["system"], system["correct"], system["n"])
        for made in found.figures["directions"]
        for system in made["systems"]
    ]


def test_directions_are_compared_with_the_reference_of_the_file_only(
    project: Project, lead: User, tmp_path: Path
) -> None:
    """No system of the file has a run; the first one is not taken as reference."""
    negative = [["S1", f"CD{n}", "It helps.", f"S1 in {n}.", *SAID] for n in range(3)]
    positive = [*SAID[:6], "(+1): Positive effect", *SAID[7:]]
    same = [["Reference", f"CD{n}", "It helps.", f"It helps in {n}.", *(SAID if n else positive)] for n in range(3)]
    bring(project, facets(tmp_path / "Facets - Ada.tsv", *negative, *same))
    assert directions_of(project) == [("direction-generated", "S1", 2, 3)]


def test_pairs_become_preferences_with_the_sides_as_they_were_seen(
    project: Project, lead: User, tmp_path: Path
) -> None:
    def pair(unit: str, a: str, b: str, said: str) -> list[str]:
        return [unit, "It helps.", a, f"{a} on {unit}.", b, f"{b} on {unit}.", said, "Both wrong.", ""]

    ada = table(
        tmp_path / "sample1 - Ada.csv",
        PAIRS,
        [pair("CD1", "S1", "S2", "A"), pair("CD2", "S1", "S2", "Neither is more accurate (use sparingly)")],
    )
    bo = table(tmp_path / "sample1 - Bo - Sheet1.csv", PAIRS, [pair("CD1", "S2", "S1", "B")])
    bring(project, ada, bo)
    round = Round.objects.get(project=project)
    assert (round.kind, round.units_count) == ("compare", 2)
    said = Preference.objects.order_by("answer__assignment__position", "answer__assignment__number")
    assert [(one.choice, one.left.displayed_text, one.reason) for one in said] == [
        ("left", "S1 on CD1.", "Both wrong."),
        ("right", "S2 on CD1.", "Both wrong."),
        ("neither", "S1 on CD2.", "Both wrong."),
    ]
    assert PageText.objects.count() == 4
    assert report(round)["measures"][0]["all_agree"] == {"count": 1, "of": 1}


def test_raters_of_summeval_are_identified_by_their_position(project: Project, lead: User, tmp_path: Path) -> None:
    points = {"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 3}
    line: dict[str, Any] = {
        "id": "cnn-1",
        "model_id": "M1",
        "decoded": "A summary.",
        "references": [],
        "expert_annotations": [points] * 3,
        "turker_annotations": [points | {"fluency": 1}] * 5,
    }
    path = tmp_path / "model_annotations.jsonl"
    path.write_text("".join(json.dumps(line | {"id": f"cnn-{n}"}) + "\n" for n in range(2)), encoding="utf-8")
    bring(project, path)
    assert Rating.objects.count() == 2 * 8 * 4
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(line | {"expert_annotations": [{"fluency": "5"}]}) + "\n", encoding="utf-8")
    assert faults(checked(project, bad)) == [("bad.jsonl", 1, "expert_annotations[0].fluency")]


def test_ratings_that_were_released_and_imported_elsewhere_agree_as_before(
    project: Project, lead: User, evaluator: User, ann1: User, tmp_path: Path
) -> None:
    members = [project.members.get(user=user) for user in (evaluator, ann1)]
    round = open_rating(project, members, build_runs(project))
    rate_all(evaluator, round)
    rate_all(ann1, round, lambda criterion, key: criterion.scale.options[int(key[-1], 16) % 2].value)
    close_round(round=round, by=None)
    unblind(design=RatingDesign.objects.get(round=round), by=lead)
    file = released(project, tmp_path / "r") / "ratings" / "ratings.csv"
    there = create_project(slug="elsewhere", name="Elsewhere", by=lead)
    build_runs(there)
    bring(there, file)
    assert Protocol.objects.get(project=there).name == Protocol.objects.get(project=project).name
    before, after = (
        {
            m["name"]: (
                m["units"],
                m["ratings"],
                m["reviews"],
                m["all_agree"],
                {name: figure["value"] for name, figure in m["coefficients"].items() if name != "cohen_pairs"},
            )
            for m in report(one)["measures"]
        }
        for one in (Round.objects.get(pk=round.pk), Round.objects.get(project=there))
    )
    assert set(before) == set(after) == {"coherence", "relevance", "consistency"}
    for name, (*counts, coefficients) in before.items():
        assert after[name][:-1] == tuple(counts)
        assert after[name][-1] == pytest.approx(coefficients)


def test_the_command_lists_what_to_map_and_takes_it(project: Project, lead: User, tmp_path: Path, capsys: Any) -> None:
    rows = [
        ("CD1", "Alder", "Ada", "outcome", "4"),
        ("CD2", "Alder", "Ada", "outcome", "3"),
        ("CD3", "Alder", "Ada", "outcome", "Other"),
    ]
    path = str(table(tmp_path / "points.csv", LONG[:5], rows))
    with pytest.raises(CommandError):
        call_command("import_data", "ratings", path, project=project.slug)
    assert 'map "outcome:Other=VALUE"' in capsys.readouterr().err
    call_command("import_data", "ratings", path, project=project.slug, lead=lead.email, map=["Other=n/a"])
    assert Rating.objects.filter(is_na=True).count() == 1
    with pytest.raises(Refused):
        parse_mapping(["Other"])


@pytest.mark.parametrize(("unit", "system"), [("ReviewID", "ExpID"), ("docid", "model")])
def test_facets_exported_without_quoting_are_read_with_the_heads_of_both_of_mslrs_files(
    project: Project, lead: User, tmp_path: Path, unit: str, system: str
) -> None:
    head = [{"ReviewID": unit, "ExpID": system}.get(name, name) for name in FACETS]
    lines = [head] + [["S1", f"CD{n}", '"Drug A" lowered pain.', '"It helps', *SAID] for n in range(3)]
    path = tmp_path / "Facets - Ada.tsv"
    path.write_text("".join("\t".join(line) + "\r\n" for line in lines), encoding="utf-8")
    found = checked(project, path)
    assert faults(found) == []
    [file] = [parsed for _, parsed in found.parsed]
    assert file.counts()["ratings"] == 24
    assert [notice.message for notice in file.notices(silent) if notice.kind == "how the file was read"] == [
        "The file is tab-separated without quoting: quotation marks are text."
    ]
    bring(project, path)
    assert set(PageTextOf.objects.values_list("exact", flat=True)) == {'"It helps'}


def test_a_last_line_without_its_ending_is_imported_with_a_warning(project: Project, lead: User, long: Path) -> None:
    long.write_bytes(long.read_bytes().rstrip())
    [(_, file)] = checked(project, long).parsed
    assert CUT in [notice.message for notice in file.notices(silent)]


def test_exported_ratings_are_imported_with_unchanged_texts(project: Project, lead: User, tmp_path: Path) -> None:
    head = (*RATED, *BESIDE)
    said = {"source": "CD1", "systems": "A", "rater": "Ada", "criterion": "effect"}
    rows = [
        [neutral(({"value": value, "reason": "=worse", "round": "r"} | said).get(name, "")) for name in head]
        for value in ("-1",)
    ]
    for columns, value, comment in ((head, "-1", "=worse"), (RATED, "'-1", "'=worse")):
        found = checked(project, table(tmp_path / "r.csv", columns, [row[: len(columns)] for row in rows]))
        [file] = [parsed for _, parsed in found.parsed]
        assert isinstance(file, RatingsFile)
        assert [(one.value, one.comment) for one in file.read.said] == [(value, comment)]


def test_dates_and_formulas_matter_only_in_columns_that_are_read(project: Project, lead: User, tmp_path: Path) -> None:
    book = Workbook()
    book.worksheets[0].append(["Timestamp", *LONG[:5]])
    book.worksheets[0].append([datetime(2026, 3, 4), "CD1", "A", "Ada", "hallucination", False])
    book.worksheets[0].append([datetime(2026, 3, 4), datetime(2026, 3, 4), "A", "Ada", "hallucination", True])
    book.save(tmp_path / "r.xlsx")
    found = checked(project, tmp_path / "r.xlsx")
    assert faults(found) == [("r.xlsx[Sheet]", 3, "unit")]
    [file] = [parsed for _, parsed in found.parsed]
    assert isinstance(file, RatingsFile)
    assert [one.value for one in file.read.said] == ["FALSE"]


@pytest.mark.parametrize(
    ("value", "stored", "kind"),
    [("3,5", "3.5", "decimal comma"), ("nan", None, "missing value"), ("1_0", None, ""), ("\u0663", None, "")],
)
def test_values_that_look_like_numbers_are_numbers_or_named(
    project: Project, lead: User, tmp_path: Path, value: str, stored: str | None, kind: str
) -> None:
    values = ["1.5", value, "4", "4"]
    rows = [(f"CD{n}", "A", "Ada", "coherence", each) for n, each in enumerate(values)]
    found = checked(project, table(tmp_path / "r.csv", LONG[:5], rows, ";"))
    [file] = [parsed for _, parsed in found.parsed]
    assert isinstance(file, RatingsFile)
    if kind:
        [notice] = [notice for notice in file.notices(silent) if notice.kind == kind]
        assert (notice.item, notice.field, notice.text) == ("line 3", "coherence", value)
        assert [one.value for one in file.read.said] == [each for each in ("1.5", stored, "4", "4") if each]
    else:
        assert faults(found) == [("r.csv", 3, "Coherence")]


def test_experts_and_crowd_are_two_groups_with_figures_each(project: Project, lead: User, tmp_path: Path) -> None:
    points = {"coherence": 4, "fluency": 5}
    lines = [
        {
            "id": f"cnn-{n}",
            "model_id": f"M{m}",
            "decoded": f"Summary {n} {m}.",
            "references": [],
            "expert_annotations": [points | {"coherence": 1 + (n + m) % 4}] * 3,
            "turker_annotations": [points | {"coherence": 1 + (n * r + m) % 5} for r in range(5)],
        }
        for n in range(4)
        for m in range(2)
    ]
    path = tmp_path / "annotations.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    bring(project, path)
    reports = {round.rater_group: report(round) for round in Round.objects.filter(project=project)}
    assert {group: len(found["raters"]) for group, found in reports.items()} == {"experts": 3, "crowd": 5}
    assert all(found["rater_group"] == group for group, found in reports.items())
    alpha = {group: found["measures"][0]["coefficients"]["alpha"]["value"] for group, found in reports.items()}
    assert alpha["experts"] == 1
    assert alpha["crowd"] < 0.9


def test_a_column_names_the_group_of_a_rater(project: Project, lead: User, tmp_path: Path) -> None:
    rows = [
        (f"CD{n}", "Alder", rater, "quality", str(n), group)
        for n in range(3)
        for rater, group in (("Ada", "experts"), ("Bo", "experts"), ("w1", "crowd"))
    ]
    bring(project, table(tmp_path / "points.csv", (*LONG[:5], "rater_group"), rows))
    rounds = {round.name: (round.rater_group, round.participants.count()) for round in Round.objects.all()}
    assert rounds == {"points (crowd)": ("crowd", 1), "points (experts)": ("experts", 2)}
