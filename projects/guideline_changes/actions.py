"""Open a correction round of the units that a new version of a guideline concerns."""

from collections.abc import Sequence

from django.db import transaction

from accounts.models import User
from api.problems import Refused

from .. import kinds
from ..concerns.queries import GuidelineChange
from ..models import Guideline, Purpose, Round
from ..rounds.choosing import GUIDELINE_VERSION
from ..rounds.planning import RoundPlan
from ..rounds.preparing import begin_round
from .queries import last_round


def open_correction(*, guideline: Guideline, name: str, people: Sequence[int], by: User | None) -> Round:
    """Open a correction round of exactly the units that the version concerns and that have a current value.

    The round follows the newest version. Its other settings are those of the last round that asked for these fields.
    """
    with transaction.atomic():
        # Another lead may be opening the same round. It takes the units once.
        Guideline.objects.select_for_update(no_key=True).get(pk=guideline.pk)
        change = GuidelineChange.of(guideline)
        kind = kinds.get(guideline.kind)
        if not change.concerns:
            raise Refused.field("guideline", "This version concerns no answer.")
        if not kind.decides:
            raise Refused.field("guideline", "This task decides nothing, so there are no values to correct.")
        if not people:
            raise Refused.field("people", "Choose at least one person.")
        if not change.correctable().exists():
            raise Refused.field("guideline", "No unit with a current value is left to revisit.")
        last = last_round(change)
        options = {p.name for p in kind.options_of(guideline.project)}
        policy = {p.name for p in kind.policy}
        newest = (
            guideline.project.guidelines.filter(kind=guideline.kind).order_by("-number").values_list("pk", flat=True)
        )
        plan = RoundPlan(
            name=name,
            kind=guideline.kind,
            purpose=Purpose.CORRECTION,
            overlap=1,
            people=people,
            guideline=newest[0],
            filters={GUIDELINE_VERSION: guideline.number},
            options={n: v for n, v in kind.current_options(last.options).items() if n in options} if last else {},
            policy={n: v for n, v in last.policy.items() if n in policy} if last else {},
        )
        return begin_round(project=guideline.project, plan=plan, by=by)
