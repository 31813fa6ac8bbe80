"""The design of each round, from which its figures and its sample can be recomputed. One JSON object per line.

Seed and options of a round that is still blind are omitted; ``blind`` marks it. ``agreement/returned.csv`` says which
answers to returning gold items are correct, from which the accuracy and the warnings of raters are recomputed.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import QuerySet

from measures import drift
from projects import kinds
from projects.drift import queries as drift_queries
from projects.gates import queries as gates_queries
from projects.models import Member, Project, Round
from releases.formats.rows import BATCH, csv_row, flag, utc_time

from ..sources.blinding import kept_blind
from .notes import Notes

PATH, RETURNED = "rounds.jsonl", "agreement/returned.csv"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if _rounds(project).exists():
        yield PATH, _lines(project)
        returning = _rounds(project).exclude(pk__in=kept_blind(project)).filter(sampling__has_key="returned")
        if returning.exists():
            yield RETURNED, _returned(returning)


def _rounds(project: Project) -> QuerySet[Round]:
    return Round.objects.filter(project=project).opened().counting().select_related("guideline").order_by("pk")


def _returned(rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield csv_row(["round", "rater", "number", "answer", "correct"])
    for round in rounds.iterator(chunk_size=BATCH):
        answers = drift_queries.answers_of(round)
        names = dict(Member.objects.filter(pk__in=answers).order_by("pk").values_list("pk", "pseudonym"))
        for person, name in names.items():
            for number, (answer, is_correct) in enumerate(answers[person], start=1):
                yield csv_row([round.name, name, number, answer, flag(is_correct)])


def _lines(project: Project) -> Iterator[bytes]:
    rounds = _rounds(project)
    blind = set(kept_blind(project))
    gates = gates_queries.released(project, blind)
    for round in rounds.iterator(chunk_size=BATCH):
        less = _kept_back(round) if round.pk in blind else {}
        yield (
            json.dumps(
                {
                    "round": round.name,
                    "kind": round.kind,
                    "purpose": round.purpose,
                    "independent": round.meaning.independent and not kinds.get(round.kind).shows_suggestions(round),
                    "status": round.status,
                    "overlap": round.overlap,
                    "dealing": round.allocation,
                    "seed": round.seed,
                    "guideline": round.guideline.number,
                    "units": round.units_count,
                    "sampling": _sampling(round),
                    "policy": round.policy,
                    "options": kinds.get(round.kind).released_options(round.options),
                    "opened_at": utc_time(round.opened_at),
                    "closed_at": utc_time(round.closed_at) if round.closed_at else None,
                    "gate": _gate(gates[round.pk]) if round.pk in gates else None,
                    "blind": round.pk in blind,
                }
                | less,
                ensure_ascii=False,
                sort_keys=True,
            ).encode()
            + b"\n"
        )


def _sampling(round: Round) -> dict[str, Any]:
    """Return the sampling, with the accuracy on returning items instead of their ids."""
    if not round.returns_gold:
        return dict(round.sampling)
    stored = {name: value for name, value in round.sampling["returned"].items() if name != "units"}
    source = Round.objects.filter(pk=stored["source"]).values_list("name", flat=True).first()
    answers = round.assignments.returned().counted().filter(current_answer__isnull=False).count()
    return {**round.sampling, "returned": stored | {"source": source, "answers": answers, "raters": _accuracy(round)}}


def _accuracy(round: Round) -> list[dict[str, Any]]:
    """Return the accuracy of each rater on returning items, by window, with warnings."""
    accuracy, correct = drift_queries.accuracy_of(round) or {"people": []}, drift_queries.series(round)
    return [
        {
            "rater": person["pseudonym"],
            **{name: person[name] for name in ("answers", "right", "low", "high", "windows")},
            "warnings": [
                {
                    **{name: warning[name] for name in drift.STATED},
                    "at": utc_time(warning["at"]),
                    "recovered_at": warning["recovered_at"] and utc_time(warning["recovered_at"]),
                }
                for warning in person["warnings"]
            ],
            "warnings_are_current": _stated(person["warnings"])
            == drift.warnings(correct[person["member"]], accuracy["bar"], accuracy["horizon"]),
        }
        for person in accuracy["people"]
        if person["answers"]
    ]


def _stated(warnings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: one[name] for name in drift.STATED} | {"recovered": one["recovered_at"] is not None} for one in warnings
    ]


def _gate(gate: dict[str, Any]) -> dict[str, Any]:
    return gate | {"readings": [reading | {"at": utc_time(reading["at"])} for reading in gate["readings"]]}


def _kept_back(round: Round) -> dict[str, Any]:
    sampling = {name: value for name, value in round.sampling.items() if name != "seed"}
    return {"seed": None, "sampling": sampling, "options": {}}
