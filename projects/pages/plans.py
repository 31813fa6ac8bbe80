"""What a plan for a round comes to before it is opened, and other reckonings that change nothing."""

from collections import defaultdict
from collections.abc import Set
from itertools import chain, count
from math import ceil
from statistics import median
from typing import Any

from django.db.models import BooleanField, Case, Count, Q, When
from django.utils import timezone

from api.parameters import in_words

from .. import kinds, purposes
from ..actions.rounds import WORKERS, RoundPlan, chosen_units, meant
from ..background import waiting
from ..models import Answer, Assignment, Job, Outcome, Participant, Project, Round, Unit
from ..rounds import cards, choosing, practice
from ..rounds.slots import Shape

#: How many of the newest answers the estimate of time looks at.
RECENT = 500


def totals(project: Project, plan: RoundPlan) -> dict[str, Any]:
    """Units, answers, each person's share, and minutes by the median pace of this project's earlier answers."""
    plan = meant(project, plan)
    ids = list(
        choosing.units(project, plan.kind, plan.filters, plan.purpose, plan.options).values_list("pk", flat=True)
    )
    units, strata = len(ids), []
    if plan.sample is not None and plan.sample <= units:
        units = plan.sample
        if plan.strata:
            taken = choosing.sample(ids, plan.sample, plan.seed, kind=plan.kind, strata=plan.strata)
            strata = choosing.sizes(ids, kind=plan.kind, strata=plan.strata, taken=taken)
    asked = kinds.get(plan.kind).units_after_layout(project, units, plan.options)
    answers = plan.shape.count(asked) + plan.shape.again(asked, len(plan.people))
    each = answers / len(plan.people) if plan.people else 0.0
    measured, timed = pace_of(project, plan.kind)
    pace = measured or kinds.get(plan.kind).assumed_seconds
    return {
        "units": units,
        "available": len(ids),
        "strata": strata,
        "answers": answers,
        "each": each,
        "seconds_an_answer": pace,
        "answers_timed": timed,
        "minutes_each": pace * each / 60,
    }


def preview(project: Project, plan: RoundPlan, turn: int) -> list[dict[str, Any]]:
    """The card of one of the plan's units, as the people of the round would see it; another one at each turn."""
    plan = meant(project, plan)
    units = chosen_units(project, plan)
    if not units:
        return []
    # A stride that is coprime to most counts: one turn on is elsewhere in the corpus, and all are met in time.
    at = turn * 7919 % len(units)
    unit = Unit.objects.get(pk=units[at][0])
    round = Round(
        project=project, kind=plan.kind, purpose=plan.purpose, overlap=plan.overlap, seed=plan.seed,
        policy=dict(plan.policy), options=dict(plan.options),
    )  # fmt: skip
    return cards.cards(round, [Assignment(pk=0, unit=unit, number=1, position=at)])


def choices(project: Project) -> dict[str, Any]:
    """What a lead can choose from: the kinds with their options, and the people with what lies before each."""
    taken = set(project.rounds.values_list("name", flat=True))
    ordered = sorted(kinds.all_kinds(), key=lambda kind: (kind.order, kind.title))
    return {
        "kinds": [_kind_choice(kind, project) | {"name": _free(kind.title, taken)} for kind in ordered],
        "purposes": [_purpose_choice(key) for key in purposes.which("planned")],
        "practice": _practices(project),
        "people": _people(project),
    }


def _practices(project: Project) -> list[dict[str, Any]]:
    """Practice rounds that a round can ask for, with who is in each and who has passed. Three queries."""
    rounds = list(project.rounds.opened().filter(purpose__in=purposes.which("gives_feedback")))
    there: dict[int, list[int]] = defaultdict(list)
    for round, member in Participant.objects.filter(round__in=rounds, left_at=None).values_list("round", "member"):
        there[round].append(member)
    fared = practice.attempts_in(rounds, Q())
    return [
        {
            "id": r.pk, "name": r.name, "kind": r.kind, "open": r.is_open, "people": sorted(there[r.pk]),
            "passed": sorted(pk for pk, mine in fared[r.pk].items() if any(one.passed for one in mine)),
        }
        for r in rounds
    ]  # fmt: skip


def _free(title: str, taken: Set[str]) -> str:
    """A name for a round that no other has: the title of its task, with a number where that is taken."""
    return next(name for name in chain([title], (f"{title} {n}" for n in count(2))) if name not in taken)


def _purpose_choice(key: str) -> dict[str, Any]:
    meaning = purposes.of(key)
    return {
        "key": key, "says": meaning.says, "for_everyone": meaning.gives_feedback, "chooses": meaning.chooses,
        "terms": meaning.terms,
    }  # fmt: skip


def _kind_choice(kind: kinds.Kind, project: Project) -> dict[str, Any]:
    return {
        "key": kind.key,
        "title": kind.title,
        "strata": choosing.strata_of(kind),
        "rolls": kind.rolls,
        "designed": kind.designed,
        "options": kind.options_of(project),
        "policy": kind.policy,
        "filters": [one.asked for one in choosing.filters_of(kind)],
        "guideline": kind.guideline,
        "blind": kind.blind,
    }


def settings_in_words(round: Round) -> list[dict[str, str]]:
    """What was set of a round, by its shape and the declarations of its purpose and kind: label and value in words."""
    kind, shape = kinds.get(round.kind), Shape.of(round.overlap, round.sampling)
    shaped = []
    if shape.block_share:
        shaped.append(
            {
                "label": "Overlap block",
                "value": f"{shape.block_share:.0%} of the units, by {shape.block_overlap} people",
            }
        )
    if shape.repeat_share:
        again = (
            f"{shape.repeat_share:.0%} of each person's own units, {shape.repeat_distance} or more others in between"
        )
        shaped.append({"label": "Asked again", "value": again})
    if round.is_rolling:
        shaped.append({"label": "Units that come later", "value": "taken in while the round is open"})
    if round.requires_practice:
        shaped.append({"label": "Required practice", "value": round.requires_practice.name})
    if round.asks_questions:
        shaped.append({"label": "Questions before the round", "value": f"{len(round.guideline.questions)}, two tries"})
    return shaped + [
        {"label": one.label, "value": in_words(one, given[one.name])}
        for declared, given in (
            (round.meaning.terms, round.terms),
            (kind.policy, round.policy),
            (kind.options_of(round.project), round.options),
        )
        for one in declared
        if one.name in given
    ]


def _people(project: Project) -> list[dict[str, Any]]:
    """Members who may annotate, with the answers that wait for each: in hand or dealt, and a share of open pools."""
    waiting: dict[int, float] = defaultdict(float)
    rounds: dict[int, int] = defaultdict(int)
    open_rounds = Round.objects.filter(project=project, status=Round.Status.OPEN).opened_by_people()
    slots = Assignment.objects.filter(round__in=open_rounds).counted().unanswered()
    of_round: dict[int, list[int]] = defaultdict(list)
    for round, member in Participant.objects.filter(round__in=open_rounds, left_at=None).values_list("round", "member"):
        of_round[round].append(member)
        rounds[member] += 1
    for round, person, n in slots.order_by().values_list("round", "person").annotate(n=Count("pk")):
        for member in [person] if person else of_round[round]:
            waiting[member] += n if person else n / len(of_round[round])
    members = project.members.active().filter(role__in=WORKERS).select_related("user").order_by("pk")
    return [
        {
            "member": m.pk, "name": m.user.name, "pseudonym": m.pseudonym, "role": m.role,
            "open_answers": ceil(waiting[m.pk]), "open_rounds": rounds[m.pk],
        }
        for m in members
    ]  # fmt: skip


def pace_of(project: Project, kind: str) -> tuple[float | None, int]:
    """Median active seconds of the newest answers of a kind, and of how many; None before there are any."""
    times = (
        Answer.objects.filter(
            assignment__round__project=project, assignment__round__kind=kind, outcome=Outcome.ANSWERED, active_ms__gt=0
        )
        .order_by("-received_at")
        .values_list("active_ms", flat=True)[:RECENT]
    )
    found = list(times)
    return (median(found) / 1000 if found else None), len(found)


def fresh_job(job: Job) -> Job:
    """The job as it is now, with its problems and whether it has stalled."""
    stalled = Case(When(waiting.stalled(timezone.now()), then=True), default=False, output_field=BooleanField())
    return Job.objects.annotate(stalled=stalled).prefetch_related("problems").get(pk=job.pk)
