"""Results report when their inputs were corrected later, and the command that recomputes them."""

import shlex
import uuid
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import User
from annotation.curation.actions import add_inputs, remove_cluster
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster, Proposition
from generation.models import Run, RunItem
from generation.results.tables.scored import Scores
from generation.runs.actions import start_run
from projects import reports
from projects.models import Member, Project, Unit
from projects.reports.table import Missing
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.generation.builders import build_version
from tests.generation.staged import StagedBackend
from tests.generation.summaries import build_run, scored, the_target
from tests.generation.test_probing import clusters, judging, probed
from tests.generation.workers import staged_version, work

pytestmark = pytest.mark.django_db
__all__ = ["clusters", "judging"]


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    records = [cluster(f"111_{n}", [source(f"It helps {n}", str(n + 1))], target_text=f"It is {n}") for n in range(3)]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    return project


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return project.members.get(user=lead)


def correct(project: Project, by: Member, position: int = 0, text: str = "It is otherwise", number: int = 0) -> None:
    wrong = (
        Proposition.objects.current().filter(cluster__project=project, position=position).order_by("cluster")[number]
    )
    supersede_text(proposition=wrong, text=text, reason="misread", by=by)


def outdated(project: Project, key: str) -> list[Missing]:
    return [step for step in reports.get(key).build(Scores(project)).missing if step.outdated]


def do(step: Missing) -> None:
    """Run the reported command literally."""
    for command in step.command.split(" && "):
        call_command(*shlex.split(command)[1:])


def test_a_corrected_target_is_reported_until_its_summaries_are_scored_again(corpus: Project, by: Member) -> None:
    for name in ("One", "Two & more"):
        scored(build_run(corpus, name), "rouge")
    scored(Run.objects.first() or Run(), "copying")
    assert outdated(corpus, "m3-4") == []
    correct(corpus, by)
    correct(corpus, by, number=2)
    correct(corpus, by, number=2, text="It is once more otherwise")
    (step,) = outdated(corpus, "m3-4")
    assert step.sentence == (
        "Out of date: ROUGE of 2 of the 3 summaries of One (proposition) and 2 of the 3 summaries of Two & more "
        "(proposition); the texts they were compared with were corrected or removed since. Do it again with "
        "`manage.py score --project eye --metric rouge --system One --system 'Two & more'`, or on the page "
        "/projects/eye/results."
    )
    (other,) = outdated(corpus, "m3-6")
    assert other.words == "Copying of 2 of the 3 summaries of Two & more (proposition)"
    do(step)
    assert outdated(corpus, "m3-4") == []
    do(other)
    assert outdated(corpus, "m3-6") == []


def test_an_outdated_scoring_is_repeated_with_its_parameters(corpus: Project, by: Member) -> None:
    run = build_run(corpus, "One")
    scored(run, "rouge", stemmer=True)
    correct(corpus, by)
    (step,) = outdated(corpus, "m3-4")
    assert step.words == "ROUGE (stemmer on) of 1 of the 3 summaries of One (proposition)"
    assert (step.runs, step.metric, step.params) == ([run.pk], "rouge", {"stemmer": True})
    do(step)
    assert outdated(corpus, "m3-4") == []
    assert any("stemmer on" in note for note in reports.get("m3-4").build(Scores(corpus)).notes)


def test_a_removed_unit_leaves_the_means_when_scored_again(corpus: Project, by: Member) -> None:
    scored(build_run(corpus, "One"), "rouge")
    remove_cluster(cluster=Cluster.objects.get(key="111_1"), reason="twice", by=by)
    (step,) = outdated(corpus, "m3-4")
    assert step.words == "ROUGE of 1 of the 3 summaries of One (proposition)"
    assert reports.get("m3-4").build(Scores(corpus)).rows[0][3].value == 3
    do(step)
    assert outdated(corpus, "m3-4") == []
    assert reports.get("m3-4").build(Scores(corpus)).rows[0][3].value == 2


def test_a_document_is_outdated_if_a_proposition_of_its_review_is(corpus: Project, by: Member, tmp_path: Path) -> None:
    documents = [plain(key, "It helps.", ("1", "Trial one.")) for key in ("111", "999")]
    import_records(corpus, write(tmp_path / "level1.jsonl", documents), level="1")
    scored(build_run(corpus, "One", "document", the_target), "rouge")
    correct(corpus, by)
    correct(corpus, by, number=1)
    (step,) = outdated(corpus, "m3-4")
    assert step.words == "ROUGE of 1 of the 2 summaries of One (document)"


def test_summaries_of_corrected_inputs_are_reported_as_outdated(
    corpus: Project, by: Member, staged: StagedBackend
) -> None:
    run = start_run(version=staged_version(corpus), by=None)
    work()
    assert set(run.items.values_list("units_up_to", flat=True)) == {Unit.objects.latest("pk").pk}
    scored(run, "length")
    correct(corpus, by)
    assert [step.metric for step in outdated(corpus, "texts")] == ["length"], "a target is no input"
    do(outdated(corpus, "texts")[0])
    correct(corpus, by, position=1)
    changed = Cluster.objects.get(key="111_1")
    add_inputs(
        cluster=changed,
        rows=[{"pmid": "77", "text": "It was found to help", "label": None}],
        reason="",
        by=by,
        batch=uuid.uuid4(),
    )
    (step,) = outdated(corpus, "texts")
    assert step.sentence == (
        "Out of date: 2 of the 3 summaries of Staged (proposition); their inputs were corrected since they were "
        "generated. Do it again with `manage.py generate --project eye --system Staged --version 1 --again`, or on the "
        "page /projects/eye/systems."
    )
    do(step)
    assert outdated(corpus, "texts") == []


def test_a_probe_says_of_how_many_units_target_and_inputs_were_corrected(
    clusters: list[Cluster], judging: StagedBackend, by: Member
) -> None:
    project = clusters[0].project
    run = probed(staged_version(project))
    assert outdated(project, "m3-7") == []
    correct(project, by)
    correct(project, by, position=2)
    (step,) = outdated(project, "m3-7")
    assert step.words == "the probe of Staged (proposition), 1 of 2 units by their targets and 1 by their inputs"
    assert step.command == "manage.py probe --project eye --system Staged --version 1 --again"
    do(step)
    assert outdated(project, "m3-7") == []
    assert RunItem.objects.exclude(run=run).count() == 1, "the counterfactuals of the old text are gone with it"


def test_missing_scores_are_one_line_per_metric(corpus: Project) -> None:
    for name in ("One", "Two", "Three"):
        run = build_run(corpus, name)
    scored(run, "rouge")
    lines = [step.words for step in reports.get("m3-4").build(Scores(corpus)).missing]
    assert lines == [
        "ROUGE of One (proposition) and Two (proposition)",
        "BERTScore of One (proposition), Two (proposition) and Three (proposition)",
    ]
    build_version(corpus, "Unused")
    (step,) = reports.get("m3-6").build(Scores(corpus)).missing
    assert step.command == "manage.py score --project eye --metric copying --system One --system Two --system Three"
    do(step)
    assert reports.get("m3-6").build(Scores(corpus)).missing == []
