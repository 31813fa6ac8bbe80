"""One tidy row a rating: all that figures are made of, in a file that any program can read."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from projects.rounds.counted import counted_parts
from projects.sheets.cells import neutral

from ..models import Preference, Rating, RatingSpan
from .said import AnswerRead, Said, SourceNamed

ABOUT = ("source", "item", "rater", "repeat", "ms", "answer")
RATED = ("text", "system", "check", "made_from", "place", "criterion", "value", "na", "prefilled", "reason", "marks")
PREFERRED = ("left", "right", "check", "criterion", "choice", "reason")


def lines(said: Said) -> Iterator[str]:
    """A CSV file line by line, checks and repeats among them: a text that several systems wrote has a row for each."""
    pairs = said.content.kind == "compare"
    yield _line((*ABOUT, *(PREFERRED if pairs else RATED)))
    for part in counted_parts(said.round):
        for row in (_preferred if pairs else _rated)(said, list(part.values_list("pk", flat=True))):
            yield _line(row)


def _rated(said: Said, answers: Sequence[Any]) -> Iterator[Sequence[Any]]:
    ratings = list(Rating.objects.filter(answer__in=answers).order_by("answer__assignment__position", "pk"))
    marks = _marks([rating.pk for rating in ratings])
    for rating in ratings:
        text, answer = said.texts[rating.text_id], said.answers[rating.answer_id]
        about = _about(said.sources[text.source], answer, rating.answer_id)
        for system in text.systems or ("",):
            yield (
                *about, text.code, system, _yes(text.is_check), text.made_from, rating.place, rating.criterion,
                rating.value, _yes(rating.is_na), _yes(rating.is_prefilled), rating.reason, marks.get(rating.pk, ""),
            )  # fmt: skip


def _preferred(said: Said, answers: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for row in Preference.objects.filter(answer__in=answers).order_by("answer__assignment__position", "pk"):
        left, right = said.texts[row.left_id], said.texts[row.right_id]
        about = _about(said.sources[left.source], said.answers[row.answer_id], row.answer_id)
        check = _yes(left.is_check or right.is_check)
        for one in left.systems or ("",):
            for other in right.systems or ("",):
                yield (*about, one, other, check, row.criterion, row.choice, row.reason)


def _about(source: SourceNamed, answer: AnswerRead, pk: Any) -> Sequence[Any]:
    return source.key, source.item, answer.rater, answer.repeat, answer.ms, pk


def _marks(ratings: Sequence[int]) -> Mapping[int, str]:
    found: dict[int, list[str]] = defaultdict(list)
    for span in RatingSpan.objects.filter(rating__in=ratings, is_quote=False).order_by("pk"):
        found[span.rating_id].append(f"{span.start}-{span.end}:{span.category}:{span.severity}")
    return {rating: "; ".join(marks) for rating, marks in found.items()}


def _yes(which: bool) -> str:
    return "yes" if which else ""


def _line(cells: Sequence[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([neutral(c) if isinstance(c, str) else c for c in cells])
    return out.getvalue()
