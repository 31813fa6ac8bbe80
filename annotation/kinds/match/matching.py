"""Valid items of matching: four sentences of one abstract, exactly one of which is evidence for the target."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from django.db.models import Count, QuerySet

from measures.evidence import (
    has_others,
    lexical_similarities,
    located_plain,
    nearest_others,
    plain,
    plain_as_evidence,
    ranked,
)
from projects.models import Project

from ...evidence.current import targets, texts_of
from ...models import Input, Proposition, Ranking, Sentence, Target
from ...rankers.protocol import BY_WORDS


class Refusal(StrEnum):
    """Reason why a target has no valid item. A later reason is nearer to a valid item."""

    NO_EVIDENCE = "no evidence is mapped"
    NO_ABSTRACT = "no study has an abstract"
    NOT_FOUND = "the evidence is not a sentence of a study's abstract"
    NOT_RANKED = "the chosen ranker has not ranked the studies"
    TOO_FEW = "the abstract has fewer than three other sentences that are not evidence"


@dataclass(frozen=True)
class Candidate:
    """``rank`` is the ranker's rank among the four candidates, from 1."""

    sentence: Sentence
    is_gold: bool
    rank: int


@dataclass(frozen=True)
class DrawnItem:
    """The candidates of one target in order of their numbers."""

    target: Target
    study: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class _StudyItem:
    """A study's sentences, the indexes (from 0) of the evidence, and the gold ones with three distractors."""

    sentences: Sequence[Sentence]
    evidence: Collection[int]
    gold: Sequence[int]


@dataclass(frozen=True)
class MatchableTargets:
    """Current target sentences with a valid item, and the reasons why others have none, by id.

    If there are several studies or gold sentences, a seed selects one (see `four`).
    """

    targets: Mapping[int, Target]
    refused: Mapping[int, Refusal]
    nearest_by: str
    _near: Mapping[int, Mapping[int, _StudyItem]] = field(repr=False)
    _orders: "_Orders" = field(repr=False)

    @property
    def honest(self) -> list[int]:
        return [pk for pk in self.targets if pk in self._near]

    def four(self, target: int, seed: str) -> DrawnItem:
        """Return the item of a target, drawn with a seed."""
        draw = Random(f"{seed}/{self.targets[target].key}")
        near_by = self._near[target]
        study = draw.choice(sorted(near_by))
        near = near_by[study]
        gold = draw.choice(sorted(near.gold))
        order = self._orders.of(self.targets[target], study, near.sentences)
        assert order is not None
        others = nearest_others([sentence.text for sentence in near.sentences], near.evidence, order, gold)
        four = sorted((gold, *others), key=order.index)
        candidates = [Candidate(near.sentences[n], n == gold, rank) for rank, n in enumerate(four, start=1)]
        draw.shuffle(candidates)
        return DrawnItem(self.targets[target], study, tuple(candidates))


def rankers(project: Project) -> list[str]:
    """Return the rankers with rankings in the project, most rankings first, then the lexical ranker.

    The lexical ranker needs no stored rankings.
    """
    rows = Ranking.objects.filter(target__in=targets(project).order_by()).values_list("ranker")
    counted = rows.annotate(n=Count("pk")).order_by("-n", "ranker")
    return [*(name for name, _ in counted if name != BY_WORDS), BY_WORDS]


def find_matchable(project: Project, nearest_by: str, units: Collection[int] | None = None) -> MatchableTargets:
    """Return the result for every current target sentence, or for those of ``units``. A fixed number of queries.

    The result for a target does not depend on the others.
    """
    wanted = targets(project) if units is None else targets(project).filter(unit__in=units)
    targets_by_id = {target.pk: target for target in wanted.only("key", "text", "review", "level", "position")}
    inputs: dict[tuple[int, int], list[tuple[str, list[int]]]] = defaultdict(list)
    rows = Input.objects.current().filter(target__in=wanted.order_by()).with_source_text()
    for target, study, text, numbers in rows.values_list("target", "study", "source_text", "numbers"):
        inputs[target, study].append((plain(text), numbers))
    claims = Proposition.objects.current().filter(cluster__project=project).order_by()
    if units is not None:
        claims = claims.filter(cluster__review__in={target.review_id for target in targets_by_id.values()})
    evidence = _evidence(claims, targets_by_id, inputs)
    sentences: dict[int, list[Sentence]] = defaultdict(list)
    in_studies = Sentence.objects.filter(study__in={study for _, study in inputs}).order_by("study_id", "number")
    for sentence in in_studies.only("study", "number", "text"):
        sentences[sentence.study_id or 0].append(sentence)
    plain_sentences = {study: [plain(sentence.text) for sentence in of_study] for study, of_study in sentences.items()}
    orders = _Orders(nearest_by, inputs)
    items: dict[int, dict[int, _StudyItem]] = defaultdict(dict)
    reasons = {pk: Refusal.NOT_FOUND if pk in evidence else Refusal.NO_EVIDENCE for pk in targets_by_id}
    without_abstract = {target for target, _ in inputs} - {target for target, study in inputs if study in sentences}
    reasons |= dict.fromkeys(without_abstract, Refusal.NO_ABSTRACT)
    for (pk, study), texts in inputs.items():
        study_sentences = plain_sentences.get(study, [])
        gold = _gold(texts, study_sentences)
        if not gold:
            continue
        if not orders.is_ranked(targets_by_id[pk], study, sentences[study]):
            reasons[pk] = _closest_reason(reasons[pk], Refusal.NOT_RANKED)
            continue
        usable_gold: list[int] = []
        # If there are too few sentences in all, the evidence need not be located.
        if any(has_others(study_sentences, gold, index) for index in gold):
            all_evidence = plain_as_evidence(evidence[pk], study_sentences) | gold
            usable_gold = [index for index in sorted(gold) if has_others(study_sentences, all_evidence, index)]
        if usable_gold:
            items[pk][study] = _StudyItem(sentences[study], all_evidence, usable_gold)
        else:
            reasons[pk] = _closest_reason(reasons[pk], Refusal.TOO_FEW)
    return MatchableTargets(
        targets_by_id, {pk: why for pk, why in reasons.items() if pk not in items}, nearest_by, items, orders
    )


def _gold(texts: Iterable[tuple[str, Sequence[int]]], study_sentences: Sequence[str]) -> frozenset[int]:
    """Return the indexes (from 0) of the sentences that inputs consist of.

    These are the marked sentences. Inputs without marks are located by their text.
    """
    if not study_sentences:
        return frozenset()
    matches = (
        frozenset(n - 1 for n in numbers) if numbers else located_plain(text, study_sentences)
        for text, numbers in texts
    )
    return frozenset[int]().union(*matches)


def reasons_in_words(refused: Mapping[str, int]) -> str:
    """Return the number of targets by reason, in words."""
    return "; ".join(f"{refused[reason]}: {reason}" for reason in Refusal if refused.get(reason))


def _closest_reason(one: Refusal, other: Refusal) -> Refusal:
    order = list(Refusal)
    return max(one, other, key=order.index)


def _evidence(
    claims: QuerySet[Proposition],
    targets_by_id: Mapping[int, Target],
    inputs: Mapping[tuple[int, int], Sequence[tuple[str, list[int]]]],
) -> dict[int, set[str]]:
    """Return the plain texts that are evidence for each target, by target id.

    They are the inputs of the sentence, and the inputs of clusters created from it or from a sentence with the same
    words. ``claims``: the propositions of the reviews of these targets.
    """
    texts: dict[int, set[str]] = defaultdict(set)
    for (target, _), passages in inputs.items():
        texts[target].update(text for text, _ in passages)
    by_words: dict[tuple[int, str], list[int]] = defaultdict(list)
    for target_ in targets_by_id.values():
        by_words[target_.review_id, plain(target_.text)].append(target_.pk)
    of_cluster: dict[int, set[int]] = defaultdict(set)
    columns = ("cluster", "cluster__review", "cluster__sentence", "text")
    for cluster, review, sentence, text in claims.filter(position=0).values_list(*columns):
        of_cluster[cluster].update(by_words.get((review, plain(text)), ()))
        if sentence in targets_by_id:
            of_cluster[cluster].add(sentence)
    for cluster, text in claims.filter(position__gte=1).values_list("cluster", "text"):
        if target_ids := of_cluster.get(cluster):
            plain_text = plain(text)
            for target in target_ids:
                texts[target].add(plain_text)
    return texts


class _Orders:
    """The ranker's order of a study's sentences for a target.

    The lexical order is computed on demand. Stored rankings of other texts are ignored.
    """

    def __init__(self, nearest_by: str, pairs: Collection[tuple[int, int]]) -> None:
        self.by_words = nearest_by == BY_WORDS
        self.stored: dict[tuple[int, int], tuple[str, list[int]]] = {}
        if self.by_words:
            return
        rows = Ranking.objects.filter(ranker=nearest_by, target__in={target for target, _ in pairs})
        for target, study, texts, order in rows.values_list("target", "study", "texts", "order"):
            self.stored[target, study] = (texts, order)

    def is_ranked(self, target: Target, study: int, sentences: Sequence[Sentence]) -> bool:
        return self.by_words or self.of(target, study, sentences) is not None

    def of(self, target: Target, study: int, sentences: Sequence[Sentence]) -> list[int] | None:
        """Return indexes in the abstract (from 0), nearest first; None if the pair is not ranked."""
        if self.by_words:
            return ranked(lexical_similarities(target.text, [sentence.text for sentence in sentences]))
        texts, order = self.stored.get((target.pk, study), ("", []))
        if texts != texts_of(target, sentences):
            return None
        place = {sentence.number: n for n, sentence in enumerate(sentences)}
        return [place[number] for number in order]
