"""Planning a reliability study: both of its rounds are opened at once, or none."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from api.problems import Refused
from audit.log import record
from projects.actions.rounds import RoundPlan, open_round
from projects.models import Project, Purpose
from projects.rounds.choosing import units

from ..kinds.label.kind import WITH_CUES, LabelKind
from ..kinds.match.kind import NEAREST_BY, MatchKind
from ..models import ReliabilityStudy
from ..values import matching
from ..values.matching import Matchable

TARGETS = {"role": "target"}


@dataclass(frozen=True)
class StudyPlan:
    """``propositions``: targets to label; ``sentences``: targets to match, 0 for none; ``overlap``: people a target."""

    name: str
    propositions: int
    sentences: int
    overlap: int
    people: Sequence[int]
    seed: int
    nearest_by: str = ""


def labellable(project: Project) -> int:
    """How many target propositions there are to label."""
    return units(project, LabelKind.key, TARGETS).count()


def without_matches(found: Matchable) -> str:
    """Why no target sentence can be matched; empty where some can."""
    if found.honest:
        return ""
    if not found.targets:
        return "The project has no target sentences."
    return f"No target sentence has four candidates ({matching.in_words(found.refused.values())})."


def begin_study(*, project: Project, plan: StudyPlan, by: User) -> ReliabilityStudy:
    """Sample and open both rounds; where no target can be matched, or none is to be, the round of labels alone.
    Raises `Refused` naming the field."""
    rankers = matching.rankers(project)
    ranker = plan.nearest_by or rankers[0]
    if ranker not in rankers:
        raise Refused.field("nearest_by", f"Nothing is ranked by {ranker!r} in this project.")
    found = matching.matchable(project, ranker)
    why = without_matches(found) or ("" if plan.sentences else "None was asked for.")
    _refuse(project, plan, found, why)
    common = {
        "purpose": Purpose.MEASURE_ONLY, "overlap": plan.overlap, "people": plan.people, "seed": plan.seed,
        "order": "shuffled",
    }  # fmt: skip
    with transaction.atomic():
        labels = open_round(
            project=project, by=by,
            plan=RoundPlan(
                name=f"{plan.name}: labels", kind=LabelKind.key, sample=plan.propositions, filters=TARGETS,
                options={WITH_CUES: False}, **common,  # type: ignore[arg-type]
            ),
        )  # fmt: skip
        matches = None if why else open_round(
            project=project, by=by,
            plan=RoundPlan(
                name=f"{plan.name}: matches", kind=MatchKind.key, sample=plan.sentences, options={NEAREST_BY: ranker},
                **common,  # type: ignore[arg-type]
            ),
        )  # fmt: skip
        study = ReliabilityStudy.objects.create(
            project=project, name=plan.name, seed=plan.seed, overlap=plan.overlap, labels=labels, matches=matches,
            no_matches=why, created_by=by,
        )  # fmt: skip
        record(
            actor=by, verb="begin reliability study", obj=study, project_id=project.pk,
            after={"name": plan.name, "labels": labels.name, "matches": matches.name if matches else why},
        )  # fmt: skip
    return study


def _refuse(project: Project, plan: StudyPlan, found: Matchable, why: str) -> None:
    if len(set(plan.people)) < plan.overlap:
        raise Refused.field("people", f"Each target is asked of {plan.overlap}: choose as many people, or more.")
    if project.reliability_studies.filter(name=plan.name).exists():
        raise Refused.field("name", f"This project has a reliability study named {plan.name!r} already.")
    if plan.propositions > (there := labellable(project)):
        raise Refused.field("propositions", f"There are {there} target propositions to sample from.")
    if not why and plan.sentences > (there := len(found.honest)):
        raise Refused.field("sentences", f"There are {there} target sentences with four candidates to sample from.")
