"""Which units of a project the models of its versions have seen in trainings.

A training has seen the texts that it read and their targets, of the part to train on and of the development part, by
which the model was chosen. A model that was trained further has also seen what its base models have seen. Trainings of
all projects count.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from django.db.models import F, IntegerField, Q, QuerySet, Value

from annotation.models import Cluster, EffectUnit, Input, Level, Part, Proposition, QuestionText, Review, Target
from audit.digests import digest_of
from measures.references import WRITTEN_LEVELS
from projects.models import Project
from sql.expressions import Sha256

from .models import FineTuning, TrainedStudy, TrainingState, UnitLevel, Version
from .sources import Material

_PUBMED_ID = r"^[0-9]+$"


def key_of(identifier: str, text: str) -> str:
    """Return the key of a study or review: its PubMed id. Without one, the SHA-256 of the text that was read.

    Other ids are not used, because ids such as *review 1* mean different texts in different projects.
    """
    return identifier if re.match(_PUBMED_ID, identifier) else key_of_text(text)


def key_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def keys_of_materials(level: str, materials: Mapping[int, Material]) -> dict[int, tuple[str, ...]]:
    """Return what a training on each unit has seen: its review and studies, or the texts of its question. One query."""
    if level in WRITTEN_LEVELS:
        return {unit: _text_keys(one) for unit, one in materials.items()}
    reviews = dict(Review.objects.filter(pk__in={one.review for one in materials.values()}).values_list("pk", "pmid"))
    return {unit: _study_keys(reviews[one.review], one) for unit, one in materials.items()}


def _text_keys(material: Material) -> tuple[str, ...]:
    texts = (material.source.question, *(text.text for text in material.source.inputs))
    return tuple(sorted({key_of_text(text) for text in texts if text}))


def _study_keys(review: str, material: Material) -> tuple[str, ...]:
    read = [(text.key, text.text) for text in material.source.inputs]
    read.append((review, material.own.text if material.own else ""))
    return tuple(sorted({key_of(identifier, text) for identifier, text in read if identifier and text}))


class Exposures:
    """The seen units of a project by version, for the versions that have runs.

    Reads are lazy. Their number depends on the number of levels, not of units or versions.
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    @cached_property
    def _versions(self) -> Mapping[int, tuple[str, frozenset[int]]]:
        """Return the level and the trainings of each version whose model was trained here."""
        versions = Version.objects.filter(system__project=self.project, runs__isnull=False).order_by().distinct()
        columns = ("pk", "level", "config__model__model", "facts__weights")
        rows = [row for row in versions.values_list(*columns) if row[2] or row[3]]
        if not rows:
            return {}
        chains = _Chains()
        found = {pk: (level, chains.of(folder, weights)) for pk, level, folder, weights in rows}
        return {pk: (level, trainings) for pk, (level, trainings) in found.items() if trainings}

    @cached_property
    def _seen(self) -> Mapping[tuple[str, int], set[int]]:
        """Return the seen units by level and training."""
        trainings: dict[str, set[int]] = {}
        for level, of_version in self._versions.values():
            trainings.setdefault(level, set()).update(of_version)
        seen: dict[tuple[str, int], set[int]] = {}
        for level, of_level in trainings.items():
            for training, unit in _seen_units(self.project, level, sorted(of_level)):
                seen.setdefault((level, training), set()).add(unit)
        return seen

    def trainings(self, version: int) -> frozenset[int]:
        """Return the ids of the trainings of a version's model and of its base models."""
        return self._versions.get(version, ("", frozenset()))[1]

    def units(self, version: int) -> set[int]:
        """Return the units that a version has seen. Retired units are left out."""
        if version not in self._versions:
            return set()
        level, trainings = self._versions[version]
        return set().union(*(self._seen.get((level, training), set()) for training in trainings))

    def of_level(self, level: str) -> set[int]:
        """Return the units of a level that any version has seen."""
        return set().union(*(self.units(pk) for pk, (of, _) in self._versions.items() if of == level))

    def digest(self, level: str) -> str:
        """Return the identity of the units of a level that any version has seen; empty if there are none."""
        units = self.of_level(level)
        return digest_of(sorted(units)) if units else ""


class _Chains:
    """The finished trainings of all projects by folder and weights. One query."""

    def __init__(self) -> None:
        self._by_result: dict[str, set[int]] = {}
        self._bases: dict[int, tuple[str | None, ...]] = {}
        columns = ("pk", "result__folder", "result__weights", "facts__weights")
        bases = ("config__version__model__model", "config__model__model")
        for pk, folder, weights, *base in FineTuning.objects.filter(state=TrainingState.DONE).values_list(
            *columns, *bases
        ):
            for name in filter(None, (folder, weights)):
                self._by_result.setdefault(name, set()).add(pk)
            self._bases[pk] = tuple(base)

    def of(self, *names: str | None) -> frozenset[int]:
        """Return the trainings of the model with this folder or hash of weights, and those of its base models."""
        found: set[int] = set()
        waiting = list(names)
        while waiting:
            for training in self._by_result.get(waiting.pop() or "", set()) - found:
                found.add(training)
                waiting += self._bases[training]
        return frozenset(found)


def _seen_units(project: Project, level: str, trainings: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (training, unit) for the units of a level that trainings have seen. One query."""
    branches = [
        rows.order_by().annotate(training=Value(training, IntegerField()), seen=F(unit)).values_list("training", "seen")
        for training in trainings
        for rows, unit in _MATCHES[UnitLevel(level)](project, level, TrainedStudy.objects.of(training))
    ]
    yield from branches[0].union(*branches[1:])


Matches = Iterator[tuple[QuerySet[Any], str]]


def _of_propositions(project: Project, level: str, keys: QuerySet[Any]) -> Matches:
    clusters = Cluster.objects.current().filter(project=project)
    texts = Proposition.objects.current().filter(cluster__project=project, cluster__unit__superseded_by=None)
    of_studies, targets = texts.filter(study__isnull=False), texts.filter(study=None)
    yield clusters.filter(review__pmid__in=keys), "unit"
    yield of_studies.filter(study__pmid__in=keys), "cluster__unit"
    yield _by_text(of_studies.exclude(study__pmid__regex=_PUBMED_ID), "text", keys), "cluster__unit"
    yield _by_text(targets.exclude(cluster__review__pmid__regex=_PUBMED_ID), "text", keys), "cluster__unit"


def _of_targets(project: Project, level: str, keys: QuerySet[Any]) -> Matches:
    targets = Target.objects.current().filter(project=project, level=Level(level))
    inputs = Input.objects.current().filter(target__in=targets.order_by().values("pk"))
    unit = "review__unit" if level == UnitLevel.DOCUMENT else "unit"
    yield targets.filter(review__pmid__in=keys), unit
    yield inputs.filter(study__pmid__in=keys), f"target__{unit}"
    unnamed = inputs.exclude(study__pmid__regex=_PUBMED_ID).with_source_text()
    yield _by_text(unnamed, "source_text", keys), f"target__{unit}"
    yield _by_text(targets.exclude(review__pmid__regex=_PUBMED_ID), "text", keys), unit


def _of_pairs(project: Project, level: str, keys: QuerySet[Any]) -> Matches:
    units = EffectUnit.objects.filter(study=None, pair__review__project=project, unit__superseded_by=None)
    yield units.filter(pair__review__pmid__in=keys), "unit"
    yield units.filter(pair__effects__reading__inclusion__study__pmid__in=keys), "unit"
    yield units.filter(pair__units__study__pmid__in=keys), "unit"


def _of_questions(project: Project, level: str, keys: QuerySet[Any]) -> Matches:
    """Match texts, because ids of questions and passages are numbers of a file."""
    texts = QuestionText.objects.current().filter(question__project=project)
    of_passages = texts.filter(part__in=(Part.PASSAGE, Part.PAGE), passage__isnull=False)
    of_questions = _by_text(texts.filter(part=Part.QUESTION), "text", keys)
    if level == UnitLevel.ANSWER:
        yield of_questions.filter(question__passages__isnull=False), "question__passages__unit"
        yield _by_text(of_passages, "text", keys), "passage__unit"
    else:
        yield of_questions, "question__unit"
        yield _by_text(of_passages, "text", keys), "question__unit"


def _by_text(rows: QuerySet[Any], field: str, keys: QuerySet[Any]) -> QuerySet[Any]:
    matches: QuerySet[Any] = rows.exclude(Q(**{field: ""})).annotate(text_key=Sha256(field)).filter(text_key__in=keys)
    return matches


_MATCHES = {
    UnitLevel.PROPOSITION: _of_propositions,
    UnitLevel.SENTENCE: _of_targets,
    UnitLevel.DOCUMENT: _of_targets,
    UnitLevel.PAIR: _of_pairs,
    UnitLevel.ANSWER: _of_questions,
    UnitLevel.QUESTION: _of_questions,
}
