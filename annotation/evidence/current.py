"""Evidence that people assigned to targets, and the rankings of the same sentences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from measures.evidence import Pair, Section, by_position, located
from projects.models import Decision, Project

from ..models import EvidencePair, Inclusion, Input, Level, Ranking, Review, Sentence, Study, Target

#: Kind and field of the decisions on what supports a target.
KIND, FIELD = "evidence", "support"
#: Target and study (primary keys).
PairKey = tuple[int, int]
#: Number of reviews read at once.
BATCH = 50


def targets(project: Project) -> QuerySet[Target]:
    """Return the current target sentences in corpus order."""
    return Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by("position", "pk")


def split_studies(project: Project) -> QuerySet[Study]:
    """Return the studies whose abstracts have stored sentences."""
    return Study.objects.filter(Exists(Sentence.objects.filter(study=OuterRef("pk"))), project=project)


def current_targets_of(pairs: Sequence[EvidencePair]) -> dict[int, Target]:
    """Return the current target of each pair by the pair's unit, or the pair's own target if it was retired.

    Select ``target__unit`` with the pairs. Needs no query if no text was corrected.
    """
    superseded_ids = {pair.target_id for pair in pairs if pair.target.unit.superseded_by_id}
    current_ids = Target.objects.in_place_of(superseded_ids) if superseded_ids else {}
    targets_by_id = Target.objects.select_related("unit").in_bulk(current_ids.values()) if current_ids else {}
    return {pair.unit_id: targets_by_id.get(current_ids.get(pair.target_id, 0), pair.target) for pair in pairs}


def count_dropped(project: Project) -> int:
    """Return the number of target sentences without support: all of their pairs are decided, and no input supports
    them.

    Needs one query.
    """
    decided = Decision.objects.filter(unit=OuterRef("unit"), kind=KIND).current()
    pairs = EvidencePair.objects.filter(target__project=project).order_by().values_list("target__key")
    read = pairs.annotate(open=Count("pk", filter=~Q(Exists(decided)))).filter(open=0).values("target__key")
    supported = Input.objects.current().filter(target=OuterRef("pk"))
    return targets(project).filter(~Exists(supported), key__in=read).count()


def count_pairs(project: Project) -> int:
    """Return the number of pairs of a target and a study of its review whose sentences can be ranked."""
    studies = dict(
        Inclusion.objects.included()
        .filter(study__in=split_studies(project))
        .order_by()
        .values_list("review_id")
        .annotate(n=Count("study"))
    )
    target_counts = targets(project).order_by().values_list("review_id").annotate(n=Count("pk"))
    return sum(n * studies.get(review, 0) for review, n in target_counts)


@dataclass(frozen=True)
class ReviewTexts:
    """The targets of a review, and the sentences of its studies by study id."""

    targets: list[Target]
    studies: dict[int, list[Sentence]]


def texts_by_review(project: Project) -> Iterator[ReviewTexts]:
    """Yield the targets and study sentences of each review. Needs four queries per `BATCH` of reviews."""
    reviews = list(
        Review.objects.filter(pk__in=targets(project).order_by().values("review"))
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    for at in range(0, len(reviews), BATCH):
        batch = reviews[at : at + BATCH]
        targets_of: dict[int, list[Target]] = defaultdict(list)
        for target in targets(project).filter(review__in=batch):
            targets_of[target.review_id].append(target)
        links = Inclusion.objects.included().filter(review__in=batch).order_by()
        pairs = sorted(links.values_list("review_id", "study_id"))
        sentences_of: dict[int, list[Sentence]] = defaultdict(list)
        study_ids = {study for _, study in pairs}
        for sentence in Sentence.objects.filter(study__in=study_ids).order_by("study_id", "number"):
            sentences_of[sentence.study_id or 0].append(sentence)
        studies_of: dict[int, dict[int, list[Sentence]]] = defaultdict(dict)
        for review, study in pairs:
            if study in sentences_of:
                studies_of[review][study] = sentences_of[study]
        for review in batch:
            yield ReviewTexts(targets_of[review], studies_of[review])


@dataclass(frozen=True)
class Evidence:
    """Evidence that people assigned, in rounds, by correction or in an imported file.

    ``not_found`` counts inputs whose text is not a sentence of the abstract. ``no_abstract`` counts inputs of studies
    without an abstract. Both are excluded.
    """

    pairs: dict[PairKey, Pair]
    not_found: int
    no_abstract: int


def mapped_pairs(project: Project) -> Evidence:
    """Return the pairs of a target and a study to which people assigned evidence, with the gold sentences."""
    inputs: dict[tuple[int, int], list[tuple[str, list[int]]]] = defaultdict(list)
    rows = Input.objects.current().filter(target__in=targets(project).order_by()).with_source_text()
    for target, study, text, numbers in rows.values_list("target", "study", "source_text", "numbers"):
        inputs[target, study].append((text, numbers))
    sentences_of: dict[int, list[Sentence]] = defaultdict(list)
    for sentence in Sentence.objects.filter(study__in={study for _, study in inputs}).order_by("study_id", "number"):
        sentences_of[sentence.study_id or 0].append(sentence)
    reviews = dict(targets(project).order_by().values_list("pk", "review_id"))
    pairs: dict[tuple[int, int], Pair] = {}
    not_found = no_abstract = 0
    for (target, study), texts in inputs.items():
        sentences = sentences_of.get(study, [])
        if not sentences:
            no_abstract += len(texts)
            continue
        matches = [_gold_indices(text, numbers, sentences) for text, numbers in texts]
        not_found += sum(not match for match in matches)
        if gold := frozenset().union(*matches):
            position = by_position([Section(s.section, s.category) for s in sentences])
            pairs[target, study] = Pair(reviews[target], len(sentences), gold, position=position)
    return Evidence(pairs, not_found, no_abstract)


def _gold_indices(text: str, numbers: Sequence[int], sentences: Sequence[Sentence]) -> frozenset[int]:
    """Return the indices (from 0) of the sentences in an input: the marked ones, or those that match its text."""
    return frozenset(n - 1 for n in numbers) if numbers else located(text, [s.text for s in sentences])


def ranked_by(project: Project, pairs: Mapping[PairKey, Pair]) -> dict[str, dict[PairKey, Pair]]:
    """Return the pairs in the order of each ranker, by ranker name and (target, study).

    A ranking with a different number of sentences refers to other texts and is excluded.
    """
    by_ranker: dict[str, dict[PairKey, Pair]] = defaultdict(dict)
    rows = Ranking.objects.filter(target__in=targets(project).order_by()).order_by("ranker", "pk")
    for name, target, study, order in rows.values_list("ranker", "target", "study", "order").iterator():
        pair = pairs.get((target, study))
        if pair is not None and len(order) == pair.sentences:
            by_ranker[name][target, study] = replace(pair, order=tuple(number - 1 for number in order))
    return by_ranker


def count_ranked(project: Project) -> dict[str, int]:
    """Return the number of ranked pairs of each ranker."""
    rows = Ranking.objects.filter(target__in=targets(project).order_by()).values_list("ranker")
    return dict(rows.annotate(n=Count("pk")).order_by("ranker"))


def texts_of(target: Target, sentences: Sequence[Sentence]) -> str:
    """Return the SHA-256 of the compared texts. It identifies outdated rankings."""
    return sha256("\0".join([target.text, *(s.text for s in sentences)]).encode()).hexdigest()
