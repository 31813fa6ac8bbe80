"""Counterfactuals on the page of a cluster: changed words, warnings, constant number of queries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.corpus import statistics
from annotation.formats.counterfactuals.records import NewCounterfactual, add_counterfactuals
from annotation.imports.actions import check_files, import_files
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster
from measures.counterfactuals import Kind
from operations.sample_project import COUNTERFACTUALS, SAMPLE
from projects.models import Member, Project
from projects.stored_figures.actions import compute_and_store
from projects.uploads.files import Source
from tests.builders import build_cluster

Client = Callable[[User], APIClient]


@pytest.fixture
def sample(project: Project) -> Project:
    """The project with the sample corpus and its counterfactuals."""
    for format, path in (("m3", SAMPLE), ("counterfactuals", COUNTERFACTUALS)):
        checked = check_files(project=project, format=format, sources=[Source.of(path)])
        import_files(project=project, format=format, checked=checked, by=None)
    return project


def page(client: APIClient, key: str) -> list[dict[str, Any]]:
    reply = client.get(f"/api/v1/clusters/{Cluster.objects.get(key=key).pk}/")
    assert reply.status_code == 200
    found: list[dict[str, Any]] = reply.json()["counterfactuals"]
    return found


def test_each_kind_is_shown_with_its_changed_words(sample: Project, lead: User, client_of: Client) -> None:
    shown = page(client_of(lead), "90000001_0")
    assert [c["kind"] for c in shown] == ["negation", "antonym", "no effect", "no evidence", "modality"]
    said = [[(c["text"][d["start"] : d["end"]], d["was"]) for d in c["changes"]] for c in shown]
    assert said == [
        [("does not improve", "improves")],
        [("worsens", "improves")],
        [("does not improve", "improves")],
        [("There is no evidence that", "")],
        [("may improve", "improves")],
    ]
    assert [c["words"] for c in shown] == [3, 1, 3, 5, 2]
    assert {(c["origin"], c["version"], c["is_stale"]) for c in shown} == {("imported", 1, False)}


def test_warnings_are_computed_when_shown(sample: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    codes = {c["kind"]: [w["code"] for w in c["warnings"]] for c in page(client, "90000001_0")}
    assert codes == {
        "negation": ["same text as another kind"],
        "antonym": [],
        "no effect": ["same text as another kind"],
        "no evidence": [],
        "modality": [],
    }
    [antonym] = [c for c in page(client, "90000004_0") if c["kind"] == "antonym"]
    assert antonym["warnings"] == [
        {"code": "PICO text touched", "message": "Words of the outcome were changed: “lower pain scores”."}
    ]


def test_a_counterfactual_kind_unknown_to_the_current_label_is_a_warning(
    sample: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    target = Cluster.objects.get(key="90000001_2").propositions.get(position=0)
    file = tmp_path / "more.csv"
    text = target.text.replace("insufficient", "hardly any")
    file.write_text(f"docid;kind;text\n90000001_2;modality;{text}\n")
    checked = check_files(project=sample, format="counterfactuals", sources=[Source.of(file)])
    import_files(project=sample, format="counterfactuals", checked=checked, by=None)
    codes = {c["kind"]: [w["code"] for w in c["warnings"]] for c in page(client_of(lead), "90000001_2")}
    assert codes == {"no evidence": [], "modality": ["kind does not fit the target's label"]}


def test_a_counterfactual_of_an_earlier_text_is_stale_until_it_is_renewed(
    sample: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    by = Member.objects.get(project=sample, user=lead)
    target = Cluster.objects.get(key="90000004_0").propositions.select_related("unit", "cluster__unit").get(position=0)
    better = target.text.replace("six weeks", "eight weeks")
    supersede_text(proposition=target, text=better, reason="Misread.", by=by)
    client = client_of(lead)
    assert [(c["kind"], c["is_stale"], c["words"]) for c in page(client, "90000004_0")] == [
        ("negation", True, 2),
        ("antonym", True, 1),
    ]
    file = tmp_path / "again.csv"
    file.write_text(f"docid;kind;text\n90000004_0;negation;{better.replace('lead', 'do not lead')}\n")
    checked = check_files(project=sample, format="counterfactuals", sources=[Source.of(file)])
    import_files(project=sample, format="counterfactuals", checked=checked, by=None)
    assert [(c["kind"], c["is_stale"]) for c in page(client, "90000004_0")] == [("negation", False), ("antonym", True)]


def test_a_page_costs_the_same_queries_for_no_and_for_five_counterfactuals(
    sample: Project, lead: User, client_of: Client
) -> None:
    client, counts = client_of(lead), []
    for key, number in (("90000002_0", 0), ("90000005_0", 3), ("90000001_0", 5)):
        with CaptureQueriesContext(connection) as queries:
            assert len(page(client, key)) == number
        counts.append(len(queries))
    assert len(set(counts)) == 1


def test_the_summary_counts_them_by_kind_and_the_polarity_of_the_target(
    sample: Project, lead: User, client_of: Client
) -> None:
    undecided = build_cluster(sample, number=9)
    target = undecided.propositions.select_related("unit").get(position=0)
    row = NewCounterfactual(target, Kind.MODALITY, target.text.replace("had", "may have had"))
    add_counterfactuals(rows=[row], imported=sample.imports.first())
    with CaptureQueriesContext(connection) as queries:
        counts_now = statistics.summary(sample)["counterfactuals"]
    assert len([q for q in queries if "annotation_counterfactual" in q["sql"]]) == 1
    compute_and_store(project=sample)
    found = client_of(lead).get("/api/v1/projects/eye/summary/").json()["figures"]["counterfactuals"]
    assert found == counts_now
    counts = {c["kind"]: (c["count"], {p["value"]: p["count"] for p in c["polarity"] if p["count"]}) for c in found}
    assert counts == {
        "negation": (3, {"positive": 2, "no effect": 1}),
        "antonym": (4, {"positive": 3, "negative": 1}),
        "no effect": (2, {"positive": 1, "negative": 1}),
        "no evidence": (3, {"positive": 1, "negative": 1, "n/a": 1}),
        "modality": (4, {"positive": 2, "no effect": 1}),
    }


def test_annotators_see_no_counterfactuals(sample: Project, ann1: User, client_of: Client) -> None:
    reply = client_of(ann1).get(f"/api/v1/clusters/{Cluster.objects.get(key='90000001_0').pk}/")
    assert reply.status_code == 403
