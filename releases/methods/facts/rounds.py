"""Facts about rounds, guidelines, gold and corrections."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, F, Q

from projects import kinds
from projects.agreement.queries import report
from projects.answers.assignments import Shape
from projects.models import Answer, CameBy, Decision, Origin, Outcome, Project, Round
from projects.models.round import RETURNED

from ...sources.agreement import report_of
from ...sources.blinding import kept_blind
from .agreement import RoundAgreement, agreement_of
from .drift import DriftFacts, drift_facts
from .gates import GateFacts, gate_facts
from .guidelines import GuidelineFacts, guideline_facts
from .suggestions import SuggestionFacts, suggestion_facts

#: Counts of a round that follow from its answers.
COUNTED = ("people", "answers", "skipped", "by_sheet", "by_import", "repeated")


@dataclass(frozen=True)
class GoldFacts:
    """How the fields of a closed round got their values. A field of a unit counts once in each number.

    ``contested`` fields went to curators. They decided ``decided`` of them; ``waiting`` have no value yet.
    """

    single: int
    unanimous: int
    majority: int
    contested: int
    decided: int
    waiting: int


@dataclass(frozen=True)
class CorrectionFacts:
    """How many shown values people corrected, in all and by field: (field, reviewed, corrected)."""

    reviewed: int
    corrected: int
    fields: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class RoundFacts:
    """One round. A round that is still blind has neither seed nor what follows from answers."""

    name: str
    kind: str
    title: str
    purpose: str
    is_open: bool
    is_blind: bool
    opened_on: date
    closed_on: date | None
    units: int
    #: Size of the sample that was asked for; None: all units that matched.
    sample: int | None
    strata: tuple[str, ...]
    filters: Mapping[str, Any]
    is_shuffled: bool
    is_rolling: bool
    seed: int | None
    allocation: str
    overlap: int
    #: Share of the units that more people answered, and their number per unit.
    block: tuple[float, int] | None
    #: Share of each person's units that came a second time, and the least distance.
    repeats: tuple[float, int] | None
    guideline: GuidelineFacts
    practice: str
    asks_questions: bool
    suggestions: bool
    is_rating: bool
    people: int
    answers: int
    skipped: int
    by_sheet: int
    by_import: int
    #: Answers to units that came a second time.
    repeated: int
    agreement: RoundAgreement | None = None
    gold: GoldFacts | None = None
    corrections: CorrectionFacts | None = None
    #: None if no model suggested values.
    suggested: SuggestionFacts | None = None
    drift: DriftFacts | None = None
    gate: GateFacts | None = None


@dataclass(frozen=True)
class CurationFacts:
    """Edits of curators outside of rounds of people."""

    edits: int
    people: int


def rounds_facts(project: Project, known: Mapping[int, RoundAgreement]) -> tuple[RoundFacts, ...]:
    """Return the facts of the rounds that a release describes, oldest first.

    ``known``: agreement of rounds by id that was computed before. Each other closed round has its report computed or
    read.
    """
    rounds = list(
        Round.objects.filter(project=project)
        .opened()
        .counting()
        .opened_by_people()
        .select_related("guideline", "requires_practice", "project")
        .order_by("pk")
    )
    blind = set(kept_blind(project))
    counts, gold = _counts(project), _gold(project)
    gates = gate_facts(project, blind)
    return tuple(_round(round, round.pk in blind, counts, gold, gates.get(round.pk), known) for round in rounds)


def curation_facts(project: Project) -> CurationFacts:
    """Return the number of answers that curators wrote on the curate page. One query."""
    edits = Answer.objects.filter(
        assignment__round__project=project, came_by=CameBy.CORRECTION, outcome=Outcome.ANSWERED
    )
    counted = edits.aggregate(edits=Count("pk"), people=Count("author", distinct=True))
    return CurationFacts(**counted)


def _counts(project: Project) -> dict[int, dict[str, int]]:
    """Return the numbers of people and answers of each round, by round id. Two queries."""
    answers = Answer.objects.filter(assignment__round__project=project).order_by().values("assignment__round")
    current = Q(assignment__number__gte=1, assignment__current_answer=F("pk"), outcome=Outcome.ANSWERED)
    # Answers to repeated units and to returning gold items are no opinions of different people.
    counted = current & Q(assignment__repeat=0)
    rows: Any = answers.annotate(
        people=Count("author", distinct=True, filter=counted),
        answers=Count("pk", filter=counted),
        skipped=Count("pk", filter=Q(outcome=Outcome.SKIPPED, assignment__repeat__lt=RETURNED)),
        by_sheet=Count("pk", filter=counted & Q(came_by=CameBy.SHEET)),
        by_import=Count("pk", filter=counted & Q(came_by=CameBy.IMPORT)),
        repeated=Count("pk", filter=current & Q(assignment__repeat__gt=0, assignment__repeat__lt=RETURNED)),
    )
    return {row["assignment__round"]: {name: row[name] for name in COUNTED} for row in rows}


def _gold(project: Project) -> dict[int, GoldFacts]:
    """Return how fields got their values, by round id. Two queries."""
    decisions = Decision.objects.of_project(project).filter(round__isnull=False).order_by()
    waiting = dict(decisions.contested().values_list("round").annotate(n=Count("pk")))
    names: dict[str, str] = {Origin.SINGLE: "single", Origin.UNANIMOUS: "unanimous", Origin.MAJORITY: "majority"}
    names |= {Origin.CONTESTED: "contested", Origin.CURATED: "decided"}
    found: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(names.values(), 0))
    by_field = decisions.filter(origin__in=names).values_list("round", "origin", "field")
    for round, origin, _, n in by_field.annotate(n=Count("unit", distinct=True)):
        found[round][names[origin]] += n
    return {round: GoldFacts(**counts, waiting=waiting.get(round, 0)) for round, counts in found.items()}


def _round(
    round: Round,
    is_blind: bool,
    counts: Mapping[int, dict[str, int]],
    gold: Mapping[int, GoldFacts],
    gate: GateFacts | None,
    known: Mapping[int, RoundAgreement],
) -> RoundFacts:
    kind, shape, sampled = kinds.get(round.kind), Shape.of(round.overlap, round.sampling), round.sampling
    is_reported = not is_blind and not round.is_open
    # Agreement of ratings is a fact of the rating round.
    is_compared = round.meaning.independent and not kind.designed
    shows_current = round.meaning.shows_value and not round.suggestions
    nothing = dict.fromkeys(COUNTED, 0)
    return RoundFacts(
        name=round.name,
        kind=round.kind,
        title=kind.title,
        purpose=round.get_purpose_display(),
        is_open=round.is_open,
        is_blind=is_blind,
        opened_on=round.opened_at.date(),
        closed_on=round.closed_at and round.closed_at.date(),
        units=round.units_count,
        sample=sampled.get("sample"),
        strata=tuple(sampled.get("strata") or ()),
        filters={} if is_blind else dict(sampled.get("filters") or {}),
        is_shuffled=sampled.get("order") == "shuffled",
        is_rolling=round.is_rolling,
        seed=None if is_blind else round.seed,
        allocation=round.get_allocation_display(),
        overlap=round.overlap,
        block=(shape.block_share, shape.block_overlap) if shape.block_share else None,
        repeats=(shape.repeat_share, shape.repeat_distance) if shape.repeat_share else None,
        guideline=guideline_facts(round.guideline),
        practice=round.requires_practice.name if round.requires_practice else "",
        asks_questions=round.asks_questions,
        suggestions=kind.shows_suggestions(round),
        is_rating=kind.designed,
        agreement=_agreement(round, known) if is_reported and is_compared else None,
        gold=gold.get(round.pk) if is_reported and round.meaning.makes_gold else None,
        corrections=_corrections(round) if is_reported and shows_current else None,
        suggested=suggestion_facts(round) if is_reported else None,
        drift=drift_facts(round) if is_reported else None,
        gate=None if is_blind else gate,
        **(nothing if is_blind else nothing | counts.get(round.pk, {})),
    )


def _agreement(round: Round, known: Mapping[int, RoundAgreement]) -> RoundAgreement:
    return known[round.pk] if round.pk in known else agreement_of(report_of(round))


def _corrections(round: Round) -> CorrectionFacts:
    review = report(round)["review"]
    fields = tuple((each["field"], each["reviewed"], each["corrected"]) for each in review["fields"])
    return CorrectionFacts(review["reviewed"], review["corrected"], fields)
