"""Queries of the Results page: results of rounds, and rated summaries as examples."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from measures.unit_names import unit_name
from projects.answers.queries import counts
from projects.models import Member
from projects.permissions import may

from ..design.stored import content_of
from ..models import PageTextOf, Rating, RatingDesign, RatingSpan
from ..protocols.parts import Criterion
from .actions import unfinished
from .computed import basis_of, compared, open_designs
from .seen import seen_sources

Json = dict[str, Any]
NOT_APPLICABLE = "n/a"
WHO = "see who answered what"


def rounds(member: Member) -> list[Json]:
    """Return the unblinded rounds whose results a member may see, newest first."""
    return [_heading(design) for design in open_designs(member.project, member).order_by("-pk")]


def _heading(design: RatingDesign) -> Json:
    return {
        "round": design.round_id,
        "name": design.round.name,
        "kind": design.round.kind,
        "protocol": f"{design.version.protocol.name}, version {design.version.number}",
        "protocol_name": design.version.protocol.name,
        "rater_group": design.round.rater_group,
        "unblinded_at": design.unblinding.at,
    }


def of_round(design: RatingDesign, member: Member, *, unseen: bool = False) -> Json:
    """Return the stored results of a round. ``figures`` is null if they are not computed yet.

    ``unseen``: leave out the sources that the model of any system has seen in a training.

    Results by rater are removed unless the member may see who answered what.
    """
    by_system = seen_sources(design.round.project, [design]).get(design.pk, {})
    basis = basis_of(design, set().union(*by_system.values()))
    found, job = compared(design, basis, unseen=unseen), unfinished(design)
    sources = design.sources.count() if by_system else 0
    if found and not may(member, WHO):
        _without_raters(found.figures)
    return _heading(design) | {
        "answers": basis["answers"],
        "figures": found.figures if found else None,
        "made_at": found.made_at if found else None,
        "outdated": list(found.outdated) if found else [],
        "job": job.pk if job else None,
        "seen": [{"system": name, "seen": len(ids), "sources": sources} for name, ids in by_system.items()],
        "criteria": [
            {"key": each.key, "name": each.name or each.key, "values": _values(each)}
            for each in content_of(design.round).criteria
            if each.scale.type not in ("text", "preference")
        ],
    }


def _without_raters(figures: Json) -> None:
    figures["checks"] = []
    for rule in figures["left_out"]:
        rule["raters"] = []
    for way in filter(None, (figures["all"], figures["kept"])):
        way["raters"] = []
        for sliders in way["standardised"]:
            sliders["left_out"] = []
        for criterion in way["criteria"]:
            criterion["again"]["raters"] = {}


def _values(criterion: Criterion) -> list[Json]:
    """Return the values by which examples can be filtered."""
    if criterion.scale.type == "slider":
        return []
    labels = {option.value: option.label or option.value for option in criterion.scale.options}
    found = [{"value": value, "label": labels.get(value, value)} for value in criterion.values()]
    return found + ([{"value": NOT_APPLICABLE, "label": criterion.na_label or "N/A"}] if criterion.na else [])


def examples(design: RatingDesign, *, system: str = "", criterion: str = "", value: str = "") -> list[int]:
    """Return the ids of `PageTextOf` of rated summaries, ordered by source, with optional filters.

    Runs two queries of plain values. In a single query, PostgreSQL may compare every text with every rating (12 s for
    100,000 ratings).
    """
    condition = Q(criterion=criterion) if criterion else Q()
    if value:
        condition &= Q(is_na=True) if value == NOT_APPLICABLE else Q(value=value)
    rated = set(_counted_ratings(design).filter(condition).order_by().values_list("text", flat=True).distinct())
    page_texts = PageTextOf.objects.filter(system__design=design, text__is_check=False)
    if system:
        page_texts = page_texts.filter(system__name=system)
    rows = page_texts.order_by().values_list("text__page__source__number", "system__number", "pk", "text")
    return [pk for *_, pk, text in sorted(rows) if text in rated]


def _counted_ratings(design: RatingDesign) -> QuerySet[Rating]:
    return Rating.objects.filter(counts(design.round, "answer__"))


def example_rows(design: RatingDesign, page: Sequence[int], member: Member) -> list[Json]:
    """Return some of `examples` with their ratings. Raters are included if the member may see who answered what.

    Runs three queries and creates no objects for ratings, because a page of a large round has thousands.
    """
    found = PageTextOf.objects.select_related("system", "text__page__source__unit").in_bulk(page)
    rows = [found[pk] for pk in page]
    counted = _counted_ratings(design).filter(text__in={row.text_id for row in rows})
    marks: dict[int, list[Json]] = defaultdict(list)
    spans = RatingSpan.objects.filter(rating__in=counted.order_by().values("pk"), is_quote=False).order_by("pk")
    for rating, quote, category, severity, reason in spans.values_list(
        "rating", "quote", "category", "severity", "reason"
    ):
        marks[rating].append({"quote": quote, "category": category, "severity": severity, "reason": reason})
    ratings: dict[int, list[Json]] = defaultdict(list)
    shows_raters = may(member, WHO)
    for pk, text, rater, criterion, value, na, reason in counted.order_by(
        "answer__author__pseudonym", "number", "pk"
    ).values_list("pk", "text", "answer__author__pseudonym", "criterion", "value", "is_na", "reason"):
        ratings[text].append(
            {
                "rater": rater if shows_raters else "",
                "criterion": criterion,
                "value": value,
                "na": na,
                "reason": reason,
                "marks": marks.get(pk, []),
            }
        )
    return [_example(row, ratings[row.text_id]) for row in rows]


def _example(row: PageTextOf, ratings: list[Json]) -> Json:
    source = row.text.page.source
    return {
        "source": unit_name(source.unit.key),
        "query": source.material["query"],
        "system": row.system.name,
        "text": row.exact,
        "target": (source.gold or {}).get("text", ""),
        "ratings": ratings,
    }
