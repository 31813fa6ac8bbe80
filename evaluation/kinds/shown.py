"""A rating page as an assignment shows it, from the stored pages or from a plan."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch

from projects.models import Assignment

from ..design.plan import Planned
from ..design.planning import in_order
from ..models import PageText, RatingPage
from ..protocols.parts import Content

#: (unit id of the page, code) -> id of the text.
TextIds = Mapping[tuple[int, str], int]


@dataclass(frozen=True)
class Page:
    """A page as an assignment shows it. ``texts`` are ordered and have a code and a text."""

    content: Content
    stored: Any
    source: Mapping[str, Any]
    gold: Mapping[str, Any] | None
    texts: Sequence[Any]


def pages_of(units: Sequence[int]) -> dict[int, RatingPage]:
    """Return pages by unit id, with source, design and texts. Runs two queries."""
    pages = RatingPage.objects.filter(unit__in=units).select_related("source__design__version")
    pages = pages.defer("source__design__plan", "source__design__version__content")
    found = pages.prefetch_related(Prefetch("texts", PageText.objects.order_by("number")))
    return {page.unit_id: page for page in found}


def text_ids(units: Iterable[int]) -> dict[tuple[int, str], int]:
    """Return the ids of texts by unit id and code. Runs one query."""
    texts = PageText.objects.filter(page__unit__in=set(units)).values_list("page__unit", "code", "pk")
    return {(unit, code): pk for unit, code, pk in texts}


def as_planned(plan: Planned, slot: Assignment) -> Page:
    page = plan.pages[0]
    source = plan.sources[page.source]
    texts = [
        PageText(
            code=text.code,
            displayed_text=text.displayed_text,
            number=n,
            system_numbers=sorted(text.of),
            is_check=text.is_check,
        )
        for n, text in enumerate(page.texts)
    ]
    ordered = in_order(texts, kind=plan.content.kind, page=page.number, number=1, repeat=slot.repeat, seed=plan.drawn)
    return Page(plan.content, source, source.material, source.gold, ordered)


def target_of(show: str, gold: Mapping[str, Any] | None, stored: Any) -> dict[str, Any] | None:
    """Return the parts of the target that the protocol shows."""
    if show == "none" or gold is None:
        return None
    nothing = {"text": "", "slots": [], "polarity": "", "modality": ""}
    names = {"text": ("text",), "tuple": ("slots",), "gold": ("text", "slots", "polarity", "modality")}[show]
    return nothing | {name: gold[name] for name in names}
