"""The pages of a judge run: those of the round, and those of its judge set."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from django.db.models import Count, Q

from measures.unit_names import unit_name
from projects import kinds

from ..design.plan import drawn_by
from ..design.planning import in_order
from ..design.stored import content_by
from ..kinds.pages import PageKind
from ..kinds.shown import Page
from ..models import JudgePage, JudgeSet, PageText, RatingDesign, RatingPage, RatingSource
from .suspects import suspicious_sentences, without_suspicious

#: Number of pages that are loaded together.
LOADED = 50


@dataclass(frozen=True)
class Text:
    """A text of a judge set, with the names of `PageText`."""

    code: str
    displayed_text: str
    number: int
    system_numbers: Sequence[int]
    is_check: bool = False


@dataclass(frozen=True)
class JudgedPage:
    """A page with its card. Exactly one of ``page`` and ``judge_page`` is an id."""

    page: int | None
    judge_page: int | None
    name: str
    source_unit: int
    card: dict[str, Any]
    text_ids: dict[str, int]

    @property
    def codes(self) -> list[str]:
        return [text["key"] for text in self.card["texts"]]

    def reversed(self) -> "JudgedPage":
        """Return the page with its texts in the reverse order."""
        return replace(self, card={**self.card, "texts": self.card["texts"][::-1]})

    def suspects(self) -> list[dict[str, str]]:
        """Return the sentences that look like instructions: code of the text (empty for the source), and sentence."""
        found: list[dict[str, str]] = []

        def note(key: str, text: str) -> str:
            found.extend({"text": key, "sentence": one} for one in suspicious_sentences(text))
            return text

        self._edited(note)
        return found

    def without_suspects(self) -> "JudgedPage":
        """Return the page without these sentences."""
        return self._edited(lambda key, text: without_suspicious(text))

    def _edited(self, edit: Callable[[str, str], str]) -> "JudgedPage":
        """Return the page with its texts edited. ``edit`` takes a code, which is empty for the source, and the text."""
        source, target = self.card["source"], self.card["target"]
        texts = [{**text, "text": edit(text["key"], text["text"])} for text in self.card["texts"]]
        studies = [
            {**study, **{name: edit("", study[name]) for name in ("title", "text")}} for study in source["studies"]
        ]
        source = {**source, **{name: edit("", source[name]) for name in ("query", "title")}, "studies": studies}
        target = target and {**target, "text": edit("", target["text"])}
        return replace(self, card={**self.card, "source": source, "target": target, "texts": texts})


def kind_of(design: RatingDesign) -> PageKind:
    return cast(PageKind, kinds.get(design.round.kind))


def page_ids(design: RatingDesign) -> list[int]:
    """Return the pages of a round without those of attention checks, in their order."""
    checks = PageText.objects.filter(page__source__design=design, is_check=True).values("page")
    pages = RatingPage.objects.filter(source__design=design).exclude(pk__in=checks)
    return list(pages.order_by("source__number", "number").values_list("pk", flat=True))


def judge_page_ids(judge_set: JudgeSet | None) -> list[int]:
    if judge_set is None:
        return []
    pages = JudgePage.objects.filter(source__judge_set=judge_set)
    return list(pages.order_by("source__number", "number").values_list("pk", flat=True))


def pages_of_round(design: RatingDesign, ids: Sequence[int]) -> Iterator[JudgedPage]:
    """Yield pages of a round, in the order of the first assignment."""
    kind, content = kind_of(design), content_by(design.version.digest)
    seed = drawn_by(design.round.seed, design.secret)
    for part in _parts(ids):
        rows = RatingPage.objects.select_related("source__unit", "unit").prefetch_related("texts").in_bulk(part)
        for row in (rows[pk] for pk in part):
            texts = in_order(row.texts.all(), kind=content.kind, page=row.number, number=1, repeat=0, seed=seed)
            page = Page(content, row, row.source.material, row.source.gold, texts)
            yield JudgedPage(
                row.pk, None, _name(row.source), row.source.unit_id, kind.card_of(page), {t.code: t.pk for t in texts}
            )


def pages_of_set(design: RatingDesign, ids: Sequence[int]) -> Iterator[JudgedPage]:
    """Yield pages of a judge set."""
    kind, content = kind_of(design), content_by(design.version.digest)
    seed = drawn_by(design.round.seed, design.secret)
    for part in _parts(ids):
        rows = JudgePage.objects.select_related("source__unit").in_bulk(part)
        for row in (rows[pk] for pk in part):
            texts = [Text(one["code"], one["text"], n, tuple(one["systems"])) for n, one in enumerate(row.texts)]
            ordered = in_order(texts, kind=content.kind, page=row.number, number=1, repeat=0, seed=seed)
            page = Page(content, row, row.source.material, row.source.gold, ordered)
            yield JudgedPage(None, row.pk, _name(row.source), row.source.unit_id, kind.card_of(page), {})


@dataclass(frozen=True)
class Counts:
    """Numbers of pages, of pages with several texts, and of texts."""

    pages: int
    with_several: int
    texts: int

    def requests(self, samples: int, both_orders: bool) -> int:
        """Return the number of answers to ask for."""
        return samples * (self.pages + (self.with_several if both_orders else 0))


def counts_of(design: RatingDesign, judge_set: JudgeSet | None) -> Counts:
    """Count the pages of a run. Two queries."""
    texts = Count("texts", filter=Q(texts__is_check=False))
    checks = Count("texts", filter=Q(texts__is_check=True))
    pages = RatingPage.objects.filter(source__design=design).annotate(n=texts, checks=checks).filter(checks=0)
    sizes = list(pages.order_by().values_list("n", flat=True))
    if judge_set:
        sizes += [len(page) for _, page in judge_set.plan["pages"]]
    return Counts(len(sizes), sum(size > 1 for size in sizes), sum(sizes))


def source_units(design: RatingDesign, judge_set: JudgeSet | None) -> list[int]:
    """Return the units whose texts a run sends."""
    units = list(RatingSource.objects.filter(design=design).values_list("unit", flat=True))
    if judge_set:
        units += judge_set.sources.values_list("unit", flat=True)
    return units


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + LOADED] for start in range(0, len(ids), LOADED))


def _name(source: Any) -> str:
    return unit_name(source.unit.key)
