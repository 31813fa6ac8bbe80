"""Rebuild the published objects of reviews from their rows."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from measures.direction import MS2_CLASSES
from measures.pio import PioKind, PioSpan, Tag, retag, spans_of, tagged_ends, with_spans
from measures.spans import Range
from projects.models import Project
from sql.expressions import InIds

from ...models import (
    SENTENCE_CLASSES,
    Direction,
    Effect,
    EffectPair,
    Inclusion,
    MachineReading,
    ReadingTask,
    Review,
    Role,
)
from . import kept
from .rows import FORMAT

Json = dict[str, Any]


class Listed(NamedTuple):
    """An inclusion with its study. No instance of a model, because a corpus has half a million."""

    pk: int
    review: int
    role: str
    metadata: Json
    study: int
    pmid: str
    title: str
    abstract: str
    year: int | None
    types: list[str]
    study_metadata: Json


_COLUMNS = (
    "pk", "review", "role", "metadata", "study", "study__pmid", "study__title", "study__abstract", "study__year",
    "study__publication_types", "study__metadata",
)  # fmt: skip
#: Current classes of the sentences of a review, by the id of its unit.
Classes = Mapping[int, Sequence[str]]
#: Current spans by kind of the abstracts that people have marked, by ("review" or "study", primary key).
Spans = Mapping[tuple[str, int], Mapping[PioKind, Collection[Range]]]
#: Direction (empty: not reported) and sentence of decided effects, by pair and study (None: the review itself).
Effects = Mapping[tuple[int, int | None], tuple[str, str]]


def of_format(project: Project) -> QuerySet[Review]:
    """Return the reviews of a project that were imported in this format, in the order of the files."""
    return Review.objects.filter(project=project, metadata__has_key=FORMAT).order_by("pk")


def listed(reviews: Sequence[Review]) -> list[Listed]:
    """Return the inclusions of reviews with their studies, review by review in their order. One query."""
    rows = Inclusion.objects.filter(InIds("review_id", [review.pk for review in reviews]))
    return [Listed(*row) for row in rows.order_by("review_id", "position").values_list(*_COLUMNS)]


def as_imported(project: Project, keys: Sequence[str]) -> dict[str, Json]:
    """Return the published objects of reviews by key, without later decisions and reviews of other formats."""
    reviews = list(Review.objects.filter(project=project, pmid__in=keys))
    reviews = [review for review in reviews if FORMAT in review.metadata]
    return {review.pmid: value for review, value in zip(reviews, published(reviews), strict=True)}


def published(
    reviews: Sequence[Review],
    classes: Classes | None = None,
    spans: Spans | None = None,
    effects: Effects | None = None,
) -> Iterator[Json]:
    """Yield the published object of each review.

    ``classes`` replaces the imported classes of sentences. ``spans`` replaces the imported tags of their kinds, except
    tags without a partner. ``effects`` replaces imported effects: the decided direction has probability 1, and effects
    that are not reported are left out.

    Needs a fixed number of queries.
    """
    inclusions = listed(reviews)
    of_review: dict[int, list[Listed]] = defaultdict(list)
    for inclusion in inclusions:
        of_review[inclusion.review].append(inclusion)
    readings = _Readings(reviews, inclusions, effects or {})
    for review in reviews:
        labels = (classes or {}).get(review.unit_id)
        yield _published(review, of_review[review.pk], readings, labels, spans or {})


class _Readings:
    """The imported readings of reviews and their studies."""

    def __init__(self, reviews: Sequence[Review], inclusions: Sequence[Listed], decided: Effects) -> None:
        self.decided = decided
        texts: dict[int, str] = {}
        self.tags: dict[tuple[str, int], list[Tag]] = {}
        self.sentences: dict[int, list[Json]] = {}
        #: Ids of readings of effects.
        self.effects_of: dict[tuple[str, int], int] = {}
        by_owner = {
            "review": [review.pk for review in reviews],
            "study": [inclusion.study for inclusion in inclusions],
            "inclusion": [inclusion.pk for inclusion in inclusions],
        }
        abstracts = {("review", review.pk): review.abstract for review in reviews}
        abstracts |= {("inclusion", inclusion.pk): inclusion.abstract for inclusion in inclusions}
        for owner, ids in by_owner.items():
            rows = MachineReading.objects.filter(InIds(f"{owner}_id", ids), weights="")
            for pk, of, task, values in rows.values_list("pk", owner, "task", "values"):
                if task == ReadingTask.PIO:
                    self.tags[owner, of] = values["tags"]
                elif task == ReadingTask.SENTENCES:
                    self.sentences[of] = values["sentences"]
                elif task == ReadingTask.EFFECTS:
                    self.effects_of[owner, of] = pk
                    texts[pk] = abstracts[owner, of]
        self.effects = _effects(reviews, texts)

    def effects_or_none(self, owner: str, of: int, study: int | None) -> list[Json] | None:
        reading = self.effects_of.get((owner, of))
        if reading is None:
            return None
        effects = ((self.decided.get((pair, study)), effect) for pair, effect in self.effects.get(reading, ()))
        return [_as_decided(effect, *how) if how else effect for how, effect in effects if how is None or how[0]]


def _as_decided(effect: Json, direction: str, sentence: str) -> Json:
    """Return an effect with the direction that people decided, and with their sentence if there is one."""
    classes = (name == direction for name in Direction.values)
    decided = {"classification": {name: float(chosen) for name, chosen in zip(MS2_CLASSES, classes, strict=True)}}
    return effect | decided | ({"evidence_sentence": sentence, "evidence_sentence_score": 1.0} if sentence else {})


def _effects(reviews: Sequence[Review], texts: Mapping[int, str]) -> dict[int, list[tuple[int, Json]]]:
    """Return the published effects by reading, each with its pair. ``texts``: the abstract of each reading."""
    of_reviews = InIds("review_id", [review.pk for review in reviews])
    pairs = {
        pk: pair for pk, *pair in EffectPair.objects.filter(of_reviews).values_list("pk", "intervention", "outcome")
    }
    found: dict[int, list[tuple[int, Json]]] = defaultdict(list)
    # The readings have arrived, and so have their effects.
    rows = Effect.with_arriving.filter(InIds("reading_id", texts)).order_by("reading", "position")
    columns = ("reading", "pair", "decreased", "no_difference", "increased", "start", "end", "evidence", "score")
    for reading, pair, decreased, none, increased, start, end, evidence, score in rows.values_list(*columns):
        intervention, outcome = pairs[pair]
        effect = {
            "intervention": intervention,
            "outcome": outcome,
            "classification": dict(zip(MS2_CLASSES, (decreased, none, increased), strict=True)),
            "evidence_sentence": evidence or ("" if start is None else texts[reading][start:end]),
            "evidence_sentence_score": score,
        }
        found[reading].append((pair, effect))
    return found


def _published(
    review: Review, inclusions: Sequence[Listed], readings: _Readings, labels: Sequence[str] | None, spans: Spans
) -> Json:
    imported = readings.tags.get(("review", review.pk), [])
    tags, tagged, sentences = _tagged(
        review, imported, readings.sentences.get(review.pk, []), spans.get(("review", review.pk))
    )
    rows: Json = {
        "abstract": tagged,
        "structured_abstract": _sentences(tagged, tags, sentences, labels),
        "included_studies": [],
        "general_references": [],
        "significances": readings.effects_or_none("review", review.pk, None),
        **kept.quotes_of(review.abstract, tags),
    }
    for inclusion in inclusions:
        packed = kept.loaded(inclusion.metadata, FORMAT)
        reference = _reference(inclusion, packed, readings, spans.get(("study", inclusion.study)))
        if inclusion.role == Role.INCLUDED:
            rows["included_studies"].append(kept.entry_of(packed, reference))
        else:
            rows["general_references"].append(reference)
    return kept.review_of(kept.loaded(review.metadata, FORMAT), review.pmid, review.title, rows)


def tagged_sentences(
    reviews: Sequence[Review], classes: Classes | None = None, spans: Spans | None = None
) -> dict[int, list[tuple[str, str]]]:
    """Return the (class, tagged text) of the sentences of reviews, by review. Runs one query.

    ``classes`` and ``spans``: see `published`.
    """
    tags: dict[int, list[Tag]] = {}
    sentences: dict[int, list[Json]] = {}
    rows = MachineReading.objects.filter(
        weights="", task__in=(ReadingTask.PIO, ReadingTask.SENTENCES), review__in=reviews
    )
    for review, task, values in rows.values_list("review", "task", "values"):
        if task == ReadingTask.PIO:
            tags[review] = values["tags"]
        else:
            sentences[review] = values["sentences"]
    texts = {}
    for one in reviews:
        decided = (spans or {}).get(("review", one.pk))
        now, tagged, listed = _tagged(one, tags.get(one.pk, []), sentences.get(one.pk, []), decided)
        names = _current((classes or {}).get(one.unit_id), listed)
        texts[one.pk] = list(zip(names, sentence_texts(tagged, now, listed), strict=True))
    return texts


def _tagged(
    review: Review, imported: list[Tag], sentences: Sequence[Json], decided: Mapping[PioKind, Collection[Range]] | None
) -> tuple[list[Tag], str, Sequence[Json]]:
    """Return the current tags of a review's abstract, the tagged abstract, and its sentences."""
    tags = with_decided(review.abstract, imported, decided)
    return tags, retag(review.abstract, tags), _recounted(sentences, imported, tags)


def with_decided(text: str, tags: list[Tag], decided: Mapping[PioKind, Collection[Range]] | None) -> list[Tag]:
    """Return the tags with the decided spans in place of the imported ones of the same kind."""
    if not decided:
        return tags
    undecided = {span for span in spans_of(text, tags)[0] if span.kind not in decided}
    return with_spans(
        text, tags, undecided | {PioSpan(kind, each) for kind, spans in decided.items() for each in spans}
    )


def _recounted(sentences: Sequence[Json], imported: Sequence[Tag], tags: Sequence[Tag]) -> Sequence[Json]:
    """Count the tags at the end of each sentence anew where they have changed: a closing tag belongs before the end."""
    if tags == imported or any("text" in sentence for sentence in sentences):
        return sentences
    recounted = []
    for sentence in sentences:
        before, now = ([tag for place, tag in each if place == sentence["end"]] for each in (imported, tags))
        if before != now:
            opening = next((n for n, tag in enumerate(now) if "</" not in tag), len(now))
            sentence = sentence | {"tags": opening}
        recounted.append(sentence)
    return recounted


def _reference(
    inclusion: Listed, packed: Json, readings: _Readings, decided: Mapping[PioKind, Collection[Range]] | None
) -> Json:
    tags = readings.tags.get(("inclusion", inclusion.pk))
    if tags is None:
        tags = readings.tags.get(("study", inclusion.study), [])
    tags = with_decided(inclusion.abstract, tags, decided)
    abstract = packed["abstract"] if "abstract" in packed else retag(inclusion.abstract, tags)
    rows = {"abstract": abstract, "significances": readings.effects_or_none("inclusion", inclusion.pk, inclusion.study)}
    if "reference" in packed:
        return kept.unpack(packed["reference"], (), rows)
    columns = kept.StudyColumns(inclusion.title, inclusion.year, inclusion.types, "")
    return kept.reference_of(columns, inclusion.pmid, kept.loaded(inclusion.study_metadata, FORMAT), rows)


def _sentences(
    tagged: str, tags: Sequence[Tag], sentences: Sequence[Json], labels: Sequence[str] | None
) -> list[list[Any]]:
    texts = sentence_texts(tagged, tags, sentences)
    names = _current(labels, sentences)
    return [
        [label, text, dict(zip(SENTENCE_CLASSES, sentence["probabilities"], strict=True))]
        for label, text, sentence in zip(names, texts, sentences, strict=True)
    ]


def _current(labels: Sequence[str] | None, sentences: Sequence[Json]) -> Sequence[str]:
    """Return the current class of each sentence: the decided ones, or else the imported ones."""
    return labels if labels and len(labels) == len(sentences) else [sentence["class"] for sentence in sentences]


def sentence_texts(tagged: str, tags: Sequence[Tag], sentences: Sequence[Json]) -> list[str]:
    """Return the tagged sentences of an abstract."""
    if any("text" in sentence for sentence in sentences):
        return [sentence["text"] for sentence in sentences]
    texts, at = [], 0
    for end in tagged_ends(tags, ((sentence["end"], sentence.get("tags", 0)) for sentence in sentences)):
        texts.append(tagged[at:end])
        at = end + 1
    return texts


def first_difference(new: Any, stored: Any, path: str = "") -> tuple[str, object] | None:
    """Return the path of the first difference of two JSON values, and the stored value; None if they are equal."""
    if isinstance(new, dict) and isinstance(stored, dict):
        for key in dict.fromkeys([*new, *stored]):
            inner = f"{path}.{key}" if path else key
            if key not in new or key not in stored:
                return inner, stored.get(key)
            if found := first_difference(new[key], stored[key], inner):
                return found
        return None
    if isinstance(new, list) and isinstance(stored, list) and len(new) == len(stored):
        return next(
            (
                found
                for n, pair in enumerate(zip(new, stored, strict=True))
                if (found := first_difference(*pair, f"{path}[{n}]"))
            ),
            None,
        )
    return None if new == stored else (path or "line", stored)
