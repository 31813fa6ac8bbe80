"""Agreement of every closed round of independent labelling, with all data that it is computed from.

``agreement/reports.jsonl`` has one round per line: the report, scales, comparisons, seed and libraries. A report is
computed from the counted rows of ``answers/KIND.csv`` without repeats, in file order. Attention checks are left out and
listed under ``checks``.

``agreement/units.csv`` has the texts that spans refer to and the review of each unit. ``agreement/gold.csv`` has the
reference values of rounds that produce no gold. ``python -m measures.recompute`` recomputes the figures from these
files.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import islice

from django.db.models import QuerySet

from projects import kinds
from projects.agreement.queries import (
    answered_checks,
    gold_of,
    planned_ratings_per_item,
    resampling_seed,
    units_to_measure,
)
from projects.models import Project, Round, Unit
from projects.purposes import which
from releases.formats.rows import BATCH, csv_row

from ..methods.facts.agreement import agreement_of
from ..sources.agreement import report_of
from ..sources.blinding import kept_blind
from .notes import Notes

REPORTS, UNITS, GOLD = "agreement/reports.jsonl", "agreement/units.csv", "agreement/gold.csv"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    rounds = _closed(project)
    if not rounds.exists():
        return
    yield REPORTS, (_line(round, notes) for round in rounds.iterator(chunk_size=BATCH))
    yield UNITS, _units(project, rounds)
    if rounds.filter(purpose__in=which("held_against_gold")).exists():
        yield GOLD, _gold(rounds)


def _closed(project: Project) -> QuerySet[Round]:
    rounds = Round.objects.filter(project=project, status=Round.Status.CLOSED, purpose__in=which("independent"))
    if blind := kept_blind(project):
        rounds = rounds.exclude(pk__in=blind)
    return rounds.select_related("project").order_by("pk")


def _line(round: Round, notes: Notes) -> bytes:
    kind, computed = kinds.get(round.kind), report_of(round)
    notes.agreement[round.pk] = agreement_of(computed)
    return (
        json.dumps(
            {
                "round": round.name,
                "unit_types": list(kind.unit_types),
                "part": kind.part,
                "answers": f"answers/{kind.key}.csv",
                "scales": [scale.as_json() for scale in kind.scales_of(round)],
                "comparisons": [comparison.as_json() for comparison in kind.comparisons_of(round)],
                "ratings_an_item": planned_ratings_per_item(round),
                "units_to_measure": units_to_measure(round),
                "checks": answered_checks(round),
                "seed": resampling_seed(round),
                "bootstrap": 0,
                "libraries": {"numpy": version("numpy")},
                "own_seed": kind.blind,
                "report": computed,
            },
            ensure_ascii=False,
        ).encode()
        + b"\n"
    )


def _units(project: Project, rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield csv_row(("unit_type", "unit", "review", "text"))
    # Kinds with the same unit type return the same texts and reviews.
    by_type = {type: kind for kind in reversed(kinds.all_kinds()) for type in kind.unit_types}
    rated_units = (
        Unit.objects.filter(project=project, assignments__round__in=rounds.values("pk")).distinct().order_by("pk")
    )
    rows = rated_units.values_list("pk", "type", "key").iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        reviews: dict[int, str] = {}
        texts: dict[int, str] = {}
        for unit_type in {type for _, type, _ in batch}:
            units = [pk for pk, type, _ in batch if type == unit_type]
            reviews |= by_type[unit_type].reviews(units)
            texts |= by_type[unit_type].texts(units)
        for pk, type, key in batch:
            yield csv_row([type, key, reviews.get(pk, key), texts.get(pk, "")])


def _gold(rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield csv_row(("round", "scale", "unit", "value"))
    for round in rounds.iterator(chunk_size=BATCH):
        for scale, values in gold_of(round).items():
            for unit, value in values.items():
                yield csv_row([round.name, scale, unit, value])
