"""The flow figure of a data set: every step that has begun, with counts that add up."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from accounts.models import User
from annotation import plots
from annotation.actions.curation.reviews import add_sentences
from annotation.models import Input, RecordStatus, Review, Sentence, Study, Target
from annotation.pubmed import client, pace
from annotation.values.flow import Stage, stages
from projects.actions.corrections import correct
from projects.models import Member, Project
from projects.plots.svg import Look
from projects.tables import Tables, get
from tests.annotation.pubmed_stub import Stub, serving
from tests.annotation.test_pubmed_search import asked, done
from tests.annotation.test_study_lists import build_review, decide, listed

pytestmark = pytest.mark.django_db
SLOT = {"text": "nepralin", "fragments": []}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(client, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(pace, "WITHOUT_KEY", timedelta(0))
    with serving() as found:
        yield found


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def screen(review: Review, said: str, by: Member) -> None:
    correct(unit=review.unit, kind="screen", value={"screening": said}, reason="Read.", by=by)


def read(review: Review, by: Member, dropped: str = "", **said: str) -> None:
    """What is said of sentences by their numbers; all others bear no evidence."""
    rows = Sentence.objects.filter(review=review).values_list("number", flat=True)
    marks = [{"number": n, "said": said.get(f"s{n}", "neither")} for n in rows]
    value = {"evidence_sentences": {"dropped": dropped, "sentences": [] if dropped else marks}}
    correct(unit=review.unit, kind="sentences", value=value, reason="Read.", by=by)


def split(target: Target, by: Member) -> None:
    rows = [{"p": SLOT, "i": SLOT, "c": SLOT | {"stands_for": ""}, "o": {"text": o, "fragments": []}} for o in "xy"]
    correct(unit=target.unit, kind="pico", value={"tuples": rows}, reason="Read.", by=by)


def by_key(project: Project) -> dict[str, Stage]:
    return {stage.key: stage for stage in stages(project)}


def test_a_project_that_begins_shows_no_step_that_has_not_begun(project: Project) -> None:
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
        ("found", 10, {}, {"in the project already": 5}),
        ("retrieved", 6, {"from the searches": 5, "from files": 1}, {"not screened yet": 1}),
        ("screened", 5, {}, {"Not relevant to the topic": 1, "Superseded by a later version": 1}),
        ("included", 3, {}, {}),
        ("studies", 4, {}, {
            "not in PubMed (by review)": 1, "PubMed has no abstract or no record": 1,
            "record not read yet": 1,
        }),
        ("abstracts", 1, {}, {}),
        ("read", 2, {}, {"Too many studies": 1}),
        ("sentences", 2, {}, {"Says what belongs in a table": 1}),
        ("targets", 2, {"picked from abstracts": 1, "typed or from files": 1}, {"not decided yet": 1}),
        ("supported", 1, {}, {}),
        ("tuples", 2, {}, {}),
        ("propositions", 2, {"of targets": 2}, {}),
    ]  # fmt: skip
    assert found["found"].onward == dict(found["retrieved"].parts)["from the searches"]
    assert found["sentences"].onward == dict(found["targets"].parts)["picked from abstracts"]
    for step, following in (
        ("retrieved", "screened"), ("screened", "included"), ("studies", "abstracts"), ("targets", "supported"),
    ):  # fmt: skip
        assert found[step].onward == found[following].count

    # Its target stays, for a tuple was made of it, and is no part of what is picked any more.
    read(reviews[0], by, dropped="too many studies")
    found = by_key(project)
    assert (found["read"].count, found["read"].onward, "sentences" in found) == (2, 0, False)
    left_out = "picked once, of sentences or reviews left out since"
    assert dict(found["targets"].parts) == {"typed or from files": 1, left_out: 1}
    read(reviews[0], by, s4="picked")
    screen(reviews[0], "not relevant", by)
    assert dict(by_key(project)["targets"].parts) == {"typed or from files": 1, left_out: 1}
    screen(reviews[0], "include", by)
    assert dict(by_key(project)["targets"].parts) == {"picked from abstracts": 1, "typed or from files": 1}


def test_studies_whose_records_nobody_has_read_are_neither_with_nor_without_an_abstract(
    project: Project, by: Member
) -> None:
    decide(build_review(project, topic="pain"), by, "50000001", "50000002")
    assert by_key(project)["studies"] == Stage("studies", "Studies of these reviews", 2)
    assert "abstracts" not in by_key(project)
    Study.objects.filter(pmid="50000001").update(abstract="It helped.", record=RecordStatus.READ)
    found = by_key(project)
    assert dict(found["studies"].aside) == {"record not read yet": 1}
    assert found["abstracts"].count == 1


def test_parts_that_do_not_add_up_are_no_stage() -> None:
    with pytest.raises(ValueError, match="do not add up"):
        Stage("found", "Records", 3, (("new", 2),))
    with pytest.raises(ValueError, match="more leave"):
        Stage("found", "Records", 3, (), "Left", (("known", 4),))


def test_the_figure_says_what_it_shows_and_so_does_its_table(
    project: Project, by: Member, client_of: Any, lead: User, ann1: User
) -> None:
    for n in range(3):
        screen(build_review(project, n, topic="pain & <relapse>"), ("include", "include", "retracted")[n], by)
    lead_client = client_of(lead)
    reply = lead_client.get(f"/api/v1/projects/{project.slug}/searches/flow/")
    assert (reply.status_code, reply["Content-Type"]) == (200, "image/svg+xml; charset=utf-8")
    picture = ElementTree.fromstring(reply.content)
    description = picture.findtext("{http://www.w3.org/2000/svg}desc")
    assert description == (
        "Reviews retrieved (n = 3); Reviews screened (n = 3), of which left: Excluded (n = 1) "
        "(Retracted or withdrawn: 1); Reviews included (n = 2)"
    )
    shown = " ".join(text for text in picture.itertext())
    assert "Retracted or withdrawn: 1" in shown
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) == 1 + 4, "the ground, and a box each"
    assert client_of(ann1).get(f"/api/v1/projects/{project.slug}/searches/flow/").status_code == 403
    refused = lead_client.get(f"/api/v1/projects/{project.slug}/searches/flow/", {"palette": "pink"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "palette")
    narrow = ElementTree.fromstring(plots.flow(project, Look(is_narrow=True)))
    assert narrow.findtext("{http://www.w3.org/2000/svg}desc") == description
    table = Tables(project, by).build(get("flow"))
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["Reviews retrieved", "", 3], ["Reviews screened", "", 3], ["", "Excluded: Retracted or withdrawn", 1],
        ["Reviews included", "", 2],
    ]  # fmt: skip


def test_the_flow_costs_the_same_however_much_there_is(
    project: Project, by: Member, django_assert_max_num_queries: Any
) -> None:
    for n in range(6):
        screen(review := build_review(project, n, topic="pain"), "include", by)
        correct(unit=review.unit, kind="studies", value=listed(str(n + 1)), reason="R.", by=by)
    with django_assert_max_num_queries(20):
        stages(project)
