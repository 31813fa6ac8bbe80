"""M3's Table 7 from stored likelihoods."""

import pytest

from generation.models import Embargo, ItemStatus, ProbeScore, Run, RunItem, RunPurpose, RunStatus
from generation.results.tables.scored import Scores
from generation.scoring.actions import compute_probe_figures
from measures.counterfactuals import Kind
from projects.models import Member, Project, Unit
from projects.reports.registry import get
from projects.reports.writing import markdown, words
from tests.builders import build_cluster
from tests.conftest import person
from tests.generation.exposures import build_trained_version, build_training
from tests.generation.summaries import build_version
from tests.generation.test_probing import TEXTS, add

pytestmark = pytest.mark.django_db
#: Sums over four tokens of the target and its counterfactuals: higher, and not higher.
TARGET, NEGATION, MODALITY = 4.0, 8.0, 4.0


@pytest.fixture
def probe(project: Project) -> Run:
    """Two reviews: a negation is detected in one of them, a modality ties. One of the four tokens is no content
    word."""
    run = Run.objects.create(version=build_version(project, "Tiny"), purpose=RunPurpose.PROBE, status=RunStatus.DONE)
    changed = {"replaced_sum": 1.0, "replaced_tokens": 1, "changed_sum": 5.0, "changed_tokens": 2}
    for number in range(2):
        cluster = build_cluster(project, number)
        made = add(cluster, TEXTS if number == 0 else {Kind.NEGATION: TEXTS[Kind.NEGATION]}, f"{number}.csv")
        item = RunItem.objects.create(run=run, unit=cluster.unit, size=1, status=ItemStatus.DONE)
        target = cluster.propositions.get(position=0)
        sums = [(None, TARGET), *((each, NEGATION if each.kind == "negation" else MODALITY) for each in made)]
        for counterfactual, total in sums:
            if number == 1 and counterfactual is not None:
                total = 3.0
            ProbeScore.objects.create(
                item=item,
                target=target,
                counterfactual=counterfactual,
                content_sum=total / 2,
                content_tokens=3,
                all_sum=total,
                all_tokens=4,
                token_ids=[1, 2, 3, 4],
                nll=[total / 4] * 4,
                **(changed if counterfactual is not None and number == 0 and total == NEGATION else {}),
            )
    compute_probe_figures(run)
    return run


def rows(scores: Scores) -> dict[str, list[str]]:
    made = get("m3-7").build(scores)
    return {words(row[2]): [words(cell) or f"undefined: {cell.undefined}" for cell in row] for row in made.rows}


def test_deltas_and_strict_accuracies_are_those_by_hand(project: Project, probe: Run) -> None:
    """Negations: deltas of +1 and -0.25 per token; the tied modality counts as wrong."""
    found = rows(Scores(project))
    assert list(found) == [*(kind.value for kind in Kind), "overall"]
    assert found["negation"][:5] == ["Tiny", "proposition", "negation", "2", "2"]
    assert found["negation"][5:8] == ["0.375 \u00b1 0.884", "0.50", "0"]
    assert found["modality"][3:8] == ["1", "1", "0.000", "0.00", "1"]
    assert found["antonym"][3:8] == ["0", "0", "undefined: no pairs", "undefined: no pairs", "0"]
    assert found["overall"][3] == "3"
    assert found["overall"][6].startswith("0.33")


def test_probe_tables_have_content_and_changed_tokens_beside_m3_figures(project: Project, probe: Run) -> None:
    """Negations: content sums of 4 and 1.5 against 2, over three tokens; sums of 8 and 3 against 4; one of the two
    pairs has changed tokens, 5 nats over two of them against 1 over one."""
    found = rows(Scores(project))
    assert found["negation"][8].startswith("0.250 \u00b1 0.589")
    assert found["negation"][9:11] == ["0.50", "1.500"]
    assert found["negation"][11].startswith("1.500")
    assert "n 1" in found["negation"][11] or "n = 1" in found["negation"][11]
    assert found["modality"][11] == "undefined: no pair in which both texts have tokens of their own"


def test_the_probe_table_explains_its_method_and_n(project: Project, probe: Run) -> None:
    said = markdown(get("m3-7").build(Scores(project)))
    assert "a tie counts as wrong" in said
    assert "clustered by review" in said
    assert "Fewer than 30 reviews: Tiny (proposition) (2)." in said
    assert "n: pairs" in said


def test_the_probe_table_names_the_number_of_failed_units(project: Project, probe: Run) -> None:
    made = get("m3-7").build(Scores(project))
    assert not [note for note in made.notes if "units" in note], "nothing was lost"
    RunItem.objects.create(run=probe, unit=build_cluster(project, 8).unit, size=1, status=ItemStatus.FAILED)
    said = "Tiny (proposition) was judged on 2 of 3 units; the figures exclude the others."
    assert said in get("m3-7").build(Scores(project)).notes
    Run.objects.update(units_count=7)
    assert said.replace("3", "7") in get("m3-7").build(Scores(project)).notes, "not laid out yet"


def test_removed_units_do_not_count_as_lost(project: Project, probe: Run) -> None:
    gone, other = build_cluster(project, 8).unit, build_cluster(project, 9).unit
    RunItem.objects.create(run=probe, unit=gone, size=1, status=ItemStatus.FAILED)
    Unit.objects.filter(pk=gone.pk).update(superseded_by=other)
    assert not [note for note in get("m3-7").build(Scores(project)).notes if "units" in note]


def test_notes_on_single_figures_are_below_the_table(project: Project, probe: Run) -> None:
    """Two reviews have no interval."""
    notes = get("m3-7").build(Scores(project)).notes
    found = [note for note in notes if note.startswith("No reliable interval (few reviews")]
    assert any("modality of Tiny (proposition)" in note for note in found)
    assert not any("antonym" in note for note in found), "of no pairs there is no figure either"


def test_later_likelihoods_are_reported_missing_until_they_are_computed(project: Project, probe: Run) -> None:
    """After resuming a run or retrying failed items."""
    assert rows(Scores(project))["negation"][3] == "2"
    assert get("m3-7").build(Scores(project)).missing == []
    cluster = build_cluster(project, 7)
    (made,) = add(cluster, {Kind.NEGATION: TEXTS[Kind.NEGATION]}, "7.csv")
    item = RunItem.objects.create(run=probe, unit=cluster.unit, size=1, status=ItemStatus.DONE)
    for counterfactual in (None, made):
        ProbeScore.objects.create(
            item=item,
            target=cluster.propositions.get(position=0),
            counterfactual=counterfactual,
            content_sum=1,
            content_tokens=1,
            all_sum=1,
            all_tokens=1,
            token_ids=[1],
            nll=[1.0],
        )
    assert rows(Scores(project))["negation"][3] == "2"
    (step,) = get("m3-7").build(Scores(project)).missing
    assert step.words == "the figures of 1 of the 3 finished items of Tiny (proposition)"
    assert step.command == "manage.py probe --project eye --system Tiny --version 1"
    compute_probe_figures(probe)
    assert rows(Scores(project))["negation"][3] == "3"
    assert get("m3-7").build(Scores(project)).missing == []


def test_units_that_a_model_has_seen_can_be_left_out(project: Project, probe: Run) -> None:
    review = probe.items.order_by("pk")[1].unit.cluster.review.pmid
    build_training(project, "one", [review])
    Run.objects.create(version=build_trained_version(project, "Trained", "trained-one"))
    assert [step.words for step in get("m3-7").build(Scores(project, unseen=True)).missing][-1].startswith(
        "the figures"
    )
    compute_probe_figures(probe)
    whole, [unseen] = Scores(project).probed[0], Scores(project, unseen=True).probed
    assert [result.n for result in (whole.results[-1], unseen.results[-1])] == [3, 2]
    notes = get("m3-7").build(Scores(project, unseen=True)).notes
    assert notes[-1].endswith("train or choose a model: 1 of the units of level proposition.")


def test_an_embargoed_probe_is_left_out(project: Project, probe: Run) -> None:
    viewer = Member.objects.create(project=project, user=person("viewer"), role="viewer", pseudonym="V")
    Embargo.objects.create(run=probe, member=viewer)
    assert rows(Scores(project, viewer)) == {}


def test_without_a_probe_the_table_says_how_to_get_one(project: Project) -> None:
    (step,) = get("m3-7").build(Scores(project)).missing
    assert step.command == "manage.py probe --project eye --system NAME"
