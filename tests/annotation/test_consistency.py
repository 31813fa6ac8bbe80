"""Consistency checks: planted errors are found, findings persist over checks, curators answer them."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.consistency import actions as consistency_actions
from annotation.consistency import reading
from annotation.imports.actions import check_files, import_files
from annotation.kinds.supersede import supersede_text
from annotation.models import ConsistencyCheck, Finding, Proposition
from api.problems import Conflict
from audit.models import Entry
from measures.consistency import wording
from projects.curation.actions import correct
from projects.gold.queries import current_values
from projects.jobs.running import run_job
from projects.models import Change, Member, Project, Unit
from projects.uploads.files import Source
from tests.annotation.m3_files import LEVEL3, as_bytes, cluster, import_records, published, source, write
from tests.annotation.test_sample import RECORDS
from tests.builders import build_finding, label_value
from tests.projects.adjudication import AGREED, answer_by, closed_round, queue, take, unit_of
from tests.projects.test_contests import at_once

Record = dict[str, Any]
Client = Callable[[User], APIClient]
#: Planted changes: item, input (0 is the target), changed keys; and the rule and unit that must be found.
PLANTED: list[tuple[str, int, Record, str]] = [
    ("90000002_0", 0, {"discourse_relation": "contradiction"}, "relation"),
    ("90000003_0", 0, {"discourse_relation": "agreement"}, "relation"),
    ("90000002_1", 1, {"direction": "positive"}, "wording"),
    ("90000003_0", 3, {"direction": "positive"}, "wording"),
    ("90000001_1", 0, {"direction": "negative"}, "wording"),
    ("90000002_2", 1, {"direction": "negative"}, "wording"),
    ("90000002_2", 0, {"modality_span": ""}, "missing modality cue"),
    ("90000004_1", 3, {"modality_span": ""}, "missing modality cue"),
    ("90000003_2", 2, {"modality_span": ""}, "missing modality cue"),
    ("90000004_2", 3, {"direction_span": ""}, "missing polarity cue"),
    ("90000001_0", 0, {"direction_span": ""}, "missing polarity cue"),
    ("90000003_1", 1, {"direction_span": "too rare"}, "needless polarity cue"),
    ("90000004_1", 0, {"pico": {"o": "sick leave"}}, "tuple text"),
    ("90000003_0", 0, {"pico": {"p": "asbestos miners"}}, "tuple text"),
    (
        "90000004_2",
        0,
        {"pico": {"p": "", "i": "Marel exercises", "c": "[usual care]", "o": "[lower pain scores]"}},
        "repeated tuple",
    ),
]


def planted() -> tuple[list[Record], set[tuple[str, str]]]:
    """The sample with twenty planted errors, and (rule, first unit) of each."""
    records = {record["docid"]: json.loads(json.dumps(record)) for record in RECORDS}
    expected = set()
    for docid, place, changes, rule in PLANTED:
        record = records[docid]
        side, at = ("source", record["input_studies"][place - 1]) if place else ("target", record)
        for key, value in changes.items():
            if key == "pico":
                record["pico"] |= value
            else:
                at[key if key == "discourse_relation" else f"{side}_{key}"] = value
        of_cluster = rule in ("relation", "tuple text")
        first = {"repeated tuple": "90000004_0"}.get(rule, docid if of_cluster else f"{docid}/{place}")
        expected.add((rule, first))
    twice = records["90000002_0"]["input_studies"]
    twice[5] = dict(twice[1])
    expected.add(("repeated input", "90000002_0/6"))
    reused = records["90000001_0"]["input_studies"]
    records["90000005_1"]["input_studies"][0] = reused[1] | {"source_modality": "weak", "source_modality_span": "fewer"}
    expected.add(("differing labels", "90000001_0/2"))
    near = dict(reused[4])
    near |= {"source_text": near["source_text"] + " Today", "source_pmid": "90000182", "source_direction": "negative"}
    records["90000005_0"]["input_studies"][1] = near
    expected.add(("near duplicate", "90000001_0/5"))
    for record in records.values():
        record["input_text"] = " ||||| ".join(s["source_text"] for s in record["input_studies"])
    return list(records.values()), expected


def found(project: Project) -> list[tuple[str, str]]:
    return [(one.rule, one.unit) for one in consistency_actions.find_inconsistencies(project)[0]]


def check_and_keep(project: Project) -> dict[str, int]:
    findings, units = consistency_actions.find_inconsistencies(project)
    return consistency_actions.store_findings(project=project, sorted_findings=findings, units=units)


def test_the_sample_as_it_ships_has_nothing_to_look_at(project: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "sample.jsonl", RECORDS))
    assert found(project) == []


def test_twenty_errors_planted_in_the_sample_are_found_and_nothing_else(project: Project, tmp_path: Path) -> None:
    records, expected = planted()
    import_records(project, write(tmp_path / "planted.jsonl", as_bytes(records)))
    texts = {record["docid"]: record["target_text"] for record in records}
    path = tmp_path / "counterfactuals.csv"
    # Neither kind applies to a target without evidence.
    rows = [("90000003_1", "antonym", "reduces", "raises"), ("90000001_2", "antonym", "prevents", "provokes")]
    lines = [f'{docid},{kind},"{texts[docid].replace(old, new)}"' for docid, kind, old, new in rows]
    path.write_text("\n".join(["docid,kind,text", *lines, ""]), encoding="utf-8")
    checked = check_files(project=project, format="counterfactuals", sources=[Source.of(path)])
    import_files(project=project, format="counterfactuals", checked=checked, by=None)
    expected |= {("counterfactual", "90000003_1"), ("counterfactual", "90000001_2")}
    assert len(expected) == 20
    again = found(project)
    assert set(again) == expected
    assert len(again) == 20


@published
def test_the_rules_find_in_m3_what_is_known_of_it(project: Project) -> None:
    import_records(project, Source.of(LEVEL3))
    findings, _ = consistency_actions.find_inconsistencies(project)
    of = {rule: [f for f in findings if f.rule == rule] for rule in {f.rule for f in findings}}
    assert [f.unit for f in of["relation"]] == ["27096529_0", "31626152_1"]
    differing = of["differing labels"]
    said = [{value.rpartition("/")[::2] for value in f.rests_on} for f in differing]
    assert len(differing) == 62
    assert sum(len({polarity for polarity, _ in values}) > 1 for values in said) == 40
    assert sum(len({modality for _, modality in values}) > 1 for values in said) == 34
    targets = {f.unit for f in of["missing modality cue"] if f.unit.endswith("/0")}
    assert targets == {"27196321_1/0", "30320466_2/0", "26477843_2/0"}
    with (Path(__file__).resolve().parents[2] / "benchmarks" / "judged" / "wording_m3.csv").open() as frozen:
        ranked = [row["unit"] for row in csv.DictReader(frozen) if float(row["weight"]) >= wording.CUT]
    assert len(ranked) == 18
    assert [f.unit for f in of["wording"]] == ranked


def test_queries_of_a_check_do_not_grow_with_the_clusters(project: Project, tmp_path: Path) -> None:
    counts = []
    for n in (2, 20):
        import_records(project, write(tmp_path / f"{n}.jsonl", [cluster(f"3{n:07}_{i}") for i in range(n)]))
        with CaptureQueriesContext(connection) as queries:
            consistency_actions.find_inconsistencies(project)
        counts.append(len(queries))
    # Clusters with the same tuple are checked again.
    assert counts[0] == counts[1] <= 26


def test_a_correction_withdraws_just_the_findings_that_it_settles(project: Project, lead: User, tmp_path: Path) -> None:
    """After each correction the stored findings equal those of a complete check."""
    records, _ = planted()
    import_records(project, write(tmp_path / "planted.jsonl", as_bytes(records)))
    check_and_keep(project)
    by = Member.objects.get(project=project, user=lead)
    before = set(Finding.objects.of(project).order_by().values_list("rule", "reason"))
    for number, finding in enumerate(Finding.objects.of(project)):
        names = list(finding.named.order_by("position").values_list("unit", flat=True))
        claim = Proposition.objects.filter(unit__in=names).select_related("unit").first()
        if finding.rule == "relation":
            value = {"relation": "agreement" if number % 2 else "contradiction"}
            correct(unit=Unit.objects.get(pk=names[0]), kind="discourse", value=value, reason="Read again.", by=by)
        elif claim and finding.rule in ("repeated input", "near duplicate"):
            supersede_text(proposition=claim, text="Nepralin was well tolerated.", reason="A slip.", by=by)
        elif claim:
            value = label_value("n/a", "no evidence")
            correct(unit=claim.unit, kind="label", value=value, reason="Read again.", by=by)
        checked = {(one.rule, one.reason) for one in consistency_actions.find_inconsistencies(project)[0]}
        kept = set(Finding.objects.of(project).order_by().values_list("rule", "reason"))
        assert kept <= checked, "a finding that was settled is still shown"
        assert all(was not in checked for was in before - kept), "a finding that holds has gone"
        before = kept
    assert len(before) < 10


@pytest.fixture
def odd(project: Project, lead: User, tmp_path: Path) -> Project:
    """A checked project with one relation that contradicts its inputs."""
    unlike = source(
        "Nepralin had no effect on relapse.",
        "222",
        source_direction="no effect",
        source_modality="moderate",
        source_direction_span="no effect",
        source_modality_span="",
    )
    import_records(project, write(tmp_path / "odd.jsonl", [cluster(studies=[source(), unlike]), cluster("26258610_1")]))
    check_and_keep(project)
    return project


def test_answers_to_findings_persist_over_checks(odd: Project, lead: User) -> None:
    member = Member.objects.get(user=lead, project=odd)
    finding = Finding.objects.get(rule="relation")
    consistency_actions.dismiss(finding=finding, reason="The review pools both.", by=member)
    assert check_and_keep(odd)["new"] == 0
    assert Finding.objects.get(pk=finding.pk).decision == Finding.Decision.DISMISSED
    assert Entry.objects.filter(verb="dismiss finding", reason="The review pools both.").count() == 1
    with pytest.raises(Conflict):
        consistency_actions.dismiss(finding=finding, reason="Again.", by=member)
    consistency_actions.reopen(finding=finding, reason="", by=member)
    assert Finding.objects.waiting().filter(pk=finding.pk).exists()


def test_several_findings_are_kept_for_one_reason_or_none_of_them(
    odd: Project, lead: User, stranger: User, client_of: Client
) -> None:
    units = Unit.objects.filter(project=odd)[:3]
    ids = [build_finding(odd, unit.pk).pk for unit in units]
    address, client = "/api/v1/projects/eye/findings/dismissals/", client_of(lead)
    assert client_of(stranger).post(address, {"findings": ids, "reason": "x"}, "json").status_code in (403, 404)
    assert client.post(address, {"findings": [*ids, 10**9], "reason": "x"}, "json").status_code == 404
    assert client.post(f"/api/v1/findings/{ids[-1]}/", {"say": "dismiss", "reason": "x"}, "json").status_code == 200
    assert client.post(address, {"findings": ids, "reason": "x"}, "json").status_code == 409, "one is resolved already"
    waiting = Finding.objects.waiting().filter(pk__in=ids)
    assert waiting.count() == len(ids) - 1
    assert client.post(address, {"findings": ids[:-1], "reason": "Meant so."}, "json").status_code == 204
    assert not waiting.exists()
    assert Entry.objects.filter(verb="dismiss finding").count() == len(ids)


def test_a_finding_sent_to_review_gives_its_reason(odd: Project, lead: User, client_of: Client) -> None:
    finding = Finding.objects.get(rule="relation")
    client = client_of(lead)
    address = f"/api/v1/findings/{finding.pk}/"
    assert client.post(address, {"say": "send", "reason": " "}, "json").status_code == 422
    said = client.post(address, {"say": "send", "reason": "Which is meant?"}, "json").json()
    assert (said["decision"], said["decision_reason"]) == ("sent", "Which is meant?")
    assert said["queues"] == [], "a file brought the relation in: no round has a queue with it"
    change = Change.objects.unsettled().get()
    assert (change.unit.key, change.kind, change.what) == ("26258610_0", "discourse", "doubt")
    assert finding.reason in change.reason
    assert "Which is meant?" in change.reason
    assert client.post(address, {"say": "dismiss", "reason": "No."}, "json").status_code == 409


def test_decisions_of_a_closed_round_sent_to_review_wait_in_its_queue(
    project: Project, lead: User, ann1: User, client_of: Client
) -> None:
    me, client = Member.objects.get(project=project, user=ann1), client_of(lead)
    round = closed_round(project, [me], [AGREED[:1], AGREED[:1]])
    unit = unit_of(round)
    decided = current_values([unit], "label")
    finding = build_finding(project, unit.pk, rule="wording")
    sent = client.post(f"/api/v1/findings/{finding.pk}/", {"say": "send", "reason": "Is it?"}, "json").json()
    assert sent["queues"] == [{"round": round.pk, "name": "first labels"}]
    assert [(row["unit"], row["contested"]) for row in queue(client, round)["rows"]] == [
        (unit.pk, ["polarity", "polarity_cue", "modality", "modality_cue"])
    ]
    assert current_values([unit], "label") == decided, "until somebody decides it otherwise"

    assert take(client, round, unit, answer_by(round, unit, me)).status_code == 201
    assert queue(client, round)["counts"]["waiting"] == 0
    assert not Change.objects.unsettled().exists()
    address = f"/api/v1/projects/{project.slug}/findings/?state=sent"
    assert client.get(address).json()["results"] == [], "the decision settled what the finding doubted"


def test_the_page_asks_a_worker_and_shows_what_came_of_it(odd: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    address = f"/api/v1/projects/{odd.slug}/consistency/"
    assert client.get(address).json()["checked_at"]
    job = client.post(address).json()["id"]
    assert client.post(address).json()["id"] == job
    run_job(job)
    now = client.get(address).json()
    assert now["job"] is None
    assert {rule["rule"]: rule["waiting"] for rule in now["rules"] if rule["waiting"]}.keys() >= {"relation"}
    with CaptureQueriesContext(connection) as one:
        rows = client.get(f"/api/v1/projects/{odd.slug}/findings/?rule=relation&state=waiting").json()["results"]
    [unit] = rows[0]["units"]
    target = Proposition.objects.get(cluster__key="26258610_0", position=0)
    assert (unit["key"], unit["text"]) == ("26258610_0", target.text), "a cluster is known by its target"
    with CaptureQueriesContext(connection) as all_of_them:
        assert client.get(f"/api/v1/projects/{odd.slug}/findings/").json()["count"] > 1
    assert len(all_of_them) == len(one)


@pytest.mark.django_db(transaction=True)
def test_concurrent_checks_keep_the_findings_of_each_other(project: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "twice.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    findings, units = consistency_actions.find_inconsistencies(project)
    assert findings
    kept, new = Event(), []

    def first() -> None:
        with transaction.atomic():
            new.append(
                consistency_actions.store_findings(project=project, sorted_findings=findings, units=units)["new"]
            )
            kept.set()
            sleep(0.3)

    def second() -> None:
        kept.wait(10)
        new.append(consistency_actions.store_findings(project=project, sorted_findings=findings, units=units)["new"])

    assert at_once(first, second) == []
    assert new == [len(findings), 0]
    assert Finding.objects.filter(is_current=True).count() == len(findings)


def test_the_command_checks_once_and_prints_every_finding_with_its_reason(
    odd: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = StringIO()
    read = Mock(wraps=reading.Corpus)
    monkeypatch.setattr(reading, "Corpus", read)
    before = ConsistencyCheck.objects.get().at
    call_command("consistency", project=odd.slug, format="json", stdout=out)
    assert read.call_count == 1
    assert ConsistencyCheck.objects.get().at > before
    rows = json.loads(out.getvalue())
    relation = next(row for row in rows if row["rule"] == "relation")
    assert relation.items() >= {"unit": "26258610_0", "units": ["26258610_0"]}.items()
    assert "1 positive, 1 no effect" in relation["reason"]
    out = StringIO()
    call_command("consistency", project=odd.slug, dry_run=True, stdout=out)
    assert f"{len(rows)} findings." in out.getvalue()
