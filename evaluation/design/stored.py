"""Store the design of a round, and verify it against its digest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Prefetch

from api.problems import Conflict
from measures.design import digest
from projects.models import Round, Unit
from sql.bulk import BulkWriter, reserve_ids

from ..models import ComparedSystem, PageText, PageTextOf, ProtocolVersion, RatingDesign, RatingPage, RatingSource
from ..protocols.content import load
from ..protocols.parts import Content
from .plan import SYSTEMS, Planned, PlannedPage, digest_of_texts, systems_as_json
from .systems import PlannedSystem

PAGE = "rating page"


@lru_cache(maxsize=200)
def content_by(digest: str) -> Content:
    """Return the content of the protocol version with this digest. Cached: a digest identifies one content."""
    stored = ProtocolVersion.objects.filter(digest=digest).values_list("content", flat=True)
    return load(stored[:1].get())


def content_of(round: Round) -> Content:
    """Return the protocol content of a round. Raise `RatingDesign.DoesNotExist` before the design is stored."""
    return content_by(RatingDesign.objects.values_list("version__digest", flat=True).get(round=round))


def store(round: Round, version: ProtocolVersion, plan: Planned) -> list[tuple[int, int]]:
    """Store the design of a round. Return the (unit, context) ids of its pages."""
    rows = BulkWriter()
    prepared = prepare(round, plan, rows)
    prepared.write(version, plan.systems, rows)
    return [(unit.pk, unit.context) for unit in prepared.units]


@dataclass
class Prepared:
    """A design with unsaved rows. ``texts`` maps (unit id, code) to the id of a text."""

    design: RatingDesign
    units: list[Unit]
    texts: dict[tuple[int, str], int]
    systems: list[int]

    def write(self, version: ProtocolVersion, compared_systems: Sequence[PlannedSystem], rows: BulkWriter) -> None:
        """Write the design with ``rows`` in the caller's transaction. The runs of the systems must be saved."""
        design = self.design
        design.version = version
        design.plan[SYSTEMS] = systems_as_json(compared_systems)
        design.digest = digest(design.whole)
        design.save(force_insert=True)
        ComparedSystem.objects.bulk_create(
            ComparedSystem(pk=pk, design=design, number=n, name=one.name, run=one.run)
            for n, (pk, one) in enumerate(zip(self.systems, compared_systems, strict=True))
        )
        rows.write()


def prepare(round: Round, plan: Planned, rows: BulkWriter) -> Prepared:
    """Add the rows of a design to ``rows``, except `RatingDesign` and `ComparedSystem`.

    The round and the runs need ids, but may be unsaved.
    """
    [pk] = reserve_ids(RatingDesign, 1)
    design = RatingDesign(pk=pk, round=round, plan=plan.as_json(), secret=plan.secret)
    systems = reserve_ids(ComparedSystem, len(plan.systems))
    sources = rows.add(
        RatingSource(
            design=design,
            number=n,
            unit_id=one.unit,
            target_id=one.target,
            review=one.review,
            material=one.material,
            gold=one.gold,
        )
        for n, one in enumerate(plan.sources)
    )
    # Create rows in the order in which raters see them, so that ids reveal nothing else.
    walk = [plan.pages[number] for number in plan.order]
    units = rows.add(
        Unit(
            project=round.project,
            type=PAGE,
            key=f"{round.pk}-{place + 1:05d}",
            context=_context(plan, round, page),
            position=place,
        )
        for place, page in enumerate(walk)
    )
    pages = rows.add(
        RatingPage(unit=unit, source=sources[page.source], number=page.number)
        for unit, page in zip(units, walk, strict=True)
    )
    texts = rows.add(
        PageText(
            page=stored,
            code=text.code,
            number=n,
            displayed_text=text.displayed_text,
            system_numbers=sorted(text.of),
            is_check=text.is_check,
            made_from=text.made_from,
        )
        for stored, page in zip(pages, walk, strict=True)
        for n, text in enumerate(page.texts)
    )
    rows.add(
        PageTextOf(text=stored, system_id=systems[number], summary_id=summary, exact=exact)
        for stored, text in zip(texts, (text for page in walk for text in page.texts), strict=True)
        for number, (summary, exact) in text.of.items()
    )
    return Prepared(design, units, {(stored.page.unit_id, stored.code): stored.pk for stored in texts}, systems)


def _context(plan: Planned, round: Round, page: PlannedPage) -> int:
    """Return the context of a page: pages of one source go to the same people, unless each page has one text."""
    return round.pk * 1_000_000 + (page.number if plan.in_lists else page.source)


def page_units(round: Round) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of a round's pages, in the order in which they are shown; empty if it has none."""
    pages = RatingPage.objects.filter(source__design__round=round).order_by("unit__position")
    return list(pages.values_list("unit", "unit__context"))


def intact(design: RatingDesign) -> None:
    """Raise `Conflict` if the plan or a text of a frozen design was changed in the database."""
    written = Prefetch("entries", PageTextOf.objects.order_by("system__number"))
    texts = PageText.objects.filter(page__source__design=design).select_related("page").prefetch_related(written)
    found = list(texts.order_by("page__number", "number"))
    pages: dict[int, list[Sequence[object]]] = {}
    for text in found:
        pages.setdefault(text.page.number, []).append([text.code, text.system_numbers, text.is_check])
    digest_now = digest_of_texts((text.displayed_text, [entry.exact for entry in text.entries.all()]) for text in found)
    planned = [texts for _, texts in design.plan["pages"]]
    same = planned == [pages.get(n) for n in range(len(planned))] and digest_now == design.plan["texts"]
    if digest(design.whole) != design.digest or not same:
        raise Conflict(f"The design of {design.round} was changed after it was frozen.")


def remove(round: Round) -> None:
    """Delete the design of a round that never opened.

    Its units stay, because their ids may be part of an audit checkpoint.
    """
    mine = {"page__source__design__round": round}
    PageTextOf.objects.filter(**{f"text__{name}": value for name, value in mine.items()}).delete()
    PageText.objects.filter(**mine).delete()
    RatingPage.objects.filter(source__design__round=round).delete()
    RatingSource.objects.filter(design__round=round).delete()
    ComparedSystem.objects.filter(design__round=round).delete()
    RatingDesign.objects.filter(round=round).delete()
