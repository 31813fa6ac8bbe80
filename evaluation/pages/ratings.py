"""What people said of systems, as the Results page shows it, and the summaries they said it of."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from projects.models import Member
from projects.permissions import may
from projects.rounds.counted import counts

from ..actions.reckoning import unfinished
from ..design.stored import content_of
from ..models import PageTextOf, Rating, RatingDesign, RatingSpan
from ..protocols.parts import Criterion
from ..results.reckoned import basis_of, open_designs, stored

Json = dict[str, Any]
NOT_APPLICABLE = "n/a"
WHO = "see who answered what"


def rounds(member: Member) -> list[Json]:
    """The unblinded rounds whose results a member may see, newest first."""
    return [_heading(design) for design in open_designs(member.project, member).order_by("-pk")]


def _heading(design: RatingDesign) -> Json:
    return {
        "round": design.round_id, "name": design.round.name, "kind": design.round.kind,
        "protocol": f"{design.version.protocol.name}, version {design.version.number}",
        "unblinded_at": design.unblinding.at,
    }  # fmt: skip


def of_round(design: RatingDesign, member: Member) -> Json:
    """The figures of a round as they were stored, null where no worker has reckoned them yet. Raters are told apart to
    those only who may see who answered what."""
    found, job = stored(design), unfinished(design)
    if found and not may(member, WHO):
        _without_raters(found.figures)
    return _heading(design) | {
        "answers": basis_of(design)["answers"],
        "figures": found.figures if found else None,
        "made_at": found.made_at if found else None,
        "outdated": list(found.outdated) if found else [],
        "job": job.pk if job else None,
        "criteria": [
            {"key": each.key, "name": each.name or each.key, "values": _values(each)}
            for each in content_of(design.round).criteria if each.scale.type not in ("text", "preference")
        ],
    }  # fmt: skip


def _without_raters(figures: Json) -> None:
    figures["checks"] = []
    for rule in figures["left_out"]:
        rule["raters"] = []
    for way in filter(None, (figures["all"], figures["kept"])):
        way["raters"] = []
        for criterion in way["criteria"]:
            criterion["again"]["raters"] = {}


def _values(criterion: Criterion) -> list[Json]:
    """What can be asked for among examples."""
    if criterion.scale.type == "slider":
        return []
    labels = {option.value: option.label or option.value for option in criterion.scale.options}
    found = [{"value": value, "label": labels.get(value, value)} for value in criterion.values()]
    return found + ([{"value": NOT_APPLICABLE, "label": criterion.na_label or "N/A"}] if criterion.na else [])


def examples(design: RatingDesign, *, system: str = "", criterion: str = "", value: str = "") -> list[int]:
    """What systems wrote and was rated, source by source; of one system; with some rating by a criterion: the ids of
    `PageTextOf`. Two queries of plain values: asked in one, PostgreSQL may hold every text against every rating (12 s
    of 100,000 ratings)."""
    asked = Q(criterion=criterion) if criterion else Q()
    if value:
        asked &= Q(is_na=True) if value == NOT_APPLICABLE else Q(value=value)
    rated = set(_said(design).filter(asked).order_by().values_list("text", flat=True).distinct())
    there = PageTextOf.objects.filter(entrant__design=design, text__is_check=False)
    if system:
        there = there.filter(entrant__name=system)
    rows = there.order_by().values_list("text__page__source__number", "entrant__number", "pk", "text")
    return [pk for *_, pk, text in sorted(rows) if text in rated]


def _said(design: RatingDesign) -> QuerySet[Rating]:
    return Rating.objects.filter(counts(design.round, "answer__"))


def example_rows(design: RatingDesign, page: Sequence[int], member: Member) -> list[Json]:
    """Some of `examples` with what was said of them; by whom, for those who may see it. Three queries, and no object a
    rating: a page of a large round has thousands."""
    found = PageTextOf.objects.select_related("entrant", "text__page__source__unit").in_bulk(page)
    there = [found[pk] for pk in page]
    said = _said(design).filter(text__in={row.text_id for row in there})
    marks: dict[int, list[Json]] = defaultdict(list)
    spans = RatingSpan.objects.filter(rating__in=said.order_by().values("pk"), is_quote=False).order_by("pk")
    for rating, quote, category, severity, reason in spans.values_list(
        "rating", "quote", "category", "severity", "reason"
    ):
        marks[rating].append({"quote": quote, "category": category, "severity": severity, "reason": reason})
    ratings: dict[int, list[Json]] = defaultdict(list)
    shows_raters = may(member, WHO)
    for pk, text, rater, criterion, value, na, reason in said.order_by(
        "answer__author__pseudonym", "number", "pk"
    ).values_list("pk", "text", "answer__author__pseudonym", "criterion", "value", "is_na", "reason"):
        ratings[text].append({
            "rater": rater if shows_raters else "", "criterion": criterion, "value": value, "na": na, "reason": reason,
            "marks": marks.get(pk, []),
        })  # fmt: skip
    return [_example(row, ratings[row.text_id]) for row in there]


def _example(row: PageTextOf, ratings: list[Json]) -> Json:
    source = row.text.page.source
    return {
        "source": source.unit.key, "query": source.shown["query"], "system": row.entrant.name, "text": row.exact,
        "target": (source.gold or {}).get("text", ""), "ratings": ratings,
    }  # fmt: skip
