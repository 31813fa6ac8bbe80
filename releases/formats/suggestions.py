"""Suggestions of models that closed rounds showed, and what people made of them.

``suggestions/sets.jsonl`` has one version of a model per line, with its prompt, decoding, and weights or endpoint.
``suggestions/values/KIND.csv`` has the suggested values, column by column. ``suggestions/outcomes.csv`` tells for each
answer and field whether the suggestion was shown, and whether the answer equals it; counted answers have their review,
and whether answer and suggestion equal gold. ``suggestions/reports.jsonl`` has the figures of each round.
``python -m measures.recompute`` recomputes them from these rows and ``answers/``.
"""

import json
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from projects import kinds
from projects.models import Project, Round, Suggestion, SuggestionOutcome, SuggestionSet
from projects.purposes import SUGGESTIONS, which
from projects.suggestions.queries import set_of
from projects.suggestions.report import skips, suggested_answers, suggestion_report
from releases.formats.rows import BATCH, csv_row, flag

from ..sources.blinding import kept_blind
from .notes import Notes

SETS, REPORTS, OUTCOMES, VALUES = (
    "suggestions/sets.jsonl",
    "suggestions/reports.jsonl",
    "suggestions/outcomes.csv",
    "suggestions/values/{}.csv",
)


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    closed = Round.objects.filter(project=project, status=Round.Status.CLOSED, purpose__in=which("shows_value"))
    rounds = closed.filter(terms__has_key=SUGGESTIONS).select_related("project").order_by("pk")
    if blind := kept_blind(project):
        rounds = rounds.exclude(pk__in=blind)
    used = {round.suggestions for round in rounds if round.suggestions is not None}
    if not used:
        return
    sets = SuggestionSet.objects.filter(pk__in=used).order_by("pk")
    yield SETS, (_set(one) for one in sets)
    for kind in kinds.all_kinds():
        if of_kind := [one for one in sets if one.kind == kind.key]:
            yield VALUES.format(kind.key), _values(kind, of_kind)
    yield OUTCOMES, _outcomes(rounds)
    yield REPORTS, (_report(round) for round in rounds.iterator(chunk_size=BATCH))


def _set(one: SuggestionSet) -> bytes:
    row = {
        "set": one.name,
        "kind": one.kind,
        "source": one.get_source_display(),
        "model": one.model,
        "version": one.version,
        # The address of an endpoint may be that of a machine in the lab.
        "details": {name: value for name, value in one.details.items() if name != "url"},
        "options": one.options,
        "counts": one.report,
        "made_at": one.made_at.isoformat(),
    }
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _values(kind: kinds.Kind, sets: list[SuggestionSet]) -> Iterator[bytes]:
    yield csv_row(["set", "unit", "attempts", "fault", *kind.columns])
    for one in sets:
        rows = Suggestion.objects.filter(of=one).select_related("unit").order_by("pk")
        for suggestion in rows.iterator(chunk_size=BATCH):
            start = [one.name, suggestion.unit.key, suggestion.attempts, suggestion.fault]
            for cells in kind.rows(suggestion.suggested) if suggestion.value is not None else [{}]:
                yield csv_row([*start, *(cells.get(name, "") for name in kind.columns)])


def _outcomes(rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield csv_row(["answer", "field", "set", "shown", "same", "rejected", "review", "right", "suggestion_right"])
    for round in rounds.iterator(chunk_size=BATCH):
        counted = suggested_answers(round)
        rows = SuggestionOutcome.objects.filter(answer__assignment__round=round).order_by("pk")
        columns = ("answer", "field", "suggestion__of__name", "was_shown", "same", "rejected")
        for answer, field, name, *flags in rows.values_list(*columns).iterator(chunk_size=BATCH):
            own = counted.get(answer)
            gold = [own.right or {}, own.model_right or {}] if own else []
            rest = [own.review, *(flag(each[field]) if field in each else "" for each in gold)] if own else [""] * 3
            yield csv_row([answer, field, name, *map(flag, flags), *rest])
        for answer, was_shown in skips(round).items():
            yield csv_row([answer, "", set_of(round).name, flag(was_shown), *[""] * 5])


def _report(round: Round) -> bytes:
    fields = list(kinds.get(round.kind).fields_of(round))
    row = {
        "round": round.name,
        "answers": f"answers/{round.kind}.csv",
        "fields": fields,
        "report": suggestion_report(round),
    }
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
