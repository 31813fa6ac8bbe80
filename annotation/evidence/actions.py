"""Rank the sentences of studies for target sentences, in a job that a lead starts and that can be resumed."""

from typing import Any

from django.db.models import Q

from accounts.models import User
from api.problems import Refused
from measures.evidence import ranked
from projects.jobs import batches, jobs
from projects.jobs.batches import Progress, silent
from projects.models import Job, Project
from projects.stored_figures.actions import enqueue_figures

from ..models import Ranking, Sentence, Target
from ..rankers import Comparer, Ranker, get
from .current import ReviewTexts, count_pairs, texts_by_review, texts_of

KIND = "rank_evidence"
ROWS = 500


def queue_ranking(*, project: Project, ranker: str, model: str, by: User) -> Job:
    """Queue a job that ranks the pairs without a ranking."""
    declared = _declaredfor(ranker, model)
    if not count_pairs(project):
        raise Refused.field(
            "ranker", "Nothing to rank. Target sentences and abstracts of their studies are needed first."
        )
    params = {"ranker": declared.key, "model": model.strip()}
    return jobs.request_job(project=project, kind=KIND, params=params, by=by, queue=declared.queue)[0]


def _declaredfor(ranker: str, model: str) -> Ranker:
    try:
        declared = get(ranker)
    except KeyError as unknown:
        raise Refused.field("ranker", f"Unknown ranker {ranker!r}.") from unknown
    if declared.takes and not model.strip():
        raise Refused.field("model", f"This ranker needs a model. {declared.takes}.")
    if model.strip() and not declared.takes:
        raise Refused.field("model", "This ranker has no model. Leave this empty.")
    return declared


def rank(*, project: Project, ranker: str, model: str, progress: Progress = silent) -> dict[str, Any]:
    """Rank the pairs that have no current ranking by this ranker, one review per transaction.

    A ranking is outdated if the texts have changed. Calling it again continues with the remaining pairs. Raise
    `NotReady` if the ranker cannot run here, and `Refused` if it does not exist.
    """
    declared = _declaredfor(ranker, model)
    name = declared.name(model.strip())
    total, done, ranked_pairs = count_pairs(project), 0, 0
    comparer: Comparer | None = None
    for review in texts_by_review(project):
        progress(done, total, "ranking sentences")
        missing = _missing(review, name)
        if missing:
            # The ranker is loaded only if there is something to rank.
            comparer = comparer or declared.open(model.strip())
            rows = [
                row
                for study, targets in missing.items()
                for row in _rows(name, study, targets, review.studies[study], comparer)
            ]
            with batches.batch(done, total):
                Ranking.objects.bulk_create(
                    rows,
                    batch_size=ROWS,
                    update_conflicts=True,
                    unique_fields=["target", "study", "ranker"],
                    update_fields=["texts", "order", "similarities", "made_at"],
                )
                enqueue_figures(Q(pk=project.pk))
            ranked_pairs += len(rows)
        done += len(review.targets) * len(review.studies)
    progress(total, total, "ranking sentences")
    return {"ranker": name, "ranked": ranked_pairs, "pairs": total}


def _missing(review: ReviewTexts, name: str) -> dict[int, list[Target]]:
    """Return the targets for which each study has no current ranking."""
    current = set(
        Ranking.objects.filter(target__in=review.targets, study__in=list(review.studies), ranker=name).values_list(
            "target", "study", "texts"
        )
    )
    missing: dict[int, list[Target]] = {}
    for study, sentences in review.studies.items():
        unranked = [t for t in review.targets if (t.pk, study, texts_of(t, sentences)) not in current]
        if unranked:
            missing[study] = unranked
    return missing


def _rows(name: str, study: int, targets: list[Target], sentences: list[Sentence], comparer: Comparer) -> list[Ranking]:
    rows = comparer.similarities([t.text for t in targets], [s.text for s in sentences])
    return [
        Ranking(
            target=target,
            study_id=study,
            ranker=name,
            texts=texts_of(target, sentences),
            order=[sentences[n].number for n in ranked(similarities)],
            similarities=[round(float(value), 6) for value in similarities],
        )
        for target, similarities in zip(targets, rows, strict=True)
    ]
