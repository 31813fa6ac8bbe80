"""The agreement report: counted answers only, on the declared scale; undefined figures have a reason."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient
from scipy import stats  # type: ignore[import-untyped]

from accounts.models import User
from projects.agreement.queries import report
from projects.agreement.serializers import AgreementReportSerializer
from projects.models import Member, Project, Round
from projects.queue.actions import next_assignments
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db


@pytest.fixture
def round(project: Project, lead: User, ann1: User, ann2: User) -> Round:
    """Six units, three people; the second differs once in polarity, the third once in modality."""
    for number in range(2):
        build_cluster(project, number)
    people = [Member.objects.get(project=project, user=u) for u in (lead, ann1, ann2)]
    round = build_round(project, people, overlap=3, purpose="measure only")
    for person in people:
        for i in range(6):
            value = label_value("positive" if i % 2 else "negative", "weak" if i < 2 else "moderate")
            if person.user == ann1 and i == 0:
                value = label_value("positive", "weak")
            if person.user == ann2 and i == 5:
                value = label_value("n/a", "no evidence")
            answer(person.user, next_assignments(user=person.user, round=round)[0], value)
    return round


def answered_by_two(project: Project, lead: User, ann1: User, *, reviews: int, inputs: int, apart: int) -> Round:
    """Both people answer positive, except in the first ``apart`` units."""
    for number in range(reviews):
        build_cluster(project, number, inputs)
    people = [Member.objects.get(project=project, user=user) for user in (lead, ann1)]
    round = build_round(project, people, overlap=2, purpose="measure only")
    for person in people:
        for i in range(reviews * (inputs + 1)):
            strange = i < apart and person.user == ann1
            slot = next_assignments(user=person.user, round=round)[0]
            answer(person.user, slot, label_value("negative" if strange else "positive"))
    return round


def test_the_report_counts_units_raters_and_ratings(round: Round) -> None:
    found = report(round)
    polarity, modality, rank = found["measures"]
    assert (polarity["units"], polarity["raters"], polarity["ratings"]) == (6, 3, 18)
    assert polarity["all_agree"] == {"count": 4, "of": 6}
    assert polarity["scale"] == ["positive", "no effect", "negative", "n/a"]
    assert modality["all_agree"] == {"count": 5, "of": 6}
    assert rank["ratings"] == 17
    assert polarity["coefficients"]["fleiss"]["value"] <= polarity["coefficients"]["ac1"]["value"]
    assert len(polarity["coefficients"]["cohen_pairs"]) == 3
    assert all(c["method"] and c["ci_reason"] for n, c in polarity["coefficients"].items() if n != "cohen_pairs")


def test_the_figures_are_gwets_on_these_answers(round: Round) -> None:
    """By hand: pa = (4*1 + 2*1/3)/6; category shares positive 9/18, negative 8/18, n/a 1/18 with q = 4."""
    polarity = report(round)["measures"][0]
    pa = (4 + 2 / 3) / 6
    shares = [9 / 18, 8 / 18, 1 / 18, 0]
    pe = sum(s * (1 - s) for s in shares) / 3
    assert polarity["pairwise"] == pytest.approx(pa)
    assert polarity["coefficients"]["ac1"]["value"] == pytest.approx((pa - pe) / (1 - pe))


def test_intervals_are_clustered_by_review_and_few_reviews_have_none(project: Project, lead: User, ann1: User) -> None:
    """Four reviews of three propositions; one review is hard."""
    round = answered_by_two(project, lead, ann1, reviews=4, inputs=2, apart=2)
    polarity = report(round)["measures"][0]
    assert (polarity["cite"], polarity["reviews"], polarity["units"]) == ("reviews", 4, 12)
    percent = polarity["coefficients"]["percent_agreement"]
    assert percent["ci_se"] > percent["se"]
    assert (percent["ci"], percent["ci_reason"]) == (None, "no reliable interval (few reviews; n = 4 reviews)")
    assert polarity["plan"]["over"] == "reviews"


def test_the_missing_share_counts_units_that_nobody_answered(project: Project, lead: User) -> None:
    build_cluster(project)
    member = Member.objects.get(project=project, user=lead)
    round = build_round(project, [member], purpose="measure only")
    answer(lead, next_assignments(user=lead, round=round)[0], label_value("positive"))
    assert round.units_count == 3
    assert report(round)["measures"][0]["missing_share"] == pytest.approx(2 / 3)


def test_the_planned_n_is_of_the_standard_error_and_not_of_an_interval_that_was_cut_off(
    project: Project, lead: User, ann1: User
) -> None:
    """Twelve reviews of one proposition each: the interval of AC1 would exceed 1."""
    round = answered_by_two(project, lead, ann1, reviews=12, inputs=0, apart=1)
    polarity = report(round)["measures"][0]
    ac1, plan = polarity["coefficients"]["ac1"], polarity["plan"]
    assert (polarity["cite"], ac1["ci"]) == ("units", None)
    assert plan["half_width"] == pytest.approx(stats.t.ppf(0.975, 11) * ac1["se"])


def test_a_round_without_answers_says_why_nothing_is_defined(project: Project, lead: User) -> None:
    build_cluster(project)
    empty = build_round(project, [Member.objects.get(project=project, user=lead)])
    found = report(empty)
    assert found["answers"] == 0
    for measure in found["measures"]:
        assert set(measure["coefficients"]) == {"cohen_pairs"}
        assert set(measure["undefined"].values()) <= {"not enough ratings", "not enough raters"}
        assert measure["undefined"]


def test_the_reply_is_what_the_schema_says(round: Round, lead: User) -> None:
    client = APIClient()
    client.force_login(lead)
    reply = client.get(f"/api/v1/rounds/{round.pk}/agreement/")
    assert reply.status_code == 200
    serializer = AgreementReportSerializer(data=json.loads(reply.content))
    assert serializer.is_valid(), serializer.errors


def test_an_annotator_does_not_see_the_agreement(round: Round, ann1: User, stranger: User) -> None:
    for user, status in ((ann1, 403), (stranger, 404)):
        client = APIClient()
        client.force_login(user)
        assert client.get(f"/api/v1/rounds/{round.pk}/agreement/").status_code == status


def test_the_command_prints_the_report_and_refuses_an_unknown_round(round: Round) -> None:
    out = StringIO()
    call_command("agreement", project="eye", round="round", format="json", bootstrap=0, stdout=out)
    assert json.loads(out.getvalue())["measures"][0]["name"] == "polarity"
    out = StringIO()
    call_command("agreement", project="eye", round="round", bootstrap=0, stdout=out)
    assert "all agree 4/6" in out.getvalue()
    with pytest.raises(CommandError, match="no round 'nothing'"):
        call_command("agreement", project="eye", round="nothing")


def test_the_report_costs_a_number_of_queries_free_of_the_answers(
    round: Round, project: Project, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        report(round)
