"""Read-only previews of a round plan: totals, example cards and choices."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import chain, count
from math import ceil
from statistics import median
from typing import Any

from django.db.models import Count, Q

from api.parameters import in_words

from .. import kinds, purposes
from ..answers.assignments import Shape
from ..concerns.queries import field_choices
from ..gates import queries as gates_queries
from ..material import registry as material
from ..models import Answer, Assignment, Outcome, Participant, Project, Round, Unit
from ..practice import queries as practice_queries
from ..queue import queries as queue_queries
from ..suggestions.queries import in_words as suggestions_in_words
from . import choosing, returning
from .planning import (
    WORKERS,
    RoundPlan,
    count_asked,
    matching_units,
    planned_units,
    purposes_of,
    sample_units,
    validated_plan,
)

#: Number of newest answers that the time estimate uses.
RECENT = 500
#: Returning items of a person within which a fall of accuracy is noticed (see `benchmarks/drift.py`).
ENOUGH_ITEMS = 40


def totals(project: Project, plan: RoundPlan) -> dict[str, Any]:
    """Return units, answers, answers per person, and minutes by the median time of this project's earlier answers."""
    plan = validated_plan(project, plan)
    ids = matching_units(project, plan)
    sample, strata = sample_units(ids, plan), []
    if plan.strata and plan.sample is not None and plan.sample <= len(ids):
        strata = choosing.sizes(ids, kind=plan.kind, strata=plan.strata, taken=set(sample))
    unit_count = count_asked(project, plan, sample)
    items, items_each = _returning(project, plan, ids, unit_count)
    answers = plan.shape.count(unit_count) + plan.shape.again(unit_count, len(plan.people))
    answers += round(items_each * len(plan.people))
    each = answers / len(plan.people) if plan.people else 0.0
    measured, timed = pace_of(project, plan.kind)
    pace = measured or kinds.get(plan.kind).assumed_seconds
    return {
        "units": len(sample),
        "available": len(ids),
        "strata": strata,
        "answers": answers,
        "each": each,
        "seconds_an_answer": pace,
        "answers_timed": timed,
        "minutes_each": pace * each / 60,
        "items": items,
        "items_each": items_each,
        "fewer": [*_fewer_repeats(plan, unit_count), *_no_checks(plan, unit_count), *_few_items(plan, items_each)],
    }


def _returning(project: Project, plan: RoundPlan, ids: Sequence[int], unit_count: int) -> tuple[int, float]:
    """Return how many gold items can return, and how many each person gets."""
    if not plan.return_share or not plan.people:
        return 0, 0.0
    items = len(set(returning.pool(project, plan)) - set(sample_units(ids, plan)))
    each = plan.shape.count(unit_count) / len(plan.people)
    return items, min(float(items), plan.return_share * each)


def _few_items(plan: RoundPlan, each: float) -> Iterator[str]:
    """Yield that a plan has too few returning items to notice a fall of accuracy."""
    if plan.return_share and plan.people and each < ENOUGH_ITEMS:
        yield (
            f"Returning gold items: about {each:.0f} per person. To notice a fall of accuracy from 95% to 70% in 9 of "
            f"10 cases, {ENOUGH_ITEMS} are needed. Raise the share, or add units or decided items."
        )


def _fewer_repeats(plan: RoundPlan, unit_count: int) -> Iterator[str]:
    """Yield why there are fewer repeats than the plan requests."""
    people, shape = len(plan.people), plan.shape
    each = shape.count(unit_count) / people if people else 0
    wanted, possible = people * ceil(shape.repeat_share * each), shape.again(unit_count, people)
    if possible < wanted:
        yield (
            f"Repeats: {possible} instead of {wanted}. A unit repeats after {shape.repeat_distance} others, and each "
            f"person has about {each:.0f} units. Lower the distance for more."
        )


def _no_checks(plan: RoundPlan, unit_count: int) -> Iterator[str]:
    """Yield why a plan with attention checks has none."""
    per_cent = int(plan.options.get("checks") or 0)
    if per_cent and unit_count and unit_count * per_cent < 50:
        yield f"Attention checks: none, since {per_cent}% of {unit_count} pages rounds to 0."


def preview(project: Project, plan: RoundPlan, turn: int) -> list[dict[str, Any]]:
    """Return the card of one of the plan's units as people of the round see it. Each turn selects another unit."""
    plan = validated_plan(project, plan)
    units = planned_units(project, plan)
    if not units:
        return []
    # The stride is coprime to most counts, so consecutive turns show distant units, and finally all of them.
    at = turn * 7919 % len(units)
    unit = Unit.objects.get(pk=units[at][0])
    round = Round(
        project=project,
        kind=plan.kind,
        purpose=plan.purpose,
        overlap=plan.overlap,
        seed=plan.seed,
        policy=dict(plan.policy),
        options=dict(plan.options),
        terms=dict(plan.terms),
    )
    return queue_queries.cards(round, [Assignment(pk=0, unit=unit, number=1, position=at)])


def choices(project: Project) -> dict[str, Any]:
    """Return the choices for a new round: kinds with options, purposes, practice rounds, people with open answers."""
    used_names = set(project.rounds.values_list("name", flat=True))
    ordered = sorted(kinds.all_kinds(), key=lambda kind: (kind.order, kind.title))
    if material.is_fixed(has := material.of(project)):
        # Rounds of the other tasks will never have units.
        keys = {"", *(one.key for one in has)}
        ordered = [one for one in ordered if one.designed or (one.material in keys and one.units(project).exists())]
    return {
        "kinds": [_kind_choice(kind, project) | {"name": free_name(kind.title, used_names)} for kind in ordered],
        "groups": list(dict.fromkeys(kind.group for kind in ordered)),
        "purposes": [_purpose_choice(key) for key in purposes.which("planned")],
        "practice": _practices(project),
        "pilots": [
            {"id": r.pk, "name": r.name, "kinds": gates_queries.kinds_of(r), "open": r.is_open, "units": r.units_count}
            for r in gates_queries.pilots(project)
        ],
        "people": _people(project),
        "gold_sources": returning.sources(project),
    }


def _practices(project: Project) -> list[dict[str, Any]]:
    """Return the practice rounds that a round can require, with their people and who has passed. Three queries."""
    rounds = list(project.rounds.opened().filter(purpose__in=purposes.which("gives_feedback")))
    people_by_round: dict[int, list[int]] = defaultdict(list)
    for round, member in Participant.objects.filter(round__in=rounds, left_at=None).values_list("round", "member"):
        people_by_round[round].append(member)
    attempts_by_round = practice_queries.attempts_in(rounds, Q())
    return [
        {
            "id": r.pk,
            "name": r.name,
            "kind": r.kind,
            "open": r.is_open,
            "people": sorted(people_by_round[r.pk]),
            "passed": sorted(
                pk for pk, own_attempts in attempts_by_round[r.pk].items() if any(one.passed for one in own_attempts)
            ),
        }
        for r in rounds
    ]


def free_name(title: str, used_names: Set[str]) -> str:
    """Return an unused name for a round: the title of its task, with a number if that name is taken."""
    return next(name for name in chain([title], (f"{title} {n}" for n in count(2))) if name not in used_names)


def _purpose_choice(key: str) -> dict[str, Any]:
    meaning = purposes.of(key)
    return {
        "key": purposes.Purpose(key).label,
        "says": meaning.says,
        "for_everyone": meaning.gives_feedback,
        "chooses": meaning.chooses,
        "terms": meaning.terms,
    }


def _kind_choice(kind: kinds.Kind, project: Project) -> dict[str, Any]:
    return {
        "key": kind.key,
        "title": kind.title,
        "description": kind.description,
        "group": kind.group.title,
        "strata": choosing.strata_of(kind),
        "rolls": kind.rolls,
        "designed": kind.designed,
        "options": kind.options_of(project),
        "policy": kind.policy,
        "filters": [one.parameter for one in choosing.filters_of(kind)],
        "guideline": kind.guideline,
        "fields_asked": field_choices(kind),
        "blind": kind.blind,
        "returns": returning.returns(kind),
        "purposes": [purposes.Purpose(key).label for key in purposes_of(kind)],
    }


def settings_in_words(round: Round) -> list[dict[str, str]]:
    """Return the settings of a round as label and value, from its shape, purpose and kind.

    Options that the page of the design shows are left out.
    """
    kind, shape = kinds.get(round.kind), Shape.of(round.overlap, round.sampling)
    rows = []
    if shape.block_share:
        rows.append(
            {
                "label": "Overlap block",
                "value": f"{shape.block_share:.0%} of the units, by {shape.block_overlap} people",
            }
        )
    if shape.repeat_share:
        repeats = (
            f"{shape.repeat_share:.0%} of each person's own units, at least {shape.repeat_distance} others in between"
        )
        rows.append({"label": "Repeats", "value": repeats})
    if round.is_rolling:
        rows.append({"label": "Later units", "value": "added while the round is open"})
    if round.suggestions:
        rows.append({"label": "Suggestions by a model", "value": suggestions_in_words(round)})
    if round.requires_practice:
        rows.append({"label": "Required practice", "value": round.requires_practice.name})
    if round.asks_questions:
        rows.append({"label": "Questions before the round", "value": f"{len(round.guideline.questions)}, two tries"})
    return rows + [
        {"label": one.label, "value": in_words(one, values[one.name])}
        for declared, values in (
            (round.meaning.terms, round.terms),
            (kind.policy, round.policy),
            (kind.options_of(round.project), kind.current_options(round.options)),
        )
        for one in declared
        if one.name in values and one.name not in (*kind.design_options, purposes.SUGGESTIONS, purposes.BLIND_SHARE)
    ]


def _people(project: Project) -> list[dict[str, Any]]:
    """Return the members who may annotate, with their number of open answers.

    Open answers are a person's own assignments and an even share of each shared queue.
    """
    waiting: dict[int, float] = defaultdict(float)
    rounds: dict[int, int] = defaultdict(int)
    open_rounds = Round.objects.filter(project=project, status=Round.Status.OPEN).opened_by_people()
    assignments = Assignment.objects.filter(round__in=open_rounds).counted().unanswered()
    of_round: dict[int, list[int]] = defaultdict(list)
    for round, member in Participant.objects.filter(round__in=open_rounds, left_at=None).values_list("round", "member"):
        of_round[round].append(member)
        rounds[member] += 1
    for round, person, n in assignments.order_by().values_list("round", "person").annotate(n=Count("pk")):
        for member in [person] if person else of_round[round]:
            waiting[member] += n if person else n / len(of_round[round])
    members = project.members.active().filter(role__in=WORKERS).select_related("user").order_by("pk")
    return [
        {
            "member": m.pk,
            "name": m.name,
            "pseudonym": m.pseudonym,
            "role": m.role,
            "open_answers": ceil(waiting[m.pk]),
            "open_rounds": rounds[m.pk],
        }
        for m in members
    ]


def pace_of(project: Project, kind: str) -> tuple[float | None, int]:
    """Return the median active seconds of the newest answers of a kind, or None, and the number of answers."""
    times = (
        Answer.objects.filter(
            assignment__round__project=project, assignment__round__kind=kind, outcome=Outcome.ANSWERED, active_ms__gt=0
        )
        .order_by("-received_at")
        .values_list("active_ms", flat=True)[:RECENT]
    )
    recent_times = list(times)
    return (median(recent_times) / 1000 if recent_times else None), len(recent_times)
