"""Outcome of the values shown in each closed correction round, with the data that it is computed from.

``agreement/corrections.jsonl`` has one round per line: the figures and the scales. They are computed from the counted
rows of ``answers/KIND.csv``. ``agreement/references.csv`` tells for each answer and field whether it equals the shown
value. ``agreement/shown/KIND.csv`` has the shown values, column by column. ``python -m measures.recompute`` recomputes
the figures from these files.
"""

import json
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from projects import kinds
from projects.agreement.queries import report, reviews
from projects.models import Project, Round
from projects.purposes import SUGGESTIONS, which
from releases.formats.rows import BATCH, csv_row, flag

from ..sources.blinding import kept_blind
from .notes import Notes

REPORTS, REFERENCES, SHOWN = "agreement/corrections.jsonl", "agreement/references.csv", "agreement/shown/{}.csv"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    rounds = (
        Round.objects.filter(project=project, status=Round.Status.CLOSED, purpose__in=which("shows_value"))
        .exclude(terms__has_key=SUGGESTIONS)
        .select_related("project")
        .order_by("pk")
    )
    if blind := kept_blind(project):
        rounds = rounds.exclude(pk__in=blind)
    if not rounds.exists():
        return
    yield REPORTS, (_line(round) for round in rounds.iterator(chunk_size=BATCH))
    yield REFERENCES, _references(rounds)
    present = set(rounds.order_by().values_list("kind", flat=True).distinct())
    for kind in kinds.all_kinds():
        if kind.key in present:
            yield SHOWN.format(kind.key), _shown(kind, rounds.filter(kind=kind.key))


def _line(round: Round) -> bytes:
    kind = kinds.get(round.kind)
    row = {
        "round": round.name,
        "part": kind.part,
        "fields": list(kind.fields_of(round)),
        "answers": f"answers/{kind.key}.csv",
        "shown": SHOWN.format(kind.key),
        "scales": [scale.as_json() for scale in kind.scales_of(round)],
        "report": report(round)["review"],
    }
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _references(rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield csv_row(("answer", "field", "same", "review"))
    for round in rounds.iterator(chunk_size=BATCH):
        for answer, review in reviews(round):
            for name, same in review.same.items():
                yield csv_row([answer, name, flag(same), review.review])


def _shown(kind: kinds.Kind, rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield csv_row(["answer", *kind.columns])
    for round in rounds.iterator(chunk_size=BATCH):
        for answer, review in reviews(round):
            for _, shown, _ in review.parts:
                yield csv_row([answer, *(shown.get(name, "") for name in kind.columns)])
