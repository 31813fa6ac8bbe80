"""What people mapped to the targets, and how rankers rank the same studies' sentences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from measures.evidence import Pair, Section, by_position, located
from projects.models import Decision, Project

from ..models import EvidencePair, Input, Level, Ranking, Review, Sentence, Study, Target

#: The name under which the ranks by shared words are kept, which need no model (`rankers.lexical`).
BY_WORDS = "words: BM25, 1"
#: The kind by which people say what supports a target, and what it decides.
KIND, FIELD = "evidence", "support"
#: Reviews read at once.
BATCH = 50


def targets(project: Project) -> QuerySet[Target]:
    """The target sentences in force, in the order of the corpus."""
    return Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by("position", "pk")


def split_studies(project: Project) -> QuerySet[Study]:
    """The studies whose abstracts have sentences."""
    return Study.objects.filter(Exists(Sentence.objects.filter(study=OuterRef("pk"))), project=project)


def in_their_place(pairs: Sequence[EvidencePair]) -> dict[int, Target]:
    """The target in force of each pair, by the pair's unit; its own where it was taken out. Load ``target__unit`` with
    them: no query where no text was corrected."""
    old = {pair.target_id for pair in pairs if pair.target.unit.superseded_by_id}
    now = Target.objects.in_place_of(old) if old else {}
    found = Target.objects.select_related("unit").in_bulk(now.values()) if now else {}
    return {pair.unit_id: found.get(now.get(pair.target_id, 0), pair.target) for pair in pairs}


def count_dropped(project: Project) -> int:
    """How many target sentences have no support: of each of their pairs something is in force, and nothing supports
    them. One query."""
    decided = Decision.objects.filter(unit=OuterRef("unit"), kind=KIND).in_force()
    pairs = EvidencePair.objects.filter(target__project=project).order_by().values_list("target__key")
    read = pairs.annotate(open=Count("pk", filter=~Q(Exists(decided)))).filter(open=0).values("target__key")
    supported = Input.objects.current().filter(target=OuterRef("pk"))
    return targets(project).filter(~Exists(supported), key__in=read).count()


def count_pairs(project: Project) -> int:
    """How many pairs of a target and a study of its review there are whose sentences can be ranked."""
    link = Study.reviews.through.objects
    studies = dict(
        link.filter(study__in=split_studies(project)).values_list("review_id").annotate(n=Count("study")).order_by()
    )
    asked = targets(project).order_by().values_list("review_id").annotate(n=Count("pk"))
    return sum(n * studies.get(review, 0) for review, n in asked)


@dataclass(frozen=True)
class Mapped:
    """A review's pairs: what is to be ranked of it."""

    targets: list[Target]
    studies: dict[int, list[Sentence]]


def by_review(project: Project) -> Iterator[Mapped]:
    """Review by review its targets, and its studies' sentences in order. Four queries for each `BATCH` of reviews."""
    reviews = list(
        Review.objects.filter(pk__in=targets(project).order_by().values("review"))
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    for at in range(0, len(reviews), BATCH):
        some = reviews[at : at + BATCH]
        asked: dict[int, list[Target]] = defaultdict(list)
        for target in targets(project).filter(review__in=some):
            asked[target.review_id].append(target)
        links = list(Study.reviews.through.objects.filter(review__in=some).values_list("review_id", "study_id"))
        told: dict[int, list[Sentence]] = defaultdict(list)
        wanted = {study for _, study in links}
        for sentence in Sentence.objects.filter(study__in=wanted).order_by("study_id", "number"):
            told[sentence.study_id or 0].append(sentence)
        of: dict[int, dict[int, list[Sentence]]] = defaultdict(dict)
        for review, study in sorted(links):
            if study in told:
                of[review][study] = told[study]
        for review in some:
            yield Mapped(asked[review], of[review])


@dataclass(frozen=True)
class Evidence:
    """What people mapped, in rounds, by hand or in a file. ``not_found``: inputs that are no sentence of their study's
    abstract; ``no_abstract``: those of studies without one. They are left out."""

    pairs: dict[tuple[int, int], Pair]
    not_found: int
    no_abstract: int


def mapped(project: Project) -> Evidence:
    """The pairs of a target and a study that people mapped, with their gold."""
    said: dict[tuple[int, int], list[tuple[str, list[int]]]] = defaultdict(list)
    rows = Input.objects.current().filter(target__in=targets(project).order_by())
    for target, study, text, numbers in rows.values_list("target", "study", "text", "numbers"):
        said[target, study].append((text, numbers))
    told: dict[int, list[Sentence]] = defaultdict(list)
    for sentence in Sentence.objects.filter(study__in={study for _, study in said}).order_by("study_id", "number"):
        told[sentence.study_id or 0].append(sentence)
    reviews = dict(targets(project).order_by().values_list("pk", "review_id"))
    pairs: dict[tuple[int, int], Pair] = {}
    not_found = no_abstract = 0
    for (target, study), texts in said.items():
        sentences = told.get(study, [])
        if not sentences:
            no_abstract += len(texts)
            continue
        found = [_taken(text, numbers, sentences) for text, numbers in texts]
        not_found += sum(not one for one in found)
        if gold := frozenset().union(*found):
            position = by_position([Section(s.section, s.category) for s in sentences])
            pairs[target, study] = Pair(reviews[target], len(sentences), gold, position=position)
    return Evidence(pairs, not_found, no_abstract)


def _taken(text: str, numbers: Sequence[int], sentences: Sequence[Sentence]) -> frozenset[int]:
    """Which sentences, from 0, an input is made of: as they were marked, or where its text is found."""
    return frozenset(n - 1 for n in numbers) if numbers else located(text, [s.text for s in sentences])


def ranked_by(project: Project, pairs: Mapping[tuple[int, int], Pair]) -> dict[str, list[Pair]]:
    """The pairs as each ranker ranked them, by its name. A ranking of fewer or more sentences than there are is of
    other texts, and left out."""
    found: dict[str, list[Pair]] = defaultdict(list)
    rows = Ranking.objects.filter(target__in=targets(project).order_by()).order_by("ranker", "pk")
    for name, target, study, order in rows.values_list("ranker", "target", "study", "order").iterator():
        pair = pairs.get((target, study))
        if pair is not None and len(order) == pair.sentences:
            found[name].append(replace(pair, order=tuple(number - 1 for number in order)))
    return found


def count_ranked(project: Project) -> dict[str, int]:
    """How many pairs each ranker has ranked."""
    rows = Ranking.objects.filter(target__in=targets(project).order_by()).values_list("ranker")
    return dict(rows.annotate(n=Count("pk")).order_by("ranker"))


def texts_of(target: Target, sentences: list[Sentence]) -> str:
    """SHA-256 of the texts that are compared: what a ranking is kept by."""
    return sha256("\0".join([target.text, *(s.text for s in sentences)]).encode()).hexdigest()
