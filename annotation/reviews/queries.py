"""Build the JSON of the pages of reviews and studies. The number of queries does not depend on the number of rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.corpus.backgrounds import backgrounds_of
from annotation.corpus.decided import current_classes
from annotation.corpus.effects import DIRECTIONS, Effects, effects_of
from annotation.corpus.states import by_people, state_of
from annotation.readings.current import newest_last, readers
from annotation.readings.statistics import WEAK
from measures.abstracts import BACKGROUND, TARGET, derived
from measures.pio import parse_pio
from measures.spans import Range
from projects.models import Decision

from ..documents.queries import SENTENCES
from ..formats.ms2 import kept
from ..formats.ms2.rows import FORMAT
from ..models import EffectPair, Inclusion, Level, MachineReading, ReadingTask, Review, Role, Study, Target
from .spans import Part, Span, current_spans, part_of, without_pair

Json = dict[str, Any]


def review_page(review: Review) -> Json:
    """Return a review with its texts, its pairs, and the directions of its studies, oldest first."""
    pairs = list(EffectPair.objects.filter(review=review).order_by("position"))
    inclusions = _oldest_first(Inclusion.objects.filter(review=review).select_related("study"))
    spans = current_spans([review], inclusions)
    effects = effects_of([review], inclusions) if pairs else Effects({}, {})
    of_review = spans["review", review.pk]
    sentences = _sentences_of(review)
    asked = [effects.agrees(pair.pk, one.study_id) for one in inclusions if one.role == Role.INCLUDED for pair in pairs]
    return {
        **_article(review),
        "unit": review.unit_id,
        "state": state_of(review),
        **_texts(review, of_review, sentences.values["sentences"] if sentences else []),
        "abstract": Part(review.abstract, of_review),
        "without_pair": without_pair(
            review.abstract, of_review, [pair.intervention for pair in pairs], [pair.outcome for pair in pairs]
        ),
        "pairs": [_pair(pair) | {"effect": _effect(effects, pair, None, review.abstract)} for pair in pairs],
        "studies": [
            {
                **_listed(one.study),
                "role": one.role,
                "spans": len(spans["inclusion", one.pk]),
                "directions": [_code(effects.direction(pair.pk, one.study_id)) for pair in pairs],
                "decided": [n for n, pair in enumerate(pairs) if (pair.pk, one.study_id) in effects.decided],
            }
            for one in inclusions
        ],
        "agreement": {"n": sum(one is not None for one in asked), "count": asked.count(True)},
        "evidence": _evidence(effects, {"review": [None], **_by_role(inclusions)}),
        "readers": [
            one | {"models": [sentences.model]} if sentences and one["task"] == ReadingTask.SENTENCES else one
            for one in readers([review], inclusions)
        ],
    }


def study_page(study: Study) -> Json:
    """Return a study with the pairs that each review asks about, and the spans by which each review describes it."""
    inclusions = list(Inclusion.objects.filter(study=study).select_related("review").order_by("review_id"))
    for one in inclusions:
        one.study = study
    reviews = [one.review for one in inclusions]
    pairs: dict[int, list[EffectPair]] = {review.pk: [] for review in reviews}
    for pair in EffectPair.objects.filter(review__in=reviews).order_by("review_id", "position"):
        pairs[pair.review_id].append(pair)
    spans = current_spans([], inclusions)
    effects = effects_of(reviews, inclusions)
    return {
        **_article(study),
        "journal": _journal(study),
        "reviews": [
            {
                **_article(one.review),
                "role": one.role,
                "abstract": Part(study.abstract, spans["inclusion", one.pk]),
                "pairs": [
                    _pair(pair)
                    | {
                        "effect": _effect(effects, pair, study.pk, study.abstract),
                        "of_review": effects.direction(pair.pk, None),
                    }
                    for pair in pairs[one.review_id]
                ],
            }
            for one in inclusions
        ],
        "evidence": _evidence(effects, {"study": [study.pk]}),
        "readers": readers([], inclusions),
    }


def pair_page(pair: EffectPair) -> Json:
    """Return a pair with its effect in the review and in each study, oldest first, with the evidence."""
    inclusions = _oldest_first(Inclusion.objects.filter(review=pair.review_id).select_related("study"))
    effects = effects_of([pair.review], inclusions, [pair.pk])
    return {
        **_pair(pair),
        "effect": _effect(effects, pair, None, pair.review.abstract),
        "studies": [
            {
                **_listed(one.study),
                "role": one.role,
                "effect": _effect(effects, pair, one.study_id, one.study.abstract),
                "agrees": effects.agrees(pair.pk, one.study_id),
            }
            for one in inclusions
        ],
        "evidence": _evidence(effects, _by_role(inclusions)),
    }


def _oldest_first(inclusions: Iterable[Inclusion]) -> list[Inclusion]:
    """Sort by year. Studies whose year is unknown come last."""
    return sorted(inclusions, key=lambda one: (one.study.year is None, one.study.year or 0, one.position))


def _by_role(inclusions: Iterable[Inclusion]) -> dict[str, list[int | None]]:
    studies: dict[str, list[int | None]] = {Role.INCLUDED.value: [], Role.GENERAL.value: []}
    for one in inclusions:
        studies[one.role].append(one.study_id)
    return studies


def _evidence(effects: Effects, texts: Mapping[str, Iterable[int | None]]) -> Json:
    return {"limit": WEAK} | {name: effects.evidence(studies) for name, studies in texts.items()}


def _article(article: Review | Study) -> Json:
    return {"id": article.pk, "pmid": article.pmid, "title": article.title, "year": article.year}


def _listed(study: Study) -> Json:
    return _article(study) | {"journal": _journal(study), "has_abstract": bool(study.abstract)}


def _journal(study: Study) -> str:
    journal = kept.loaded(study.metadata, FORMAT).get("SO")
    return journal if isinstance(journal, str) else ""


def _pair(pair: EffectPair) -> Json:
    return {"id": pair.pk, "intervention": pair.intervention, "outcome": pair.outcome}


def _code(direction: str | None) -> int | None:
    return None if direction is None else DIRECTIONS.index(direction)


def _effect(effects: Effects, pair: EffectPair, study: int | None, text: str) -> Json | None:
    read, decided = effects.read.get((pair.pk, study)), effects.decided.get((pair.pk, study))
    if read is None and decided is None:
        return None
    return {
        "direction": effects.direction(pair.pk, study),
        "is_machine": decided is None,
        "sentence": decided.sentence if decided else "",
        "machine": read
        and {
            "direction": read.direction,
            "probabilities": read.probabilities,
            "score": read.score,
            "sentence": read.sentence(text),
        },
    }


def _sentences_of(review: Review) -> MachineReading | None:
    """Return the imported reading of the classes of sentences, from which background and target are made, or else the
    current one."""
    readings = newest_last(MachineReading.objects.filter(review=review, task=ReadingTask.SENTENCES))
    return next((one for one in readings if not one.weights), readings[-1] if readings else None)


def _texts(review: Review, spans: Sequence[Span], sentences: Sequence[Json]) -> Json:
    """Return the background and the target of a review, each with its spans if it consists of sentences."""
    decided = current_classes([review]).get(review.unit_id, []) if sentences else []
    classes = decided if len(decided) == len(sentences) else [sentence["class"] for sentence in sentences]
    ranges = _ranges(sentences)
    parts = {
        name: part_of(
            review.abstract,
            [each for each, label in zip(ranges, classes, strict=True) if derived(label) == name],
            spans,
            joined_by,
        )
        for name, joined_by in ((BACKGROUND, " "), (TARGET, "\n"))
        if ranges
    }
    background = parse_pio(backgrounds_of([review])[review.pk]).text
    target = Target.objects.current().filter(review=review, level=Level.DOCUMENT).order_by("pk").first()
    return {
        "sentences": len(sentences),
        "classes_are_machine": bool(sentences) and not _has_people(review),
        "background": _with_spans(background, parts.get(BACKGROUND)),
        "target": target and (_with_spans(target.text, parts.get(TARGET)) if not target.is_withheld else None),
        "target_is_withheld": bool(target and target.is_withheld),
    }


def _has_people(review: Review) -> bool:
    """Return whether people have decided the classes of the sentences."""
    return by_people(Decision.objects.filter(unit=review.unit_id, kind=SENTENCES)).exists()


def _with_spans(text: str, part: Part | None) -> Part:
    """Return the text with the spans of a part of the abstract. A text that was written otherwise has none."""
    return part if part and part.text == text else Part(text, [])


def _ranges(sentences: Sequence[Json]) -> list[Range]:
    """Return the ranges of sentences in the abstract. Empty if the sentences are not those of the abstract."""
    if any("end" not in sentence for sentence in sentences):
        return []
    ranges, at = [], 0
    for sentence in sentences:
        ranges.append((at, sentence["end"]))
        at = sentence["end"] + 1
    return ranges
