"""Rating rounds from plan to figures: pages, orders, validation, blinding."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.db.models import F
from scipy.stats import chisquare  # type: ignore[import-untyped]

from accounts.models import User
from api.problems import Conflict, Refused
from audit.actions import create_checkpoints
from evaluation.design.stored import intact, page_units
from evaluation.models import PageText, PageTextOf, Protocol, Rating, RatingDesign, RatingPage
from evaluation.protocols import shipped
from evaluation.unblinding.actions import unblind
from generation.models import Embargo, Summary
from generation.runs.actions import lift_embargo
from measures.design import digest
from projects import kinds
from projects.agreement.queries import report
from projects.models import Answer, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import add_person, close_round
from tests.builders import build_cluster
from tests.evaluation.rating_rounds import (
    GUIDELINE,
    PREFERENCE,
    SYSTEMS,
    build_runs,
    cards_of,
    open_rating,
    pair_value,
    rate_all,
    rate_value,
    submit_value,
)
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db


def test_a_page_has_all_texts_of_its_source_in_one_form(project: Project, evaluator: User) -> None:
    member = project.members.get(user=evaluator)
    round = open_rating(project, [member], build_runs(project))
    card = cards_of(evaluator, round)[0]
    assert len(card["texts"]) == 4
    assert card["source"]["studies"]
    assert card["target"] is None
    # One system writes in lower case with detached punctuation; normalised, all look the same.
    for text in card["texts"]:
        assert text["text"][0].isupper()
        assert text["text"][1:] == text["text"][1:].lower()
        assert " ." not in text["text"]
        assert " ," not in text["text"]
    assert {len(text["key"]) for text in card["texts"]} == {8}
    exact = set(PageTextOf.objects.values_list("exact", flat=True))
    assert exact == {write(n) for write in SYSTEMS.values() for n in range(4)}


def test_two_raters_get_the_texts_in_orders_of_their_own(project: Project, evaluator: User, ann1: User) -> None:
    members = [project.members.get(user=user) for user in (evaluator, ann1)]
    round = open_rating(project, members, build_runs(project, clusters=8))
    orders = [[[t["key"] for t in card["texts"]] for card in cards_of(user, round)] for user in (evaluator, ann1)]
    assert orders[0] != orders[1]
    assert [set(page) for page in orders[0]] == [set(page) for page in orders[1]]
    # Idempotent.
    assert orders[0] == [[t["key"] for t in card["texts"]] for card in cards_of(evaluator, round)]


def test_equal_texts_are_rated_once_for_all_their_systems(project: Project, evaluator: User) -> None:
    cluster = build_cluster(project)
    same = {"one": "Nothing changed.", "two": "nothing changed .", "three": "All changed."}
    runs = [build_run(build_version(project, name), {cluster.unit_id: text}) for name, text in same.items()]
    round = open_rating(project, [project.members.get(user=evaluator)], runs)
    assert len(cards_of(evaluator, round)[0]["texts"]) == 2
    assert sorted(len(text.system_numbers) for text in PageText.objects.all()) == [1, 2]


def test_a_source_of_which_a_system_has_no_text_is_left_out_for_all(project: Project, evaluator: User) -> None:
    runs = build_runs(project, clusters=3)
    more = build_cluster(project, number=9)
    build_run(build_version(project, "Alder", decoding={"sentences": 2}), {more.unit_id: "Only one has this."})
    round = open_rating(project, [project.members.get(user=evaluator)], runs)
    assert round.units_count == 3


def test_ratings_are_stored_and_read_unchanged(project: Project, evaluator: User) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    slot = next_assignments(user=evaluator, round=round)[0]
    card = cards_of(evaluator, round)[0]
    value = rate_value(card)
    quote = card["texts"][0]["text"][:8]
    value["texts"][0]["said"][0]["quotes"] = [{"in": "summary", "start": 0, "end": 8, "quote": quote, "study": 0}]
    stored = submit_value(evaluator, slot, value).answer
    assert kinds.get("rate").values([stored.pk])[stored.pk] == value
    assert Rating.objects.filter(answer=stored).count() == 12
    create_checkpoints()
    assert Answer.objects.get(pk=stored.pk).checkpoint_id


def _without_a_text(value: dict[str, Any]) -> None:
    del value["texts"][1]


def _twice(value: dict[str, Any]) -> None:
    value["texts"][1]["text"] = value["texts"][0]["text"]


def _without_an_answer(value: dict[str, Any]) -> None:
    del value["texts"][2]["said"][0]


def _off_the_scale(value: dict[str, Any]) -> None:
    value["texts"][0]["said"][0]["value"] = "6"


def _another_criterion(value: dict[str, Any]) -> None:
    value["texts"][0]["said"][0]["criterion"] = "beauty"


def _not_applicable_with_a_value(value: dict[str, Any]) -> None:
    value["texts"][0]["said"][0] |= {"na": True}


def _a_wrong_quote(value: dict[str, Any]) -> None:
    value["texts"][0]["said"][0]["quotes"] = [{"in": "summary", "start": 0, "end": 4, "quote": "else", "study": 0}]


def _a_study_that_is_not_there(value: dict[str, Any]) -> None:
    value["texts"][0]["said"][0]["quotes"] = [{"in": "source", "start": 0, "end": 4, "quote": "else", "study": 9}]


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (_without_a_text, "value.texts"),
        (_twice, "value.texts"),
        (_without_an_answer, "value.texts.2.said"),
        (_off_the_scale, "value.texts.0.said.0.value"),
        (_another_criterion, "value.texts.0.said.0.criterion"),
        (_not_applicable_with_a_value, "value.texts.0.said.0.value"),
        (_a_wrong_quote, "value.texts.0.said.0.quotes.0"),
        (_a_study_that_is_not_there, "value.texts.0.said.0.quotes.0.study"),
    ],
)
def test_ratings_that_do_not_fit_the_page_are_refused_with_their_path(
    project: Project, evaluator: User, spoil: Any, field: str
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    slot = next_assignments(user=evaluator, round=round)[0]
    value = rate_value(cards_of(evaluator, round)[0])
    spoil(value)
    with pytest.raises(Refused) as refused:
        submit_value(evaluator, slot, value)
    assert refused.value.errors[0]["field"] == field
    assert not Rating.objects.exists()


def test_agreement_is_measured_criterion_by_criterion_over_texts(project: Project, evaluator: User, ann1: User) -> None:
    members = [project.members.get(user=user) for user in (evaluator, ann1)]
    round = open_rating(project, members, build_runs(project))
    for user in (evaluator, ann1):
        assert rate_all(user, round) == 4
    figures = {measure["name"]: measure for measure in report(round)["measures"]}
    assert set(figures) == {"coherence", "relevance", "consistency"} or len(figures) == 3
    for measure in figures.values():
        assert measure["units"] == 16
        assert measure["all_agree"] == {"count": 16, "of": 16}


@pytest.mark.parametrize(("protocol", "units"), [(GUIDELINE, 16), ("shipped:ms2-direction", 16), (PREFERENCE, 24)])
def test_no_figure_of_agreement_counts_attention_checks(
    project: Project, evaluator: User, ann1: User, protocol: str, units: int
) -> None:
    members = [project.members.get(user=user) for user in (evaluator, ann1)]
    round = open_rating(
        project, members, build_runs(project), protocol, options={"checks": 50}, repeat_share=0.5, repeat_distance=1
    )
    for user in (evaluator, ann1):
        rate_all(user, round)
    found = report(round)
    assert found["attention_checks"] == RatingPage.objects.filter(texts__is_check=True).distinct().count()
    for measure in found["measures"]:
        assert (measure["units"], measure["missing_share"]) == (units, 0)
    asked = (
        Answer.objects.filter(assignment__repeat=1)
        .exclude(assignment__unit__rating_page__texts__is_check=True)
        .values_list("assignment__unit", flat=True)
    )
    texts = Counter(PageText.objects.values_list("page__unit", flat=True))
    assert found["repeats"]["answers"] == sum(1 if protocol == PREFERENCE else texts[unit] for unit in asked)


def test_pairs_have_balanced_sides_and_give_preferences(project: Project, evaluator: User, ann1: User) -> None:
    members = [project.members.get(user=user) for user in (evaluator, ann1)]
    round = open_rating(project, members, build_runs(project, systems=("Alder", "Birch", "Cedar")), PREFERENCE)
    assert round.units_count == 4 * 3
    mine, theirs = cards_of(evaluator, round)[0], cards_of(ann1, round)[0]
    assert [t["key"] for t in mine["texts"]] == [t["key"] for t in theirs["texts"]][::-1]
    slot = next_assignments(user=evaluator, round=round)[0]
    value = pair_value(mine)
    stored = submit_value(evaluator, slot, value).answer
    assert kinds.get("compare").values([stored.pk])[stored.pk] == value
    for user in (evaluator, ann1):
        rate_all(user, round)
    assert report(round)["measures"][0]["units"] == 12


def test_opening_a_round_embargoes_its_runs_for_current_and_later_raters(
    project: Project, lead: User, evaluator: User, ann1: User
) -> None:
    runs = build_runs(project)
    round = open_rating(project, [project.members.get(user=user) for user in (lead, evaluator)], runs, overlap=1)
    embargoed = Embargo.objects.active().values_list("run", "member__user")
    assert set(embargoed) == {(run.pk, user.pk) for run in runs for user in (lead, evaluator)}
    add_person(round=round, member=project.members.get(user=ann1), by=lead)
    assert Summary.objects.visible_to(project.members.get(user=ann1)).count() == 0
    with pytest.raises(Conflict, match="rated blindly"):
        lift_embargo(embargo=Embargo.objects.order_by("pk")[0], by=lead)


def test_only_a_closed_round_is_unblinded_and_that_once(project: Project, lead: User, evaluator: User) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    design = RatingDesign.objects.get(round=round)
    with pytest.raises(Conflict, match="still open"):
        unblind(design=design, by=lead)
    close_round(round=round, by=lead)
    unblind(design=design, by=lead)
    assert not Embargo.objects.active().exists()
    with pytest.raises(Conflict, match="already"):
        unblind(design=design, by=lead)


def test_a_run_stays_embargoed_while_another_round_needs_it(project: Project, lead: User, evaluator: User) -> None:
    runs = build_runs(project)
    member = project.members.get(user=evaluator)
    first = open_rating(project, [member], runs)
    open_rating(project, [member], runs[:2], name="another")
    close_round(round=first, by=lead)
    unblind(design=RatingDesign.objects.get(round=first), by=lead)
    assert set(Embargo.objects.active().values_list("run", flat=True)) == {run.pk for run in runs[:2]}


@pytest.mark.long
def test_a_design_follows_from_its_seed_and_its_secret(
    project: Project, evaluator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    member, runs = project.members.get(user=evaluator), build_runs(project)
    digests = []
    for name, seed, secret in (("a", 7, "x"), ("b", 7, "x"), ("c", 8, "x"), ("d", 7, "y"), ("e", 7, "")):
        monkeypatch.setattr("evaluation.kinds.pages.token_hex", lambda size, secret=secret: secret)
        design = RatingDesign.objects.get(round=open_rating(project, [member], runs, name=name, seed=seed))
        intact(design)
        digests.append(design.digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4
    # As rounds were prepared before they had secrets.
    assert digests[4] == digest(design.plan)


def test_the_secret_of_a_design_is_shown_after_unblinding(
    project: Project, lead: User, evaluator: User, client_of: Any
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    secret = RatingDesign.objects.get(round=round).secret
    assert len(secret) == 32

    def told() -> str:
        return str(client_of(lead).get(f"/api/v1/rounds/{round.pk}/rating-design/").json()["secret"])

    assert told() == ""
    close_round(round=round, by=lead)
    assert told() == ""
    unblind(design=RatingDesign.objects.get(round=round), by=lead)
    assert told() == secret


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (PageText, {"system_numbers": [9]}),
        (PageText, {"displayed_text": "Another text."}),
        (PageTextOf, {"exact": "Another text."}),
        (RatingDesign, {"plan": {"pages": [], "texts": ""}}),
    ],
)
def test_a_design_that_was_changed_in_the_database_is_noticed(
    project: Project, evaluator: User, model: Any, change: dict[str, Any]
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    intact(RatingDesign.objects.get(round=round))
    model.objects.filter(pk=model.objects.order_by("pk")[0].pk).update(**change)
    with pytest.raises(Conflict, match="changed after it was frozen"):
        intact(RatingDesign.objects.get(round=round))


def test_single_text_pages_repeat_no_source_and_cover_each_text(
    project: Project, lead: User, evaluator: User, ann1: User, ann2: User
) -> None:
    """A list for each rater, as in a protocol with one text per page."""
    members = [project.members.get(user=user) for user in (lead, evaluator, ann1, ann2)]
    round = open_rating(project, members, build_runs(project), "shipped:ms2-direction", overlap=1)
    assert round.units_count == 16
    dealt = Counter(round.assignments.values_list("person", "unit__rating_page__source").order_by())
    assert len(dealt) == 16
    assert set(dealt.values()) == {1}
    cards = cards_of(evaluator, round)
    assert {len(card["texts"]) for card in cards} == {1}


@pytest.fixture
def known_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed secret makes orders reproducible."""
    monkeypatch.setattr("evaluation.kinds.pages.token_hex", lambda size: "5ec2e7" * 5)


@pytest.mark.usefixtures("known_secret")
def test_an_attention_check_has_its_own_page_that_looks_like_other_pages(project: Project, evaluator: User) -> None:
    round = open_rating(
        project, [project.members.get(user=evaluator)], build_runs(project, clusters=10), options={"checks": 50}
    )
    checked = RatingPage.objects.filter(texts__is_check=True).distinct()
    assert checked.count() == 5
    assert {page.texts.count() for page in RatingPage.objects.all()} == {4}
    # Each has one degraded text; the others equal those of the repeated page.
    for page in checked:
        assert page.texts.exclude(made_from=F("code")).count() == 1
        for text in page.texts.filter(made_from=F("code")):
            original = PageText.objects.get(page__source=page.source, code=text.code, is_check=False)
            assert original.displayed_text == text.displayed_text
    assert rate_all(evaluator, round) == 15
    worse = Rating.objects.filter(text__is_check=True).exclude(text__made_from=F("text__code"))
    assert len(set(worse.values_list("position", flat=True))) > 1
    intact(RatingDesign.objects.get(round=round))


@pytest.mark.usefixtures("known_secret")
@pytest.mark.parametrize(("protocol", "pages"), [("shipped:ms2-direction", 40), (GUIDELINE, 10), (PREFERENCE, 60)])
def test_pages_keep_their_order_when_a_round_is_prepared_again(
    project: Project, evaluator: User, protocol: str, pages: int
) -> None:
    round = open_rating(
        project,
        [project.members.get(user=evaluator)],
        build_runs(project, clusters=10),
        protocol,
        options={"checks": 10},
    )
    slots = round.assignments.order_by("position").values_list("unit", flat=True)
    assert [unit for unit, _ in page_units(round)] == list(slots)
    assert list(slots) == sorted(slots)
    assert len(slots) == pages + pages // 10


@pytest.mark.long
@pytest.mark.usefixtures("known_secret")
def test_systems_have_all_positions_equally_often_over_many_pages(project: Project, evaluator: User) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project, clusters=40))
    rate_all(evaluator, round)
    counts: Counter[tuple[int, int]] = Counter()
    for place, numbers in Rating.objects.filter(number=0).values_list("position", "text__system_numbers"):
        counts[place, numbers[0]] += 1
    assert len(counts) == 16
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_an_unready_protocol_or_runs_of_no_level_do_not_open(project: Project, evaluator: User) -> None:
    member, runs = project.members.get(user=evaluator), build_runs(project)
    with pytest.raises(Refused) as refused:
        open_rating(project, [member], [])
    assert refused.value.errors[0]["field"] == "options.systems"
    with pytest.raises(Refused) as refused:
        open_rating(project, [member], runs, protocol="12345")
    assert refused.value.errors[0]["field"] == "options.protocol"


def test_a_correction_of_the_target_makes_its_ratings_stale(project: Project, lead: User, evaluator: User) -> None:
    from annotation.kinds.supersede import supersede_text
    from annotation.models import Proposition
    from projects.models import Change

    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    rate_all(evaluator, round)
    target = Proposition.objects.filter(position=0).order_by("pk")[0]
    supersede_text(proposition=target, text="Another target.", reason="A slip.", by=project.members.get(user=lead))
    assert Change.objects.filter(kind="rate", unit__type="rating page").count() == 1


def test_rounds_and_cards_of_raters_reveal_neither_seed_nor_systems(
    project: Project, evaluator: User, client_of: Any
) -> None:
    runs = build_runs(project)
    round = open_rating(project, [project.members.get(user=evaluator)], runs)
    client = client_of(evaluator)
    told = client.get(f"/api/v1/rounds/{round.pk}/").json()
    assert told["seed"] is None
    assert told["options"] == {}
    assert told["settings"] == []
    body = client.get(f"/api/v1/rounds/{round.pk}/next/").content.decode()
    for word in (*SYSTEMS, "lead-3", "extractive", *(run.version.hash for run in runs), str(round.seed)):
        assert word.lower() not in body.lower()


def test_a_late_answer_keeps_the_order_that_was_shown(project: Project, evaluator: User) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    before = [t["key"] for t in cards_of(evaluator, round)[0]["texts"]]
    slot = next_assignments(user=evaluator, round=round)[0]
    value = rate_value(cards_of(evaluator, round)[0])
    submit_value(evaluator, slot, value)
    places = Rating.objects.filter(number=0).order_by("position").values_list("text__code", flat=True)
    assert (
        list(places)
        == before
        == list(
            Rating.objects.filter(position=F("position"), number=0)
            .order_by("position")
            .values_list("text__code", flat=True)
        )
    )


def test_shipped_protocols_are_copied_once(project: Project, evaluator: User) -> None:
    member, runs = project.members.get(user=evaluator), build_runs(project)
    open_rating(project, [member], runs, GUIDELINE)
    open_rating(project, [member], runs, GUIDELINE, name="another")
    assert Protocol.objects.filter(project=project).count() == 1


def test_a_changed_shipped_protocol_is_a_new_version_and_rounds_keep_theirs(
    project: Project, evaluator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    member, runs = project.members.get(user=evaluator), build_runs(project)
    direction = shipped.get("ms2-direction")
    older = replace(
        direction, content=direction.content.model_copy(update={"instructions": "Direction is rise or fall."})
    )
    with monkeypatch.context() as patch:
        patch.setattr(shipped, "templates", lambda: (older,))
        first = open_rating(project, [member], runs, "shipped:ms2-direction", name="first")
    second = open_rating(project, [member], runs, "shipped:ms2-direction", name="second")
    versions = [RatingDesign.objects.get(round=round).version for round in (first, second)]
    assert [version.number for version in versions] == [1, 2]
    assert versions[0].protocol == versions[1].protocol
    assert versions[0].content["instructions"] == "Direction is rise or fall."


def test_ms2_directions_are_defined_as_its_paper_does() -> None:
    options = shipped.get("ms2-direction").content.criterion("direction").scale.options
    anchors = {option.value: option.anchor for option in options}
    assert "positive effect" in anchors["increases"]
    assert "no effect" in anchors["no change"]
    assert "no difference" in anchors["no change"]
    assert "negative effect" in anchors["decreases"]


def test_a_protocol_says_in_which_rounds_it_is_used(
    project: Project, lead: User, evaluator: User, client_of: Any
) -> None:
    member, runs = project.members.get(user=evaluator), build_runs(project)
    for name in ("first", "second"):
        open_rating(project, [member], runs, GUIDELINE, name=name)
    found = client_of(lead).get(f"/api/v1/projects/{project.slug}/protocols/").json()["results"]
    assert [each["name"] for each in found[0]["versions"][0]["rounds"]] == ["second", "first"]
