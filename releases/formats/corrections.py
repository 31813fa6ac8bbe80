"""What became of the values that review-and-correct rounds showed, of every closed one as its page prints it.

``agreement/corrections.jsonl``: one round a line, the figures and beside them the scales. They are of the rows of
``answers/KIND.csv`` that are counted, by their answer: whether each field says what was shown is in
``agreement/references.csv``, and what was shown, column by column, in ``agreement/shown/KIND.csv``.
``python -m measures.again`` repeats the figures from these files.
"""

import json
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from projects import kinds
from projects.models import Project, Round
from projects.purposes import which
from projects.rounds.agreement import report, reviews

from ..sources.blinding import kept_blind
from .notes import Notes
from .rows import BATCH, flag, line

REPORTS, REFERENCES, SHOWN = "agreement/corrections.jsonl", "agreement/references.csv", "agreement/shown/{}.csv"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    rounds = Round.objects.filter(
        project=project, status=Round.Status.CLOSED, purpose__in=which("shows_value")
    ).select_related("project").order_by("pk")  # fmt: skip
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
    found = {
        "round": round.name, "part": kind.part, "fields": list(kind.fields_of(round)),
        "answers": f"answers/{kind.key}.csv", "shown": SHOWN.format(kind.key),
        "scales": [scale.as_json() for scale in kind.scales_of(round)], "report": report(round)["review"],
    }  # fmt: skip
    return json.dumps(found, ensure_ascii=False).encode() + b"\n"


def _references(rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield line(("answer", "field", "same"))
    for round in rounds.iterator(chunk_size=BATCH):
        for answer, review in reviews(round):
            for name, same in review.same.items():
                yield line([answer, name, flag(same)])


def _shown(kind: kinds.Kind, rounds: QuerySet[Round]) -> Iterator[bytes]:
    yield line(["answer", *kind.columns])
    for round in rounds.iterator(chunk_size=BATCH):
        for answer, review in reviews(round):
            for _, shown, _ in review.parts:
                yield line([answer, *(shown.get(name, "") for name in kind.columns)])
