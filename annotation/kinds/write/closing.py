"""Written summaries from the answers of a closed round."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q

from annotation.formats.mediqa.rows import SUMMARY
from annotation.models import WrittenStep, WrittenSummary
from projects.answers.queries import opinions
from projects.jobs import batches
from projects.models import Round, Unit
from projects.stored_figures.actions import content_changed

#: Number of answers in one transaction.
BATCH = 100


def create_summaries(round: Round) -> None:
    """Create a written summary of each text of the counted answers. Idempotent.

    A text that a person wrote for the same passage in another round is the next version, and supersedes nothing.
    """
    answers = list(opinions(round).values_list("pk", flat=True))
    for first in range(0, len(answers), BATCH):
        with batches.batch():
            _create(round, answers[first : first + BATCH])


def _create(round: Round, answers: Sequence[UUID]) -> None:
    done = WrittenSummary.objects.filter(answer__in=answers).values_list("answer", flat=True)
    steps = list(
        WrittenStep.objects.filter(answer__in=set(answers) - set(done))
        .select_related("passage", "unit__question", "answer__author")
        .order_by("unit", "number", "answer")
    )
    if not steps:
        return
    questions, authors = {step.unit_id for step in steps}, {step.answer.author.user_id for step in steps}
    earlier = WrittenSummary.objects.filter(question__unit__in=questions, author__in=authors)
    versions = Counter(map(tuple, earlier.values_list("question", "passage", "form", "author")))
    units, summaries = [], []
    for step in steps:
        question, member = step.unit.question, step.answer.author
        of = (question.pk, step.passage_id, step.form, member.user_id)
        versions[of] += 1
        key = f"{step.passage.key if step.passage else question.key} {step.form} {member.pseudonym}"
        key += f" {versions[of]}" if versions[of] > 1 else ""
        unit = Unit(project_id=round.project_id, type=SUMMARY, key=key, context=question.pk, made_by_id=member.user_id)
        units.append(unit)
        summaries.append(
            WrittenSummary(
                question=question,
                passage_id=step.passage_id,
                form=step.form,
                version=versions[of],
                text=step.text,
                chunks=step.chunks,
                author_id=member.user_id,
                answer=step.answer,
                unit=unit,
            )
        )
    Unit.objects.bulk_create(units)
    for summary, unit in zip(summaries, units, strict=True):
        summary.unit_id = unit.pk
    WrittenSummary.objects.bulk_create(summaries)
    content_changed(Q(pk=round.project_id))
