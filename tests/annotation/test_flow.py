"""The flow figure of a data set: every stage that has begun, with consistent counts."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from annotation.curation.actions import add_sentences
from annotation.flow.queries import Stage, stages
from annotation.models import EvidencePair, Input, RecordStatus, Review, Sentence, Study, Target
from annotation.pubmed import client as pubmed_client
from projects.curation.actions import correct
from projects.models import Decision, Member, Project, Unit
from projects.reports.registry import Tables, get
from projects.stored_figures.actions import compute_and_store
from tests.annotation.pubmed_stub import Stub, serving
from tests.annotation.test_pubmed_search import asked, done
from tests.annotation.test_study_lists import build_review, decide, listed

pytestmark = pytest.mark.django_db
SLOT = {"text": "nepralin", "fragments": []}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(pubmed_client, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(pubmed_client, "WITHOUT_KEY", timedelta(0))
    with serving() as found:
        yield found


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def screen(review: Review, said: str, by: Member) -> None:
    correct(unit=review.unit, kind="screen", value={"screening": said}, reason="Read.", by=by)


def read(review: Review, by: Member, dropped: str = "", **said: str) -> None:
    """Classify these sentences; all others bear no evidence."""
    rows = Sentence.objects.filter(review=review).values_list("number", flat=True)
    marks = [{"number": n, "said": said.get(f"s{n}", "neither")} for n in rows]
    value = {"evidence_sentences": {"dropped": dropped, "sentences": [] if dropped else marks}}
    correct(unit=review.unit, kind="sentences", value=value, reason="Read.", by=by)


def split(target: Target, by: Member) -> None:
    rows = [{"p": SLOT, "i": SLOT, "c": SLOT | {"stands_for": ""}, "o": {"text": o, "fragments": []}} for o in "xy"]
    correct(unit=target.unit, kind="pico", value={"tuples": rows}, reason="Read.", by=by)


def contest(unit: Unit, kind: str, field: str) -> None:
    Decision.objects.create(unit=unit, kind=kind, field=field, origin="contested", decided_at=timezone.now())


def by_key(project: Project) -> dict[str, Stage]:
    return {stage.key: stage for stage in stages(project)}


def test_the_flow_figure_of_a_new_project_shows_started_stages_only(project: Project) -> None:
    assert stages(project) == []
    build_review(project, topic="pain")
    assert [(one.key, one.count, one.aside) for one in stages(project)] == [("retrieved", 1, ())]


def test_a_small_project_that_is_played_through_adds_up(project: Project, by: Member, stub: Stub) -> None:
    stub.fill(5)
    done(asked(project, by))
    done(asked(project, by, query="relapse again"))
    build_review(project, topic="relapse")
    reviews = list(Review.objects.order_by("pk"))
    for review, said in zip(reviews, ("include", "include", "include", "not relevant", "superseded"), strict=False):
        screen(review, said, by)
    decide(reviews[0], by, "50000001", "50000002", "50000003")
    decide(reviews[2], by, "50000002", without=1)
    Study.objects.filter(pmid="50000001").update(abstract="It helped.", record=RecordStatus.READ)
    Study.objects.filter(pmid="50000002").update(record=RecordStatus.NO_ABSTRACT)
    read(reviews[0], by, s4="picked", s3="table data")
    read(reviews[2], by, dropped="too many studies")
    add_sentences(review=reviews[0], rows=[{"text": "Typed by hand.", "inputs": []}], by=by)
    picked = Target.objects.get(sentence__isnull=False)
    Input.objects.create(target=picked, study=Study.objects.get(pmid="50000001"), position=0, text="It helped.")
    split(picked, by)

    found = by_key(project)
    assert [(one.key, one.count, dict(one.parts), dict(one.aside)) for one in found.values()] == [
        ("found", 10, {}, {"already in the project": 5}),
        ("retrieved", 6, {"from the searches": 5, "from files": 1}, {"not screened yet": 1}),
        ("screened", 5, {}, {"Not relevant to the topic": 1, "Superseded by a later version": 1}),
        ("included", 3, {}, {}),
        (
            "studies",
            4,
            {},
            {
                "not in PubMed (counted by review)": 1,
                "PubMed has no abstract or no record": 1,
                "record not fetched yet": 1,
            },
        ),
        ("abstracts", 1, {}, {}),
        ("read", 2, {}, {"Too many studies": 1}),
        ("sentences", 2, {}, {"Table data: numbers by study": 1}),
        ("targets", 2, {"selected from abstracts": 1, "entered by curators or imported": 1}, {"not decided yet": 1}),
        ("supported", 1, {}, {}),
        ("tuples", 2, {}, {}),
        ("propositions", 2, {"of targets": 2}, {}),
    ]
    assert found["found"].onward == dict(found["retrieved"].parts)["from the searches"]
    assert found["sentences"].onward == dict(found["targets"].parts)["selected from abstracts"]
    for step, following in (
        ("retrieved", "screened"),
        ("screened", "included"),
        ("studies", "abstracts"),
        ("targets", "supported"),
    ):
        assert found[step].onward == found[following].count

    # Its target is kept, because it has a tuple, but is no longer counted as selected.
    read(reviews[0], by, dropped="too many studies")
    found = by_key(project)
    assert (found["read"].count, found["read"].onward, "sentences" in found) == (2, 0, False)
    left_out = "selected earlier; sentence or review excluded since"
    assert dict(found["targets"].parts) == {"entered by curators or imported": 1, left_out: 1}
    read(reviews[0], by, s4="picked")
    screen(reviews[0], "not relevant", by)
    assert dict(by_key(project)["targets"].parts) == {"entered by curators or imported": 1, left_out: 1}
    screen(reviews[0], "include", by)
    assert dict(by_key(project)["targets"].parts) == {
        "selected from abstracts": 1,
        "entered by curators or imported": 1,
    }


def test_studies_whose_records_nobody_has_read_are_neither_with_nor_without_an_abstract(
    project: Project, by: Member
) -> None:
    decide(build_review(project, topic="pain"), by, "50000001", "50000002")
    assert by_key(project)["studies"] == Stage("studies", "Studies of these reviews", 2)
    assert "abstracts" not in by_key(project)
    Study.objects.filter(pmid="50000001").update(abstract="It helped.", record=RecordStatus.READ)
    found = by_key(project)
    assert dict(found["studies"].aside) == {"record not fetched yet": 1}
    assert found["abstracts"].count == 1


def test_contested_reviews_and_targets_are_counted_as_contested(project: Project, by: Member) -> None:
    reviews = [build_review(project, n, topic="pain") for n in range(3)]
    contest(reviews[0].unit, "screen", "screening")
    waiting = {"contested, to be decided by a curator": 1, "not screened yet": 2}
    assert [(one.key, dict(one.aside)) for one in stages(project)] == [("retrieved", waiting)]
    screen(reviews[0], "include", by)
    screen(reviews[1], "not relevant", by)
    contest(reviews[2].unit, "screen", "screening")
    found = by_key(project)
    assert dict(found["retrieved"].aside) == {"contested, to be decided by a curator": 1}
    assert found["retrieved"].onward == found["screened"].count == 2

    add_sentences(review=reviews[0], rows=[{"text": "It helped.", "inputs": []}], by=by)
    target, study = Target.objects.get(), Study.objects.create(project=project, pmid="50000009")
    pair = Unit.objects.create(project=project, type="evidence_pair", key="x", position=0)
    EvidencePair.objects.create(unit=pair, target=target, study=study)
    contest(pair, "evidence", "support")
    assert dict(by_key(project)["targets"].aside) == {"contested, to be decided by a curator": 1}


def test_a_flow_stage_whose_parts_do_not_add_up_is_an_error() -> None:
    with pytest.raises(ValueError, match="do not add up"):
        Stage("found", "Records", 3, (("new", 2),))
    with pytest.raises(ValueError, match="excludes more"):
        Stage("found", "Records", 3, (), "Left", (("known", 4),))


def test_the_figure_says_what_it_shows_and_so_does_its_table(
    project: Project, by: Member, client_of: Any, lead: User, ann1: User
) -> None:
    for n in range(3):
        screen(build_review(project, n, topic="pain & <relapse>"), ("include", "include", "retracted")[n], by)
    lead_client = client_of(lead)
    compute_and_store(project=project)
    flow = lead_client.get(f"/api/v1/projects/{project.slug}/searches/flow/").json()["figures"]
    assert flow["description"] == (
        "Reviews retrieved (n = 3); Reviews screened (n = 3), of which left: Excluded (n = 1) "
        "(Retracted or withdrawn: 1); Reviews included (n = 2)"
    )
    assert [(box["words"], box["aside_lines"]) for box in flow["boxes"]] == [
        ("Reviews retrieved (n = 3)", []),
        ("Reviews screened (n = 3)", ["Retracted or withdrawn: 1"]),
        ("Reviews included (n = 2)", []),
    ]
    rectangles, _, _, texts = (layer["data"]["values"] for layer in flow["spec"]["layer"])
    assert len(rectangles) == 4, "a box for each stage, and one for what left"
    assert "Retracted or withdrawn:\u00a01" in re.sub(" +", " ", " ".join(text["text"] for text in texts))
    assert max(text["y"] for text in texts) < max(box["y2"] for box in rectangles) == flow["spec"]["height"]
    assert client_of(ann1).get(f"/api/v1/projects/{project.slug}/searches/flow/").status_code == 403
    table = Tables(project, by).build(get("flow"))
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["Reviews retrieved", "", 3],
        ["Reviews screened", "", 3],
        ["", "Excluded: Retracted or withdrawn", 1],
        ["Reviews included", "", 2],
    ]


def test_the_flow_figure_takes_a_fixed_number_of_queries(
    project: Project, by: Member, django_assert_max_num_queries: Any
) -> None:
    for n in range(6):
        screen(review := build_review(project, n, topic="pain"), "include", by)
        correct(unit=review.unit, kind="studies", value=listed(str(n + 1)), reason="R.", by=by)
    with django_assert_max_num_queries(20):
        stages(project)
