"""Plan reliability studies. Both rounds of a study are opened in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from api.problems import Refused
from audit.log import record
from projects.models import Project, Purpose
from projects.rounds.actions import open_round
from projects.rounds.choosing import units
from projects.rounds.planning import RoundPlan

from ..kinds.label.kind import WITH_CUES, LabelKind
from ..kinds.match import matching
from ..kinds.match.kind import NEAREST_BY, MatchKind
from ..models import ReliabilityStudy
from .figures import count_matchable

TARGETS = {"role": "target"}


@dataclass(frozen=True)
class StudyPlan:
    """Plan of a study.

    ``propositions`` is the number of targets to label and ``sentences`` of targets to match (0 for none). ``overlap``
    is the number of people per target.
    """

    name: str
    propositions: int
    sentences: int
    overlap: int
    people: Sequence[int]
    seed: int
    nearest_by: str = ""


def count_labellable(project: Project) -> int:
    """Return the number of target propositions that can be labelled."""
    return units(project, LabelKind.key, TARGETS).count()


def why_no_matches(targets: int, matchable: int, refused: Mapping[str, int]) -> str:
    """Return why no target sentence can be matched; empty if at least one can. ``refused``: targets by reason."""
    if matchable:
        return ""
    if not targets:
        return "The project has no target sentences. Import or select some first."
    return f"No target sentence has four candidates ({matching.reasons_in_words(refused)})."


def begin_study(*, project: Project, plan: StudyPlan, by: User) -> ReliabilityStudy:
    """Sample targets and open both rounds.

    If no target can be matched, or no matches are requested, open the round of labels alone. Raise `Refused` naming the
    field.
    """
    rankers = matching.rankers(project)
    ranker = plan.nearest_by or rankers[0]
    if ranker not in rankers:
        raise Refused.field(
            "nearest_by",
            f"This project has no rankings by {ranker!r}. Rank the evidence first, or choose another ranker.",
        )
    counts = count_matchable(project, ranker)
    why = why_no_matches(counts["targets"], counts["matchable"], counts["refused"])
    if not why and not plan.sentences:
        why = "No matches were requested."
    _check_plan(project, plan, counts["matchable"], why)
    common = {
        "purpose": Purpose.RELIABILITY_STUDY,
        "overlap": plan.overlap,
        "people": plan.people,
        "seed": plan.seed,
        "order": "shuffled",
    }
    with transaction.atomic():
        labels = open_round(
            project=project,
            by=by,
            plan=RoundPlan(
                name=f"{plan.name}: labels",
                kind=LabelKind.key,
                sample=plan.propositions,
                filters=TARGETS,
                options={WITH_CUES: False},
                **common,  # type: ignore[arg-type]
            ),
        )
        matches = (
            None
            if why
            else open_round(
                project=project,
                by=by,
                plan=RoundPlan(
                    name=f"{plan.name}: matches",
                    kind=MatchKind.key,
                    sample=plan.sentences,
                    options={NEAREST_BY: ranker},
                    **common,  # type: ignore[arg-type]
                ),
            )
        )
        study = ReliabilityStudy.objects.create(
            project=project,
            name=plan.name,
            seed=plan.seed,
            overlap=plan.overlap,
            labels=labels,
            matches=matches,
            no_matches=why,
            created_by=by,
        )
        record(
            actor=by,
            verb="begin reliability study",
            obj=study,
            project_id=project.pk,
            after={"name": plan.name, "labels": labels.name, "matches": matches.name if matches else why},
        )
    return study


def _check_plan(project: Project, plan: StudyPlan, matchable: int, why: str) -> None:
    if len(set(plan.people)) < plan.overlap:
        raise Refused.field("people", f"Select at least {plan.overlap} people.")
    if project.reliability_studies.filter(name=plan.name).exists():
        raise Refused.field(
            "name", f"This project already has a reliability study named {plan.name!r}. Choose another name."
        )
    if plan.propositions > (available := count_labellable(project)):
        match = "proposition matches" if available == 1 else "propositions match"
        raise Refused.field("propositions", f"Only {available} target {match}.")
    if not why and plan.sentences > matchable:
        have = "sentence has" if matchable == 1 else "sentences have"
        raise Refused.field("sentences", f"Only {matchable} target {have} four candidates.")
