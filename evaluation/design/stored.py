"""A round's design in the data base: stored once, and compared with its digest before anything rests on it."""

from collections.abc import Sequence
from functools import lru_cache

from django.db.models import Prefetch

from api.problems import Conflict
from measures.design import digest
from projects.models import Round, Unit

from ..models import Entrant, PageText, PageTextOf, ProtocolVersion, RatingDesign, RatingPage, RatingSource
from ..protocols.content import load
from ..protocols.parts import Content
from .planning import Planned, digest_of_texts

PAGE = "rating page"


@lru_cache(maxsize=200)
def content_by(digest: str) -> Content:
    """The content of a version by its digest: kept, since whatever has this digest says the same."""
    stored = ProtocolVersion.objects.filter(digest=digest).values_list("content", flat=True)
    return load(stored[:1].get())


def content_of(round: Round) -> Content:
    """What the raters of a round are asked. DoesNotExist before it is laid out."""
    return content_by(RatingDesign.objects.values_list("version__digest", flat=True).get(round=round))


def store(round: Round, version: ProtocolVersion, plan: Planned) -> list[tuple[int, int]]:
    """Store the design of a round that is being laid out: the (unit, context) ids of its pages."""
    written = plan.as_json()
    design = RatingDesign(round=round, version=version, plan=written, secret=plan.secret)
    design.digest = digest(design.whole)
    design.save()
    entrants = Entrant.objects.bulk_create(
        Entrant(design=design, number=n, name=one.name, run=one.run) for n, one in enumerate(plan.taking)
    )
    sources = RatingSource.objects.bulk_create(
        RatingSource(
            design=design, number=n, unit_id=one.unit, target_id=one.target, review=one.review, shown=one.shown,
            gold=one.gold,
        )
        for n, one in enumerate(plan.sources)
    )  # fmt: skip
    units = Unit.objects.bulk_create(
        Unit(
            project=round.project, type=PAGE, key=f"{round.pk}-{page.number + 1:05d}",
            context=_context(plan, round, page.source, page.number), position=page.number,
        )
        for page in plan.pages
    )  # fmt: skip
    pages = RatingPage.objects.bulk_create(
        RatingPage(unit=unit, source=sources[page.source], number=page.number)
        for unit, page in zip(units, plan.pages, strict=True)
    )
    texts = PageText.objects.bulk_create(
        PageText(
            page=stored, code=text.code, number=n, shown=text.shown, entrants=sorted(text.of), is_check=text.is_check,
            made_from=text.made_from,
        )
        for stored, page in zip(pages, plan.pages, strict=True) for n, text in enumerate(page.texts)
    )  # fmt: skip
    PageTextOf.objects.bulk_create(
        PageTextOf(text=stored, entrant=entrants[number], summary_id=summary, exact=exact)
        for stored, text in zip(texts, (text for page in plan.pages for text in page.texts), strict=True)
        for number, (summary, exact) in text.of.items()
    )
    return [(unit.pk, unit.context) for unit in units]


def _context(plan: Planned, round: Round, source: int, number: int) -> int:
    """Pages of one source come together; where each page has one text they are kept apart."""
    apart = plan.content.texts_per_page == "one" and not plan.pairs
    return round.pk * 1_000_000 + (number if apart else source)


def laid_out(round: Round) -> list[tuple[int, int]]:
    """The pages of a round that were laid out before; empty where none was."""
    pages = RatingPage.objects.filter(source__design__round=round).order_by("number")
    return list(pages.values_list("unit", "unit__context"))


def intact(design: RatingDesign) -> None:
    """`Conflict` where a frozen design is not what it was: its plan, or a text of it, was changed in the data base."""
    written = Prefetch("entries", PageTextOf.objects.order_by("entrant__number"))
    texts = PageText.objects.filter(page__source__design=design).select_related("page").prefetch_related(written)
    found = list(texts.order_by("page__number", "number"))
    pages: dict[int, list[Sequence[object]]] = {}
    for text in found:
        pages.setdefault(text.page.number, []).append([text.code, text.entrants, text.is_check])
    said = digest_of_texts((text.shown, [entry.exact for entry in text.entries.all()]) for text in found)
    planned = [texts for _, texts in design.plan["pages"]]
    same = planned == [pages.get(n) for n in range(len(planned))] and said == design.plan["texts"]
    if digest(design.whole) != design.digest or not same:
        raise Conflict(f"The design of {design.round} is not what it was when it was frozen.")


def remove(round: Round) -> None:
    """Remove the design of a round that never opened. Its units stay: their numbers were seen by seals."""
    mine = {"page__source__design__round": round}
    PageTextOf.objects.filter(**{f"text__{name}": value for name, value in mine.items()}).delete()
    PageText.objects.filter(**mine).delete()
    RatingPage.objects.filter(source__design__round=round).delete()
    RatingSource.objects.filter(design__round=round).delete()
    Entrant.objects.filter(design__round=round).delete()
    RatingDesign.objects.filter(round=round).delete()
