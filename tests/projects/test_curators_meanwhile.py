"""Two curators at the same unit: one comes after the other, and nothing is decided twice (reliability row 58).

One is paused inside its transaction, on its own connection, while the other begins.
"""

from typing import Any

import pytest

from accounts.models import User
from annotation.kinds import supersede
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from api.problems import Conflict
from projects.curation import actions as confirming
from projects.curation import actions as curation_actions
from projects.curation.actions import confirm, correct
from projects.gold.queries import current_values
from projects.models import Decision, Member, Project, Unit
from projects.staleness.actions import changed
from tests.builders import build_cluster, label_value
from tests.concurrency import Background, paused_before

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row(58), pytest.mark.contest]
Curators = tuple[Member, Member]


@pytest.fixture
def curators(project: Project, lead: User, ann1: User) -> Curators:
    Member.objects.filter(project=project, user=ann1).update(role="curator")
    first, second = (Member.objects.get(project=project, user=user) for user in (lead, ann1))
    return first, second


@pytest.fixture
def unit(project: Project, curators: Curators) -> Unit:
    """A labelled text whose label is stale."""
    unit = build_cluster(project).propositions.get(position=0).unit
    correct(unit=unit, kind="label", value=label_value(), reason="First.", by=curators[0])
    changed(units=[unit], what="tuple", reason="Another outcome.", by=curators[0], before="relapse", after="recovery")
    return Unit.objects.get(pk=unit.pk)


def both(owner: Any, name: str, first: Any, second: Any) -> Background:
    """Run ``second`` while ``first`` waits before ``owner.name``; both have ended on return."""
    with paused_before(owner, name) as pause:
        one = Background(first)
        assert pause.reached.wait(10)
        other = Background(second)
        assert not other.has_ended(0.3), "it waits for the first"
    one.end()
    assert other.has_ended(30)
    return other


def test_confirmations_are_visible_to_other_curators(unit: Unit, curators: Curators) -> None:
    before = Decision.objects.count()
    other = both(
        confirming,
        "insert_decisions",
        lambda: confirm(unit=unit, kind="label", reason="", by=curators[0]),
        lambda: confirm(unit=unit, kind="label", reason="", by=curators[1]),
    )
    assert isinstance(other.error, Conflict)
    assert Decision.objects.count() == before + 4


def test_confirming_does_not_revert_a_concurrent_correction(unit: Unit, curators: Curators) -> None:
    value = label_value(polarity="negative")
    other = both(
        curation_actions,
        "insert_decisions",
        lambda: correct(unit=unit, kind="label", value=value, reason="Wrong.", by=curators[0]),
        lambda: confirm(unit=unit, kind="label", reason="", by=curators[1]),
    )
    assert isinstance(other.error, Conflict)
    assert current_values([unit], "label")[unit.pk]["polarity"] == "negative"


def test_a_text_under_correction_cannot_be_labelled(unit: Unit, curators: Curators) -> None:
    old = Proposition.objects.select_related("unit", "cluster").get(unit=unit)
    before = Decision.objects.count()
    other = both(
        supersede,
        "refresh_search",
        lambda: supersede_text(proposition=old, text="Another text.", reason="Typo.", by=curators[0]),
        lambda: correct(unit=unit, kind="label", value=label_value(polarity="negative"), reason="No.", by=curators[1]),
    )
    assert isinstance(other.error, Conflict)
    assert Decision.objects.filter(unit=unit).count() == before
