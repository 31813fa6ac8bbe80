"""Ranking the studies' sentences for the targets: asked for by a lead, done by a job, gone on with where it ended."""

from typing import Any

from accounts.models import User
from api.problems import Refused
from measures.evidence import ranked
from projects.background import batches, jobs
from projects.background.progress import Progress, silent
from projects.models import Job, Project

from ..models import Ranking, Sentence, Target
from ..rankers import Comparer, Ranker, get
from ..values.evidence import Mapped, by_review, count_pairs, texts_of

KIND = "rank_evidence"
ROWS = 500


def ask(*, project: Project, ranker: str, model: str, by: User) -> Job:
    """Have a worker rank what is not ranked yet."""
    declared = _declared(ranker, model)
    if not count_pairs(project):
        raise Refused.field(
            "ranker", "Nothing to rank: there are no target sentences, or no abstracts of their studies."
        )
    params = {"ranker": declared.key, "model": model.strip()}
    return jobs.ask(project=project, kind=KIND, params=params, by=by, queue=declared.queue)[0]


def _declared(ranker: str, model: str) -> Ranker:
    try:
        declared = get(ranker)
    except KeyError as unknown:
        raise Refused.field("ranker", f"There is no ranker {ranker!r}.") from unknown
    if declared.takes and not model.strip():
        raise Refused.field("model", f"It takes one. {declared.takes}.")
    if model.strip() and not declared.takes:
        raise Refused.field("model", "This ranker takes none.")
    return declared


def rank(*, project: Project, ranker: str, model: str, progress: Progress = silent) -> dict[str, Any]:
    """Rank what this ranker has not ranked, or ranked of other texts, a review a transaction. Called again it does the
    rest. Raises `NotReady` where the ranker cannot rank here, and `Refused` for one that there is not."""
    declared = _declared(ranker, model)
    name = declared.name(model.strip())
    total, done, made = count_pairs(project), 0, 0
    comparer: Comparer | None = None
    for review in by_review(project):
        progress(done, total, "ranking sentences")
        missing = _missing(review, name)
        if missing:
            # Not loaded where there is nothing to do.
            comparer = comparer or declared.open(model.strip())
            rows = [
                row
                for study, some in missing.items()
                for row in _rows(name, study, some, review.studies[study], comparer)
            ]
            with batches.batch(done, total):
                Ranking.objects.bulk_create(
                    rows, batch_size=ROWS, update_conflicts=True, unique_fields=["target", "study", "ranker"],
                    update_fields=["texts", "order", "similarities", "made_at"],
                )  # fmt: skip
            made += len(rows)
        done += len(review.targets) * len(review.studies)
    progress(total, total, "ranking sentences")
    return {"ranker": name, "ranked": made, "pairs": total}


def _missing(review: Mapped, name: str) -> dict[int, list[Target]]:
    """The targets that each study is still to be ranked for."""
    there = set(
        Ranking.objects.filter(target__in=review.targets, study__in=list(review.studies), ranker=name).values_list(
            "target", "study", "texts"
        )
    )
    missing: dict[int, list[Target]] = {}
    for study, sentences in review.studies.items():
        left = [t for t in review.targets if (t.pk, study, texts_of(t, sentences)) not in there]
        if left:
            missing[study] = left
    return missing


def _rows(name: str, study: int, targets: list[Target], sentences: list[Sentence], comparer: Comparer) -> list[Ranking]:
    found = comparer.similarities([t.text for t in targets], [s.text for s in sentences])
    return [
        Ranking(
            target=target, study_id=study, ranker=name, texts=texts_of(target, sentences),
            order=[sentences[n].number for n in ranked(similarities)],
            similarities=[round(float(value), 6) for value in similarities],
        )
        for target, similarities in zip(targets, found, strict=True)
    ]  # fmt: skip
