"""Blinding: which rounds are withheld from a release, or released in part.

A seed reveals the order of systems or candidates. The key of a page reveals its systems. An answer reveals the texts of
its rater. A blind round therefore has only its line in ``rounds.jsonl``, without seed and options. So has an open round
that keeps every answer: its writers must not read the texts of others.

It is released completely once it is closed. Rounds with texts of systems must also be unblinded, and no run in them may
be under embargo.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import ReliabilityStudy
from evaluation.models import ComparedSystem, JudgeRun, RatingDesign
from evaluation.permissions import rates_in
from generation.models import Embargo
from projects import kinds
from projects.models import Answer, Project, Round, Unit
from projects.purposes import which


def released_designs(project: Project) -> QuerySet[RatingDesign]:
    """Return the designs that are released completely, oldest first."""
    embargoed = ComparedSystem.objects.filter(design=OuterRef("pk"), run__embargoes__in=Embargo.objects.active())
    found = RatingDesign.objects.filter(
        ~Exists(embargoed), round__in=_counting(project).filter(status=Round.Status.CLOSED), unblinding__isnull=False
    )
    return found.order_by("round_id")


def released_judge_runs(project: Project) -> QuerySet[JudgeRun]:
    """Return the runs of judges on these rounds, oldest first; none while a member rates, who may read the release."""
    runs = JudgeRun.objects.filter(design__in=released_designs(project).order_by().values("pk")).order_by("pk")
    return runs.none() if rates_in(project) else runs


def kept_blind(project: Project) -> list[int]:
    """Return the ids of rounds that are still blind.

    The two rounds of a reliability study share one seed, so the round of labels is withheld until the round of matches
    is closed.
    """
    designs = RatingDesign.objects.filter(round__in=_counting(project)).exclude(
        pk__in=released_designs(project).values("pk")
    )
    blind = [kind.key for kind in kinds.all_kinds() if kind.blind]
    keeps_secret = Q(kind__in=blind) | Q(purpose__in=which("keeps_all"))
    at_work = _counting(project).filter(keeps_secret, status=Round.Status.OPEN)
    beside = ReliabilityStudy.objects.filter(matches__in=at_work)
    return sorted(
        {
            *designs.values_list("round_id", flat=True),
            *at_work.values_list("pk", flat=True),
            *beside.values_list("labels_id", flat=True),
        }
    )


def released_answers(project: Project) -> QuerySet[Answer]:
    """Return the answers that a release contains: not those of practice, and not those of rounds that are blind."""
    answers = Answer.objects.filter(assignment__round__project=project, assignment__round__purpose__in=which("counts"))
    return answers.exclude(assignment__round__in=blind) if (blind := kept_blind(project)) else answers


def released_units(project: Project) -> QuerySet[Unit]:
    """Return the units that a release may name. The key of a page or item of a blind round reveals its texts."""
    of_blind = {type for kind in kinds.all_kinds() if kind.blind for type in kind.unit_types}
    units = Unit.objects.filter(project=project)
    return units.exclude(type__in=of_blind, assignments__round__in=blind) if (blind := kept_blind(project)) else units


def _counting(project: Project) -> QuerySet[Round]:
    return Round.objects.filter(project=project).opened().counting()
