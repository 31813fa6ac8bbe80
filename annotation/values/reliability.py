"""The figures of a reliability study, field by field: agreement, and accuracy against gold beside chance and ranker."""

from collections.abc import Iterator

from measures.reliability import Field, clusters, field
from projects import kinds
from projects.models import Project, Round
from projects.rounds.agreement import gold_of, report, said_in

from ..models import MatchCandidate, ReliabilityStudy

OPEN = "its round is open"
NO_RANKER = "a ranker gives no labels"


def rounds_of(study: ReliabilityStudy) -> list[Round]:
    return [round for round in (study.labels, study.matches) if round]


def is_told(round: Round) -> bool:
    """Whether something may be said of a round: figures of an open one would sway people."""
    return round.status == Round.Status.CLOSED and not round.is_open


def told(project: Project) -> Iterator[tuple[ReliabilityStudy, Round]]:
    """The rounds of a project's studies of which something may be said, oldest first."""
    studies = ReliabilityStudy.objects.filter(project=project).select_related("labels__project", "matches__project")
    for study in studies.order_by("pk"):
        yield from ((study, round) for round in rounds_of(study) if is_told(round))


def fields(round: Round) -> list[Field]:
    """The nominal fields of one closed round: its answers are read once for all of them. The report is without a
    bootstrap, whose intervals are not printed."""
    measured = report(round, bootstrap=0)
    by_name = {measure["name"]: measure for measure in measured["measures"]}
    gold = gold_of(round)
    kind = kinds.get(round.kind)
    said: dict[str, list[tuple[str, str]]] = {}
    reviews: dict[str, str] = {}
    for part in said_in(round):
        of_unit = kind.reviews({unit.pk for unit, _, _ in part})
        for unit, _, value in part:
            reviews[unit.key] = of_unit.get(unit.pk, unit.key)
            for column, cell in kind.row(value).items():
                said.setdefault(column, []).append((unit.key, cell))
    cluster_of, ranks = clusters(reviews), _ranks(round)
    return [
        field(scale, by_name[scale.name], said.get(scale.column, []), gold.get(scale.name, {}), cluster_of, ranks)
        for scale in kind.scales_of(round) if scale.weights == "identity"
    ]  # fmt: skip


def _ranks(round: Round) -> dict[str, int] | None:
    """Item -> the place of the gold sentence by the ranker; None where the round has no items."""
    rows = MatchCandidate.objects.filter(item__round=round, is_gold=True)
    return dict(rows.values_list("item__unit__key", "rank")) or None
