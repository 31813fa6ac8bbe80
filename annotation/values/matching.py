"""Which targets have an honest item of matching: four sentences of one abstract, of which one alone is evidence for the
target; and why the others have none."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from django.db.models import Count

from measures.evidence import Pair, lexical_similarities, plain, ranked
from measures.matching import CANDIDATES, as_evidence, nearest_others
from projects.models import Project

from ..models import Input, Proposition, Ranking, Sentence, Target
from .evidence import BY_WORDS, mapped, targets, texts_of


class Refusal(StrEnum):
    """Why a target has no honest item, the reason that lies furthest from one first."""

    NO_EVIDENCE = "no evidence is mapped to it"
    NO_ABSTRACT = "no abstract of its studies is known"
    NOT_FOUND = "its evidence is no sentence of a study's abstract"
    NOT_RANKED = "its studies are not ranked by the chosen ranker"
    TOO_FEW = "the abstract has fewer than three other sentences that are no evidence for it"


@dataclass(frozen=True)
class Candidate:
    """``rank``: its place among the four by the ranker, from 1."""

    sentence: Sentence
    is_gold: bool
    rank: int


@dataclass(frozen=True)
class Four:
    """The candidates of one target in the order of their numbers."""

    target: Target
    study: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class _Near:
    """A study's sentences as near as they are to a target: places in the abstract from 0, the nearest first; with, for
    each sentence that can be the gold one, the three others."""

    sentences: Sequence[Sentence]
    order: Sequence[int]
    others: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True)
class Matchable:
    """Of the target sentences in force those that an honest item can be made of, and why the others have none, by id.
    Which of several studies, and of several gold sentences, is asked: a seed says (`four`)."""

    targets: Mapping[int, Target]
    refused: Mapping[int, Refusal]
    nearest_by: str
    _near: Mapping[int, Mapping[int, _Near]] = field(repr=False)

    @property
    def honest(self) -> list[int]:
        return [pk for pk in self.targets if pk in self._near]

    def four(self, target: int, seed: str) -> Four:
        """The item of an honest target, drawn by a seed."""
        draw = Random(f"{seed}/{self.targets[target].key}")
        near_by = self._near[target]
        study = draw.choice(sorted(near_by))
        near = near_by[study]
        gold = draw.choice(sorted(near.others))
        four = sorted((gold, *near.others[gold]), key=near.order.index)
        found = [Candidate(near.sentences[n], n == gold, rank) for rank, n in enumerate(four, start=1)]
        draw.shuffle(found)
        return Four(self.targets[target], study, tuple(found))


def rankers(project: Project) -> list[str]:
    """Who can say which sentences are nearest: those with ranks here, the one that ranked most first, and shared words,
    which need no ranks."""
    rows = Ranking.objects.filter(target__in=targets(project).order_by()).values_list("ranker")
    counted = rows.annotate(n=Count("pk")).order_by("-n", "ranker")
    return [*(name for name, _ in counted if name != BY_WORDS), BY_WORDS]


def matchable(project: Project, nearest_by: str) -> Matchable:
    """Every target sentence in force, by a ranker's name. A fixed number of queries."""
    asked = {target.pk: target for target in targets(project)}
    evidence, studies = _evidence(asked)
    gold = mapped(project).pairs
    sentences: dict[int, list[Sentence]] = defaultdict(list)
    for sentence in Sentence.objects.filter(study__in={study for _, study in gold}).order_by("study_id", "number"):
        sentences[sentence.study_id or 0].append(sentence)
    orders = _Orders(nearest_by, gold)
    near: dict[int, dict[int, _Near]] = defaultdict(dict)
    refused = {pk: Refusal.NOT_FOUND if pk in evidence else Refusal.NO_EVIDENCE for pk in asked}
    with_sentences = set(
        Sentence.objects.filter(study__in=set().union(*studies.values())).order_by().values_list("study").distinct()
    )
    for pk, mine in studies.items():
        if not any((study,) in with_sentences for study in mine):
            refused[pk] = Refusal.NO_ABSTRACT
    for (pk, study), pair in gold.items():
        order = orders.of(asked[pk], study, sentences[study])
        if order is None:
            refused[pk] = _nearer(refused[pk], Refusal.NOT_RANKED)
            continue
        told = [sentence.text for sentence in sentences[study]]
        taken = as_evidence(evidence[pk], told) | pair.gold
        others = {one: nearest_others(told, taken, order, one) for one in sorted(pair.gold)}
        whole = {one: three for one, three in others.items() if len(three) == CANDIDATES - 1}
        if whole:
            near[pk][study] = _Near(sentences[study], order, whole)
        else:
            refused[pk] = _nearer(refused[pk], Refusal.TOO_FEW)
    return Matchable(asked, {pk: why for pk, why in refused.items() if pk not in near}, nearest_by, near)


def in_words(refused: Iterable[Refusal]) -> str:
    """How many targets were refused for which reason."""
    why = list(refused)
    return "; ".join(f"{why.count(one)}: {one}" for one in Refusal if one in why)


def _nearer(one: Refusal, other: Refusal) -> Refusal:
    order = list(Refusal)
    return max(one, other, key=order.index)


def _evidence(asked: Mapping[int, Target]) -> tuple[dict[int, set[str]], dict[int, set[int]]]:
    """The texts that are evidence for each target anywhere, and the studies that its own inputs are of, by target id:
    inputs of the sentence, and inputs of the clusters that were made of it, or of one with its words."""
    texts: dict[int, set[str]] = defaultdict(set)
    studies: dict[int, set[int]] = defaultdict(set)
    for target, study, text in Input.objects.current().filter(target__in=asked).values_list("target", "study", "text"):
        texts[target].add(text)
        studies[target].add(study)
    by_words: dict[tuple[int, str], list[int]] = defaultdict(list)
    for one in asked.values():
        by_words[one.review_id, plain(one.text)].append(one.pk)
    claims = Proposition.objects.current().filter(cluster__review__in={t.review_id for t in asked.values()})
    columns = ("cluster", "cluster__review", "cluster__sentence", "position", "text")
    of_cluster: dict[int, set[int]] = defaultdict(set)
    inputs: list[tuple[int, str]] = []
    for cluster, review, sentence, position, text in claims.values_list(*columns):
        if position:
            inputs.append((cluster, text))
            continue
        of_cluster[cluster].update(by_words.get((review, plain(text)), ()))
        if sentence in asked:
            of_cluster[cluster].add(sentence)
    for cluster, text in inputs:
        for target in of_cluster[cluster]:
            texts[target].add(text)
    return texts, studies


class _Orders:
    """In which order a ranker has the sentences of a study for a target; shared words are ranked where they are asked
    for. A ranking of other texts than there are now does not count."""

    def __init__(self, nearest_by: str, gold: Mapping[tuple[int, int], Pair]) -> None:
        self.by_words = nearest_by == BY_WORDS
        self.stored: dict[tuple[int, int], tuple[str, list[int]]] = {}
        if self.by_words:
            return
        rows = Ranking.objects.filter(ranker=nearest_by, target__in={target for target, _ in gold})
        for target, study, texts, order in rows.values_list("target", "study", "texts", "order"):
            self.stored[target, study] = (texts, order)

    def of(self, target: Target, study: int, sentences: list[Sentence]) -> list[int] | None:
        """Places in the abstract from 0, the nearest first; None where it is not ranked."""
        if self.by_words:
            return ranked(lexical_similarities(target.text, [sentence.text for sentence in sentences]))
        texts, order = self.stored.get((target.pk, study), ("", []))
        if texts != texts_of(target, sentences):
            return None
        place = {sentence.number: n for n, sentence in enumerate(sentences)}
        return [place[number] for number in order]
