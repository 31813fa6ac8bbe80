"""The agreement of every closed round of independent labelling as its page prints it, with all it is computed from.

``agreement/reports.jsonl``: one round a line, the report itself and beside it the scales, comparisons, seed and
libraries. It is of the rows of ``answers/KIND.csv`` that are counted and no repeats, in the order of that file. Texts
that spans lie in, and the review of each unit, are in ``agreement/units.csv``; what raters of a round that makes no
gold are held against in ``agreement/gold.csv``. ``python -m measures.again`` repeats the figures from these files.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from measures.agreement import REPLICATES
from projects import kinds
from projects.actions.measuring import of_round
from projects.models import Project, Round, Unit
from projects.purposes import which
from projects.rounds.agreement import drawn_by, gold_of, ratings_an_item, report

from ..sources.blinding import kept_blind
from .notes import Notes
from .rows import BATCH, line

REPORTS, UNITS, GOLD = "agreement/reports.jsonl", "agreement/units.csv", "agreement/gold.csv"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    rounds = _closed(project)
    if not rounds.exists():
        return
    yield REPORTS, (_line(round) for round in rounds.iterator(chunk_size=BATCH))
    yield UNITS, _units(project, rounds)
    if rounds.filter(purpose__in=which("held_against_gold")).exists():
        yield GOLD, _gold(rounds)


def _closed(project: Project) -> QuerySet[Round]:
    found = Round.objects.filter(project=project, status=Round.Status.CLOSED, purpose__in=which("independent"))
    if blind := kept_blind(project):
        found = found.exclude(pk__in=blind)
    return found.select_related("project").order_by("pk")


def _line(round: Round) -> bytes:
    kind = kinds.get(round.kind)
    return json.dumps(
        {
            "round": round.name, "unit_types": list(kind.unit_types), "part": kind.part,
            "answers": f"answers/{kind.key}.csv",
            "scales": [scale.as_json() for scale in kind.scales_of(round)],
            "comparisons": [comparison.as_json() for comparison in kind.comparisons_of(round)],
            "ratings_an_item": ratings_an_item(round),
            "seed": drawn_by(round), "bootstrap": REPLICATES, "libraries": {"numpy": version("numpy")},
            "own_seed": kind.blind, "report": report_of(round),
        },
        ensure_ascii=False,
    ).encode() + b"\n"  # fmt: skip


def report_of(round: Round) -> dict[str, Any]:
    """As it was kept, where that is of today; else measured now."""
    found = of_round(round)
    return found.report if found.report and found.current else report(round)


def _units(project: Project, rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield line(("unit_type", "unit", "review", "text"))
    # Of kinds that ask of the same sort of unit each says the same of it.
    by_type = {type: kind for kind in reversed(kinds.all_kinds()) for type in kind.unit_types}
    asked = Unit.objects.filter(project=project, assignments__round__in=rounds.values("pk")).distinct().order_by("pk")
    rows = asked.values_list("pk", "type", "key").iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        reviews: dict[int, str] = {}
        texts: dict[int, str] = {}
        for unit_type in {type for _, type, _ in batch}:
            units = [pk for pk, type, _ in batch if type == unit_type]
            reviews |= by_type[unit_type].reviews(units)
            texts |= by_type[unit_type].texts(units)
        for pk, type, key in batch:
            yield line([type, key, reviews.get(pk, key), texts.get(pk, "")])


def _gold(rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield line(("round", "scale", "unit", "value"))
    for round in rounds.iterator(chunk_size=BATCH):
        for scale, values in gold_of(round).items():
            for unit, value in values.items():
                yield line([round.name, scale, unit, value])
