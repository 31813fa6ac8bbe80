"""The target sentences of a review, kept the same as the sentences that are picked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from accounts.models import User
from audit.log import record, record_all
from projects import kinds
from projects.actions import staleness
from projects.models import Assignment, Change, Member, Unit
from projects.purposes import which
from projects.values.in_force import taken_back, values_in_force

from ...corpus.layout import UNIT_TYPES, next_position
from ...corpus.watching import BRING_BACK_TARGET, REMOVE_TARGET
from ...models import AbstractReading, Cluster, EvidenceMark, Level, Review, Sentence, Target
from ..clusters import said_of

KIND, FIELD = "sentences", str(AbstractReading.Task.EVIDENCE)


def follow(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Make targets of the sentences of these reviews that are picked, and take those out again that are picked no more.
    Called again it changes nothing. In the caller's transaction.

    A fixed number of queries, and some for each target that is taken out or brought back, of which there are few.
    """
    picked = _picked(units)
    reviews = {review.pk: review for review in Review.objects.filter(unit__in=picked).select_related("unit")}
    made = Target.objects.filter(sentence__review__in=reviews).select_related("unit").order_by("version")
    newest = {target.sentence_id: target for target in made}
    texts: dict[int, set[str]] = defaultdict(set)
    there = Target.objects.current().filter(review__in=reviews, level=Level.SENTENCE)
    for review, text in there.values_list("review", "text"):
        texts[review].add(_plain(text))
    new = []
    for sentence in Sentence.objects.filter(review__in=reviews).order_by("review_id", "number"):
        of = reviews[sentence.review_id or 0]
        target, is_picked = newest.get(sentence.pk), sentence.number in picked[of.unit_id]
        if target and is_picked and target.unit.superseded_by_id:
            _bring_back(target, by, reason)
        elif target and not is_picked and not target.unit.superseded_by_id:
            _take_out(target, of, by, reason)
        # One that was typed in, or came in a file, with the same words is the target.
        elif is_picked and not target and _plain(sentence.text) not in texts[of.pk]:
            new.append((of, sentence))
    if new:
        _make(new, by, reason)


def _picked(units: Sequence[Unit]) -> dict[int, set[int]]:
    """The numbers of the sentences that are picked, by the unit of the review; none where that was taken back. Reviews
    of which nothing was ever decided are left out."""
    gone = taken_back([unit.pk for unit in units], KIND)
    found: dict[int, set[int]] = {unit: set() for unit, field in gone if field == FIELD}
    for unit, value in values_in_force(units, KIND).items():
        if FIELD in value:
            said: Sequence[Mapping[str, Any]] = value[FIELD]["sentences"]
            found[unit] = {one["number"] for one in said if one["said"] == EvidenceMark.PICKED}
    return found


def _plain(text: str) -> str:
    return " ".join(text.split())


def _make(sentences: Sequence[tuple[Review, Sentence]], by: User | None, reason: str) -> None:
    project = sentences[0][0].project_id
    reviews = {review.pk: review for review, _ in sentences}
    numbers = _next_numbers(reviews)
    position = next_position(Target.objects.filter(project=project, level=Level.SENTENCE))
    keys = [f"{review.pmid}_{next(numbers[review.pk])}" for review, _ in sentences]
    units = Unit.objects.bulk_create(
        Unit(project_id=project, type=UNIT_TYPES[Level.SENTENCE], key=key, made_by=by) for key in keys
    )
    made = Target.objects.bulk_create(
        Target(
            project_id=project, review=review, level=Level.SENTENCE, key=key, position=position + n,
            text=sentence.text, unit=unit, sentence=sentence,
        )
        for n, (key, unit, (review, sentence)) in enumerate(zip(keys, units, sentences, strict=True))
    )  # fmt: skip
    of_review: dict[int, dict[str, int]] = defaultdict(dict)
    for target, (review, sentence) in zip(made, sentences, strict=True):
        of_review[review.pk][target.key] = sentence.number
    record_all(
        {
            "actor": by, "verb": "make targets", "obj": reviews[review], "project_id": project, "reason": reason,
            "after": {"sentences": by_key},
        }
        for review, by_key in of_review.items()
    )  # fmt: skip


def _next_numbers(reviews: Iterable[int]) -> dict[int, Iterator[int]]:
    """The numbers for new keys of each review, after the highest: a key is never used again."""
    highest: dict[int, int] = dict.fromkeys(reviews, -1)
    there = Target.objects.filter(review__in=highest, level=Level.SENTENCE)
    for review, key in there.values_list("review", "key"):
        if (number := key.rpartition("_")[2]).isdecimal():
            highest[review] = max(highest[review], int(number))
    return {review: count(last + 1) for review, last in highest.items()}


def _bring_back(target: Target, by: User | None, reason: str) -> None:
    """One that was taken out counts again, with all that was said of it."""
    Unit.objects.filter(pk=target.unit_id).update(superseded_by=None)
    record(actor=by, verb=BRING_BACK_TARGET, obj=target, project_id=target.project_id, reason=reason)


def _take_out(target: Target, review: Review, by: User | None, reason: str) -> None:
    """A target that nobody has worked on is left out everywhere. One that people were asked of, or that clusters were
    made from, stays: what was said of it is to be looked at again."""
    same = Target.objects.filter(project=target.project_id, level=target.level, key=target.key)
    clusters = [c.unit for c in Cluster.objects.current().filter(sentence__in=same).select_related("unit")]
    if not clusters and not _is_asked_of(target.unit):
        # Nothing takes its place but the review without it.
        Unit.objects.filter(pk=target.unit_id).update(superseded_by=review.unit)
        record(
            actor=by, verb=REMOVE_TARGET, obj=target, project_id=target.project_id, reason=reason,
            before={"key": target.key, "text": target.text},
        )  # fmt: skip
        return
    member = Member.objects.filter(project=target.project_id, user=by).first() if by else None
    if member:
        why = reason or "The sentence is picked no more."
        about: dict[str, Any] = {"what": Change.TEXT, "reason": why, "by": member, "before": target.text}
        staleness.changed(units=[target.unit], **about)
        staleness.changed(units=clusters, kinds=said_of("target"), **about)


def _is_asked_of(unit: Unit) -> bool:
    """Whether people were asked of it, or of what kinds made of it."""
    hanging = [one.pk for kind in kinds.all_kinds() for one in kind.hanging_on([unit])]
    asked = Assignment.objects.filter(unit__in=[unit.pk, *hanging])
    return asked.exclude(round__purpose__in=which("standing")).exists()
