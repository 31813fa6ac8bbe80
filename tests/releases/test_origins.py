"""The page of an origin, and the command for a release folder, agree with an independent script in SQL."""

import csv
import json
import random
import uuid
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.curation.actions import add_clusters
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition, Review
from projects.adjudication.actions import adjudicate
from projects.adjudication.queries import decisions_of
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Answer, Decision, Import, ImportedRecord, Member, Origin, Project, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.folders import chain, folder, standalone
from releases.folders import origins as of_folder
from releases.origins import queries
from releases.publishing.actions import freeze, write_release
from releases.sources.options import ReleaseOptions
from tests.annotation import ms2_files
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.builders import answer, build_round, label_value
from tests.conftest import person
from tests.releases.test_needed_again import without_snapshot

pytestmark = pytest.mark.django_db
VALUES = 100
REASON = "R\r\n2, =1"
#: Own SQL: all decisions on a field, oldest first, with what they adopt.
HISTORY = """
    SELECT d.id, d.origin, d.answer_id, d.imported_id, d.reason, r.name, g.number, author.pseudonym, decider.pseudonym
    FROM projects_decision d
    JOIN projects_unit u ON u.id = d.unit_id
    LEFT JOIN projects_round r ON r.id = d.round_id
    LEFT JOIN projects_answer a ON a.uuid = d.answer_id
    LEFT JOIN projects_guideline g ON g.id = a.guideline_id
    LEFT JOIN projects_member author ON author.id = a.author_id
    LEFT JOIN projects_member decider ON decider.user_id = d.decided_by_id AND decider.project_id = u.project_id
    WHERE u.project_id = %s AND u.type = %s AND u.key = %s AND d.kind = %s AND d.field = %s
    ORDER BY d.id
"""
ANSWERS = """
    SELECT a.uuid, m.pseudonym, a.revision, r.name, g.number
    FROM projects_answer a
    JOIN projects_assignment s ON s.id = a.assignment_id
    JOIN projects_unit u ON u.id = s.unit_id
    JOIN projects_round r ON r.id = s.round_id
    JOIN projects_guideline g ON g.id = a.guideline_id
    JOIN projects_member m ON m.id = a.author_id
    WHERE u.project_id = %s AND u.type = %s AND u.key = %s AND r.purpose != 'practice'
    ORDER BY a.uuid
"""
Row = tuple[Any, ...]


def sql(statement: str, *parameters: str | int) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def plain(value: Any) -> str:
    """Return a cell as text. SQLite stores a UUID without hyphens."""
    text = "" if value is None else str(value)
    return text.replace("-", "") if len(text) in (32, 36) else text


@pytest.fixture(scope="module")
def rows(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with values that were imported, typed, corrected twice, adjudicated, and read by a machine.

    Created once; changes of a test are rolled back. Returns the folder with its release and the imported file.
    """
    tmp_path = tmp_path_factory.mktemp("origins")
    lead, ann1, ann2, evaluator = map(person, ("lead", "ann1", "ann2", "evaluator"))
    project = Project.objects.create(slug="eye", name="Eye")
    roles = ((lead, "lead"), (ann1, "annotator"), (ann2, "annotator"), (evaluator, "evaluator"))
    for n, (user, role) in enumerate(roles):
        Member.objects.create(project=project, user=user, role=role, pseudonym=f"R{n}")
    by = Member.objects.get(user=lead)
    people = [Member.objects.get(user=user) for user in (ann1, ann2)]
    records = [cluster(f"{26258610 + n}_0", [source(), source(pmid="112")]) for n in range(40)]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    texts = Proposition.objects.in_corpus_order()
    for text in texts[:12]:
        for polarity in ("negative", "no effect"):
            value = label_value(polarity, "strong")
            correct(unit=text.unit, kind="label", value=value, reason=f"It is {polarity}.", by=by)
    typed = {"text": "It helps.", "sentence": None, "tuple": None, "label": label_value("negative"), "relation": None}
    row = typed | {"inputs": [{"pmid": "444", "text": "It helped.", "label": label_value("positive")}]}
    add_clusters(review=Review.objects.earliest("pk"), rows=[row], by=by, batch=uuid.uuid4())
    round = build_round(project, people, name="pilot", overlap=2, filters={"cluster": "26258625_0"})
    for user, polarity in ((ann1, "positive"), (ann2, "negative")):
        while slots := next_assignments(user=user, round=round):
            answer(user, slots[0], label_value(polarity))
    close_round(round=round, by=lead)
    finish_round(round=round, by=None)
    for contested in Decision.objects.filter(origin=Origin.CONTESTED, field="polarity").select_related("unit"):
        chosen = Answer.objects.filter(assignment__unit=contested.unit, author=people[1]).get()
        seen = max(d.pk for d in decisions_of(contested.unit, "label"))
        how: dict[str, Any] = {"seen": seen, "reason": REASON, "answer": chosen.pk}
        adjudicate(round=round, unit=contested.unit, by=by, called=lambda user: "", **how)
    ms2_files.import_records(project, ms2_files.write(tmp_path / "ms2.jsonl", [ms2_files.review(n) for n in (7, 8)]))
    options = {"sentence_task": "sentence_classes"}
    build_round(project, [by], name="classes", kind="sentences", purpose="review and correct", options=options)
    supersede_text(proposition=texts[20], text="Another text.", reason="A typing error.", by=by)
    assert {Origin.IMPORTED, Origin.CURATED, Origin.MACHINE} <= set(Decision.objects.values_list("origin", flat=True))
    with without_snapshot():
        left_out = ReleaseOptions(without=["parquet"])
        write_release(project=project, version="1.0.0", out=tmp_path / "r", options=left_out)
    return tmp_path


@pytest.fixture
def built(rows: Path, db: None) -> Project:
    return Project.objects.get(slug="eye")


@pytest.fixture
def lead(built: Project) -> User:
    return User.objects.get(email="lead@example.org")


@pytest.fixture
def ann1(built: Project) -> User:
    return User.objects.get(email="ann1@example.org")


@pytest.fixture
def evaluator(built: Project) -> User:
    return User.objects.get(email="evaluator@example.org")


def as_rows(steps: list[dict[str, Any]]) -> dict[int, Row]:
    """Return what `HISTORY` finds of each decision, by its number. An import shows the values that it brought."""
    rows = {}
    for step in steps:
        shown = [step[name] for name in ("origin", "answer", "imported", "reason", "round", "guideline", "rater", "by")]
        if step["what"] == "imported":
            shown[0], shown[-1] = "imported", ""
        for value in step["values"]:
            rows[value["decision"]] = (value["decision"], *map(plain, shown))
    return rows


def test_100_values_have_the_origin_that_sql_finds(built: Project, lead: User, rows: Path) -> None:
    at, member = rows / "r", Member.objects.get(user=lead)
    found = folder.read(at)
    with (at / "provenance" / "values.csv").open(newline="") as file:
        every = list(csv.DictReader(file))
    by_unit: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for value in random.Random(7).sample(every, VALUES):
        by_unit[value["unit_type"], value["unit"]].append(value)
    lines = {json.loads(line)["docid"]: n for n, line in enumerate((rows / "level3.jsonl").open(), start=1)}
    origins: set[str] = set()
    for (type, key), values in by_unit.items():
        unit = Unit.objects.get(project=built, type=type, key=key)
        name = " ".join(values[0][column] for column in ("unit_type", "unit", "kind", "field"))
        command = of_folder.find(at, found, "provenance/values.csv", name)
        answers = {tuple(map(plain, row)) for row in sql(ANSWERS, built.pk, type, key)}
        for steps in (queries.page(unit, member)["steps"], [asdict(step) for step in chain.shown(command.chain)]):
            told = as_rows(steps)
            for value in values:
                expected = [(row[0], *map(plain, row[1:])) for row in sql(HISTORY, built.pk, *list(value.values())[:4])]
                assert [told[row[0]] for row in expected] == expected
                origins.add(expected[-1][1])
                if expected[-1][3] and type in ("proposition", "cluster"):
                    step = next(s for s in steps if any(v["decision"] == expected[-1][0] for v in s["values"]))
                    assert (step["file"], step["line"]) == ("level3.jsonl", lines[key.split("/")[0]])
            given = {
                tuple(plain(step[name]) for name in ("answer", "by", "revision", "round", "guideline"))
                for step in steps
                if step["what"] == "answered"
            }
            # Answers of the curate page are shown by the decisions that adopt them.
            adopted = {row[2] for row in told.values()}
            assert given | {row for row in answers if row[0] in adopted} == answers
    assert {Origin.IMPORTED, Origin.CURATED} <= origins


@pytest.mark.parametrize("kind", ["machine", "curated twice", "adjudicated", "typed", "corrected text"])
def test_each_way_of_a_value_is_told(built: Project, lead: User, kind: str) -> None:
    member = Member.objects.get(user=lead)
    find = {
        "machine": lambda: Decision.objects.filter(origin=Origin.MACHINE).latest("pk").unit,
        "curated twice": lambda: Proposition.objects.in_corpus_order()[0].unit,
        "adjudicated": lambda: Decision.objects.filter(reason=REASON).latest("pk").unit,
        "typed": lambda: Unit.objects.filter(made_by__isnull=False, type="proposition").earliest("pk"),
        "corrected text": lambda: Unit.objects.get(key__endswith="~2"),
    }
    page = queries.page(find[kind](), member)
    told = [(step["role"], step["what"], step["origin"]) for step in page["steps"] if step["role"] != "cluster"]
    own = [(what, origin) for role, what, origin in told if role == "unit"]
    expected = {
        "curated twice": [("imported", ""), ("decided", "decided by a curator"), ("decided", "decided by a curator")],
        "typed": [("typed", ""), ("decided", "decided by a curator")],
    }
    if kind == "machine":
        assert (own[0], own[-1]) == (("imported", ""), ("decided", "machine"))
        assert ("read", "") in own
    elif kind == "adjudicated":
        assert [what for what, _ in own] == ["imported", "answered", "answered", "decided", "decided", "decided"]
        assert page["steps"][-1]["reason"] == REASON
    elif kind == "corrected text":
        [step] = [step for step in page["steps"] if step["what"] == "corrected"]
        assert (step["role"], step["after"], step["reason"]) == ("earlier text", "Another text.", "A typing error.")
    else:
        assert own == expected[kind]


def test_the_page_takes_a_fixed_number_of_queries(built: Project, lead: User) -> None:
    member, texts = Member.objects.get(user=lead), Proposition.objects.in_corpus_order()
    counts = []
    for text in (texts[30], texts[0]):
        queries.page(text.unit, member)
        with CaptureQueriesContext(connection) as queries_of_page:
            queries.page(text.unit, member)
        counts.append(len(queries_of_page))
    # Values of answers add those of their kind, however many there are.
    assert counts[1] - counts[0] <= 6, counts


def test_roles_see_what_they_may(built: Project, ann1: User, evaluator: User) -> None:
    Member.objects.filter(user=evaluator).update(role="viewer")
    unit = Decision.objects.filter(reason=REASON).latest("pk").unit
    client = APIClient()
    client.force_login(ann1)
    assert client.get(f"/api/v1/units/{unit.pk}/origin/").status_code == 403
    client.force_login(evaluator)
    page = client.get(f"/api/v1/units/{unit.pk}/origin/").json()
    assert "answered" not in [step["what"] for step in page["steps"]]
    assert {step["rater"] for step in page["steps"]} == {""}
    assert page["missing"] == ["2 answers not shown: only leads and curators see them."]


def test_a_row_of_a_release_leads_to_its_unit_and_back(built: Project, lead: User) -> None:
    with without_snapshot():
        release = freeze(project=built, version="1.0.0", by=lead)
    client = APIClient()
    client.force_login(lead)
    answer_row = Answer.objects.filter(assignment__round__name="pilot").earliest("received_at")
    for file, key, unit in (
        ("m3/level3.jsonl", "26258610_0", Unit.objects.get(type="cluster", key="26258610_0")),
        ("answers/label.csv", str(answer_row.pk), answer_row.assignment.unit),
        ("provenance/values.csv", "proposition 26258610_0/1 label polarity", Unit.objects.get(key="26258610_0/1")),
    ):
        at = f"/api/v1/releases/{release.pk}/row/"
        assert client.get(at, {"file": file, "key": key}).json() == {"unit": unit.pk}
        [one] = client.get(f"/api/v1/units/{unit.pk}/origin/releases/").json()
        assert (file, key) in [(row["file"], row["key"]) for row in one["rows"]]
    assert client.get(at, {"file": "m3/level3.jsonl", "key": "nothing"}).status_code == 404
    assert client.get(at, {"file": "../manifest.json", "key": "x"}).status_code == 404


def test_a_folder_says_what_it_lacks(built: Project, rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = rows / "r"
    assert standalone.main(["origin", str(at), "m3/level3.jsonl", "26258610_0/1"], "no settings") == 0
    said = capsys.readouterr().out
    assert "level3.jsonl, line 1, input 1 (import" in said
    assert "Reason: It is negative." in said
    assert "polarity: no effect" in said
    assert "Not in this folder: Texts before corrections" in said
    for file, key, message in (
        ("m3/level3.jsonl", "none", "has no row with the key none; its first key is 26258610_0."),
        ("README.md", "x", "README.md is no file of rows."),
        ("rounds.jsonl", "pilot", "rounds.jsonl is not about single units"),
    ):
        assert standalone.main(["origin", str(at), file, key], "no settings") == 2
        assert message in capsys.readouterr().err
    document = json.loads((at / chain.PATH).read_text())
    used = {i for node in document["@graph"] for name, v in node.items() if name.startswith("prov:") for i in _ids(v)}
    assert used <= {node["@id"] for node in document["@graph"]}, "a node names one that is not there"
    assert len({node["@id"] for node in document["@graph"]}) == len(document["@graph"])
    texts = {text for (text,) in Proposition.objects.values_list("text")}
    assert not [text for text in texts if text in (at / chain.PATH).read_text()]


def _ids(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    found = [each["@id"] if isinstance(each, dict) else each for each in values]
    return [each for each in found if isinstance(each, str) and each.startswith("data:")]


def test_lines_are_unknown_for_imports_from_before(built: Project, lead: User) -> None:
    ImportedRecord.objects.filter(imported=Import.objects.get(format="m3")).delete()
    page = queries.page(Unit.objects.get(type="cluster", key="26258610_0"), Member.objects.get(user=lead))
    assert [step["line"] for step in page["steps"] if step["what"] == "imported" and step["role"] == "unit"] == [0]
    assert page["missing"] == ["The line is unknown: the file was imported before lines were stored."]
