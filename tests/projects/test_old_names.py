"""Submissions with the field names and values of earlier versions are accepted."""

import pytest

from api.fields import with_new_names
from projects.participation.views import NewLinksSerializer
from projects.rounds.plan_serializers import RoundPlanSerializer
from projects.rounds.serializers import RoundSerializer

PLAN = {"name": "r", "kind": "label", "overlap": 2, "people": [1, 2]}
CURRENT = {"purpose": "reliability study", "allocation": "fixed allocation", "held_limit": 5}


@pytest.mark.parametrize("names", [CURRENT, {"purpose": "measure only", "dealing": "dealt", "hand_size": 5}])
def test_a_plan_gives_the_stored_values_by_old_and_new_names(names: dict[str, object]) -> None:
    plan = RoundPlanSerializer(data=PLAN | names)
    plan.is_valid(raise_exception=True)
    assert {name: plan.validated_data[name] for name in CURRENT} == {
        "purpose": "measure only",
        "allocation": "dealt",
        "held_limit": 5,
    }


@pytest.mark.parametrize("name", ["capacity", "places"])
def test_a_link_takes_its_capacity_by_old_and_new_name(name: str) -> None:
    links = NewLinksSerializer(data={"labels": ["a"], name: 20})
    links.is_valid(raise_exception=True)
    assert links.validated_data["capacity"] == 20


def test_an_unknown_value_is_refused_and_the_new_name_wins() -> None:
    plan = RoundPlanSerializer(data=PLAN | {"purpose": "nonsense"})
    assert not plan.is_valid()
    assert set(plan.errors) == {"purpose"}
    assert with_new_names({"places": 1, "capacity": 2}, {"places": "capacity"}) == {"capacity": 2}
    assert with_new_names([1], {"places": "capacity"}) == [1]


def test_a_round_is_shown_with_the_names_of_the_api() -> None:
    fields = RoundSerializer().fields
    assert fields["purpose"].to_representation("review and correct") == "correction"
    assert fields["allocation"].to_representation("pool") == "shared queue"
