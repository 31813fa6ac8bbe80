"""A review rebuilt on the curate page is released with the same clusters as the import."""

import json
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cluster, Proposition, Review
from measures import spans
from projects.gold.actions import finish_round
from projects.models import Decision, Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.publishing.actions import write_release
from tests.annotation.m3_files import LEVEL3, import_records, published, write
from tests.builders import answer, build_round

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
Record = dict[str, Any]
Client = Callable[[User], APIClient]
SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"


def records_of(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def markable(text: str, cue: str) -> str:
    """Return the cue as spelled in the text, or nothing if it does not occur."""
    found = spans.locate(text, cue)
    return text[slice(*found.ranges[0])] if found.ranges else ""


def as_typed(record: Record) -> Record:
    """Return the record with cues that occur in the text. (Published ones may be misspelt or missing.)"""
    out = json.loads(json.dumps(record))
    for side, one in (("target", out), *(("source", s) for s in out["input_studies"])):
        for name in ("modality", "direction"):
            key = f"{side}_{name}_span"
            one[key] = "" if one[f"{side}_direction"] == "n/a" == name else markable(one[f"{side}_text"], one[key])
    return dict(out)


def label(one: Record, side: str) -> Record:
    """Return the label of a text as the page sends it."""
    text = one[f"{side}_text"]

    def fragments(cue: str) -> list[Record]:
        return [{"start": s, "end": e, "quote": text[s:e]} for s, e in spans.locate(text, cue).ranges]

    polarity_cue = fragments(one[f"{side}_direction_span"]) if one[f"{side}_direction"] != "n/a" else []
    return {
        "polarity": one[f"{side}_direction"],
        "modality": one[f"{side}_modality"],
        "polarity_cue": polarity_cue,
        "modality_cue": fragments(one[f"{side}_modality_span"]),
    }


def pico(record: Record) -> Record:
    return {slot: {"text": text} for slot, text in record["pico"].items()}


def row(record: Record, *, said: bool) -> Record:
    """Return a record as the page sends it, with or without labels."""
    inputs = [
        {"pmid": s["source_pmid"], "text": s["source_text"]} | ({"label": label(s, "source")} if said else {})
        for s in record["input_studies"]
    ]
    values = {"tuple": pico(record), "label": label(record, "target"), "relation": record["discourse_relation"]}
    return {"text": record["target_text"], "inputs": inputs} | (values if said else {})


def type_in(client: APIClient, slug: str, records: Iterable[Record], *, said: bool) -> None:
    """Create the reviews in order and paste the clusters of each."""
    by_review: dict[str, list[Record]] = {}
    for record in records:
        by_review.setdefault(record["docid"].partition("_")[0], []).append(record)
    for pmid, mine in by_review.items():
        made = client.post(f"/api/v1/projects/{slug}/reviews/", {"uuid": uuid.uuid4(), "pmid": pmid}, format="json")
        assert made.status_code == 201, made.content
        body = {"uuid": uuid.uuid4(), "rows": [row(r, said=said) for r in mine]}
        reply = client.post(f"/api/v1/reviews/{made.json()['id']}/clusters/", body, format="json")
        assert reply.status_code == 201, reply.content
        assert all(not c["missing"] for c in reply.json()["clusters"]) == said


def clusters_released(project: Project, out: Path) -> bytes:
    write_release(project=project, version="1.0.0", out=out)
    return (out / "m3" / "level3.jsonl").read_bytes()


@pytest.fixture
def fresh(lead: User, ann1: User) -> Project:
    project = Project.objects.create(slug="fresh", name="Fresh")
    Member.objects.create(project=project, user=lead, role="lead", pseudonym="L1")
    Member.objects.create(project=project, user=ann1, role="annotator", pseudonym="A1")
    return project


def test_the_sample_pasted_by_rows_is_released_as_if_it_had_been_imported(
    project: Project, fresh: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    records = [as_typed(r) for r in records_of(SAMPLE)]
    import_records(project, write(tmp_path / "typed.jsonl", records))
    type_in(client_of(lead), "fresh", records, said=True)
    released = clusters_released(fresh, tmp_path / "by hand")
    assert released == clusters_released(project, tmp_path / "imported")
    assert len(released.splitlines()) == len(records)
    assert set(Decision.objects.filter(unit__project=fresh).values_list("origin", flat=True)) == {
        "decided by a curator"
    }


@published
def test_a_review_of_m3_cell_by_cell_is_released_as_published(
    fresh: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    """The review with the most clusters whose cues can all be marked: its lines byte by byte."""
    by_review: dict[str, list[tuple[str, Record]]] = {}
    for line in LEVEL3.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        by_review.setdefault(record["docid"].partition("_")[0], []).append((line, record))
    whole = [mine for mine in by_review.values() if all(as_typed(r) == r for _, r in mine)]
    mine = max(whole, key=len)
    assert len(mine) >= 3
    client = client_of(lead)
    type_in(client, "fresh", [r for _, r in mine], said=False)
    review = Review.objects.get(project=fresh)
    page = client.get(f"/api/v1/reviews/{review.pk}/curation/").json()
    for kind in ("tuple", "label", "discourse"):
        rows = [
            {"kind": kind, "unit": unit, "value": value, "shown": 1, "seen": 0}
            for cluster, (_, record) in zip(page["clusters"], mine, strict=True)
            for unit, value in values_of(kind, cluster, record)
        ]
        body = {"uuid": uuid.uuid4(), "rows": rows}
        reply = client.post(f"/api/v1/reviews/{review.pk}/corrections/", body, format="json")
        assert reply.status_code == 201, reply.content
    released = clusters_released(fresh, tmp_path / "by hand")
    assert released.decode().splitlines() == [line for line, _ in mine]


def values_of(kind: str, cluster: Record, record: Record) -> list[tuple[int, Record]]:
    if kind == "tuple":
        return [(cluster["unit"], pico(record))]
    if kind == "discourse":
        return [(cluster["unit"], {"relation": record["discourse_relation"]})]
    sides = [label(record, "target"), *(label(s, "source") for s in record["input_studies"])]
    return [(p["unit"], value) for p, value in zip(cluster["propositions"], sides, strict=True)]


def test_rounds_of_the_three_kinds_release_the_same(
    fresh: Project, project: Project, lead: User, ann1: User, client_of: Client, tmp_path: Path
) -> None:
    """Labels, relations and tuples of the same rows, answered in rounds instead."""
    records = [as_typed(r) for r in records_of(SAMPLE)][:3]
    type_in(client_of(lead), "fresh", records, said=False)
    type_in(client_of(lead), "eye", records, said=True)
    said = {r["docid"]: r for r in records}
    for kind in ("tuple", "label", "discourse"):
        round = build_round(fresh, [Member.objects.get(project=fresh, user=ann1)], kind=kind, name=kind)
        while held := next_assignments(user=ann1, round=round):
            slot = held[0]
            cluster = Cluster.objects.get(unit=slot.unit_id) if kind != "label" else None
            if cluster is None:
                claim = Proposition.objects.select_related("cluster").get(unit=slot.unit_id)
                record = said[claim.cluster.key]
                one = record["input_studies"][claim.position - 1] if claim.position else record
                value = label(one, "source" if claim.position else "target")
            else:
                record = said[cluster.key]
                value = values_of(kind, {"unit": cluster.unit_id, "propositions": []}, record)[0][1]
                value = whole_tuple(value) if kind == "tuple" else value
            answer(ann1, slot, value, kind=kind)
        close_round(round=round, by=lead)
        round.refresh_from_db()
        finish_round(round=round, by=lead)
    by_rounds = clusters_released(fresh, tmp_path / "rounds")
    assert by_rounds == clusters_released(project, tmp_path / "page")
    assert len(by_rounds.splitlines()) == 3


def whole_tuple(value: Record) -> Record:
    """As completed by the serializer."""
    return {
        slot: {"text": one["text"], "fragments": []} | ({"stands_for": ""} if slot == "c" else {})
        for slot, one in value.items()
    }


def test_records_without_inputs_are_reported_and_the_rest_can_be_imported(
    fresh: Project, project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    client = client_of(lead)
    sentences = [{"text": "It helps.", "inputs": [{"pmid": "1", "text": "It helped."}]}, {"text": "It harms."}]
    body = {"uuid": uuid.uuid4(), "pmid": "31000000", "sentences": sentences}
    review = client.post("/api/v1/projects/fresh/reviews/", body, format="json").json()["id"]
    label = {"polarity": "positive", "modality": "moderate"}
    rows = {
        "uuid": uuid.uuid4(),
        "rows": [{"text": "It helps.", "tuple": {s: {"text": "it"} for s in "pico"}, "label": label}],
    }
    assert client.post(f"/api/v1/reviews/{review}/clusters/", rows, format="json").status_code == 201
    manifest = write_release(project=fresh, version="1.0.0", out=tmp_path / "r")
    assert manifest["counts"]["targets_without_inputs"] == ["31000000_1"]
    assert manifest["counts"]["clusters_without_complete_gold"] == ["31000000_0"]
    assert "Omitted because they have no inputs: 1 target" in (tmp_path / "r" / "README.md").read_text()
    [made] = import_records(
        project, write(tmp_path / "again.jsonl", (tmp_path / "r" / "m3" / "level2.jsonl").read_bytes())
    )
    assert made.counts["targets"] == 1
