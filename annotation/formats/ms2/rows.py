"""Prepare the rows of reviews of MS^2, and compare reviews with stored ones."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from measures.pio import Tag
from projects.models import Import, Project, Unit
from sql.bulk import BulkWriter, ids_by_text

from ...clusters.creation import UNIT_TYPES, next_position
from ...imports.passes import Index
from ...models import (
    Effect,
    EffectPair,
    Inclusion,
    Input,
    Level,
    MachineReading,
    ReadingTask,
    RecordStatus,
    Review,
    Role,
    Study,
    Target,
)
from . import kept
from .items import EffectRow, Reference, path_of

FORMAT = "ms2"
Targets = tuple[list[int], list[int]]


def stored_keys(project: Project, keys: Sequence[str]) -> dict[str, int | None]:
    """Return the import of each stored review among ``keys``."""
    rows = Review.with_arriving.filter(project=project, pmid__in=keys)
    return dict(rows.values_list("pmid", "imported_id"))


def created_keys(imported: Import) -> Iterator[str]:
    rows = Review.with_arriving.filter(imported=imported).order_by("pk").values_list("pmid", flat=True)
    yield from rows.iterator(chunk_size=2000)


def next_target_position(project: Project) -> int:
    return next_position(Target.with_arriving.filter(project=project, level=Level.DOCUMENT))


def count_studies(imported: Import) -> int:
    return Inclusion.with_arriving.filter(imported=imported).order_by().values("study").distinct().count()


class StoredStudies:
    """The studies that the project already has among some PMIDs."""

    def __init__(self, project: Project, pmids: Iterable[str]) -> None:
        self.ids = list(ids_by_text(Study, "pmid", list(pmids), project_id=project.pk).values())
        rows = Study.with_arriving.filter(pk__in=self.ids) if self.ids else ()
        self.by_pmid = {study.pmid: study for study in rows}

    def tags(self) -> dict[int, list[Tag]]:
        """Return the tags of their abstracts by id."""
        if not self.ids:
            return {}
        readings = MachineReading.with_arriving.filter(study__in=self.ids, task=ReadingTask.PIO, weights="")
        return {
            study: [(offset, characters) for offset, characters in values["tags"]]
            for study, values in readings.values_list("study", "values")
        }


def conflicting_texts(project: Project, items: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (key of the review, path, message) for each study that the project has with another abstract."""
    texts = [(item, reference) for item in items for reference in item.references if reference.text]
    stored = StoredStudies(project, {reference.pmid for _, reference in texts}).by_pmid
    for item, reference in texts:
        study = stored.get(reference.pmid)
        # An arriving study receives its abstract from a later review of the same files.
        if study and study.abstract != reference.text and (study.abstract or study.imported_id is None):
            yield item.key, *conflict(reference)


def conflicts(project: Project | None, items: Sequence[Any], known: Index | None) -> Iterator[tuple[str, str, str]]:
    """Yield (key of the review, path, message) for each abstract that differs from another one of the same study."""
    if project:
        yield from conflicting_texts(project, items)
    texts: dict[str, str] = {}
    for item in items:
        for reference in item.references:
            if reference.text:
                digest = hashlib.sha256(reference.text.encode()).hexdigest()
                first = known.first_value(f"study {reference.pmid}", digest) if known else digest
                if texts.setdefault(reference.pmid, first) != digest or first != digest:
                    yield item.key, *conflict(reference)


def conflict(reference: Reference) -> tuple[str, str]:
    """Return the path of an abstract that differs from another one of the same study, and the message."""
    return path_of(reference.place), f"the study {reference.pmid} already has another abstract"


class Creation:
    """The rows of some reviews. The other format with such reviews overrides the methods about what it keeps."""

    format = FORMAT
    #: Whether the texts of targets are secret.
    is_withheld = False

    def __init__(self, imported: Import, rows: BulkWriter) -> None:
        self.imported, self.rows = imported, rows
        self.source = {"project_id": imported.project_id, "imported_id": imported.pk}
        #: (task, review, study, inclusion, values), and the effects of each reading with the ids of their pairs.
        self.readings: list[tuple[str, int | None, int | None, int | None, Any]] = []
        self.effects: list[tuple[int, Sequence[int], Sequence[EffectRow]]] = []

    def create(self, items: Sequence[Any], first: int) -> None:
        """Prepare all rows. ``first``: position of the first target."""
        reviews = self.add_reviews(items)
        pairs = self._pairs(items, reviews)
        for item, review, ids in zip(items, reviews, pairs, strict=True):
            self._read_review(item, review, ids)
        studies = self._studies(items, reviews, pairs)
        self._targets(items, reviews, studies, first)
        self._write_readings()

    def add_reviews(self, items: Sequence[Any]) -> list[int]:
        return self.rows.add_columns(
            Review,
            len(items),
            pmid=[item.key for item in items],
            title=[item.value["title"] or "" for item in items],
            abstract=[item.text for item in items],
            record=[_status(item.text) for item in items],
            metadata=[{FORMAT: kept.of_review(item)} for item in items],
            unit_id=self.add_units("review", [item.key for item in items]),
            **self.source,
        )

    def add_units(self, type: str, keys: list[str]) -> list[int]:
        return self.rows.add_columns(Unit, len(keys), type=type, key=keys, **self.source)

    def columns_of(self, study: Study) -> kept.StudyColumns:
        """Return what is stored of a study, as `columns` gives it."""
        return kept.StudyColumns(study.title, study.year, study.publication_types, study.metadata.get(FORMAT, "none"))

    def columns(self, item: Any, reference: Reference) -> kept.StudyColumns:
        return kept.of_study(item.published(reference))

    def says(self, item: Any, reference: Reference, is_as_stored: bool) -> dict[str, Any]:
        """Return what the review says of a study, and no other row holds."""
        entry = item.value[reference.place[0]][reference.place[1]] if reference.role == Role.INCLUDED else None
        return kept.of_inclusion(entry, item.published(reference), is_as_stored)

    def _pairs(self, items: Sequence[Any], reviews: Sequence[int]) -> list[list[int]]:
        """Prepare the pairs of each review, and return their ids."""
        texts = [pair for item in items for pair in item.pairs]
        ids = iter(
            self.rows.add_columns(
                EffectPair,
                len(texts),
                review_id=[review for item, review in zip(items, reviews, strict=True) for _ in item.pairs],
                position=[n for item in items for n in range(len(item.pairs))],
                intervention=[intervention for intervention, _ in texts],
                outcome=[outcome for _, outcome in texts],
                imported_id=self.imported.pk,
            )
        )
        return [[next(ids) for _ in item.pairs] for item in items]

    def _read_review(self, item: Any, review: int, pairs: Sequence[int]) -> None:
        sentences = [
            {"class": one.label, "probabilities": one.probabilities}
            | ({"text": one.tagged} if one.end is None else {"end": one.end})
            | ({"tags": one.tags} if one.tags else {})
            for one in item.sentences
        ]
        if sentences:
            self._read(ReadingTask.SENTENCES, {"sentences": sentences}, review=review)
        if item.tags:
            self._read(ReadingTask.PIO, {"tags": item.tags}, review=review)
        if item.effects is not None:
            self._read(ReadingTask.EFFECTS, {}, review=review)
            self.effects.append((len(self.readings) - 1, pairs, item.effects))

    def _read(self, task: str, values: Any, **of: int) -> None:
        self.readings.append((task, of.get("review"), of.get("study"), of.get("inclusion"), values))

    def _studies(self, items: Sequence[Any], reviews: Sequence[int], pairs: Sequence[Sequence[int]]) -> dict[str, int]:
        """Prepare new studies, and the inclusions and readings of all. Return the ids of the studies by PMID."""
        references = [(item, reference) for item in items for reference in item.references]
        stored = StoredStudies(self.imported.project, {reference.pmid for _, reference in references})
        described = {pmid: self.columns_of(study) for pmid, study in stored.by_pmid.items()}
        texts = {pmid: study.abstract for pmid, study in stored.by_pmid.items()}
        stored_tags = stored.tags()
        tags = {pmid: stored_tags.get(study.pk, []) for pmid, study in stored.by_pmid.items()}
        own = [self.columns(item, reference) for item, reference in references]
        new, completed = dict[str, None](), dict[str, None]()
        for (_, reference), columns in zip(references, own, strict=True):
            if reference.pmid not in described:
                new[reference.pmid] = None
                described[reference.pmid], texts[reference.pmid] = columns, ""
            if reference.text and not texts[reference.pmid]:
                texts[reference.pmid], tags[reference.pmid] = reference.text, reference.tags
                completed[reference.pmid] = None
        ids = self._add_studies(list(new), described, texts)
        for pmid, study in stored.by_pmid.items():
            ids[pmid] = study.pk
            if pmid in completed:
                self.rows.then(partial(_complete, study.pk, texts[pmid]))
        for pmid in completed:
            if tags[pmid]:
                self._read(ReadingTask.PIO, {"tags": tags[pmid]}, study=ids[pmid])
        is_as_stored = [
            columns == described[reference.pmid] for (_, reference), columns in zip(references, own, strict=True)
        ]
        inclusions = iter(self._add_inclusions(references, reviews, items, ids, is_as_stored))
        for item, ids_of_pairs in zip(items, pairs, strict=True):
            for reference, inclusion in zip(item.references, inclusions, strict=False):
                if reference.text is not None and reference.tags != tags.get(reference.pmid, []):
                    self._read(ReadingTask.PIO, {"tags": reference.tags}, inclusion=inclusion)
                if reference.effects is not None:
                    self._read(ReadingTask.EFFECTS, {}, inclusion=inclusion)
                    self.effects.append((len(self.readings) - 1, ids_of_pairs, reference.effects))
        return ids

    def _add_studies(
        self, pmids: list[str], described: Mapping[str, kept.StudyColumns], texts: Mapping[str, str]
    ) -> dict[str, int]:
        ids = self.rows.add_columns(
            Study,
            len(pmids),
            pmid=pmids,
            title=[described[pmid].title for pmid in pmids],
            abstract=[texts[pmid] for pmid in pmids],
            year=[described[pmid].year for pmid in pmids],
            publication_types=[described[pmid].types for pmid in pmids],
            record=[_status(texts[pmid]) for pmid in pmids],
            metadata=[{self.format: described[pmid].kept} if described[pmid].kept else {} for pmid in pmids],
            **self.source,
        )
        return dict(zip(pmids, ids, strict=True))

    def _add_inclusions(
        self,
        references: Sequence[tuple[Any, Reference]],
        reviews: Sequence[int],
        items: Sequence[Any],
        studies: Mapping[str, int],
        is_as_stored: Sequence[bool],
    ) -> list[int]:
        metadata = []
        for (item, reference), is_same in zip(references, is_as_stored, strict=True):
            packed = self.says(item, reference, is_same)
            metadata.append({self.format: kept.dumped(packed)} if packed else {})
        return self.rows.add_columns(
            Inclusion,
            len(references),
            review_id=[review for item, review in zip(items, reviews, strict=True) for _ in item.references],
            study_id=[studies[reference.pmid] for _, reference in references],
            position=[n for item in items for n in range(len(item.references))],
            role=[str(reference.role) for _, reference in references],
            metadata=metadata,
            imported_id=self.imported.pk,
        )

    def _targets(self, items: Sequence[Any], reviews: Sequence[int], studies: Mapping[str, int], first: int) -> None:
        stated = [(n, item) for n, item in enumerate(items) if item.target or self.is_withheld]
        keys = [item.key for _, item in stated]
        units = self.add_units(UNIT_TYPES[Level.DOCUMENT], keys)
        targets = self.rows.add_columns(
            Target,
            len(keys),
            review_id=[reviews[n] for n, _ in stated],
            level=str(Level.DOCUMENT),
            key=keys,
            position=[first + n for n, _ in stated],
            text=["" if self.is_withheld else item.target for _, item in stated],
            is_withheld=self.is_withheld,
            unit_id=units,
            **self.source,
        )
        inputs = [[r for r in item.references if r.text and r.role == Role.INCLUDED] for _, item in stated]
        self.rows.add_columns(
            Input,
            sum(map(len, inputs)),
            target_id=[target for target, of in zip(targets, inputs, strict=True) for _ in of],
            study_id=[studies[reference.pmid] for of in inputs for reference in of],
            position=[n for of in inputs for n in range(1, len(of) + 1)],
        )

    def _write_readings(self) -> None:
        task, review, study, inclusion, values = (
            map(list, zip(*self.readings, strict=True)) if self.readings else [()] * 5
        )
        ids = self.rows.add_columns(
            MachineReading,
            len(self.readings),
            task=task,
            review_id=review,
            study_id=study,
            inclusion_id=inclusion,
            values=values,
            imported_id=self.imported.pk,
        )
        effects = list(chain.from_iterable(of for _, _, of in self.effects))
        if not effects:
            return
        _, *columns = map(list, zip(*effects, strict=True))
        names = ("direction", "decreased", "no_difference", "increased", "start", "end", "evidence", "score")
        self.rows.add_columns(
            Effect,
            len(effects),
            reading_id=[ids[number] for number, _, of in self.effects for _ in of],
            position=[n for _, _, of in self.effects for n in range(len(of))],
            pair_id=[pairs[one[0]] for _, pairs, of in self.effects for one in of],
            **dict(zip(names, columns, strict=True)),
        )


def _status(text: str) -> str:
    return str(RecordStatus.READ if text else RecordStatus.NO_ABSTRACT)


def _complete(study: int, text: str) -> None:
    """Store the abstract of an arriving study that an earlier review lists without one."""
    Study.with_arriving.filter(pk=study).update(abstract=text, record=RecordStatus.READ)
