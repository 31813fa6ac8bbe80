"""Signs beside accuracy: speed, straight-lining and pauses. They are shown with their n, and are never alarms."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from measures import drift

from .. import kinds
from ..models import Answer, Outcome, Round

Json = dict[str, Any]
#: First and last answers whose times are compared, and last answers whose values are.
TIMED, VALUES = 20, 50
#: A time without an answer within one day of work, beyond the active time of the next answer.
PAUSE, DAY = timedelta(minutes=10), timedelta(hours=8)
#: Answer id, time, active milliseconds.
Given = tuple[UUID, datetime, int]


def signs_of(round: Round) -> dict[int, Json]:
    """Return the signs of each person with answers, by member id. Three queries; at most 70 answers per person."""
    given = _first_and_last(round)
    last = {person: own[-VALUES:] for person, (_, own) in given.items()}
    words = _in_words(round, [pk for own in last.values() for pk, _, _ in own])
    values = {person: [words[pk] for pk, _, _ in own if pk in words] for person, own in last.items()}
    return {
        person: {"speed": _speed(first, own), "values": _straight_lining(person, values), "pauses": _pauses(own)}
        for person, (first, own) in given.items()
    }


def _first_and_last(round: Round) -> dict[int, tuple[list[Given], list[Given]]]:
    """Return the first and the last answers of each person in order."""
    answers = Answer.objects.filter(
        assignment__round=round, assignment__current_answer=F("pk"), outcome=Outcome.ANSWERED
    ).annotate(
        rank=Window(RowNumber(), "author", [F("received_at").asc(), F("pk").asc()]),
        rank_of_last=Window(RowNumber(), "author", [F("received_at").desc(), F("pk").desc()]),
    )
    shown = answers.filter(Q(rank__lte=TIMED) | Q(rank_of_last__lte=VALUES)).order_by("author", "rank")
    out: dict[int, tuple[list[Given], list[Given]]] = defaultdict(lambda: ([], []))
    for author, pk, at, ms, rank, rank_of_last in shown.values_list(
        "author", "pk", "received_at", "active_ms", "rank", "rank_of_last"
    ):
        first, last = out[author]
        if rank <= TIMED:
            first.append((pk, at, ms))
        if rank_of_last <= VALUES:
            last.append((pk, at, ms))
    return out


def _speed(first: Sequence[Given], last: Sequence[Given]) -> Json:
    """Return the median active seconds of the first and of the last answers. Null without measured times."""
    begin = [ms / 1000 for _, _, ms in first if ms]
    end = [ms / 1000 for _, _, ms in last[-TIMED:] if ms]
    return {
        "first": median(begin) if begin else None,
        "n_first": len(begin),
        "last": median(end) if end else None,
        "n_last": len(end),
    }


def _in_words(round: Round, answers: Sequence[UUID]) -> dict[UUID, str]:
    """Return answers in words: their categories, or the whole value if the kind has no field with categories."""
    kind = kinds.get(round.kind)
    columns = dict.fromkeys(scale.column for scale in kind.scales_of(round) if scale.column in kind.fields)
    out = dict[UUID, str]()
    for pk, value in kind.values(answers).items():
        # Spans and free texts hardly repeat, so they would hide repeated categories.
        categories = [each for column in columns if isinstance(each := value.get(column), str)]
        out[pk] = "; ".join(categories or kind.in_words(value).values())
    return out


def _straight_lining(person: int, values: dict[int, list[str]]) -> Json:
    """Return a person's commonest value, its share among the others, and the longest run of one value."""
    own, others = values[person], [one for pk, given in values.items() if pk != person for one in given]
    value, count = Counter(own).most_common(1)[0] if own else ("", 0)
    of_others = others.count(value) / len(others) if others else None
    run = drift.longest_run(own)
    return {
        "value": value,
        "count": count,
        "n": len(own),
        "share_of_others": of_others,
        "n_others": len(others),
        "run": run,
    }


def _pauses(own: Sequence[Given]) -> Json:
    """Return the pauses between the last answers that are longer than `PAUSE`. Longer ones than `DAY` end a session."""
    gaps = [
        gap - timedelta(milliseconds=ms) for (_, before, _), (_, at, ms) in pairwise(own) if (gap := at - before) <= DAY
    ]
    long = [gap for gap in gaps if gap >= PAUSE]
    return {"count": len(long), "longest": max(long).total_seconds() if long else None, "n": len(gaps)}
