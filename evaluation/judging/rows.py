"""The ratings and preferences of a judge run, for statistics. Runs a fixed number of queries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from measures.ratings.reading import SourceNamed

from ..models import Control, JudgeAnswer, JudgePreference, JudgeRating, JudgeRun, JudgeSource, PageText, RatingSource


@dataclass(frozen=True)
class JudgeRow:
    """A value that a judge gave to one text by one criterion.

    ``in_round``: whether people could rate the text, too; ``text`` is then the id of its `PageText`. ``systems`` are
    numbers of the compared systems. ``value`` is None for not applicable. ``order`` is 1 if the texts of the page were
    reversed. ``position`` is the position of the text in that order, from 0.
    """

    answer: int
    source: SourceNamed
    source_number: int
    in_round: bool
    page: int
    code: str
    text: int | None
    systems: tuple[int, ...]
    criterion: str
    value: str | None
    reason: str
    sample: int
    order: int
    position: int


@dataclass(frozen=True)
class JudgePair:
    """A choice of a judge between two texts by one criterion. ``choice`` is relative to the sides that it read."""

    answer: int
    source: SourceNamed
    source_number: int
    in_round: bool
    page: int
    left: str
    right: str
    left_text: int | None
    right_text: int | None
    left_systems: tuple[int, ...]
    right_systems: tuple[int, ...]
    criterion: str
    choice: str
    reason: str
    sample: int
    order: int


@dataclass(frozen=True)
class _Page:
    source: SourceNamed
    source_number: int
    in_round: bool
    page: int
    systems: dict[str, tuple[int, ...]]


def judge_ratings(run: JudgeRun, *, with_followed: bool = False) -> list[JudgeRow]:
    """Return the valid ratings of a run, without those of controls.

    Pages on which the judge followed an instruction in a text (`followed`) are left out unless ``with_followed``.
    """
    answers = _answers(run, with_followed)
    rows = JudgeRating.objects.filter(answer__in=answers.order_by().values("pk")).order_by("pk")
    asked = _asked(run, answers)
    found = []
    for answer, code, text, criterion, value, na, reason, position in rows.values_list(
        "answer", "code", "text", "criterion", "value", "is_na", "reason", "position"
    ):
        page, sample, order = asked[answer]
        found.append(
            JudgeRow(
                answer,
                page.source,
                page.source_number,
                page.in_round,
                page.page,
                code,
                text,
                page.systems[code],
                criterion,
                None if na else value,
                reason,
                sample,
                order,
                position,
            )
        )
    return found


def judge_preferences(run: JudgeRun, *, with_followed: bool = False) -> list[JudgePair]:
    """Return the valid preferences of a run, as `judge_ratings` does."""
    answers = _answers(run, with_followed)
    rows = JudgePreference.objects.filter(answer__in=answers.order_by().values("pk")).order_by("pk")
    asked = _asked(run, answers)
    found = []
    for answer, left, right, left_text, right_text, criterion, choice, reason in rows.values_list(
        "answer", "left_code", "right_code", "left", "right", "criterion", "choice", "reason"
    ):
        page, sample, order = asked[answer]
        found.append(
            JudgePair(
                answer,
                page.source,
                page.source_number,
                page.in_round,
                page.page,
                left,
                right,
                left_text,
                right_text,
                page.systems[left],
                page.systems[right],
                criterion,
                choice,
                reason,
                sample,
                order,
            )
        )
    return found


def _answers(run: JudgeRun, with_followed: bool) -> QuerySet[JudgeAnswer]:
    answers = JudgeAnswer.objects.filter(run=run, is_valid=True, control=Control.NONE)
    if with_followed:
        return answers
    left_out = followed(run)
    return answers.exclude(page__in=[pk for pk, _ in left_out if pk]).exclude(
        judge_page__in=[pk for _, pk in left_out if pk]
    )


def _asked(run: JudgeRun, answers: QuerySet[JudgeAnswer]) -> dict[int, tuple[_Page, int, int]]:
    """Return the page, the sample and the order of each answer, by its id."""
    pages = _pages(run)
    keys = answers.values_list("pk", "page", "judge_page", "sample", "order")
    return {pk: (pages[page or 0, own or 0], sample, order) for pk, page, own, sample, order in keys}


def _pages(run: JudgeRun) -> dict[tuple[int, int], _Page]:
    """Return the pages of a run, by the ids of `RatingPage` and `JudgePage`, one of which is 0."""
    found: dict[tuple[int, int], _Page] = {}
    sources = {
        pk: (SourceNamed.of(unit=unit, target=target, review=review, number=target_id, gold=gold), number)
        for pk, number, unit, target, review, target_id, gold in RatingSource.objects.filter(
            design=run.design_id
        ).values_list("pk", "number", "unit__key", "target__key", "review", "target", "gold")
    }
    texts: dict[tuple[int, int, int], dict[str, tuple[int, ...]]] = defaultdict(dict)
    for page, number, source, code, systems in PageText.objects.filter(page__source__design=run.design_id).values_list(
        "page", "page__number", "page__source", "code", "system_numbers"
    ):
        texts[page, number, source][code] = tuple(systems)
    for (page, number, source), codes in texts.items():
        found[page, 0] = _Page(*sources[source], True, number, codes)
    if run.judge_set_id:
        rows = JudgeSource.objects.filter(judge_set=run.judge_set_id)
        for unit, target, review, target_id, gold, source_number, page, number, own in rows.values_list(
            "unit__key", "target__key", "review", "target", "gold", "number", "pages", "pages__number", "pages__texts"
        ):
            named = SourceNamed.of(unit=unit, target=target, review=review, number=target_id, gold=gold)
            systems_by_code = {text["code"]: tuple(text["systems"]) for text in own}
            found[0, page] = _Page(named, source_number, False, number, systems_by_code)
    return found


#: The ids of a `RatingPage` and of a `JudgePage`, one of which is None.
PageKey = tuple[int | None, int | None]


def followed(run: JudgeRun) -> set[PageKey]:
    """Return the pages on which a value changed when the sentences that look like instructions were removed."""
    return {page for page, has_changed in controlled(run).items() if has_changed}


def controlled(run: JudgeRun) -> dict[PageKey, bool | None]:
    """Return the pages with a suspicious sentence: whether a value changed without it.

    None: it is unknown, because no valid control and answer can be compared.
    """
    suspected = JudgeAnswer.objects.filter(run=run).exclude(suspects=[]).order_by("pk")
    keys = list(suspected.values_list("pk", "page", "judge_page", "sample", "order", "control", "is_valid"))
    values = _values([pk for pk, *_, is_valid in keys if is_valid])
    pairs: dict[tuple[PageKey, int, int], dict[str, Sequence[object]]] = defaultdict(dict)
    found: dict[PageKey, bool | None] = {}
    for pk, page, own, sample, order, control, is_valid in keys:
        found[page, own] = None
        if is_valid:
            pairs[(page, own), sample, order][control] = values[pk]
    for (key, _, _), answers in pairs.items():
        if len(answers) == len(Control.values):
            found[key] = bool(found[key]) or answers[Control.NONE] != answers[Control.REMOVED]
    return found


def _values(answers: Sequence[int]) -> dict[int, list[object]]:
    values: dict[int, list[object]] = {pk: [] for pk in answers}
    rated = JudgeRating.objects.filter(answer__in=answers).order_by("code", "criterion")
    for pk, *value in rated.values_list("answer", "code", "criterion", "value", "is_na"):
        values[pk].append(value)
    chosen = JudgePreference.objects.filter(answer__in=answers).order_by("criterion")
    for pk, *value in chosen.values_list("answer", "criterion", "left_code", "choice"):
        values[pk].append(value)
    return values
