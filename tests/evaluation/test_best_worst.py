"""Best-worst rounds from plan to figures: tuples, validation, checks, agreement and releases."""

import re
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from accounts.models import User
from annotation.kinds.clusters import CLUSTER
from api.problems import Refused
from evaluation.design.stored import intact
from evaluation.kinds.pages import PageKind
from evaluation.models import RatingDesign, RatingPage
from evaluation.protocols.content import faults_of
from evaluation.results.actions import compute_ratings
from evaluation.results.computed import compute_figures
from evaluation.results.tables.best_worst import BestWorstTable
from evaluation.results.tables.building import Ratings
from generation.models import Run
from projects import kinds
from projects.agreement.queries import report
from projects.models import Answer, Project, Round, Unit
from projects.queue.actions import next_assignments
from tests.builders import build_cluster
from tests.config.routes import api_routes, client_of
from tests.evaluation.protocol_drafts import criterion, protocol
from tests.evaluation.rating_rounds import (
    BEST_WORST,
    SYSTEMS,
    build_runs,
    cards_of,
    close_rating_round,
    open_rating,
    rate_all,
    rater_by_quality,
    submit_value,
    tuple_value,
)
from tests.evaluation.test_blinding import whole
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db


def more_runs(project: Project, systems: int, clusters: int) -> list[Run]:
    there = [build_cluster(project, number=n) for n in range(clusters)]
    return [
        build_run(build_version(project, f"S{s}"), {c.unit_id: f"Text {s} of study {n}." for n, c in enumerate(there)})
        for s in range(systems)
    ]


def open_round(project: Project, people: list[User], runs: list[Run], **plan: Any) -> Round:
    return open_rating(project, [project.members.get(user=user) for user in people], runs, BEST_WORST, **plan)


def test_four_systems_have_one_tuple_a_source_in_orders_of_their_own(
    project: Project, evaluator: User, ann1: User
) -> None:
    round = open_round(project, [evaluator, ann1], build_runs(project))
    cards = [cards_of(user, round) for user in (evaluator, ann1)]
    assert [len(card["texts"]) for card in cards[0]] == [4, 4]
    for one, other in zip(*cards, strict=True):
        assert [text["key"] for text in one["texts"]] != [text["key"] for text in other["texts"]]
        assert sorted(text["key"] for text in one["texts"]) == sorted(text["key"] for text in other["texts"])
    assert not any(name in str(cards) for name in SYSTEMS)


def test_more_systems_have_balanced_tuples(project: Project, evaluator: User) -> None:
    round = open_round(project, [evaluator], more_runs(project, 6, 10), options={"tuples_a_source": 3})
    pages = [sorted(n for t in page.texts.all() for n in t.system_numbers) for page in RatingPage.objects.all()]
    assert len(pages) == 30
    assert set(Counter(n for page in pages for n in page).values()) == {20}
    assert set(Counter(pair for page in pages for pair in combinations(page, 2)).values()) <= {11, 12, 13}
    intact(RatingDesign.objects.get(round=round))


@pytest.mark.parametrize("systems", [4, 6])
def test_the_certain_balance_of_places_holds(project: Project, evaluator: User, ann1: User, systems: int) -> None:
    kind = kinds.get("best_worst")
    assert isinstance(kind, PageKind)
    round = open_round(project, [evaluator, ann1], more_runs(project, systems, 5))
    units = list(Unit.objects.filter(project=project, type=CLUSTER).values_list("pk", flat=True))
    plan = kind.plan(Round(project=project, kind="best_worst", options=round.options, seed=7), units, "x")
    balance = plan.balance(2)
    counts = [count for row in balance["positions"] for count in row]
    assert balance["certain"]["least"] <= min(counts) <= max(counts) <= balance["certain"]["most"]
    assert balance["certain"]["most"] - balance["certain"]["least"] <= 2


def test_too_few_systems_and_equal_texts_are_refused_or_left_out(project: Project, evaluator: User) -> None:
    runs = build_runs(project)
    with pytest.raises(Refused, match="at least 4 systems"):
        open_round(project, [evaluator], runs[:3])
    same = build_run(
        build_version(project, "Same"),
        {
            item.unit_id: ("Nepralin did not change relapse in study 0." if n == 0 else f"Other text {n}.")
            for n, item in enumerate(runs[0].items.order_by("unit"))
        },
    )
    open_round(project, [evaluator], [*runs[:3], same])
    design = RatingDesign.objects.get()
    assert (design.plan["alike"], RatingPage.objects.count()) == (1, 3)


def test_exactly_one_best_and_one_worst_are_stored(project: Project, evaluator: User) -> None:
    round = open_round(project, [evaluator], build_runs(project, clusters=1))
    [slot] = next_assignments(user=evaluator, round=round)
    [card] = cards_of(evaluator, round)
    one, other, third, _ = (text["key"] for text in card["texts"])
    good = tuple_value(card, one, other)
    for value in (
        tuple_value(card, one, one),
        {"texts": good["texts"][:3]},
        {"texts": [*good["texts"][:3], {"text": "12345678", "said": []}]},
        {"texts": [{**text, "said": [{**text["said"][0], "value": "best"}]} for text in good["texts"]]},
        {"texts": [{**text, "said": [{**text["said"][0], "value": "good"}]} for text in good["texts"]]},
    ):
        with pytest.raises(Refused):
            submit_value(evaluator, slot, value)
    submit_value(evaluator, slot, good)
    kind = kinds.get("best_worst")
    [stored] = kind.values(Answer.objects.values_list("pk", flat=True)).values()
    assert [row["value"] for row in kind.rows(stored)] == ["best", "worst", "neither", "neither"]
    assert kind.in_words(stored) == {"best-worst": "best 1, worst 2"}
    assert third not in kind.in_words(stored)["best-worst"]


def test_a_round_has_figures_checks_agreement_and_a_table(
    project: Project, lead: User, evaluator: User, ann1: User
) -> None:
    design = close_rating_round(
        project,
        lead,
        [evaluator, ann1],
        build_runs(project, clusters=12),
        lambda n: rater_by_quality(n, degraded="" if n == 0 else "Alder"),
        protocol=BEST_WORST,
        options={"checks": 25, "exclude_checks": 50},
    )
    made = compute_figures(design)
    assert sorted((row["failed"] == 0, row["had"]) for row in made["checks"]) == [(False, 3), (True, 3)]
    [criterion] = made["all"]["criteria"]
    values = {row["system"]: row["value"] for row in criterion["systems"]}
    assert values["Alder"] > values["Cedar"] > values["Dogwood"]
    assert sum(values.values()) == pytest.approx(0)
    [strengths] = made["all"]["best_worst"]
    assert (strengths["n"], strengths["sources"]) == (24, 12)
    assert made["kept"]["best_worst"][0]["n"] == 12
    assert {row["name"] for row in report(design.round)["measures"]} == {"best-worst: best", "best-worst: worst"}
    compute_ratings(design=design)
    table = BestWorstTable().build(Ratings(project))
    assert [row[2].value for row in table.rows] == sorted(SYSTEMS)


def test_no_address_of_the_round_reveals_a_system_or_an_order_to_its_raters(project: Project, evaluator: User) -> None:
    round = open_round(project, [evaluator], build_runs(project), options={"checks": 50})
    rate_all(evaluator, round, most=1)
    secret = RatingDesign.objects.get(round=round).secret
    client = client_of(evaluator)
    routes = [r for r in api_routes() if "get" in r.methods and re.findall(r"<(.*?)>", r.pattern) == ["int:round_id"]]
    replies = [client.get(route.address({"round_id": round.pk})) for route in routes]
    assert len([reply for reply in replies if reply.status_code == 200]) > 3
    assert not any(
        word in whole(reply) for reply in replies for word in (*map(str.lower, SYSTEMS), secret, "made_from")
    )


def test_faults_of_a_protocol() -> None:
    assert faults_of(protocol(criterion("best", "best-worst"))) == []
    off_scale = protocol(criterion("best", "best-worst"))
    off_scale["criteria"][0]["scale"]["options"][0]["off_scale"] = True
    wrong = {
        "criteria.0.scale.type": protocol(criterion(), kind="best_worst"),
        "criteria.0.na": protocol(criterion("best", "best-worst", na=True)),
        "criteria.0.scale.options.0.off_scale": off_scale,
        "criteria.0.reason": protocol(criterion("best", "best-worst", reason={"ask": "offered"})),
        "texts_per_page": protocol(criterion("best", "best-worst"), texts_per_page="one"),
    }
    for path, content in wrong.items():
        assert [fault.path for fault in faults_of(content)] == [path]
    short = protocol(criterion("best", "best-worst"))
    short["criteria"][0]["scale"]["options"].pop()
    assert [fault.path for fault in faults_of(short)] == ["criteria.0.scale.options"]
