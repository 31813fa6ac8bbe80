"""The papers' tables from the database: figures by hand, missing stages named."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.curation.actions import remove_cluster
from annotation.models import Cluster, Proposition
from generation.models import Embargo, Run, Score, Scoring, Summary
from generation.results.tables.scored import Scores
from generation.scoring.actions import compute_scoring_means, request_scores
from projects import reports
from projects.models import Member, Project, Unit
from projects.reports.table import Table
from projects.reports.writing import as_csv, latex, markdown, words
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.conftest import person
from tests.generation.score_tables import score_tables
from tests.generation.summaries import add_summary, bring_two_reviews, build_run, first_sentence, scored, the_target

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    return bring_two_reviews(project, tmp_path)


@pytest.fixture
def copying(corpus: Project) -> Run:
    return build_run(corpus, "Copy & paste")


def table(project: Project, key: str, member: Member | None = None) -> Table:
    return reports.get(key).build(Scores(project, member))


def cells(table: Table) -> list[list[str]]:
    return [[words(cell) or f"undefined: {cell.undefined}" for cell in row] for row in table.rows]


def test_overlap_is_the_mean_over_items(corpus: Project, copying: Run) -> None:
    """ "It helps a lot" and "It helps": P 2/4, R 1, F1 2/3; one of three bigrams. "It is safe" and "It harms": P 1/3,
    R 1/2, F1 2/5; no bigram. Two reviews have no interval, and the table says that they are few."""
    scored(copying, "rouge")
    made = table(corpus, "m3-4")
    assert cells(made) == [
        ["Copy & paste", "proposition", "own target", "2", "2", "53.3", "25.0", "53.3", "undefined: not scored yet"]
    ]
    assert made.rows[0][5].value == pytest.approx(100 * (2 / 3 + 2 / 5) / 2)
    assert any("rouge-score 0.1.2" in note and "stemmer off" in note for note in made.notes)
    assert any("jackknife over reviews" in note for note in made.notes)
    assert any(note.startswith("Fewer than 30 reviews: Copy & paste (proposition) (2).") for note in made.notes)


def test_copying_has_the_difference_in_brackets(corpus: Project, copying: Run) -> None:
    scored(copying, "copying")
    # All of it is copied; minus ROUGE-1 of 66.7 and 40.0 with the targets leaves 33.3 and 60.0.
    assert cells(table(corpus, "m3-6")) == [
        [
            "Copy & paste",
            "proposition",
            "2",
            "2",
            "100.0 (+46.7)",
            "100.0 (+75.0)",
            "100.0 (+46.7)",
            "100.0",
            "3.5",
            "1.0",
            "3.5",
        ]
    ]


def test_ms2s_table_says_which_logarithm_and_who_read_the_directions(corpus: Project) -> None:
    run = build_run(corpus, "Oracle", write=the_target)
    scored(run, "rouge", "direction")
    made = table(corpus, "ms2")
    assert cells(made)[0][4:9] == ["100.0", "100.0", "100.0", "0.000", "0.000"]
    assert cells(made)[0][10:] == ["2", "1.000", "1.000"]
    assert [column.title for column in made.columns][7:9] == ["Delta-EI (ln)", "Delta-EI (base 2)"]
    assert any("cue lexicon" in note and "Oracle" in note for note in made.notes)


def test_the_three_formats_say_the_same(corpus: Project, tmp_path: Path) -> None:
    """With a third review whose ROUGE equals the first: Student's interval of three, within 0 to 100."""
    third = cluster("333_0", [source("It cures a lot", "3")], target_text="It cures")
    import_records(corpus, write(tmp_path / "third.jsonl", [third]))
    copying = build_run(corpus, "Copy & paste")
    scored(copying, "rouge")
    made = table(corpus, "m3-4")
    row = "57.8 (b) | 33.3 (b) | 57.8 (b) | \u2013 (a) |"
    assert f"| Copy & paste | proposition | own target | 3 | 3 | {row}" in markdown(made)
    assert "Copy \\& paste & proposition & own target & 3 & 3 & 57.8\\textsuperscript{(b)} & 33.3" in latex(made)
    why = "no reliable interval (few reviews; n = 3 reviews)"
    assert f"(b) {why}" in markdown(made)
    assert f"\\textsuperscript{{b}} {why}" in latex(made)
    version = copying.version
    assert f"* Versions: Copy & paste (proposition) is version 1, {version.hash[:12]}.\n" in markdown(made)
    header, line = as_csv(made).splitlines()
    assert header == (
        "System,Level,Against,n,Reviews,ROUGE-1,ROUGE-1 CI reason,ROUGE-2,ROUGE-2 CI reason,ROUGE-L,ROUGE-L CI reason,"
        "BERTScore,undefined"
    )
    numbers = [float(cell) for cell in line.split(",")[5:11:2]]
    assert numbers == pytest.approx([57.777778, 33.333333, 57.777778])
    assert line.count(why) == 3
    assert line.endswith(",,BERTScore: not scored yet")


def test_a_document_has_a_row_for_its_text_and_one_for_its_propositions(corpus: Project, tmp_path: Path) -> None:
    document = plain("111", "It helps, and is safe.", ("1", "Trial one."), ("2", "Trial two."))
    import_records(corpus, write(tmp_path / "level1.jsonl", [document]), level="1")
    more = [cluster("111_1", [source("It is safe", "3")], target_text="It is safe")]
    import_records(corpus, write(tmp_path / "more.jsonl", more))
    scored(build_run(corpus, "Oracle", "document", the_target), "rouge")
    rows = cells(table(corpus, "m3-4"))
    assert [row[:6] for row in rows] == [
        ["Oracle", "document", "own target", "1", "1", "100.0"],
        # 2/5 and 1 of "it helps", 2/5 and 2/3 of "it is safe": F1 4/7 and 3/4.
        ["Oracle", "document", "propositions of its review", "2", "1", "66.1"],
    ]


@pytest.mark.parametrize(
    ("key", "metric"),
    [("m3-4", "bertscore"), ("ms2", "direction"), ("texts", "repetition"), ("texts", "bleu"), ("texts", "chrf")],
)
def test_a_row_with_one_figure_is_not_reported_as_missing(corpus: Project, copying: Run, key: str, metric: str) -> None:
    """Whichever metric was scored: the first one may be missing."""
    if metric == "bertscore":  # needs weights
        scoring = Scoring.objects.create(run=copying, metric=metric, hash=metric, finished_at=timezone.now())
        for summary in Summary.objects.filter(item__run=copying):
            Score.objects.create(scoring=scoring, summary=summary, values={"bertscore_f1": 0.5})
        compute_scoring_means(scoring)
    else:
        scored(copying, metric)
    made = table(corpus, key)
    titles = [column.title for column in made.columns]
    (row,) = made.rows
    assert any(isinstance(cell.value, float) for cell in row)
    assert [row[titles.index(title)].value for title in ("n", "Reviews")] == [2, 2]
    assert not any(cell.n for cell in row)


def test_missing_figures_are_named_with_command_and_page(corpus: Project, copying: Run) -> None:
    scored(copying, "rouge")
    (step,) = table(corpus, "m3-4").missing
    assert step.words == "BERTScore of Copy & paste (proposition)"
    assert step.command == "manage.py score --project eye --metric bertscore --system 'Copy & paste'"
    assert (step.page, step.runs, step.metric) == ("/projects/eye/results", [copying.pk], "bertscore")


@pytest.mark.parametrize("key", [table.key for table in score_tables()])
def test_without_summaries_the_tables_say_to_make_them(corpus: Project, key: str) -> None:
    made = table(corpus, key)
    assert made.rows == []
    verb = "probe" if key.startswith("m3-7") else "generate"
    assert made.missing[0].command == f"manage.py {verb} --project eye --system NAME"


def test_summaries_that_came_after_the_scoring_are_missed(corpus: Project, copying: Run, tmp_path: Path) -> None:
    from generation.sources import units_of

    scored(copying, "copying")
    import_records(corpus, write(tmp_path / "more.jsonl", [cluster("333_0")]))
    add_summary(copying, units_of(corpus, "proposition")[-1], "One more.")
    made = table(corpus, "m3-6")
    assert [step.words for step in made.missing] == ["Copying of 1 of the 3 summaries of Copy & paste (proposition)"]
    assert cells(made)[0][2] == "2"


def test_rows_with_other_parameters_are_marked_as_not_comparable(corpus: Project, copying: Run) -> None:
    scored(copying, "rouge")
    scored(build_run(corpus, "Other"), "rouge", stemmer=True)
    notes = [note for note in table(corpus, "m3-4").notes if note.startswith("ROUGE of")]
    assert [note.split(":")[0] for note in notes] == [
        "ROUGE of Copy & paste (proposition)",
        "ROUGE of Other (proposition)",
    ]
    assert all("Not comparable" in note for note in notes)


def test_parameters_without_effect_are_not_listed(corpus: Project, copying: Run) -> None:
    scored(copying, "direction", "bleu")
    (note,) = [note for note in table(corpus, "ms2").notes if note.startswith("Direction: classifier")]
    assert "lexicon" in note
    assert "prompt" not in note
    assert any(note.startswith("bleu: nrefs:1|case:mixed|eff:no|") for note in table(corpus, "texts").notes)


def test_the_scoring_that_was_asked_for_last_is_shown(corpus: Project, copying: Run) -> None:
    def stemmer() -> list[str]:
        return [note for note in table(corpus, "m3-4").notes if "stemmer on" in note]

    scored(copying, "rouge")
    scored(copying, "rouge", stemmer=True)
    assert stemmer()
    assert isinstance(request_scores(run=copying, metric="rouge", params={}, by=None), Scoring)
    assert not stemmer()
    scored(copying, "rouge", stemmer=True)
    assert stemmer()


def test_versions_of_one_system_have_distinct_names(corpus: Project, copying: Run) -> None:
    newer = build_run(corpus, "Copy & paste", write=the_target, number=2)
    again = Run.objects.create(version=newer.version)
    assert [row[0] for row in cells(table(corpus, "m3-4"))] == ["Copy & paste v1", "Copy & paste v2"]
    assert again.pk not in [at.run.pk for at in Scores(corpus).runs], "it has no summaries yet"


def test_figures_undefined_for_single_items_are_excluded_from_the_mean(corpus: Project) -> None:
    run = build_run(corpus, "Sparing", write=lambda m: "" if m.source.key == "111_0" else first_sentence(m))
    scored(run, "copying")
    (row,) = cells(table(corpus, "m3-6"))
    assert row[7] == "100.0 (n = 1)", "coverage of an empty summary is undefined, and not 0"
    notes = table(corpus, "m3-6").notes
    assert "Coverage of Sparing (proposition, own target) excludes 1: the output is empty." in notes


def test_embargoed_runs_are_left_out_for_their_raters(corpus: Project, copying: Run) -> None:
    viewer = Member.objects.create(project=corpus, user=person("viewer"), role="viewer", pseudonym="V")
    build_run(corpus, "Other")
    Embargo.objects.create(run=copying, member=viewer)
    made = table(corpus, "m3-4", viewer)
    assert [row[0] for row in cells(made)] == ["Other"]
    assert not [step for step in made.missing if "Copy" in step.words + step.command]
    assert "hidden until the round is unblinded" in made.notes[-1]
    lead = corpus.members.get(role="lead")
    assert [row[0] for row in cells(table(corpus, "m3-4", lead))] == ["Copy & paste", "Other"]


def test_more_systems_take_no_more_queries(corpus: Project, copying: Run) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            scores = Scores(corpus)
            for each in score_tables():
                each.build(scores)
        return len(seen)

    for run in (copying, build_run(corpus, "Other")):
        scored(run, "rouge", "copying", "length")
    before = queries()
    for name in ("One", "Two", "Three"):
        scored(build_run(corpus, name), "rouge", "copying", "length")
    assert queries() == before


def test_the_tables_command_prints_and_writes_tables(corpus: Project, copying: Run, tmp_path: Path) -> None:
    scored(copying, "rouge")
    out = StringIO()
    call_command("tables", "--project", "eye", "--table", "m3-4", "--table", "m3-6", stdout=out)
    assert out.getvalue().count("\n### ") + out.getvalue().startswith("### ") == 2
    assert "| 53.3 (b) | 25.0 (b) | 53.3 (b) |" in out.getvalue()
    for format, ending in (("csv", "csv"), ("latex", "tex"), ("markdown", "md")):
        call_command(
            "tables",
            "--project",
            "eye",
            "--format",
            format,
            "--out",
            str(tmp_path / "out"),
            stdout=out,
            stderr=StringIO(),
        )
        assert {path.name for path in (tmp_path / "out").glob(f"*.{ending}")} == {
            f"m3-2.{ending}",
            *(f"{each.key}.{ending}" for each in score_tables() if each.is_of(Scores(corpus))),
        }
    with pytest.raises(CommandError, match="Unknown project 'ear'"):
        call_command("tables", "--project", "ear")


def test_removed_clusters_have_no_missing_scores(corpus: Project, copying: Run, lead: User) -> None:
    out = Cluster.objects.filter(project=corpus).latest("pk")
    remove_cluster(cluster=out, reason="twice", by=corpus.members.get(user=lead))
    scored(copying, "rouge")
    made = table(corpus, "m3-4")
    assert [row[3] for row in cells(made)] == ["1"]
    assert [step.metric for step in made.missing] == ["bertscore"]


def test_units_without_a_summary_are_excluded_from_means_with_a_note(corpus: Project) -> None:
    run = build_run(corpus, "Failing", write=lambda m: None if m.source.key == "111_0" else first_sentence(m))
    scored(run, "rouge", "copying", "direction", "length")
    for key in ("m3-4", "m3-6", "ms2", "texts"):
        made = table(corpus, key)
        assert made.rows[0][[column.title for column in made.columns].index("n")].value == 1
        assert "Failing (proposition) has summaries of 1 of 2 units; the means exclude the others." in made.notes


def test_units_without_a_run_item_have_no_summary(corpus: Project, copying: Run) -> None:
    Run.objects.update(units_count=7)
    assert (
        "Copy & paste (proposition) has summaries of 2 of 7 units; the means exclude the others."
        in table(corpus, "m3-4").notes
    )


def test_the_difference_says_its_n_where_a_target_is_missing(corpus: Project, copying: Run) -> None:
    """ "It is safe" and "It harms": 100 - 40; the other summary has no target to compare with."""
    lost, other = Proposition.objects.filter(position=0).order_by("pk")
    Unit.objects.filter(pk=lost.unit_id).update(superseded_by=other.unit)
    scored(copying, "copying")
    (row,) = cells(table(corpus, "m3-6"))
    assert row[4] == "100.0 (+60.0; n = 1)", "of one review: no interval of the difference"


def test_tables_do_not_depend_on_the_order_of_stored_rows(project: Project, tmp_path: Path) -> None:
    # Texts with shares such as 3/7 and 5/11, whose sums depend on the order of addition.
    texts = [" ".join(f"word{n % k}" for n in range(3, 3 + k * 2)) for k in (2, 3, 5, 7, 11, 13, 4, 6, 9)]
    records = [
        cluster(
            f"{1 + n // 5}11_{n}", [source(text, f"{n}1"), source(f"{text} in {n} trials", f"{n}2")], target_text=target
        )
        for n, (text, target) in enumerate(zip(texts, texts[1:] + texts[:1], strict=True), start=1)
    ]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    scored(build_run(project, "Copy & paste"), "rouge", "copying", "direction", "length", "repetition", "bleu", "chrf")

    def files() -> list[str]:
        for scoring in Scoring.objects.all():
            scoring.means = None
            compute_scoring_means(scoring)
        made = [each.build(Scores(project)) for each in score_tables()]
        return [write_as(table) for table in made for write_as in (markdown, as_csv, latex)]

    before = files()
    assert files() == before
    rows = list(Score.objects.order_by("-pk"))
    Score.objects.all().delete()
    for row in rows:
        row.pk = None
    Score.objects.bulk_create(rows)
    assert files() == before


def test_libraries_are_listed_by_name_in_stable_order(corpus: Project, copying: Run) -> None:
    scored(copying, "rouge")
    Scoring.objects.update(libraries={"tokenizer": "plain", "rouge": {"version": "0.1.2", "lsum": "ours"}})
    assert "ROUGE: stemmer off, rouge lsum ours, version 0.1.2, tokenizer plain." in table(corpus, "m3-4").notes
