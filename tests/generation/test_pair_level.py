"""MS^2's table-to-table task: pairs, their inputs and targets, runs of a tiny BART, and macro F1."""

import json
from collections import Counter
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.models import Effect, Target
from generation import sources
from generation.backends.assembly import assemble
from generation.models import Run, RunItem, Scoring, Summary
from generation.results.tables.scored import Scores
from measures.direction import MS2_CLASSES
from projects.gold.actions import finish_round
from projects.models import Member, Project, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.uploads.files import Source
from releases.formats.notes import Notes
from releases.formats.systems import files
from tests.annotation.ms2_files import SAMPLE, import_records, published, reference, review, study, write
from tests.builders import answer, build_round
from tests.generation.builders import build_run, build_version
from tests.generation.summaries import scored

pytestmark = pytest.mark.django_db
DECREASED, NONE, INCREASED = MS2_CLASSES
Models = Callable[[str], str]


@pytest.fixture
def ms2(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "reviews.jsonl", [review()]))
    return project


def units_of(project: Project) -> list[int]:
    return sources.existing_units("pair", list(sources.unit_positions(project, "pair")))


def test_a_pair_has_a_row_per_study_and_the_direction_of_its_review(ms2: Project) -> None:
    assert sources.count_units(ms2, "pair") == 2
    assert sources.units_of(ms2, "pair") == []
    units = units_of(ms2)
    assert sources.units_of(ms2, "pair") == units == units_of(ms2)
    found = sources.materials(ms2, "pair", units)
    first = found[units[0]]
    assert (first.source.key, first.own and first.own.text) == ("7 pair 1", NONE)
    rows = [(text.key, text.text, text.direction) for text in first.source.inputs]
    assert rows == [("11", "Adults had less pain .", DECREASED), ("21", "Adults had less pain .", DECREASED)]
    assert found[units[1]].source.inputs[0].direction == NONE
    sizes = sources.sizes("pair", units)
    assert all(sizes[unit] > 40 for unit in units)
    assert [sources.place_of(ms2, "pair", unit) for unit in units] == [1, 2]
    assert sources.first_key(ms2, "pair") == "7 pair 1"
    assert sources.matching_keys(ms2, "pair", ["7 pair 2", "7 pair 3", "8 pair 1", "7"]) == {"7 pair 2"}


def test_the_input_is_written_as_by_ms2s_program(ms2: Project) -> None:
    source = sources.materials(ms2, "pair", units_of(ms2))[units_of(ms2)[0]].source
    made = assemble(source, {"markers": "ms2", "background": True}, seed=0)
    pair = "<int> drug a </int>\n<out> pain </out>"
    assert made.before == f"<background>\n{pair}\n</background>"
    row = f"<evidence> Adults had less pain . </evidence>\n<sep> {DECREASED}"
    assert made.documents == (f"<ref>\n{pair}\n{row}\n</ref>",) * 2
    plain = assemble(source, {"pico": True}, seed=0)
    assert plain.documents[0] == f"I: drug a; O: pain Adults had less pain . Effect: {DECREASED}."


def test_decisions_of_people_come_before_readings(ms2: Project, lead: User, ann1: User) -> None:
    member = Member.objects.get(project=ms2, user=ann1)
    round = build_round(ms2, [member], kind="effect", options={"effect_texts": "both"})
    said = {"7 pair 1": ("increased", 4), "7 pair 1 study 11": ("no difference", 1)}
    while slots := next_assignments(user=ann1, round=round):
        direction, sentence = said.get(slots[0].unit.key, ("not reported", None))
        value = {"effect_direction": direction, "effect_sentence": sentence, "suggestion": ""}
        answer(ann1, slots[0], value, kind="effect")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    units = units_of(ms2)
    found = sources.materials(ms2, "pair", units)
    first, second = found[units[0]], found[units[1]]
    assert first.own
    assert first.own.text == INCREASED
    assert [text.direction for text in first.source.inputs] == [NONE, DECREASED]
    assert second.own is None, "the review does not report it"
    assert [text.key for text in second.source.inputs] == ["21"]
    assert Unit.objects.filter(key="7 pair 1").count() == 1, "the unit of the round"


def test_withheld_targets_and_pairs_without_studies(ms2: Project, tmp_path: Path) -> None:
    silent = study(reference("12", significances=None))
    import_records(ms2, write(tmp_path / "more.jsonl", [review(8, included_studies=[silent], general_references=[])]))
    assert sources.count_units(ms2, "pair") == 2
    assert sources.skipped(ms2, "pair") == {"pairs without an effect of a study": 2}
    Target.objects.filter(review__pmid="7").update(is_withheld=True, text="")
    assert {found.own for found in sources.materials(ms2, "pair", units_of(ms2)).values()} == {None}


def test_more_pairs_take_no_more_queries(ms2: Project, tmp_path: Path) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            sources.materials(ms2, "pair", sources.units_of(ms2, "pair"))
        return len(seen)

    units_of(ms2)
    before = queries()
    more = [review(n, included_studies=[study(reference(str(30 + n)))]) for n in (8, 9)]
    import_records(ms2, write(tmp_path / "more.jsonl", more))
    units_of(ms2)
    assert queries() == before


def test_a_tiny_bart_runs_table_to_table_and_is_scored(
    ms2: Project, lead: User, client: Client, models: Models
) -> None:
    # Beam search of the random model writes NUL, which is no text.
    sampling = ["decoding.method=sampling", "decoding.temperature=9"]
    call_command(
        "generate", project="eye", system="Tables", preset="ms2-table", stdout=StringIO(), stderr=StringIO(),
        changes=[f"model.model={models('bart')}", "assembly.input_tokens=100", *sampling],
    )  # fmt: skip
    run = Run.objects.get()
    assert (run.version.level, run.items.count(), run.skipped) == ("pair", 2, {})
    assert all((summary.tokens_out or 0) <= 10 for summary in Summary.objects.all())
    scored(run, "stated_direction")
    corpus = Scoring.objects.get().corpus
    assert (corpus["n"], corpus["other"]) == (2, 2)
    assert corpus["macro_f1"] == 0
    client.force_login(lead)
    [listed] = client.get("/api/v1/projects/eye/results/").json()["runs"]
    assert (listed["level"], listed["scored"]) == ("pair", ["stated_direction"])
    page = client.get(f"/api/v1/projects/eye/outputs/?level=pair&versions={run.version_id}").json()
    assert [row["key"] for row in page["results"]] == ["7 pair 1", "7 pair 2"]
    assert page["results"][0]["inputs"][0]["direction"] == DECREASED


def test_a_checkpoint_without_the_markers_of_tables_is_refused(ms2: Project, models: Models) -> None:
    with pytest.raises(CommandError, match="no token <pop>"):
        call_command(
            "generate", project="eye", system="LED", preset="ms2-led", level="pair",
            changes=[f"model.model={models('led')}"], stdout=StringIO(), stderr=StringIO(),
        )  # fmt: skip


def test_the_table_and_the_files_of_a_release(ms2: Project, tmp_path: Path) -> None:
    first, second = units_of(ms2)
    run = build_run(build_version(ms2, level="pair"), {first: f"{NONE.title()} ", second: "It helps."})
    scored(run, "stated_direction", "rouge")
    scores = Scores(ms2)
    assert (scores.runs, len(scores.pair_runs)) == ([], 1)
    out = StringIO()
    call_command("tables", project="eye", table=["ms2-6"], format="csv", stdout=out)
    text = out.getvalue()
    assert "lead-3,no change,2,1,100.0,50.0,66.6" in text
    assert "lead-3,macro,2,2,100.0,50.0,66.6" in text
    assert "lead-3,other,0,1," in text
    written = {name: b"".join(lines).decode() for name, lines in files(ms2, Notes())}
    assert f"effect,7 pair 1,{NONE}" in written["systems/references.csv"]
    path = tmp_path / "f1.jsonl"
    call_command("outputs", project="eye", run=run.pk, format="f1-scorer", out=path)
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    line = lines[0]
    assert line["target"] == NONE
    # As MS^2's f1_scorer counts them: three directions, and any other output is a broken generation.
    names = [*MS2_CLASSES, "broken generation"]
    confusion = [[0] * 4 for _ in MS2_CLASSES]
    for one in lines:
        output = one["generated"].strip().lower()
        confusion[names.index(one["target"])][names.index(output) if output in names else 3] += 1
    assert confusion == Scoring.objects.get(metric="stated_direction").corpus["table"]
    assert line["preamble"] == "<int> drug a </int>\n<out> pain </out>"


def test_units_without_inputs_are_skipped_and_counted(ms2: Project, lead: User, client: Client) -> None:
    Effect.objects.filter(reading__inclusion__isnull=False, pair__position=1).delete()
    err = StringIO()
    call_command(
        "generate", project="eye", system="Lead-3", preset="lead-3", level="pair", stdout=StringIO(), stderr=err
    )
    assert "Pairs without an effect of a study are skipped: 1." in err.getvalue()
    run = Run.objects.get()
    assert run.units_count == RunItem.objects.count() == 1
    client.force_login(lead)
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["skipped"] == [
        {"reason": "pairs without an effect of a study", "count": 1}
    ]


@published
def test_the_sample_has_27_pairs_whose_inputs_equal_the_file(project: Project) -> None:
    import_records(project, Source.of(SAMPLE))
    assert sources.count_units(project, "pair") == 27
    [value] = [json.loads(SAMPLE.read_text())]
    references = [entry["references"][0] for entry in value["included_studies"]] + value["general_references"]
    found = list(sources.materials(project, "pair", units_of(project)).values())
    for one, stated in zip(found, value["significances"], strict=True):
        rows = [
            (ref["pmid"], each["evidence_sentence"], likeliest(each["classification"]))
            for ref in references
            for each in ref["significances"] or ()
            if (each["intervention"], each["outcome"]) == (stated["intervention"], stated["outcome"])
        ]
        assert [(text.key, text.text, text.direction) for text in one.source.inputs] == rows
        assert one.own
        assert one.own.text == likeliest(stated["classification"])
    agreeing = Counter(text.direction == one.own.text for one in found if one.own for text in one.source.inputs[:20])
    assert agreeing[True] == 293
    [document] = sources.units_of(project, "document")
    inputs = sources.materials(project, "document", [document])[document].source.inputs
    assert [text.tagged or text.text for text in inputs] == [ref["abstract"] for ref in references[:20]]


def likeliest(classification: dict[str, float]) -> str:
    return max(classification, key=lambda name: classification[name])
