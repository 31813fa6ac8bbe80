"""One rule for complete clusters: curate page, checks and released file agree."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.clusters import completeness
from annotation.corpus.queries import clusters
from annotation.curation.queries import cluster_cells
from annotation.models import Cluster, Proposition
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.formats import m3
from releases.sources import checks
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db


def missing(cluster: Cluster) -> list[str]:
    return [f"{m['kind']} of {m['place']}" for m in cluster_cells([cluster])[0]["missing"]]


def left_out(project: Project) -> list[str]:
    return [cluster.key for item, cluster in m3.cluster_items(project) if item is None]


def counted(project: Project) -> int:
    [check] = [c for c in checks.run(project) if c["name"] == "gold complete"]
    return int(check["detail"].split()[0]) if not check["passed"] else 0


def unlike(**labels: str) -> dict[str, Any]:
    return source("Nepralin had no effect on relapse.", "222", source_direction_span="", source_modality_span="") | {
        f"source_{name}": value for name, value in labels.items()
    }


def test_a_new_polarity_with_imported_no_evidence_is_incomplete(
    project: Project, lead: User, ann1: User, ann2: User, tmp_path: Path
) -> None:
    without = unlike(direction="n/a", modality="no evidence")
    import_records(
        project, write(tmp_path / "file.jsonl", [cluster("26258610_0", [source(), without]), cluster("5_0")])
    )
    made = Cluster.objects.get(key="26258610_0")
    assert (missing(made), left_out(project), counted(project)) == ([], [], 0)

    people = [Member.objects.get(user=u) for u in (ann1, ann2)]
    round = build_round(project, people, overlap=2, filters={"cluster": made.key, "role": "input"})
    claim = Proposition.objects.select_related("unit").get(cluster=made, position=2)
    for user, modality in ((ann1, "weak"), (ann2, "strong")):
        for slot in next_assignments(user=user, round=round):
            answer(user, slot, label_value("positive", modality if slot.unit_id == claim.unit_id else "weak"))
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    value = current_values([claim.unit], "label")[claim.unit_id]
    assert (value["polarity"], value["modality"]) == ("positive", "no evidence")
    assert (missing(made), left_out(project), counted(project)) == (["label of input 2"], [made.key], 1)
    assert [c.key for c in clusters(project, {"state": "unlabelled"})] == [made.key]

    by = Member.objects.get(project=project, user=lead)
    correct(unit=claim.unit, kind="label", value=label_value("positive", "weak"), reason="Settled.", by=by)
    assert (missing(made), left_out(project), counted(project)) == ([], [], 0)


def test_missing_parts_of_a_typed_cluster_are_named_in_page_order(project: Project, lead: User) -> None:
    bare, empty = build_cluster(project, 0, inputs=1), build_cluster(project, 1, inputs=0)
    assert missing(bare) == ["label of target", "label of input 1", "discourse of cluster"]
    assert missing(empty) == ["label of target", "input of cluster", "discourse of cluster"]
    by = Member.objects.get(project=project, user=lead)
    for claim in bare.propositions.select_related("unit"):
        correct(unit=claim.unit, kind="label", value=label_value(), reason="So.", by=by)
    assert missing(bare) == ["discourse of cluster"]
    assert (counted(project), left_out(project)) == (2, [bare.key, empty.key])
    correct(unit=bare.unit, kind="discourse", value={"relation": "agreement"}, reason="So.", by=by)
    assert (missing(bare), counted(project), left_out(project)) == ([], 1, [empty.key])
    Proposition.objects.filter(cluster=bare, position=0).update(position=7, study=by.project.studies.first())
    assert (missing(bare), counted(project), left_out(project)) == (["target of cluster"], 2, [bare.key, empty.key])


def test_missing_parts_take_two_queries_for_any_number_of_clusters(project: Project) -> None:
    made = [build_cluster(project, n) for n in range(5)]
    for few in (made[:1], made):
        with CaptureQueriesContext(connection) as seen:
            assert set(completeness.missing(few)) == {c.pk for c in few}
        assert len(seen) == 2
