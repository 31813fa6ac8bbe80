"""Rows of counterfactuals: one current row per target and kind, append-only, read for the probe in one query."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.curation.actions import remove_cluster
from annotation.formats.counterfactuals.records import NewCounterfactual, add_counterfactuals
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster, Counterfactual, Proposition, Rewriting
from api.problems import Conflict, Refused
from measures.counterfactuals import Kind
from projects.models import Import, Member, Project
from projects.queue.actions import next_assignments
from tests.builders import TEXT, answer, build_cluster, build_round

NEGATED = TEXT.replace("Neither", "Both").replace("nor", "and")
DOUBTED = TEXT.replace("had", "may have had")


@pytest.fixture
def cluster(project: Project) -> Cluster:
    return build_cluster(project, number=0)


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def file_of(project: Project, name: str = "a.csv") -> Import:
    return Import.objects.create(
        project=project, format="counterfactuals", file_name=name, sha256=name, size=1, created_at=timezone.now()
    )


def target_of(cluster: Cluster) -> Proposition:
    return cluster.propositions.current().select_related("unit").get(position=0)


def add(
    cluster: Cluster, kind: Kind = Kind.NEGATION, text: str = NEGATED, name: str = "a.csv", version: int = 1
) -> Counterfactual:
    project = cluster.project
    imported = Import.objects.filter(project=project, sha256=name).first() or file_of(project, name)
    rows = [NewCounterfactual(target_of(cluster), kind, text, version)]
    [made] = add_counterfactuals(rows=rows, imported=imported)
    return made


def test_a_correction_is_the_next_version_and_the_newest_is_current(cluster: Cluster) -> None:
    first = add(cluster)
    second = add(cluster, text=NEGATED + " Truly.", name="b.csv", version=2)
    other = add(cluster, Kind.MODALITY, DOUBTED)
    assert [(c.version, c.origin) for c in (first, second, other)] == [
        (1, "imported"),
        (2, "imported"),
        (1, "imported"),
    ]
    assert set(Counterfactual.objects.current()) == {second, other}


def test_counterfactuals_of_corrected_targets_and_removed_clusters_are_not_current(
    project: Project, cluster: Cluster, by: Member
) -> None:
    retired = build_cluster(project, number=1)
    for one in (cluster, retired):
        add(one)
    supersede_text(proposition=target_of(cluster), text=TEXT + " So.", reason="A typing error.", by=by)
    remove_cluster(cluster=retired, reason="Typed twice.", by=by)
    assert not Counterfactual.objects.current().exists()
    assert Counterfactual.objects.of(project).count() == 2


@pytest.mark.parametrize(
    ("text", "said"), [(TEXT, "must differ"), (" ", "is empty"), ("Quite another claim altogether.", "At most 5")]
)
def test_a_text_that_is_no_counterfactual_is_refused(cluster: Cluster, text: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        add(cluster, text=text)
    [error] = refused.value.errors or []
    assert error["field"] == "text"
    assert said in error["message"]


def test_only_the_current_target_has_counterfactuals(project: Project, cluster: Cluster, by: Member) -> None:
    found = cluster.propositions.select_related("unit").get(position=1)
    with pytest.raises(Refused):
        add_counterfactuals(rows=[NewCounterfactual(found, Kind.NEGATION, NEGATED)], imported=file_of(project))
    old = target_of(cluster)
    supersede_text(proposition=old, text=TEXT + " So.", reason="A typing error.", by=by)
    with pytest.raises(Conflict):
        add_counterfactuals(rows=[NewCounterfactual(old, Kind.NEGATION, NEGATED)], imported=file_of(project, "b"))
    assert not Counterfactual.objects.exists()


def test_rows_of_a_source_are_stored_all_or_none_and_each_kind_once(cluster: Cluster) -> None:
    rows = [NewCounterfactual(target_of(cluster), Kind.NEGATION, text) for text in (NEGATED, DOUBTED)]
    with pytest.raises(Conflict):
        add_counterfactuals(rows=rows, imported=file_of(cluster.project))
    assert not Counterfactual.objects.exists()


@pytest.mark.parametrize("version", [1, 2])
def test_a_second_counterfactual_of_the_same_version_is_a_conflict(cluster: Cluster, version: int) -> None:
    add(cluster)
    if version == 2:
        add(cluster, text=NEGATED + " Truly.", name="b.csv", version=2)
    with pytest.raises(Conflict):
        add(cluster, text=NEGATED + " Really.", name="c.csv", version=version)
    assert Counterfactual.objects.count() == version


@pytest.mark.parametrize("fields", [{"text": "Other."}, {"kind": "antonym"}, {"version": 7}])
def test_the_database_refuses_to_change_one_or_delete_it(cluster: Cluster, fields: dict[str, Any]) -> None:
    made = add(cluster)
    with pytest.raises(IntegrityError), transaction.atomic():
        Counterfactual.objects.filter(pk=made.pk).update(**fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        made.delete()
    made.refresh_from_db()
    assert (made.text, made.kind, made.version) == (NEGATED, "negation", 1)


@pytest.mark.parametrize("fields", [{"kind": "other"}, {"text": ""}, {"imported": None}])
def test_the_database_refuses_a_row_of_no_kind_text_or_source(cluster: Cluster, fields: dict[str, Any]) -> None:
    sound: dict[str, Any] = {
        "target": target_of(cluster),
        "kind": "negation",
        "text": NEGATED,
        "imported": file_of(cluster.project),
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Counterfactual.objects.create(**sound | fields)


def test_the_probe_reads_all_in_corpus_order_in_one_query(project: Project, cluster: Cluster) -> None:
    second = build_cluster(project, number=1)
    add(second, Kind.NEGATION)
    for kind, text in ((Kind.MODALITY, DOUBTED), (Kind.NO_EVIDENCE, f"There is no evidence that {TEXT}")):
        add(cluster, kind, text)
    add(cluster, Kind.NEGATION)
    with CaptureQueriesContext(connection) as queries:
        pairs = Counterfactual.objects.of(project).current().in_corpus_order().pairs()
    assert len(queries) == 1
    assert [(p.cluster, p.kind) for p in pairs] == [
        (cluster.pk, "negation"),
        (cluster.pk, "no evidence"),
        (cluster.pk, "modality"),
        (second.pk, "negation"),
    ]
    assert (pairs[0].target, pairs[0].target_text, pairs[0].text) == (target_of(cluster).pk, TEXT, NEGATED)
    assert (pairs[3].unit, pairs[3].review) == (second.unit_id, second.review_id)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"reason": "other"},
        {"rule": ""},
        {"origin": ""},
        {"origin": "written"},
        {"kind": "irony"},
        {"text": "", "origin": "", "rule": ""},
    ],
)
def test_the_database_refuses_a_rewriting_that_says_nothing_or_two_things(
    project: Project, cluster: Cluster, ann1: User, fields: dict[str, str]
) -> None:
    asking = {"kind": "counterfactual", "options": {"counterfactual_kinds": ["modality"]}}
    round = build_round(project, [Member.objects.get(project=project, user=ann1)], **asking)
    [slot] = next_assignments(user=ann1, round=round)
    none = {"text": "", "origin": "", "rule": "", "reason": "no opposite"}
    answer(ann1, slot, {"modality": none}, kind="counterfactual")
    said = Rewriting.objects.get()
    sound = {"kind": "negation", "text": NEGATED, "origin": "drafted", "rule": "not added", "reason": ""}
    with pytest.raises(IntegrityError), transaction.atomic():
        Rewriting.objects.create(unit_id=said.unit_id, answer_id=said.answer_id, **sound | fields)
    Rewriting.objects.create(unit_id=said.unit_id, answer_id=said.answer_id, **sound)


@pytest.mark.parametrize("fields", [{"withdrawn": True}, {"text": ""}])
def test_a_version_has_a_text_or_withdraws(cluster: Cluster, fields: dict[str, Any]) -> None:
    sound: dict[str, Any] = {
        "target": target_of(cluster),
        "kind": "negation",
        "text": NEGATED,
        "imported": file_of(cluster.project),
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Counterfactual.objects.create(**sound | fields)
