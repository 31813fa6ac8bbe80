"""The corpus API: search, details, permissions, and a constant number of queries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cluster, DiscourseLabel, Label, Proposition, Review, Study
from projects.models import Decision, Import, Member, Origin, Project
from projects.people.actions import add_member
from projects.stored_figures.actions import compute_and_store
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.builders import answer, build_round, label_value

Client = Callable[[User], APIClient]
LISTS = ("clusters", "materials", "materials/reviews", "search")


def keys(client: APIClient, **filters: str) -> list[str]:
    reply = client.get("/api/v1/projects/eye/clusters/", filters)
    assert reply.status_code == 200, reply.json()
    return [row["key"] for row in reply.json()["results"]]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["26258610_0", "26258610_1", "30000001_0"]),
        ({"search": "30000001"}, ["30000001_0"]),
        ({"search": "222"}, ["26258610_1"]),
        ({"search": "über 100 ÄPFEL"}, ["30000001_0"]),
        ({"search": "A\u0308pfel"}, ["30000001_0"]),
        ({"search": "100%"}, []),
        ({"search": "[placebo]"}, ["26258610_0", "26258610_1", "30000001_0"]),
        ({"relation": "contradiction"}, ["26258610_1"]),
        ({"polarity": "no effect"}, ["26258610_1"]),
        ({"polarity": "negative"}, ["30000001_0"]),
        ({"polarity": "negative", "role": "input"}, []),
        ({"polarity": "no effect", "modality": "weak"}, []),
        ({"polarity": "no effect", "modality": "moderate"}, ["26258610_1"]),
        ({"review": "26258610"}, ["26258610_0", "26258610_1"]),
        ({"review": "26258610", "search": "no effect"}, ["26258610_1"]),
    ],
)
def test_clusters_are_found_by_ids_texts_tuple_and_values(
    corpus: Project, lead: User, client_of: Client, filters: dict[str, str], found: list[str]
) -> None:
    assert keys(client_of(lead), **filters) == found


def test_an_unknown_filter_value_is_refused(corpus: Project, lead: User, client_of: Client) -> None:
    reply = client_of(lead).get("/api/v1/projects/eye/clusters/", {"polarity": "up"})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "polarity")


def test_a_filter_follows_the_newest_decision_and_not_the_import(
    corpus: Project, lead: User, ann1: User, client_of: Client
) -> None:
    unit = Proposition.objects.get(cluster__key="26258610_0", position=0).unit
    member = Member.objects.get(project=corpus, user=ann1)
    round = build_round(corpus, [member], purpose="measure only", filters={"cluster": "26258610_0", "role": "target"})
    slot = round.assignments.get(unit=unit)
    slot.person = member
    slot.save()
    stored = answer(ann1, slot, label_value("negative", "weak")).answer
    assert keys(client_of(lead), polarity="negative", role="target") == ["30000001_0"]
    for origin, adopted in ((Origin.SINGLE, stored), (Origin.CONTESTED, None)):
        Decision.objects.create(
            unit=unit,
            kind="label",
            field="polarity",
            origin=origin,
            answer=adopted,
            decided_at=stored.received_at,
            digest="0" * 64,
        )
    assert keys(client_of(lead), polarity="negative", role="target") == ["26258610_0", "30000001_0"]
    page = client_of(lead).get(f"/api/v1/clusters/{unit.proposition.cluster_id}/").json()
    assert page["propositions"][0]["polarity"] == {"value": "negative", "origin": "single"}
    assert page["propositions"][0]["modality"] == {"value": "moderate", "origin": "imported"}
    assert [(h["origin"], h["value"]) for h in page["history"]][-2:] == [("single", "negative"), ("contested", None)]


def test_one_cluster_shows_everything_that_hangs_on_it(corpus: Project, lead: User, client_of: Client) -> None:
    row = Cluster.objects.get(key="26258610_1")
    page = client_of(lead).get(f"/api/v1/clusters/{row.pk}/").json()
    assert page["review"]["pmid"] == "26258610"
    assert page["imported"]["file_name"] == "file.jsonl"
    assert [(s["element"], s["form"], s["text"]) for s in page["pico"]] == [
        ("p", "blank", ""),
        ("i", "explicit", "nepralin"),
        ("c", "implied", "[placebo]"),
        ("o", "explicit", "relapse"),
    ]
    [place] = page["pico"][1]["fragments"]
    target, first, second = page["propositions"]
    assert target["text"][place["start"] : place["end"]] == "nepralin"
    assert page["relation"] == {"value": "contradiction", "origin": "imported"}
    assert page["suggested_relation"] == "contradiction"
    assert (target["role"], target["study"], target["polarity"]["value"]) == ("target", None, "positive")
    assert (first["role"], first["study"]["pmid"]) == ("input", "111")
    assert second["polarity_cue"]["value"]["fragments"] == [{"start": 13, "end": 22, "quote": "no effect"}]
    assert second["modality_cue"] == {"value": None, "origin": "imported"}
    assert len(page["history"]) == 3 * 4 + 1
    assert {"place": "cluster", "field": "relation", "value": "contradiction"}.items() <= page["history"][-1].items()
    assert page["history"][0]["file_name"] == "file.jsonl"
    assert target["answers"] == []


def test_a_correction_from_the_page_of_a_cluster_says_what_it_was_based_on(
    corpus: Project, lead: User, client_of: Client
) -> None:
    client, row = client_of(lead), Cluster.objects.get(key="26258610_1")

    def basis() -> dict[str, int]:
        target = client.get(f"/api/v1/clusters/{row.pk}/").json()["propositions"][0]
        return {name: target[name] for name in ("shown", "seen")}

    def correct(polarity: str, seen: dict[str, int]) -> Any:
        body = {"kind": "label", "value": label_value(polarity), "reason": "So."} | seen
        unit = row.propositions.get(position=0).unit_id
        return client.post(f"/api/v1/units/{unit}/corrections/", body, format="json")

    first = basis()
    curated = client.get(f"/api/v1/reviews/{row.review_id}/curation/").json()["clusters"][1]["propositions"][0]
    assert first == {name: curated["label"][name] for name in first}
    assert correct("negative", first).status_code == 201
    late = correct("no effect", first)
    assert (late.status_code, late.json()["current"][0]["value"]["polarity"]) == (409, "negative")
    assert basis() == {name: late.json()["current"][0][name] for name in first}
    assert correct("no effect", basis()).status_code == 201


def test_answers_are_shown_by_pseudonym_after_the_round_is_closed_and_not_to_viewers(
    corpus: Project, lead: User, ann1: User, viewer: Member, client_of: Client
) -> None:
    unit = Proposition.objects.get(cluster__key="26258610_0", position=0).unit
    member = Member.objects.get(project=corpus, user=ann1)
    round = build_round(corpus, [member], purpose="measure only", filters={"cluster": "26258610_0", "role": "target"})
    slot = round.assignments.get(unit=unit)
    slot.person = member
    slot.save()
    answer(ann1, slot, label_value("negative", "weak"))

    def answers(user: User) -> Any:
        reply = client_of(user).get(f"/api/v1/clusters/{unit.proposition.cluster_id}/")
        return reply.json()["propositions"][0]["answers"]

    assert answers(lead) == []
    round.status = "closed"
    round.save()
    [said] = answers(lead)
    assert (said["person"], said["round"], said["counted"]) == (member.pseudonym, "round", True)
    assert {"field": "polarity", "value": "negative"} in said["said"]
    assert answers(viewer.user) is None


def paths(project: Project) -> list[str]:
    return [
        *(f"/api/v1/projects/{project.slug}/{name}/" for name in (*LISTS, "summary", "statistics", "imports")),
        f"/api/v1/clusters/{Cluster.objects.first().pk}/",  # type: ignore[union-attr]
        f"/api/v1/reviews/{Review.objects.first().pk}/",  # type: ignore[union-attr]
        f"/api/v1/studies/{Study.objects.first().pk}/",  # type: ignore[union-attr]
        f"/api/v1/imports/{Import.objects.first().pk}/",  # type: ignore[union-attr]
        f"/api/v1/imports/{Import.objects.first().pk}/notices/",  # type: ignore[union-attr]
    ]


def test_strangers_get_404_for_corpus_pages(corpus: Project, stranger: User, client_of: Client) -> None:
    assert {client_of(stranger).get(path).status_code for path in paths(corpus)} == {404}
    assert {APIClient().get(path).status_code for path in paths(corpus)} == {401}


def test_replies_for_missing_objects_are_equal(corpus: Project, lead: User, client_of: Client) -> None:
    for name in ("clusters", "reviews", "studies", "imports"):
        assert client_of(lead).get(f"/api/v1/{name}/999999/").status_code == 404


def test_annotators_and_evaluators_do_not_see_labels(
    corpus: Project, ann1: User, evaluator: User, client_of: Client
) -> None:
    for user in (ann1, evaluator):
        assert {client_of(user).get(path).status_code for path in paths(corpus)} == {403}


def test_viewers_read_the_corpus_and_not_the_imports(corpus: Project, viewer: Member, client_of: Client) -> None:
    allowed = {path: client_of(viewer.user).get(path).status_code for path in paths(corpus)}
    assert all((status == 403) == ("imports" in path) for path, status in allowed.items())
    assert set(allowed.values()) == {200, 403}


def test_a_member_who_left_sees_nothing(corpus: Project, lead: User, ann2: User, client_of: Client) -> None:
    from django.utils import timezone

    Member.objects.filter(user=lead).update(left_at=timezone.now())
    assert {client_of(lead).get(path).status_code for path in paths(corpus)} == {404}


def test_reviews_and_studies_are_listed_and_opened(
    corpus: Project, lead: User, tmp_path: Path, client_of: Client
) -> None:
    import_records(corpus, write(tmp_path / "l2", [plain("26258610_0", "A sentence", ("111", "Its source"))]))
    client = client_of(lead)
    rows = client.get("/api/v1/projects/eye/materials/reviews/").json()["results"]
    assert [r["cells"] for r in rows] == [["", "26258610", None, "2", "1"], ["", "30000001", None, "1", "0"]]
    assert rows[0]["page"] == f"reviews/{rows[0]['id']}/curate"
    review = client.get(f"/api/v1/reviews/{rows[0]['id']}/").json()
    assert [c["key"] for c in review["clusters"]] == ["26258610_0", "26258610_1"]
    assert review["targets"][0]["inputs"][0]["study"]["pmid"] == "111"
    studies = client.get("/api/v1/projects/eye/materials/studies/").json()["results"]
    assert [s["cells"][1:] for s in studies] == [
        ["111", None, "1", "3"],
        ["222", None, "1", "1"],
        ["333", None, "1", "1"],
    ]
    study = client.get(f"/api/v1/studies/{studies[0]['id']}/").json()
    assert [p["cluster_key"] for p in study["propositions"]] == ["26258610_0", "26258610_1"]


def test_the_summary_counts_rows_and_current_values(corpus: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    assert client.get("/api/v1/projects/eye/summary/").json()["figures"] is None
    compute_and_store(project=corpus)
    summary = client.get("/api/v1/projects/eye/summary/").json()["figures"]
    assert {k: summary[k] for k in ("reviews", "studies", "clusters", "propositions", "inputs")} == {
        "reviews": 2,
        "studies": 3,
        "clusters": 3,
        "propositions": 7,
        "inputs": 4,
    }
    assert summary["values"]["target_polarity"] == [
        {"value": "positive", "count": 2},
        {"value": "no effect", "count": 0},
        {"value": "negative", "count": 1},
        {"value": "n/a", "count": 0},
    ]
    assert {"element": "c", "form": "implied", "count": 3} in summary["pico"]
    [row] = client.get("/api/v1/projects/eye/statistics/").json()["figures"]
    assert (row["level"], row["targets"], row["inputs"]) == ("proposition", 3, 4)


def test_a_list_costs_the_same_queries_for_10_and_60_clusters(
    lead: User, client_of: Client, tmp_path: Path, project: Project
) -> None:
    counts: list[dict[str, int]] = []
    client = client_of(lead)
    for slug, size in (("small", 10), ("large", 60)):
        other = Project.objects.create(slug=slug, name=slug)
        add_member(project=other, user=lead, role="lead", by=None)
        records = [cluster(f"{1000 + n}_0", [source(pmid=str(n + 1)), source(pmid=str(n + 2))]) for n in range(size)]
        import_records(other, write(tmp_path / slug, records))
        counts.append({})
        for name in (*LISTS, "summary", "statistics", "imports"):
            with CaptureQueriesContext(connection) as queries:
                reply = client.get(f"/api/v1/projects/{slug}/{name}/", {"page_size": "200", "polarity": "positive"})
            assert reply.status_code == 200
            counts[-1][name] = len(queries)
    assert counts[0] == counts[1]
    assert max(counts[0].values()) <= 22


def test_one_cluster_costs_the_same_queries_for_1_and_60_inputs(
    project: Project, lead: User, client_of: Client, file: Path
) -> None:
    import_records(project, write(file, [cluster("1_0"), cluster("2_0", [source(pmid=str(n)) for n in range(1, 61)])]))
    counts = []
    client = client_of(lead)
    for row in Cluster.objects.order_by("position"):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/api/v1/clusters/{row.pk}/").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 23
    assert (Label.objects.count(), DiscourseLabel.objects.count()) == (63, 2)
