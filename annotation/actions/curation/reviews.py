"""Reviews and their target sentences, typed or pasted in."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from api.problems import Refused
from audit.log import record
from projects.actions import rolling
from projects.models import Member, Project, Unit
from sql.ready import Rows

from ...corpus.items import Item, Source
from ...corpus.layout import Layout, next_position
from ...corpus.sentences import split
from ...models import Level, Review, Target


def add_review(
    *, project: Project, pmid: str, title: str, abstract: str, sentences: Sequence[Mapping[str, Any]], by: Member
) -> Review:
    """A review with its target sentences, if any. In the caller's transaction. Raises `Refused` where it is there."""
    if Review.objects.filter(project=project, pmid=pmid).exists():
        raise Refused.field("pmid", f"The project has the review {pmid} already.")
    unit = Unit.objects.create(project=project, type="review", key=pmid, made_by=by.user)
    review = Review.objects.create(project=project, pmid=pmid, title=title, abstract=abstract, unit=unit)
    split([review])
    record(
        actor=by.user, verb="add review", obj=review, project_id=project.pk, after={"pmid": pmid, "title": title},
    )  # fmt: skip
    if sentences:
        add_sentences(review=review, rows=sentences, by=by)
    rolling.due(Q(project=project))
    return review


def add_sentences(*, review: Review, rows: Sequence[Mapping[str, Any]], by: Member) -> list[Target]:
    """Target sentences after the last one of the review. Rows: ``text, inputs[{pmid, text}]``. All or none."""
    keys = Target.objects.filter(review=review, level=Level.SENTENCE).values_list("key", flat=True)
    number = max((int(n) for key in keys if (n := key.rpartition("_")[2]).isdecimal()), default=-1) + 1
    items = [
        Item(
            f"{review.pmid}_{number + n}",
            review.pmid,
            row["text"],
            tuple(Source(i["pmid"], i["text"]) for i in row["inputs"]),
        )
        for n, row in enumerate(rows)
    ]
    first = next_position(Target.objects.filter(project=review.project_id, level=Level.SENTENCE))
    layout = Layout(review.project, Rows(), by=by.user)
    targets = layout.targets(Level.SENTENCE, items, first)
    layout.rows.write()
    record(
        actor=by.user, verb="add sentences", obj=review, project_id=review.project_id,
        after={"sentences": [t.key for t in targets]},
    )  # fmt: skip
    return targets
