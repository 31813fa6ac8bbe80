"""The reliability study page: what can be sampled, the studies that there are, and what they came to."""

from collections import Counter
from typing import Any

from django.db.models import QuerySet

from projects.models import Member, Project, Round
from projects.pages import progress
from projects.pages.plans import pace_of
from projects.pages.tables import table_page
from projects.permissions import may
from projects.tables import Tables, get

from ..actions.reliability import labellable, without_matches
from ..kinds.label.kind import LabelKind
from ..kinds.match.kind import MatchKind
from ..models import ReliabilityStudy
from ..values import matching

Json = dict[str, Any]


def overview(member: Member) -> Json:
    """The whole page. A fixed number of queries beside those of each closed study's figures."""
    project = member.project
    rankers = matching.rankers(project)
    found = matching.matchable(project, rankers[0])
    refused = Counter(found.refused.values())
    shown = Tables(project, member)
    table = get("m3-9")
    return {
        "propositions": labellable(project),
        "sentences": len(found.honest),
        "no_matches": without_matches(found),
        "refused": [{"reason": str(why), "targets": refused[why]} for why in matching.Refusal if refused[why]],
        "rankers": rankers,
        "people": _people(project),
        "seconds": {kind.key: pace_of(project, kind.key)[0] or kind.assumed_seconds for kind in (LabelKind, MatchKind)},
        "studies": _studies(project),
        "table": table_page(shown.build(table)) if table.is_of(shown.data(table.data)) else None,
    }


def _people(project: Project) -> list[Json]:
    """Who can take part, and whether they can read in the corpus what they would be asked."""
    members = project.members.active().select_related("user").order_by("pk")
    return [
        {
            "member": one.pk, "name": one.user.name, "pseudonym": one.pseudonym, "role": one.role,
            "reads_corpus": may(one, "read the corpus"),
        }
        for one in members if may(one, "be put into rounds")
    ]  # fmt: skip


def _studies(project: Project) -> list[Json]:
    studies = list(project.reliability_studies.select_related("labels", "matches").order_by("-pk"))
    ids = [pk for study in studies for pk in (study.labels_id, study.matches_id) if pk]
    there: QuerySet[Round] = progress.with_counts(Round.objects.filter(pk__in=ids).select_related("guideline"))
    rounds = {round.pk: progress.row(round) for round in there}
    return [_study(study, rounds) for study in studies]


def _study(study: ReliabilityStudy, rounds: dict[int, Json]) -> Json:
    return {
        "id": study.pk, "name": study.name, "seed": study.seed if study.is_over else None, "overlap": study.overlap,
        "created_at": study.created_at, "no_matches": study.no_matches,
        "rounds": [rounds[pk] for pk in (study.labels_id, study.matches_id) if pk],
    }  # fmt: skip
