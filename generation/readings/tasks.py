"""The tasks: how the texts of each are read by a folder, and the values of its readings."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from annotation.clusters.sentences import sentences_of
from annotation.models import SENTENCE_CLASSES, Direction, EffectPair, Inclusion, ReadingTask, Sentence
from measures.pio import PioSpan, with_spans

from ..backends import weights
from ..backends.protocol import BackendError
from . import labels
from .texts import Text, abstract_of

Json = dict[str, Any]


class Reader(Protocol):
    """See `generation.neural.encoders.reading`."""

    @property
    def separator(self) -> str: ...
    def classify(self, items: Sequence[tuple[str, str]]) -> list[Any]: ...
    def classify_sentences(self, texts: Sequence[Sequence[str]]) -> list[Any]: ...
    def tag(self, texts: Sequence[str]) -> list[Any]: ...


@dataclass(frozen=True)
class Reading:
    """What a model says of a text: the values, and the columns of its effects. ``failure``: why it says nothing."""

    values: Json = field(default_factory=dict)
    effects: Sequence[Json] = ()
    failure: str = ""


class Task(ABC):
    """Read texts with the folders of a task. Creating it checks their labels, and `open` loads them."""

    def __init__(self, model: str, evidence: str) -> None:
        """Raise `BackendError` if a folder is missing or its labels are not those of the task."""
        if evidence and not self.finds_evidence:
            raise BackendError("Only effects have a second model, which finds the evidence.")
        self.folder = weights.find_local(model)
        self.head = labels.head_of(self.folder, self.key)
        self.check(evidence)

    key: str
    #: Classes that the labels of the folder must be.
    classes: labels.Classes = {}
    #: Whether a second model can find the evidence.
    finds_evidence = False

    @abstractmethod
    def check(self, evidence: str) -> None:
        """Check the labels."""

    def meanings(self) -> dict[str, list[tuple[str, str]]]:
        """Return each label and its class, by the names of the folders."""
        return {"model": labels.meanings(self.head.labels, self.classes)}

    def folders(self) -> dict[str, Path]:
        """Return the folders by the names of their facts."""
        return {"model": self.folder}

    def open(self) -> None:
        self.reader = _open(self.folder, self.head.kind)

    @abstractmethod
    def read(self, texts: Sequence[Text]) -> Sequence[Reading | None]:
        """Read texts. The result is None for a text that has nothing to read."""


def _open(folder: Path, kind: str) -> Reader:
    # Only workers load models.
    from ..neural.encoders.reading import Reader as LoadedReader

    return LoadedReader(folder, kind)


class Sentences(Task):
    """Classes of the sentences of reviews: each sentence alone, or at its separator in the abstract."""

    key = ReadingTask.SENTENCES
    classes = labels.SENTENCES

    def check(self, evidence: str) -> None:
        self.columns = labels.columns(self.head.labels, self.classes)

    def read(self, texts: Sequence[Any]) -> Sequence[Reading | None]:
        sentences = sentences_of(texts)
        of_texts = [[sentence.text for sentence in sentences[text.pk]] for text in texts]
        if self.head.kind == "tokens":
            results = self.reader.classify_sentences(of_texts)
        else:
            results = _regrouped(self.reader.classify([(one, "") for each in of_texts for one in each]), of_texts)
        return [self._reading(sentences[text.pk], result) for text, result in zip(texts, results, strict=True)]

    def _reading(self, sentences: Sequence[Sentence], result: Any) -> Reading | None:
        if not sentences:
            return None
        if isinstance(result, Exception):
            return _failed(result)
        values = []
        for sentence, shares in zip(sentences, result, strict=True):
            probabilities = [shares[column] for column in self.columns]
            name = SENTENCE_CLASSES[probabilities.index(max(probabilities))]
            values.append({"end": sentence.end, "class": name, "probabilities": probabilities})
        return Reading({"sentences": values})


class Spans(Task):
    """Populations, interventions and outcomes of abstracts: neighbouring words of one element are a span."""

    key = ReadingTask.PIO

    def check(self, evidence: str) -> None:
        self.tags = labels.tags(self.head.labels)

    def meanings(self) -> dict[str, list[tuple[str, str]]]:
        meanings = [f"{'begin ' if tag.begins else ''}{tag.kind}" if tag.kind else "no span" for tag in self.tags]
        return {"model": list(zip(self.head.labels, meanings, strict=True))}

    def read(self, texts: Sequence[Text]) -> Sequence[Reading | None]:
        abstracts = [abstract_of(text) for text in texts]
        return [
            _failed(words)
            if isinstance(words, Exception)
            else Reading({"tags": with_spans(text, [], list(self.spans(text, words)))})
            for text, words in zip(abstracts, self.reader.tag(abstracts), strict=True)
        ]

    def spans(self, text: str, words: Iterable[tuple[int, int, int]]) -> list[PioSpan]:
        """Return the spans of a text from its words (start, end, label)."""
        found: list[PioSpan] = []
        before: labels.Tag | None = None
        for start, end, label in words:
            tag = self.tags[label]
            begin = end - len(text[start:end].lstrip())
            if tag.kind and before and before.kind == tag.kind and not tag.begins:
                found[-1] = PioSpan(tag.kind, (found[-1].range[0], end))
            elif tag.kind:
                found.append(PioSpan(tag.kind, (begin, end)))
            before = tag
        return found


class Effects(Task):
    """Effects of the pairs of a review, in its abstract and in those of its included studies, as MS^2 asks.

    The input is the pair, then one sentence. The evidence is the sentence to which the second model gives the highest
    probability; without that model, the sentence that least shows no significant difference. The direction is that of
    the evidence.
    """

    key = ReadingTask.EFFECTS
    classes = labels.DIRECTIONS
    finds_evidence = True

    def check(self, evidence: str) -> None:
        self.columns = labels.columns(self.head.labels, self.classes)
        self.evidence_folder = weights.find_local(evidence) if evidence else None
        if self.evidence_folder:
            self.evidence_labels = labels.head_of(self.evidence_folder, self.key).labels
            self.evidence_column = labels.columns(self.evidence_labels, labels.EVIDENCE)[0]

    def meanings(self) -> dict[str, list[tuple[str, str]]]:
        found = super().meanings()
        return found | (
            {"evidence": labels.meanings(self.evidence_labels, labels.EVIDENCE)} if self.evidence_folder else {}
        )

    def folders(self) -> dict[str, Path]:
        return super().folders() | ({"evidence": self.evidence_folder} if self.evidence_folder else {})

    def open(self) -> None:
        super().open()
        self.finder = _open(self.evidence_folder, "sequences") if self.evidence_folder else None

    def read(self, texts: Sequence[Any]) -> Sequence[Reading | None]:
        of_review = [text.review_id if isinstance(text, Inclusion) else text.pk for text in texts]
        pairs: dict[int, list[EffectPair]] = defaultdict(list)
        for pair in EffectPair.objects.filter(review__in=of_review).order_by("review_id", "position"):
            pairs[pair.review_id].append(pair)
        articles = [text.study if isinstance(text, Inclusion) else text for text in texts]
        sentences = sentences_of(articles)
        return [
            self._reading(pairs[review], sentences[article.pk])
            for review, article in zip(of_review, articles, strict=True)
        ]

    def _reading(self, pairs: Sequence[EffectPair], sentences: Sequence[Sentence]) -> Reading | None:
        if not pairs or not sentences:
            return None
        items = [(self._query(pair), sentence.text) for pair in pairs for sentence in sentences]
        if self.finder:
            scores = _of_pairs(self.finder.classify(items), pairs, self.evidence_column)
        else:
            all_shares = self.reader.classify(items)
            scores = _of_pairs(all_shares, pairs, self.columns[1])
        if isinstance(scores, Exception):
            return _failed(scores)
        if not self.finder:
            scores = [[1 - share for share in each] for each in scores]
        best = [each.index(max(each)) for each in scores]
        chosen = [n * len(sentences) + at for n, at in enumerate(best)]
        shares = self.reader.classify([items[n] for n in chosen]) if self.finder else [all_shares[n] for n in chosen]
        effects = []
        for position, (pair, at, share) in enumerate(zip(pairs, best, shares, strict=True)):
            if isinstance(share, Exception):
                return _failed(share)
            probabilities = [share[column] for column in self.columns]
            effects.append(
                {
                    "position": position,
                    "pair_id": pair.pk,
                    "direction": Direction.values[probabilities.index(max(probabilities))],
                    **dict(zip(("decreased", "no_difference", "increased"), probabilities, strict=True)),
                    "start": sentences[at].start,
                    "end": sentences[at].end,
                    "score": scores[position][at],
                }
            )
        return Reading({}, effects)

    def _query(self, pair: EffectPair) -> str:
        """Return intervention and outcome as MS^2's scorer joins them."""
        return " ".join(filter(None, (pair.intervention, self.reader.separator, pair.outcome)))


def _of_pairs(results: Sequence[Any], pairs: Sequence[EffectPair], column: int) -> list[list[float]] | Exception:
    """Return the probabilities of one class by pair and sentence, or the first failure."""
    size = len(results) // len(pairs)
    if failed := next((result for result in results if isinstance(result, Exception)), None):
        return failed
    return [[result[column] for result in results[n * size : (n + 1) * size]] for n in range(len(pairs))]


class Fitness(Task):
    """Whether the abstract of a review is fit for the data set."""

    key = ReadingTask.SUITABILITY
    classes = labels.FITNESS

    def check(self, evidence: str) -> None:
        self.column = labels.columns(self.head.labels, self.classes)[0]

    def read(self, texts: Sequence[Text]) -> Sequence[Reading | None]:
        results = self.reader.classify([(abstract_of(text), "") for text in texts])
        return [
            _failed(shares) if isinstance(shares, Exception) else Reading({"probability": shares[self.column]})
            for shares in results
        ]


def _failed(error: Exception) -> Reading:
    return Reading(failure=str(error) or type(error).__name__)


def _regrouped(results: Sequence[Any], groups: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the results in groups of these sizes. A group with a failure is that failure."""
    remaining = iter(results)
    regrouped: list[Any] = []
    for group in groups:
        own = [next(remaining) for _ in group]
        regrouped.append(next((result for result in own if isinstance(result, Exception)), own))
    return regrouped


def takes_evidence(task: str) -> bool:
    return _TASKS[task].finds_evidence


_TASKS: dict[str, type[Task]] = {str(task.key): task for task in (Sentences, Spans, Effects, Fitness)}


def of(task: str, model: str, evidence: str = "") -> Task:
    """Return a task with its folders. Raise `BackendError` as `Task` does."""
    return _TASKS[task](model, evidence)
