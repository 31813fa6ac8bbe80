"""Keep the target sentences of a review in line with the selected sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from accounts.models import User
from audit.log import record, record_all
from projects import kinds
from projects.gold.queries import current_values, withdrawn_values
from projects.jobs.arriving import ensure_none_arrives
from projects.models import Assignment, Change, Member, Unit
from projects.purposes import which
from projects.staleness import actions as staleness_actions

from ...clusters.creation import UNIT_TYPES, next_position
from ...clusters.integrity import BRING_BACK_TARGET, REMOVE_TARGET
from ...models import AbstractReading, Cluster, EvidenceMark, Level, Review, Sentence, Target
from ..clusters import kinds_depending_on

KIND, FIELD = "sentences", str(AbstractReading.Task.EVIDENCE)


def update_targets(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Create targets of newly selected sentences, and remove targets of sentences that are no longer selected.

    Run in the caller's transaction. Idempotent. A fixed number of queries, plus a few for each target removed or
    restored.
    """
    selected = _selected_numbers(units)
    reviews = {review.pk: review for review in Review.objects.filter(unit__in=selected).select_related("unit")}
    targets = Target.objects.filter(sentence__review__in=reviews).select_related("unit").order_by("version")
    newest = {target.sentence_id: target for target in targets}
    texts: dict[int, set[str]] = defaultdict(set)
    current = Target.objects.current().filter(review__in=reviews, level=Level.SENTENCE)
    for review, text in current.values_list("review", "text"):
        texts[review].add(_normalised(text))
    new = []
    for sentence in Sentence.objects.filter(review__in=reviews).order_by("review_id", "number"):
        review_ = reviews[sentence.review_id or 0]
        target, is_selected = newest.get(sentence.pk), sentence.number in selected[review_.unit_id]
        if target and is_selected and target.unit.superseded_by_id:
            restore_target(target, by, reason)
        elif target and not is_selected and not target.unit.superseded_by_id:
            remove_target(target, review_, by, reason)
        # A typed or imported target with the same words counts as the target of this sentence.
        elif is_selected and not target and _normalised(sentence.text) not in texts[review_.pk]:
            new.append((review_, sentence))
    if new:
        _create_targets(new, by, reason)


def _selected_numbers(units: Sequence[Unit]) -> dict[int, set[int]]:
    """Return the numbers of the selected sentences by the unit of the review.

    The set is empty if the decision was withdrawn. Reviews without any decision are omitted.
    """
    withdrawn = withdrawn_values([unit.pk for unit in units], KIND)
    numbers: dict[int, set[int]] = {unit: set() for unit, field in withdrawn if field == FIELD}
    for unit, value in current_values(units, KIND).items():
        if FIELD in value:
            sentences: Sequence[Mapping[str, Any]] = value[FIELD]["sentences"]
            numbers[unit] = {sentence["number"] for sentence in sentences if sentence["said"] == EvidenceMark.PICKED}
    return numbers


def _normalised(text: str) -> str:
    return " ".join(text.split())


def _create_targets(sentences: Sequence[tuple[Review, Sentence]], by: User | None, reason: str) -> None:
    project = sentences[0][0].project_id
    ensure_none_arrives(project)
    reviews = {review.pk: review for review, _ in sentences}
    numbers = _next_numbers(reviews)
    position = next_position(Target.objects.filter(project=project, level=Level.SENTENCE))
    keys = [f"{review.pmid}_{next(numbers[review.pk])}" for review, _ in sentences]
    units = Unit.objects.bulk_create(
        Unit(project_id=project, type=UNIT_TYPES[Level.SENTENCE], key=key, made_by=by) for key in keys
    )
    targets = Target.objects.bulk_create(
        Target(
            project_id=project,
            review=review,
            level=Level.SENTENCE,
            key=key,
            position=position + n,
            text=sentence.text,
            unit=unit,
            sentence=sentence,
        )
        for n, (key, unit, (review, sentence)) in enumerate(zip(keys, units, sentences, strict=True))
    )
    of_review: dict[int, dict[str, int]] = defaultdict(dict)
    for target, (review, sentence) in zip(targets, sentences, strict=True):
        of_review[review.pk][target.key] = sentence.number
    record_all(
        {
            "actor": by,
            "verb": "make targets",
            "obj": reviews[review],
            "project_id": project,
            "reason": reason,
            "after": {"sentences": by_key},
        }
        for review, by_key in of_review.items()
    )


def _next_numbers(reviews: Iterable[int]) -> dict[int, Iterator[int]]:
    """Return iterators over the numbers for new keys of each review. A key is never reused."""
    highest: dict[int, int] = dict.fromkeys(reviews, -1)
    existing = Target.objects.filter(review__in=highest, level=Level.SENTENCE)
    for review, key in existing.values_list("review", "key"):
        if (number := key.rpartition("_")[2]).isdecimal():
            highest[review] = max(highest[review], int(number))
    return {review: count(last + 1) for review, last in highest.items()}


def restore_target(target: Target, by: User | None, reason: str) -> None:
    """Restore a removed target with all its answers."""
    Unit.objects.filter(pk=target.unit_id).update(superseded_by=None)
    record(actor=by, verb=BRING_BACK_TARGET, obj=target, project_id=target.project_id, reason=reason)


def remove_target(target: Target, review: Review, by: User | None, reason: str) -> None:
    """Remove a target that nobody has worked on.

    If a round assigned it, or clusters were created from it, keep it and mark the answers as stale.
    """
    versions = Target.objects.filter(project=target.project_id, level=target.level, key=target.key)
    clusters = [c.unit for c in Cluster.objects.current().filter(sentence__in=versions).select_related("unit")]
    if not clusters and not _is_assigned(target.unit):
        # A removed target has no successor text, so the unit of the review supersedes it.
        Unit.objects.filter(pk=target.unit_id).update(superseded_by=review.unit)
        record(
            actor=by,
            verb=REMOVE_TARGET,
            obj=target,
            project_id=target.project_id,
            reason=reason,
            before={"key": target.key, "text": target.text},
        )
        return
    member = Member.objects.filter(project=target.project_id, user=by).first() if by else None
    if member:
        why = reason or "The sentence is no longer selected."
        about: dict[str, Any] = {"what": Change.TEXT, "reason": why, "by": member, "before": target.text}
        staleness_actions.changed(units=[target.unit], **about)
        staleness_actions.changed(units=clusters, kinds=kinds_depending_on("target"), **about)


def _is_assigned(unit: Unit) -> bool:
    """Return whether people were assigned this unit or a unit of a kind that depends on it."""
    dependents = [unit_.pk for kind in kinds.all_kinds() for unit_ in kind.dependents_of([unit])]
    assignments = Assignment.objects.filter(unit__in=[unit.pk, *dependents])
    return assignments.exclude(round__purpose__in=which("holds_edits")).exists()
