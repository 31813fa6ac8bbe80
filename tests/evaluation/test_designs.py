"""The design of a rating round as shown to leads, before and after it opens."""

from collections import Counter
from typing import Any

import pytest

from accounts.models import User
from evaluation.design import systems
from evaluation.kinds.pages import PageKind
from evaluation.models import RatingDesign
from evaluation.unblinding.queries import EMBARGOED
from projects import kinds
from projects.models import Project, Unit
from projects.rounds.actions import close_round
from tests.evaluation.rating_rounds import GUIDELINE, PREFERENCE, build_runs, open_rating
from tests.generation.builders import build_run

pytestmark = pytest.mark.django_db


def test_a_plan_as_the_page_sends_it_has_a_design_with_its_balance(
    project: Project, lead: User, evaluator: User, client_of: Any
) -> None:
    build_runs(project, clusters=6, systems=("Alder", "Birch"))
    client = client_of(lead)
    choice = next(k for k in client.get("/api/v1/projects/eye/rounds/choices/").json()["kinds"] if k["key"] == "rate")
    assert choice["blind"]
    options = {p["name"]: p["default"] for p in choice["options"]}
    plan = {
        "name": "plan",
        "kind": "rate",
        "purpose": "measure only",
        "overlap": 1,
        "allocation": "dealt",
        "guideline": None,
        "people": [project.members.get(user=evaluator).pk],
        "options": options,
        "policy": {p["name"]: p["default"] for p in choice["policy"]},
        "terms": {},
        "seed": 5,
        "sample": None,
        "strata": [],
        "filters": {},
        "lease_seconds": 1800,
        "block_share": 0,
        "block_overlap": 0,
        "repeat_share": 0,
        "repeat_distance": 20,
        "order": "corpus",
        "requires_practice": None,
        "asks_questions": False,
    }
    reply = client.post("/api/v1/projects/eye/rating-design/", plan, format="json")
    assert reply.status_code == 200, reply.json()
    design = reply.json()
    assert (design["pages"], design["texts"], design["systems"]) == (6, 12, ["Alder", "Birch"])
    assert design["balance"]["positions"] == [[3, 3], [3, 3]]
    assert design["balance"]["certain"] == {"least": 3, "most": 3}
    plan["options"] = {**options, "systems": ["references"]}
    refused = client.post("/api/v1/projects/eye/rating-design/", plan, format="json")
    assert refused.json()["errors"][0]["field"] == "options.systems"
    # The first name of the option is still accepted.
    plan["options"] = {"entrants" if name == "systems" else name: value for name, value in options.items()}
    assert client.post("/api/v1/projects/eye/rating-design/", plan, format="json").json() == design


@pytest.mark.parametrize(("clusters", "protocol"), [(4, GUIDELINE), (5, GUIDELINE), (3, PREFERENCE)])
def test_the_certain_balance_of_a_plan_holds_in_its_round(
    project: Project, lead: User, evaluator: User, ann1: User, clusters: int, protocol: str
) -> None:
    people, runs = [project.members.get(user=user) for user in (evaluator, ann1)], build_runs(project, clusters)
    round = open_rating(project, people, runs, protocol)
    kind = kinds.get(round.kind)
    assert isinstance(kind, PageKind)
    plan = kind.plan(round, list(Unit.objects.filter(cluster__isnull=False).values_list("pk", flat=True)))
    certain = plan.balance(2)["certain"]
    counts: Counter[tuple[int, int]] = Counter()
    slots = list(round.assignments.select_related("unit"))
    shown = kind.load(slots, round)
    for slot in slots:
        for place, text in enumerate(kind.ordered_page(slot, shown, round).texts):
            counts[text.system_numbers[0], place] += 1
    places = 2 if protocol == PREFERENCE else 4
    dealt = [counts[system, place] for system in range(4) for place in range(places)]
    assert certain["least"] <= min(dealt) <= max(dealt) <= certain["most"]
    assert (certain["least"] == certain["most"]) == (clusters != 5)


def test_systems_in_blind_rounds_are_preselected_only_without_others(
    project: Project, lead: User, evaluator: User
) -> None:
    runs = build_runs(project)
    every = [str(run.pk) for run in runs]
    assert systems.offered(project)[2] == every
    open_rating(project, [project.members.get(user=evaluator)], runs[:2])
    assert systems.offered(project)[2] == every[2:]
    open_rating(project, [project.members.get(user=evaluator)], runs[2:], name="Others")
    assert systems.offered(project)[2] == every


def test_the_design_of_a_round_says_when_and_by_whom_it_was_unblinded(
    project: Project, lead: User, evaluator: User, client_of: Any
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    address = f"/api/v1/rounds/{round.pk}/"
    before = client_of(lead).get(f"{address}rating-design/").json()
    assert (before["unblinded_at"], before["unblinded_by"], before["embargoed_runs"]) == (None, "", 4)
    assert client_of(lead).post(f"{address}unblind/").status_code == 409
    close_round(round=round, by=lead)
    assert client_of(lead).post(f"{address}unblind/").json()["unblinded_by"] == "Lead"
    assert client_of(evaluator).get(f"{address}rating-design/").status_code == 403
    assert RatingDesign.objects.get(round=round).digest == before["digest"]


def test_a_run_shows_why_its_embargo_stays(project: Project, lead: User, evaluator: User, client_of: Any) -> None:
    runs = build_runs(project, systems=("Alder", "Birch"))
    assert client_of(lead).get(f"/api/v1/runs/{runs[0].pk}/").json()["embargo_reason"] == ""
    open_rating(project, [project.members.get(user=evaluator)], runs[:1])
    assert "rated blindly" in client_of(lead).get(f"/api/v1/runs/{runs[0].pk}/").json()["embargo_reason"]
    other = build_run(runs[1].version, {})
    assert client_of(lead).get(f"/api/v1/runs/{other.pk}/").json()["embargo_reason"] == ""


def test_raters_are_not_shown_which_texts_are_equal(
    project: Project, lead: User, evaluator: User, client_of: Any
) -> None:
    runs = build_runs(project, systems=("Alder", "Birch", "Cedar"))
    client = client_of(lead)
    plan = {
        "name": "plan",
        "kind": "rate",
        "purpose": "measure only",
        "overlap": 1,
        "people": [project.members.get(user=evaluator).pk],
        "sample": 1,
        "options": {"protocol": GUIDELINE, "systems": [str(runs[0].pk), str(runs[2].pk)]},
    }
    address = "/api/v1/projects/eye/rating-design/"
    assert client.post(address, plan, format="json").json()["texts"] == 2
    round = open_rating(project, [project.members.get(user=lead)], runs[:2])
    refused = client.post(address, plan, format="json")
    assert (refused.status_code, refused.json()["detail"]) == (422, EMBARGOED)
    plan["options"] = {"protocol": GUIDELINE, "systems": [str(runs[2].pk)]}
    assert client.post(address, plan, format="json").status_code == 200
    own = client.get(f"/api/v1/rounds/{round.pk}/rating-design/").json()
    assert (own["pages"], own["texts"], own["alike"]) == (4, None, None)
    close_round(round=round, by=lead)
    assert client.post(f"/api/v1/rounds/{round.pk}/unblind/").json()["texts"] == 8
