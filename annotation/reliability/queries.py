"""Queries of the reliability study page: what can be sampled, the studies, and their results."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from measures.reliability import Field, clusters, field
from projects import kinds
from projects.agreement.queries import answers_by_chunk, gold_of, report
from projects.models import Member, Project, Round
from projects.permissions import may
from projects.reports.registry import Tables, get
from projects.reports.serializers import table_page
from projects.rounds import queries as rounds_queries
from projects.rounds.previews import pace_of

from ..kinds.label.kind import LabelKind
from ..kinds.match import matching
from ..kinds.match.kind import MatchKind
from ..models import MatchCandidate, ReliabilityStudy
from .actions import count_labellable, why_no_matches
from .figures import matchable_now

Json = dict[str, Any]


def overview(member: Member) -> Json:
    """Return the whole page. The number of queries is fixed, plus those for the figures of each closed study."""
    project = member.project
    rankers = matching.rankers(project)
    matchable, known = matchable_now(project)
    refused = matchable["refused"]
    tables = Tables(project, member)
    table = get("m3-9")
    return {
        "propositions": count_labellable(project),
        "sentences": matchable["matchable"],
        "no_matches": why_no_matches(matchable["targets"], matchable["matchable"], refused),
        "refused": [{"reason": why, "targets": refused[why]} for why in matching.Refusal if refused.get(why)],
        "as_of": known.as_of if known and known.job else None,
        "rankers": rankers,
        "people": _people(project),
        "seconds": {kind.key: pace_of(project, kind.key)[0] or kind.assumed_seconds for kind in (LabelKind, MatchKind)},
        "studies": _studies(project),
        "table": table_page(tables.build(table)) if table.is_of(tables.data(table.data)) else None,
    }


def _people(project: Project) -> list[Json]:
    """Return the people who can take part, and whether they can read the corpus that they would be asked about."""
    members = project.members.active().select_related("user").order_by("pk")
    return [
        {
            "member": member.pk,
            "name": member.name,
            "pseudonym": member.pseudonym,
            "role": member.role,
            "reads_corpus": may(member, "read the corpus"),
        }
        for member in members
        if may(member, "work in rounds")
    ]


def _studies(project: Project) -> list[Json]:
    studies = list(project.reliability_studies.select_related("labels", "matches").order_by("-pk"))
    ids = [pk for study in studies for pk in (study.labels_id, study.matches_id) if pk]
    queryset: QuerySet[Round] = rounds_queries.with_counts(Round.objects.filter(pk__in=ids).select_related("guideline"))
    rounds = {round.pk: rounds_queries.row(round) for round in queryset}
    return [_study(study, rounds) for study in studies]


def _study(study: ReliabilityStudy, rounds: dict[int, Json]) -> Json:
    return {
        "id": study.pk,
        "name": study.name,
        "seed": study.seed if study.is_over else None,
        "overlap": study.overlap,
        "created_at": study.created_at,
        "no_matches": study.no_matches,
        "rounds": [rounds[pk] for pk in (study.labels_id, study.matches_id) if pk],
    }


OPEN = "its round is open"
NO_RANKER = "rankers do not label"


def rounds_of(study: ReliabilityStudy) -> list[Round]:
    return [round for round in (study.labels, study.matches) if round]


def has_results(round: Round) -> bool:
    """Return whether results of a round may be shown. Results of an open round would influence its raters."""
    return round.status == Round.Status.CLOSED and not round.is_open


def rounds_with_results(project: Project) -> Iterator[tuple[ReliabilityStudy, Round]]:
    """Yield the studies of a project with each round whose results may be shown, oldest study first."""
    studies = ReliabilityStudy.objects.filter(project=project).select_related("labels__project", "matches__project")
    for study in studies.order_by("pk"):
        yield from ((study, round) for round in rounds_of(study) if has_results(round))


def fields(round: Round) -> list[Field]:
    """Return the nominal fields of one closed round.

    The answers are read once for all fields. The report has no bootstrap, because its intervals are not printed.
    """
    measured = report(round)
    by_name = {measure["name"]: measure for measure in measured["measures"]}
    gold = gold_of(round)
    kind = kinds.get(round.kind)
    cells: dict[str, list[tuple[str, str]]] = {}
    reviews: dict[str, str] = {}
    for part in answers_by_chunk(round):
        of_unit = kind.reviews({unit.pk for unit, _, _ in part})
        for unit, _, value in part:
            reviews[unit.key] = of_unit.get(unit.pk, unit.key)
            for column, cell in kind.row(value).items():
                cells.setdefault(column, []).append((unit.key, cell))
    cluster_of, ranks = clusters(reviews), _ranks(round)
    return [
        field(scale, by_name[scale.name], cells.get(scale.column, []), gold.get(scale.name, {}), cluster_of, ranks)
        for scale in kind.scales_of(round)
        if scale.weights == "identity"
    ]


def _ranks(round: Round) -> dict[str, int] | None:
    """Return the ranker's rank of the gold sentence by item key; None if the round has no items."""
    rows = MatchCandidate.objects.filter(item__round=round, is_gold=True)
    return dict(rows.values_list("item__unit__key", "rank")) or None
