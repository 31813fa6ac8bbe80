"""The workflow of a project: count and state of each stage, and the next action, from an empty project to a release."""

from typing import Any

import pytest

from accounts.models import User
from annotation.clusters.sentences import split
from annotation.models import Input, Level, Proposition, RecordStatus, Review, Search, Study, Target
from evaluation.models import RatingDesign
from projects import workflow as workflow_registry
from projects.guidelines.actions import latest_guideline
from projects.jobs.running import run_job
from projects.models import Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import TEXT, answer, build_cluster, build_round, label_value
from tests.config.other_project import released
from tests.evaluation.rating_rounds import build_runs, open_rating

pytestmark = pytest.mark.django_db


def words(project: Project) -> str:
    following = workflow_registry.of(project)["next"]
    return following["words"] if following else ""


def then(project: Project) -> list[str]:
    return [one["words"] for one in workflow_registry.of(project)["then"]]


def test_the_workflow_always_has_a_next_action_from_empty_project_to_release(
    lead: User, ann1: User, ann2: User
) -> None:
    project = Project.objects.create(slug="new", name="New", licence="CC0-1.0")
    Member.objects.create(project=project, user=lead, role="lead", pseudonym="R0")
    assert words(project) == "import a corpus"
    build_cluster(project)
    assert words(project) == "invite annotators"
    people = [
        Member.objects.create(project=project, user=user, role="annotator", pseudonym=name)
        for user, name in ((ann1, "R1"), (ann2, "R2"))
    ]
    assert words(project) == "open the first round", "reading the guideline is optional"
    assert [one["words"] for one in workflow_registry.of(project)["options"]] == ["review and adapt the guideline"]
    latest_guideline(project, "label", by=lead)
    assert workflow_registry.of(project)["options"] == []
    round = build_round(project, people, overlap=2, allocation="dealt")
    assert words(project) == "follow the round “round”"
    for user, polarity in ((ann1, "positive"), (ann2, "negative")):
        while slots := next_assignments(user=user, round=round):
            answer(user, slots[0], label_value(polarity))
    assert words(project) == "close the round “round”"
    assert "makes agreed answers the current values" in workflow_registry.of(project)["next"]["why"]
    for purpose, text in (("measure only", "measures agreement"), ("practice", "ends the practice")):
        Round.objects.filter(pk=round.pk).update(purpose=purpose)
        assert f"{text}. No current value changes." in workflow_registry.of(project)["next"]["why"]
    Round.objects.filter(pk=round.pk).update(purpose="gold")
    assert run_job(close_round(round=round, by=lead).pk)
    # Three propositions on which both differ in polarity, and so in its cue.
    assert words(project) == "adjudicate 6 contested fields"


def test_a_complete_round_is_offered_for_closing_among_many_open_rounds(project: Project, ann1: User) -> None:
    build_cluster(project)
    people = [project.members.get(user=ann1)]
    full = build_round(project, people, name="full", overlap=1)
    while slots := next_assignments(user=ann1, round=full):
        answer(ann1, slots[0], label_value("positive"))
    for n in range(21):
        build_round(project, people, name=f"open {n}")
    assert words(project) == "close the round “full”"
    rounds = next(step for step in workflow_registry.of(project)["steps"] if step["key"] == "rounds")
    assert rounds["of"] == "rounds, 22 open"


def test_closed_rating_rounds_wait_for_unblinding(project: Project, lead: User, evaluator: User) -> None:
    rated = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    assert words(project) == "follow the round “ratings”"
    close_round(round=rated, by=lead)
    assert words(project) == "unblind the round “ratings”"
    assert RatingDesign.objects.get().round == rated
    released(project, "1.0.0", lead)
    found = {step["key"]: step for step in workflow_registry.of(project)["steps"]}
    assert list(found) == ["corpus", "people", "guidelines", "rounds", "agreement", "summaries", "ratings", "release"]
    assert found["corpus"]["count"] == 4
    assert found["summaries"]["count"] == 4
    assert found["release"]["state"] == "done"


def test_workflow_stages_are_read_in_a_fixed_number_of_queries(
    project: Project, lead: User, client_of: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(3):
        build_cluster(project, number=number)
    for number in range(4):
        build_round(project, list(project.members.filter(role="annotator")), name=f"round {number}")
    client = client_of(lead)
    with django_assert_max_num_queries(30):
        assert client.get(f"/api/v1/projects/{project.slug}/way/").status_code == 200


def test_people_who_cannot_read_rounds_are_not_notified(project: Project, ann1: User, client_of: Any) -> None:
    assert client_of(ann1).get(f"/api/v1/projects/{project.slug}/way/").status_code == 403


def page(project: Project) -> str:
    return str(workflow_registry.of(project)["next"]["page"])


def _retrieved(project: Project, n: int, first: int = 0) -> list[Review]:
    made = []
    for number in range(first, first + n):
        unit = Unit.objects.create(project=project, type="review", key=str(26_000_000 + number))
        made.append(
            Review.objects.create(
                project=project,
                pmid=unit.key,
                unit=unit,
                topic="pain",
                record=RecordStatus.READ,
                abstract="Nine trials were included. Nepralin reduced pain.",
            )
        )
    split(made)
    return made


def test_the_workflow_always_has_a_next_action_from_search_to_tuples(lead: User, ann1: User, ann2: User) -> None:
    project = Project.objects.create(slug="found", name="Found", licence="CC0-1.0")
    Member.objects.create(project=project, user=lead, role="lead", pseudonym="R0")
    assert workflow_registry.of(project)["next"]["also_page"] == "pubmed"
    search = Search.objects.create(project=project, query="pain", state=Search.State.FAILED, error="PubMed said no.")
    assert (words(project), page(project)) == ("continue the failed search", "pubmed")
    assert workflow_registry.of(project)["next"]["why"] == "PubMed said no."
    Search.objects.filter(pk=search.pk).update(state=Search.State.DONE, error="")
    assert words(project) == "search PubMed again", "it has found nothing"
    _retrieved(project, 3)
    assert words(project) == "invite annotators"
    people = [
        Member.objects.create(project=project, user=user, role="annotator", pseudonym=name)
        for user, name in ((ann1, "R1"), (ann2, "R2"))
    ]
    assert words(project) == "screen the reviews"
    screened = build_round(project, people[:1], kind="screen", name="screening", overlap=1)
    assert words(project) == "follow the round “screening”"
    for said in ("include", "include", "not relevant"):
        answer(ann1, next_assignments(user=ann1, round=screened)[0], {"screening": said}, kind="screen")
    assert run_job(close_round(round=screened, by=lead).pk)
    assert words(project) == "list the included studies"
    assert page(project) == "rounds/new?rolling=true&kind=studies&filters.included=true"
    assert "freeze the first release" not in then(project)
    lists = build_round(project, people[:1], kind="studies", name="studies", overlap=1, filters={"included": True})
    while slots := next_assignments(user=ann1, round=lists):
        value = {"included_studies": {"listed": [{"pmid": "11", "missing": ""}], "without_pmid": 0}}
        answer(ann1, slots[0], value, kind="studies")
    assert run_job(close_round(round=lists, by=lead).pk)
    assert words(project) == "fetch the records of the studies"
    [state] = [one["state"] for one in workflow_registry.of(project)["steps"] if one["key"] == "studies"]
    assert state == "begun"
    Study.objects.update(record=RecordStatus.NO_ABSTRACT)
    assert words(project) == "select the sentences with evidence"
    plan = {"kind": "sentences", "name": "sentences", "overlap": 1, "filters": {"included": True}}
    read = build_round(project, people[:1], **plan)
    while slots := next_assignments(user=ann1, round=read):
        marks = [{"number": 1, "said": "neither"}, {"number": 2, "said": "picked"}]
        answer(ann1, slots[0], {"evidence_sentences": {"dropped": "", "sentences": marks}}, kind="sentences")
    assert run_job(close_round(round=read, by=lead).pk)
    # Without an abstract there is no evidence to find.
    assert words(project) == "split the target sentences into PICO tuples"
    Study.objects.update(record=RecordStatus.READ, abstract="Nepralin reduced attacks.")
    assert words(project) == "map the targets to their evidence"
    assert workflow_registry.of(project)["next"]["also_page"] == "ranking"
    mapped = build_round(project, people[:1], kind="evidence", name="evidence", overlap=1)
    assert words(project) == "follow the round “evidence”"
    for marked in ([1], []):
        answer(ann1, next_assignments(user=ann1, round=mapped)[0], {"support": marked}, kind="evidence")
    assert run_job(close_round(round=mapped, by=lead).pk)
    assert words(project) == "split the target sentences into PICO tuples"
    assert page(project) == "rounds/new?rolling=true&kind=pico&filters.supported=true"
    found = {step["key"]: (step["count"], step["of"], step["state"]) for step in workflow_registry.of(project)["steps"]}
    assert found["reviews"] == (3, "retrieved", "done")
    assert found["screening"] == (2, "included of 3 screened", "done")
    assert found["studies"] == (1, "studies, 2 reviews listed", "done")
    assert found["sentences"] == (2, "targets, 2 reviews read", "done")
    assert found["evidence"] == (1, "of 2 targets have inputs, 1 dropped without support", "done")
    assert found["corpus"] == (0, "clusters", "to do")


def test_clusters_of_a_search_are_completed_before_a_release(project: Project, lead: User, ann1: User) -> None:
    _retrieved(project, 1)
    unrelated = build_round(project, list(project.members.filter(user=ann1)), kind="screen", name="screening")
    answer(ann1, next_assignments(user=ann1, round=unrelated)[0], {"screening": "no studies"}, kind="screen")
    assert run_job(close_round(round=unrelated, by=lead).pk)
    cluster = build_cluster(project, inputs=0)
    # Its sentence has no inputs to assign.
    assert words(project) == "add inputs to the clusters"
    assert page(project) == "corpus?state=no_inputs"
    own = Unit.objects.create(project=project, type="target sentence", key=f"{cluster.review.pmid}_0")
    sentence = Target.objects.create(
        project=project, review=cluster.review, level=Level.SENTENCE, key=own.key, position=0, text=TEXT, unit=own
    )
    known = Study.objects.create(project=project, pmid="12", record=RecordStatus.READ)
    Input.objects.create(target=sentence, study=known, position=1, text=TEXT)
    cluster.sentence = sentence
    cluster.save()
    assert words(project) == "assign the evidence to the propositions"
    assert page(project) == "rounds/new?rolling=true&kind=assign_evidence&filters.unasked=true"
    unit = Unit.objects.create(project=project, type="proposition", key=f"{cluster.key}/1")
    study = Study.objects.create(project=project, pmid="11")
    Proposition.objects.create(cluster=cluster, position=1, study=study, text=TEXT, unit=unit)
    assert words(project) == "label the propositions"
    labels = build_round(project, list(project.members.filter(user=ann1)), name="labels")
    assert words(project) == "follow the round “labels”"
    while slots := next_assignments(user=ann1, round=labels):
        answer(ann1, slots[0], label_value("positive"))
    assert run_job(close_round(round=labels, by=lead).pk)
    assert words(project) == "judge agreement within clusters"
    found = {one["key"]: (one["count"], one["of"], one["state"]) for one in workflow_registry.of(project)["steps"]}
    assert found["corpus"] == (1, "clusters", "done")
    assert found["labels"] == (1, "of 1 clusters labelled", "done")
    assert found["relations"] == (0, "of 1 clusters with inputs", "to do")
    assert workflow_registry.of(project)["options"] == [], "nothing is offered while something is to do"


def test_unsupported_clusters_block_nothing_and_optional_steps_are_offered(
    project: Project, lead: User, ann1: User
) -> None:
    _retrieved(project, 1)
    mine = list(project.members.filter(user=ann1))
    screened = build_round(project, mine, kind="screen", name="screening")
    answer(ann1, next_assignments(user=ann1, round=screened)[0], {"screening": "no studies"}, kind="screen")
    assert run_job(close_round(round=screened, by=lead).pk)
    cluster = build_cluster(project, inputs=0)
    own = Unit.objects.create(project=project, type="target sentence", key=f"{cluster.review.pmid}_0")
    cluster.sentence = Target.objects.create(
        project=project, review=cluster.review, level=Level.SENTENCE, key=own.key, position=0, text=TEXT, unit=own
    )
    cluster.save()
    known = Study.objects.create(project=project, pmid="12", record=RecordStatus.READ)
    Input.objects.create(target=cluster.sentence, study=known, position=1, text=TEXT)
    assigned = build_round(project, mine, kind="assign_evidence", name="assign")
    none = {"supporting": [{"number": 1, "said": "does not"}]}
    answer(ann1, next_assignments(user=ann1, round=assigned)[0], none, kind="assign_evidence")
    assert run_job(close_round(round=assigned, by=lead).pk)
    assert words(project) == "label the propositions"
    [corpus] = [one for one in workflow_registry.of(project)["steps"] if one["key"] == "corpus"]
    assert (corpus["of"], corpus["state"]) == ("clusters, 1 without support", "done")
    assert corpus["page"] == "corpus?state=no_inputs"
    labels = build_round(project, mine, name="labels")
    answer(ann1, next_assignments(user=ann1, round=labels)[0], label_value("positive"))
    assert run_job(close_round(round=labels, by=lead).pk)
    # It has no inputs that could agree.
    assert words(project) == "freeze the first release"
    offered = [(one["words"], one["page"]) for one in workflow_registry.of(project)["options"]]
    assert offered == [
        ("write counterfactuals", "rounds/new?kind=counterfactual"),
        ("plan a reliability study", "reliability"),
    ]


def test_pending_actions_of_the_lead_come_before_new_ones(project: Project, lead: User, ann1: User, ann2: User) -> None:
    _retrieved(project, 2)
    people = list(project.members.filter(user__in=[ann1, ann2]))
    screened = build_round(project, people, kind="screen", name="screening", overlap=2)
    for user, said in ((ann1, "include"), (ann2, "not relevant")):
        for slot_says in ("include", said):
            answer(user, next_assignments(user=user, round=screened)[0], {"screening": slot_says}, kind="screen")
    assert words(project) == "close the round “screening”"
    assert run_job(close_round(round=screened, by=lead).pk)
    assert words(project) == "adjudicate 1 contested field"
    assert then(project) == ["list the included studies", "select the sentences with evidence"]
    _retrieved(project, 1, first=2)
    # Results of a later search are screened in another round.
    assert then(project)[0] == "screen the reviews"
    build_round(project, people, kind="screen", name="later", overlap=1, filters={"unasked": True}, rolling=True)
    assert "screen the reviews" not in then(project)
