"""Keep the document target of a review of MS^2 in line with the classes of its sentences.

MS^2 derives the target from the sentences that state an effect. If people change these classes, the next version of the
target has the new text, and the earlier version is kept.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

from accounts.models import User
from audit.log import record
from measures.abstracts import TARGET, derived_text
from projects.jobs.arriving import ensure_none_arrives
from projects.models import Decision, Member, Unit

from ...clusters.creation import UNIT_TYPES, next_position
from ...formats.ms2.rows import FORMAT
from ...models import AbstractReading, Inclusion, Input, Level, Review, SentenceMark, Target
from ..supersede import supersede_target
from .targets import KIND, remove_target, restore_target

FIELD = str(AbstractReading.Task.CLASSES)
REASON = "The classes of its sentences have changed."


def update_documents(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Create, replace, remove or restore the document targets of reviews of MS^2, if their derived text has changed.

    A correction of the text itself stays until other sentences state the effect. Run in the caller's transaction.
    Idempotent. A fixed number of queries, plus a few for each target that changes.
    """
    reviews = Review.objects.filter(unit__in=[unit.pk for unit in units], metadata__has_key=FORMAT)
    by_unit = {review.unit_id: review for review in reviews.select_related("unit")}
    if not by_unit:
        return
    versions: dict[int, list[Target]] = defaultdict(list)
    rows = Target.objects.filter(review__in=by_unit.values(), level=Level.DOCUMENT).select_related("unit")
    for target in rows.order_by("version"):
        versions[target.review_id].append(target)
    member: Member | None = None
    for unit, texts in _derived_texts(list(by_unit)).items():
        review = by_unit[unit]
        change = _Change(review, versions[review.pk], texts)
        if change.is_needed:
            member = member or Member.objects.filter(project=review.project_id, user=by).first()
            change.make(by, member, reason or REASON)


def _derived_texts(units: Collection[int]) -> dict[int, list[str]]:
    """Return the target that each decision on the classes of a review implies, oldest first, by unit.

    Units whose decision was withdrawn are left out.
    """
    marks = SentenceMark.objects.filter(reading__unit__in=units, reading__task=FIELD)
    columns = ("reading__answer", "reading__imported", "reading__unit", "label", "sentence__text")
    sentences: dict[tuple[object, int], list[tuple[str, str]]] = defaultdict(list)
    for answer, imported, unit, label, text in marks.order_by("reading", "sentence__number").values_list(*columns):
        sentences[answer or imported, unit].append((label, text.strip()))
    decisions: dict[int, list[Decision]] = defaultdict(list)
    rows = Decision.objects.filter(unit__in=units, kind=KIND, field=FIELD).in_question().order_by()
    for decision in sorted(rows, key=lambda one: one.pk):
        decisions[decision.unit_id].append(decision)
    return {
        unit: [
            derived_text(TARGET, sentences[one.answer_id or one.imported_id, unit]) for one in listed if one.has_value
        ]
        for unit, listed in decisions.items()
        if listed[-1].has_value
    }


class _Change:
    """The versions of a review's document, and the texts that its decisions imply, both oldest first."""

    def __init__(self, review: Review, versions: Sequence[Target], texts: Sequence[str]) -> None:
        self.review, self.texts = review, texts
        self.text = texts[-1]
        self.newest = versions[-1] if versions else None
        self.derived = [version.text for version in versions if version.text in texts]

    @property
    def is_removed(self) -> bool:
        return self.newest is None or self.newest.unit.superseded_by_id is not None

    @property
    def is_needed(self) -> bool:
        if self.newest and self.newest.is_withheld:
            return False
        if self.is_removed or not self.text:
            return self.is_removed == bool(self.text)
        # A version that is not derived is a correction, and stays while the sentences are the same.
        return self.derived[-1:] != [self.text]

    def make(self, by: User | None, member: Member | None, reason: str) -> None:
        if self.newest is None:
            _create(self.review, self.text, by, reason)
            return
        if not self.text:
            remove_target(self.newest, self.review, by, reason)
            return
        if self.is_removed:
            restore_target(self.newest, by, reason)
            self.newest.refresh_from_db()
        if member and self.newest.text != self.text:
            supersede_target(target=self.newest, text=self.text, reason=reason, by=member)


def _create(review: Review, text: str, by: User | None, reason: str) -> None:
    """Create the document of a review that had none: no sentence stated an effect when it was imported."""
    ensure_none_arrives(review.project_id)
    studies = Inclusion.objects.included().filter(review=review).exclude(study__abstract="").order_by("position", "pk")
    unit = Unit.objects.create(
        project_id=review.project_id, type=UNIT_TYPES[Level.DOCUMENT], key=review.pmid, made_by=by
    )
    documents = Target.objects.filter(project=review.project_id, level=Level.DOCUMENT)
    target = Target.objects.create(
        project_id=review.project_id,
        review=review,
        level=Level.DOCUMENT,
        key=review.pmid,
        position=next_position(documents),
        text=text,
        unit=unit,
    )
    Input.objects.bulk_create(
        Input(target=target, study_id=study, position=position)
        for position, study in enumerate(studies.values_list("study", flat=True), start=1)
    )
    record(
        actor=by,
        verb="make document",
        obj=target,
        project_id=review.project_id,
        reason=reason,
        after={"of": "sentences with an effect", "studies": len(studies)},
    )
