"""Collect the origin of units from the database: for the page of a unit, and for ``prov.jsonld`` of a release.

Both call `steps`, so a rule of what belongs to an origin is written here once. The number of queries does not depend on
the number of units or steps.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Cluster, Hit, MachineReading, Proposition, Review, Target
from audit.models import Entry
from generation.models import Summary
from projects import kinds
from projects.gold.queries import sentences
from projects.models import Answer, Change, Decision, Import, ImportedRecord, ImportFile, Origin, Outcome, Project, Unit
from projects.suggestions.queries import seen_with

from ..folders import chain
from ..folders.chain import Step, Subject, Value
from .times import utc_time

#: Kinds of machine readings, by the relation of a text to its unit.
_READ_OF = {
    "review__unit": "review",
    "review__abstract_unit__unit": "abstract",
    "study__abstract_unit__unit": "abstract",
}


@dataclass(frozen=True)
class Scope:
    """What a reader may see. Raters are the authors of adopted answers."""

    answers: QuerySet[Answer]
    summaries: QuerySet[Summary]
    raters: bool


@dataclass(frozen=True)
class _Source:
    """The import of a unit, and where the unit is in it."""

    imported: int
    keys: tuple[str, ...]
    place: str = ""


def measured_fields() -> dict[str, set[str]]:
    """Return the fields of each kind whose values are points of a scale, so that they quote no text."""
    return {kind.key: {scale.column for scale in kind.scales} for kind in kinds.all_kinds()}


def steps(
    project: Project, subjects: Mapping[int, Subject], scope: Scope, *, full: Iterable[int] | None = None
) -> dict[int, list[Step]]:
    """Return the steps of units, by unit id. Only units of ``full`` (all by default) get answers and summaries."""
    found: dict[int, list[Step]] = {pk: [] for pk in subjects}
    units = Unit.objects.filter(pk__in=subjects).in_bulk()
    people = dict(project.members.with_account().values_list("user_id", "pseudonym"))
    decisions = _decisions(units)
    sources = _sources(subjects, units, decisions)
    lines = _Lines(
        [*sources.values(), *(_of_decision(d, subjects, sources) for d in decisions if d.imported_id)], people
    )
    for pk, source in sources.items():
        at = f"import/{source.imported}/{pk}"
        found[pk].append(lines.fill(Step(at, chain.IMPORTED, subjects[pk].name), source, with_import=True))
    for pk, unit in units.items():
        if unit.made_by_id:
            found[pk].append(Step(f"typing/{pk}", chain.TYPED, subjects[pk].name, by=people.get(unit.made_by_id, "")))
    for pk, step in (
        *_searched(project, subjects, people),
        *_corrected(subjects, people),
        *_changed(subjects, people),
        *_readings(subjects, lines),
    ):
        found[pk].append(step)
    for pk, step, decision in _decided(decisions, subjects, people, scope):
        if decision.imported_id:
            step = lines.fill(step, _of_decision(decision, subjects, sources))
        found[pk].append(step)
    wanted = [pk for pk in (subjects if full is None else full) if pk in subjects]
    for pk, step in (*_answered(wanted, subjects, scope), *_generated(wanted, subjects, scope)):
        found[pk].append(step)
    return found


def _sources(
    subjects: Mapping[int, Subject], units: Mapping[int, Unit], decisions: Sequence[Decision]
) -> dict[int, _Source]:
    """Return the source of each imported unit. Units of older imports do not name it, but their rows do."""
    imports = {pk: unit.imported_id for pk, unit in units.items()}
    places: dict[int, str] = {}
    # A proposition that was added to an imported cluster later has no imported label.
    labelled = {d.unit_id: d.imported_id for d in decisions if d.origin == Origin.IMPORTED}
    for pk, position in Proposition.objects.filter(unit__in=units).order_by().values_list("unit", "position"):
        places[pk] = f"input {position}" if position else "target"
        imports[pk] = imports[pk] or labelled.get(pk)
    for rows in (Cluster.objects.filter(unit__in=units), Target.objects.filter(unit__in=units, version=1)):
        for pk, imported in rows.order_by().values_list("unit", "imported"):
            imports[pk] = imports[pk] or imported
    of_review = Review.objects.filter(unit__in=units).order_by()
    imports |= {pk: imports[pk] or imported for pk, imported in of_review.values_list("unit", "imported")}
    return {
        pk: _Source(imported, (subjects[pk].key, *_keys(subjects[pk])), places.get(pk, ""))
        for pk, imported in imports.items()
        if imported
    }


def _keys(subject: Subject) -> list[str]:
    """Return the keys of ancestors: a record of a file may be a cluster or review with all its texts."""
    return [ancestor.name.split("/", 1)[1] for ancestor in subject.ancestors if ancestor.role != chain.EARLIER]


def _of_decision(decision: Decision, subjects: Mapping[int, Subject], sources: Mapping[int, _Source]) -> _Source:
    """Return the source of an imported value. Its file may be another one than that of the text."""
    subject, own = subjects[decision.unit_id], sources.get(decision.unit_id)
    place = own.place if own else ""
    return _Source(decision.imported_id or 0, (subject.key, *_keys(subject)), place)


class _Lines:
    """Files and lines of imports, in three queries."""

    def __init__(self, sources: Sequence[_Source], people: Mapping[int, str]) -> None:
        self.people = people
        ids = {source.imported for source in sources}
        rows: Any = Import.objects.defer("report", "counts", "progress")
        has_lines = Exists(ImportedRecord.objects.filter(imported=OuterRef("pk")))
        self.imports = rows.annotate(has_lines=has_lines).in_bulk(ids)
        self.files: dict[tuple[int, int], ImportFile] = {
            (file.imported_id, file.position): file for file in ImportFile.objects.filter(imported__in=ids)
        }
        keys = {key for source in sources for key in source.keys}
        records = ImportedRecord.objects.filter(imported__in=ids, key__in=keys).order_by()
        self.records = {
            (i, key): (file, line) for i, key, file, line in records.values_list("imported", "key", "file", "line")
        }

    def fill(self, step: Step, source: _Source, *, with_import: bool = False) -> Step:
        """Return a step with the file and line of its source; ``with_import`` also says who imported it and when."""
        imported = self.imports.get(source.imported)
        if imported is None:
            return step
        records = (self.records.get((source.imported, key)) for key in source.keys)
        file, line = next((record for record in records if record), (0, None if imported.has_lines else 0))
        of_file = self.files.get((source.imported, file)) if line or (source.imported, 1) not in self.files else None
        if with_import:
            by = self.people.get(imported.created_by_id or 0, "")
            step = replace(step, at=utc_time(imported.created_at), by=by)
        return replace(
            step,
            imported=imported.pk,
            format=imported.format,
            file=of_file.name if of_file else imported.file_name,
            sha256=of_file.sha256 if of_file else imported.sha256,
            line=line,
            place=source.place,
        )


def _decisions(units: Mapping[int, Unit]) -> list[Decision]:
    rows = Decision.objects.filter(unit__in=units).order_by()
    related = ("round", "answer__guideline", "answer__author", "checkpoint")
    decisions = sorted(rows.select_related(*related), key=lambda d: d.pk)
    for decision in decisions:
        decision.unit = units[decision.unit_id]
    return decisions


def _decided(
    decisions: Sequence[Decision], subjects: Mapping[int, Subject], people: Mapping[int, str], scope: Scope
) -> Iterable[tuple[int, Step, Decision]]:
    """Yield a step for the fields of a unit that were decided together."""
    words = sentences(decisions)
    assisted = seen_with({d.answer_id for d in decisions if d.answer_id})

    def together(d: Decision) -> tuple[Any, ...]:
        adopted = (str(d.answer_id or ""), d.imported_id or 0, d.round_id or 0, d.decided_by_id or 0)
        return (d.unit_id, d.kind, d.decided_at, d.origin, *adopted, d.reason)

    for _, group in groupby(sorted(decisions, key=lambda d: (*together(d), d.pk)), together):
        mine = list(group)
        first = mine[0]
        answer = first.answer
        suggestion, suggested_by = assisted.get(first.answer_id, ("", ""))
        yield (
            first.unit_id,
            Step(
                f"decision/{first.pk}",
                chain.DECIDED,
                subjects[first.unit_id].name,
                at=utc_time(first.decided_at),
                by=people.get(first.decided_by_id or 0, ""),
                kind=first.kind,
                values=tuple(Value(d.field, words.get(d.pk, ""), d.pk) for d in mine),
                origin=first.origin,
                reason=first.reason,
                round=first.round.name if first.round else "",
                guideline=answer.guideline.number if answer else None,
                answer=str(first.answer_id or ""),
                rater=answer.author.pseudonym if answer and scope.raters else "",
                suggestion=suggestion,
                suggested_by=suggested_by,
                checkpoint=first.checkpoint.number if first.checkpoint else None,
            ),
            first,
        )


def _answered(units: Sequence[int], subjects: Mapping[int, Subject], scope: Scope) -> Iterable[tuple[int, Step]]:
    related = ("assignment__round", "guideline", "author", "checkpoint")
    rows = scope.answers.filter(assignment__unit__in=units).select_related(*related).order_by()
    answers = sorted(rows, key=lambda a: (a.assignment.round_id, a.assignment.number, a.assignment_id, a.revision))
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for answer in answers:
        if answer.outcome == Outcome.ANSWERED:
            by_kind[answer.assignment.round.kind].append(answer.pk)
    values = {pk: value for kind, pks in by_kind.items() for pk, value in kinds.get(kind).values(pks).items()}
    assisted = seen_with([answer.pk for answer in answers])
    for answer in answers:
        suggestion, suggested_by = assisted.get(answer.pk, ("", ""))
        assignment, kind = answer.assignment, kinds.get(answer.assignment.round.kind)
        words = kind.in_words(values[answer.pk]) if answer.pk in values else {}
        current = assignment.current_answer_id == answer.pk
        yield (
            assignment.unit_id,
            Step(
                f"answer/{answer.pk}",
                chain.ANSWERED,
                subjects[assignment.unit_id].name,
                at=utc_time(answer.received_at),
                by=answer.author.pseudonym,
                kind=kind.key,
                values=tuple(Value(field, word) for field, word in words.items()),
                reason=answer.reason,
                round=assignment.round.name,
                guideline=answer.guideline.number,
                answer=str(answer.pk),
                revision=answer.revision,
                is_current=current,
                is_counted=current and assignment.is_counted and answer.outcome == Outcome.ANSWERED,
                outcome=answer.outcome,
                suggestion=suggestion,
                suggested_by=suggested_by,
                checkpoint=answer.checkpoint.number if answer.checkpoint else None,
            ),
        )


def _searched(
    project: Project, subjects: Mapping[int, Subject], people: Mapping[int, str]
) -> Iterable[tuple[int, Step]]:
    """Yield the PubMed search that found a review."""
    reviews = {subject.key: pk for pk, subject in subjects.items() if subject.type == "review"}
    of_query = Q(search__project=project, outcome=Hit.Outcome.NEW) & ~Q(search__query="")
    hits = Hit.objects.filter(of_query, pmid__in=list(reviews)) if reviews else Hit.objects.none()
    for hit in hits.select_related("search").order_by("search_id", "position"):
        search, pk = hit.search, reviews[hit.pmid]
        yield (
            pk,
            Step(
                f"search/{search.pk}/{pk}",
                chain.FOUND,
                subjects[pk].name,
                at=utc_time(search.created_at),
                by=people.get(search.created_by_id or 0, ""),
                search=search.pk,
                query=search.query,
                position=hit.position,
            ),
        )


def _corrected(subjects: Mapping[int, Subject], people: Mapping[int, str]) -> Iterable[tuple[int, Step]]:
    """Yield corrections of texts and removals, from the log. They belong to the text that was replaced."""
    ids = [str(pk) for pk in subjects]
    entries = Entry.objects.filter(object_type="unit", object_id__in=ids, verb="supersede").select_related("checkpoint")
    for entry in entries.order_by("pk"):
        yield (
            int(entry.object_id),
            Step(
                f"correction/{entry.pk}",
                chain.CORRECTED,
                subjects[int(entry.object_id)].name,
                at=utc_time(entry.at),
                by=people.get(entry.actor_id or 0, ""),
                reason=entry.reason,
                before=(entry.before or {}).get("text") or "",
                after=(entry.after or {}).get("text") or "",
                checkpoint=entry.checkpoint.number if entry.checkpoint else None,
            ),
        )


def _changed(subjects: Mapping[int, Subject], people: Mapping[int, str]) -> Iterable[tuple[int, Step]]:
    """Yield changes that made values stale, and doubts. A change of several kinds is one step."""
    rows = Change.objects.filter(unit__in=subjects).order_by("unit", "changed_at", "what", "pk")
    for (pk, at, what), group in groupby(rows, lambda change: (change.unit_id, change.changed_at, change.what)):
        first = next(group)
        yield (
            pk,
            Step(
                f"change/{first.pk}",
                chain.CHANGED,
                subjects[pk].name,
                at=utc_time(at),
                by=people.get(first.changed_by_id or 0, ""),
                reason=first.reason,
                changed=what,
                before=first.before,
                after=first.after,
            ),
        )


def _readings(subjects: Mapping[int, Subject], lines: _Lines) -> Iterable[tuple[int, Step]]:
    """Yield what models said about the abstract of a unit."""
    for path, type in _READ_OF.items():
        units = [pk for pk, subject in subjects.items() if subject.type == type]
        rows = MachineReading.objects.filter(**{f"{path}__in": units}) if units else MachineReading.objects.none()
        columns = (path, "pk", "task", "model", "weights", "imported", "imported__created_at", "imported__file_name")
        for pk, number, task, model, weights, imported, at, file in rows.order_by("pk").values_list(*columns):
            step = Step(
                f"reading/{number}",
                chain.READ,
                subjects[pk].name,
                at=utc_time(at),
                kind=task,
                imported=imported,
                file=file,
                system=model,
                hash=weights,
            )
            yield pk, step


def _generated(units: Sequence[int], subjects: Mapping[int, Subject], scope: Scope) -> Iterable[tuple[int, Step]]:
    rows = scope.summaries.filter(item__unit__in=units).select_related("item__run__version__system").order_by("pk")
    for summary in rows.defer("token_ids", "record"):
        run = summary.item.run
        yield (
            summary.item.unit_id,
            Step(
                f"summary/{summary.pk}",
                chain.GENERATED,
                subjects[summary.item.unit_id].name,
                at=utc_time(summary.created_at),
                run=run.pk,
                system=run.version.system.name,
                version=run.version.number,
                hash=run.version.hash,
                text=summary.text,
            ),
        )
