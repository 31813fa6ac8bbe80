"""Corrected texts: a new version replaces the text; values of the old one are kept and become stale."""

import pytest

from accounts.models import User
from annotation.clusters.gold import gold_labels
from annotation.corpus import cluster as cluster_page
from annotation.curation import queries as curation_queries
from annotation.kinds.supersede import supersede_target, supersede_text
from annotation.models import Cluster, Input, Level, PicoForm, Proposition, Study, Target
from api.problems import Conflict, Refused
from audit.verify import findings
from projects.curation.actions import correct
from projects.models import Answer, Assignment, Change, Member, Project, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.staleness.actions import changed, stale_units
from tests.builders import TEXT, answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
BETTER = TEXT.replace("nepralin", "nepraline")
SLOT = {"text": "nepralin", "fragments": []}
TUPLE = {"p": SLOT, "i": SLOT, "c": SLOT | {"stands_for": ""}, "o": SLOT}


@pytest.fixture
def cluster(project: Project) -> Cluster:
    return build_cluster(project, inputs=1)


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def build_target(cluster: Cluster) -> Target:
    unit = Unit.objects.create(project=cluster.project, type="target sentence", key=cluster.key)
    target = Target.objects.create(
        project=cluster.project,
        review=cluster.review,
        level=Level.SENTENCE,
        key=cluster.key,
        position=0,
        text="Nepralin helps.",
        unit=unit,
    )
    Input.objects.create(target=target, study=Study.objects.get(pmid="DEMO00071"), position=1, text="It helped.")
    return target


def supersede(cluster: Cluster, by: Member, position: int = 1, text: str = BETTER) -> Proposition:
    old = cluster.propositions.current().select_related("unit", "cluster__unit").get(position=position)
    return supersede_text(proposition=old, text=text, reason="A typing error.", by=by)


def test_the_old_text_stays_and_the_new_one_takes_its_place(cluster: Cluster, by: Member) -> None:
    new = supersede(cluster, by)
    old = cluster.propositions.get(position=1, version=1)
    assert (old.text, old.unit.superseded_by, new.version) == (TEXT, new.unit, 2)
    assert list(cluster.propositions.current().order_by("position").values_list("text", flat=True)) == [TEXT, BETTER]
    third = supersede(cluster, by, text=TEXT)
    assert [p.unit.key for p in cluster.propositions.filter(position=1)] == [
        "DEMO0000_0/1",
        "DEMO0000_0/1~2",
        "DEMO0000_0/1~3",
    ]
    assert third.version == 3
    page = cluster_page.page(cluster, with_answers=True, with_findings=False)
    assert [p["text"] for p in page["propositions"]] == [TEXT, TEXT]
    cluster.refresh_from_db()
    assert "nepraline" not in cluster.search


def test_decisions_on_an_old_text_become_stale(cluster: Cluster, by: Member) -> None:
    old = cluster.propositions.get(position=1)
    correct(unit=old.unit, kind="label", value=label_value(polarity_cue=[(0, 7)]), reason="First.", by=by)
    new = supersede(cluster, by)
    assert stale_units([new.unit_id]) == {(new.unit_id, "label")}
    assert gold_labels([new.unit_id]) == {}
    assert set(gold_labels([old.unit_id])[old.unit_id]) == {"polarity", "polarity_cue", "modality", "modality_cue"}
    correct(unit=new.unit, kind="label", value=label_value(), reason="Read again.", by=by)
    assert stale_units([new.unit_id, old.unit_id]) == set()
    assert list(findings()) == []


def test_correcting_a_text_without_answers_makes_nothing_stale(cluster: Cluster, by: Member) -> None:
    supersede(cluster, by)
    assert Change.objects.count() == 0


def test_elements_that_no_longer_occur_in_the_target_are_reworded(cluster: Cluster, by: Member) -> None:
    supersede(cluster, by, position=0, text="Neither a drug nor placebo changed the occurrence of relapse.")
    assert dict(cluster.pico.values_list("element", "form")) == {
        "p": PicoForm.BLANK,
        "i": PicoForm.REWORDED,
        "c": PicoForm.EXPLICIT,
        "o": PicoForm.EXPLICIT,
    }
    place = cluster.pico.get(element="c").fragments.get()
    assert cluster.propositions.current().get(position=0).text[place.start : place.end] == "placebo"


@pytest.mark.parametrize("allocation", ["dealt", "pool"])
def test_an_open_round_asks_for_the_new_text_and_keeps_what_was_answered_outside_k(
    allocation: str, cluster: Cluster, by: Member, project: Project, ann1: User, ann2: User
) -> None:
    people = [Member.objects.get(project=project, user=u) for u in (ann1, ann2)]
    round = build_round(project, people, overlap=2, allocation=allocation)
    for user in (ann1, ann2):
        while held := next_assignments(user=user, round=round):
            answer(user, held[0])
    new = supersede(cluster, by)
    old_slots = Assignment.objects.filter(round=round, unit__superseded_by=new.unit)
    assert [s.is_retired and s.current_answer_id is not None for s in old_slots] == [True, True]
    for user in (ann1, ann2):
        [slot] = next_assignments(user=user, round=round)
        assert slot.unit_id == new.unit_id
        answer(user, slot, label_value("positive"))
        assert next_assignments(user=user, round=round) == []
    assert Assignment.objects.counted().filter(round=round).count() == 4
    assert Answer.objects.filter(assignment__round=round).count() == 6


def test_a_closed_round_stays_as_it_was(cluster: Cluster, by: Member, project: Project, ann1: User) -> None:
    round = build_round(project, [Member.objects.get(project=project, user=ann1)])
    answer(ann1, next_assignments(user=ann1, round=round)[0])
    close_round(round=round, by=None)
    before = list(Assignment.objects.order_by("pk").values())
    supersede(cluster, by)
    assert list(Assignment.objects.order_by("pk").values()) == before


def test_a_changed_tuple_makes_labels_stale_until_they_are_decided_or_answered_again(
    cluster: Cluster, by: Member, project: Project, ann1: User
) -> None:
    first, second = (p.unit for p in cluster.propositions.select_related("unit").order_by("position"))
    correct(unit=first, kind="label", value=label_value(), reason="First.", by=by)
    changed(units=[first, second, cluster.unit], what="tuple", reason="Another outcome.", by=by)
    assert stale_units([first.pk, second.pk, cluster.unit_id]) == {(first.pk, "label")}, "nothing hung on the others"
    first.refresh_from_db()
    assert first.revision == 2
    # The same value again is a new decision on every field.
    assert len(correct(unit=first, kind="label", value=label_value(), reason="Still so.", by=by)) == 4
    assert stale_units([first.pk]) == set()


def test_gold_from_answers_to_an_earlier_text_is_stale_at_once(
    cluster: Cluster, by: Member, project: Project, ann1: User
) -> None:
    from projects.gold.actions import finish_round

    round = build_round(project, [Member.objects.get(project=project, user=ann1)])
    slots = []
    while held := next_assignments(user=ann1, round=round):
        slots.append(held[0])
        answer(ann1, held[0])
    unit = slots[0].unit
    changed(units=[unit], what="tuple", reason="Another outcome.", by=by)
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    assert stale_units([s.unit_id for s in slots]) == {(unit.pk, "label")}


@pytest.mark.parametrize(
    ("text", "reason", "field"), [(" ", "so", "text"), (TEXT, "so", "text"), (BETTER, " ", "reason")]
)
def test_an_empty_or_unchanged_text_or_a_missing_reason_is_refused(
    text: str, reason: str, field: str, cluster: Cluster, by: Member
) -> None:
    with pytest.raises(Refused) as refused:
        supersede_text(proposition=cluster.propositions.get(position=0), text=text, reason=reason, by=by)
    assert [e["field"] for e in refused.value.errors or []] == [field]


def test_the_second_correction_of_the_same_text_is_a_conflict(cluster: Cluster, by: Member) -> None:
    old = cluster.propositions.select_related("unit").get(position=1)
    again = cluster.propositions.select_related("unit").get(position=1)
    supersede_text(proposition=old, text=BETTER, reason="First.", by=by)
    with pytest.raises(Conflict):
        supersede_text(proposition=again, text="Something else.", reason="Second.", by=by)
    assert cluster.propositions.filter(position=1).count() == 2


def test_a_corrected_target_sentence_keeps_its_key_and_its_inputs(project: Project, by: Member) -> None:
    cluster = build_cluster(project, number=7)
    old = build_target(cluster)
    Cluster.objects.filter(pk=cluster.pk).update(sentence=old)
    correct(unit=cluster.unit, kind="tuple", value=TUPLE, reason="First.", by=by)
    new = supersede_target(target=old, text="Nepraline helps.", reason="A typing error.", by=by)
    old.refresh_from_db()
    assert (new.key, new.version, old.unit.superseded_by) == (old.key, 2, new.unit)
    assert [(one.study.pmid, one.text) for one in new.inputs.all()] == [("DEMO00071", "It helped.")]
    assert list(Target.objects.current()) == [new]
    assert stale_units([cluster.unit_id]) == {(cluster.unit_id, "tuple")}
    page = curation_queries.page(cluster.review, offset=0, limit=10)
    assert [(t["id"], t["text"]) for t in page["targets"]] == [(new.pk, "Nepraline helps.")]
    assert page["clusters"][0]["sentence"] == new.pk, "it stands under the sentence that is there now"
    third = supersede_target(target=new, text="Nepralin helps!", reason="Again.", by=by)
    assert (third.unit.key, third.version) == ("DEMO0007_0~3", 3)
    with pytest.raises(Conflict):
        supersede_target(target=Target.objects.get(pk=old.pk), text="Too late.", reason="Third.", by=by)
    assert list(findings()) == []
