"""What people said of systems, as the Results page shows it, and the summaries they said it of."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from projects.models import Member
from projects.permissions import may
from projects.rounds.counted import counted

from ..actions.reckoning import unfinished
from ..design.stored import content_of
from ..models import PageTextOf, Rating, RatingDesign
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


def examples(design: RatingDesign, *, system: str = "", criterion: str = "", value: str = "") -> QuerySet[PageTextOf]:
    """What systems wrote and was rated, source by source; of one system; with some rating by a criterion."""
    said = Rating.objects.filter(answer__in=counted(design.round).order_by().values("pk"))
    asked = Q(criterion=criterion) if criterion else Q()
    if value:
        asked &= Q(is_na=True) if value == NOT_APPLICABLE else Q(value=value)
    found = PageTextOf.objects.filter(
        Exists(said.filter(asked, text=OuterRef("text"))), entrant__design=design, text__is_check=False
    )
    if system:
        found = found.filter(entrant__name=system)
    rows = found.select_related("entrant", "text__page__source__unit").order_by(
        "text__page__source__number", "entrant__number", "pk"
    )
    ratings = said.select_related("answer__author").order_by("answer__author__pseudonym", "number", "pk")
    return rows.prefetch_related(Prefetch("text__ratings", ratings.prefetch_related("spans"), to_attr="said"))


def example_rows(rows: Iterable[PageTextOf], member: Member) -> list[Json]:
    """Summaries with what was said of them; by whom, for those who may see it."""
    shows = may(member, WHO)
    return [_example(row, shows) for row in rows]


def _example(row: Any, shows_raters: bool) -> Json:
    source = row.text.page.source
    return {
        "source": source.unit.key, "query": source.shown["query"], "system": row.entrant.name, "text": row.exact,
        "target": (source.gold or {}).get("text", ""),
        "ratings": [
            {
                "rater": rating.answer.author.pseudonym if shows_raters else "",
                "criterion": rating.criterion, "value": rating.value, "na": rating.is_na, "reason": rating.reason,
                "marks": [
                    {"quote": span.quote, "category": span.category, "severity": span.severity, "reason": span.reason}
                    for span in rating.spans.all() if not span.is_quote
                ],
            }
            for rating in row.text.said
        ],
    }  # fmt: skip
