"""What to look at before a release is frozen: checks that pass or fail, none of which stands in the way."""

from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from annotation.models import Cluster, Proposition
from audit import protection
from projects.models import Answer, Change, Decision, Origin, Project, Purpose, Round

from . import state


def run(project: Project) -> list[dict[str, Any]]:
    """Each check with its name, whether it passes, and what it found, in words. A fixed number of queries."""
    rounds = project.rounds.filter(status=Round.Status.OPEN).exclude(purpose=Purpose.CURATION)
    still_open = list(rounds.order_by("pk").values_list("name", flat=True))
    stale = Change.objects.unsettled().filter(unit__project=project).values("unit").distinct().count()
    contested, incomplete = _contested(project), _incomplete(project)
    return [
        _check("licence", bool(project.licence), project.licence or "No licence is stated in the project's settings."),
        _check("citation", bool(project.citation), project.citation or "The settings do not say how to cite it."),
        _check("description", bool(project.description), "" if project.description else "There is no description."),
        _check("rounds closed", not still_open, f"Still open: {', '.join(still_open)}." if still_open else ""),
        _check("no contests", not contested, f"{contested} fields wait for a curator." if contested else ""),
        _check(
            "gold complete",
            not incomplete,
            f"{incomplete} clusters lack a label, an input or a relation and will be left out." if incomplete else "",
        ),
        _check(
            "nothing stale",
            not stale,
            f"{stale} units have values from before a change of their text or tuple." if stale else "",
        ),
        _comments(project),
        _guarded(state.unsealed(project)),
    ]


def _check(name: str, passed: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "passed": passed, "detail": detail}


def _comments(project: Project) -> dict[str, Any]:
    """No fault either way: what the settings say of comments is told before it happens."""
    n = Answer.objects.filter(assignment__round__project=project).exclude(comment="").count()
    if not n:
        return _check("comments", True, "")
    written = f"{n} comment{'s' * (n != 1)} of annotators {'is' if n == 1 else 'are'}"
    if project.publish_comments:
        return _check("comments", True, f"{written} published, as the project's settings say.")
    return _check("comments", True, f"{written} left out; the project's settings can publish them.")


def _guarded(unsealed: int) -> dict[str, Any]:
    """Whether the data base refuses changes to the record. Unsealed rows are no fault: freezing seals them first."""
    faults = protection.faults(connection)
    waiting = f"{unsealed} rows are not sealed yet; freezing seals them first." if unsealed else ""
    return _check("record guarded", not faults, f"{'; '.join(faults)}." if faults else waiting)


def _contested(project: Project) -> int:
    """Fields whose newest decision is a contest."""
    later = Decision.objects.filter(
        unit=OuterRef("unit"), kind=OuterRef("kind"), field=OuterRef("field"), pk__gt=OuterRef("pk")
    )
    contests = Decision.objects.filter(unit__project=project, origin=Origin.CONTESTED)
    return contests.filter(~Exists(later)).count()


def _incomplete(project: Project) -> int:
    """Clusters of which a proposition has no gold polarity or modality, or that have no input or no relation."""

    def decided(unit: str, kind: str, field: str) -> Exists:
        decisions = Decision.objects.filter(unit=OuterRef(unit), kind=kind, field=field)
        return Exists(decisions.exclude(origin=Origin.CONTESTED))

    claims = Proposition.objects.filter(cluster=OuterRef("pk"), unit__superseded_by=None)
    unlabelled = claims.filter(~decided("unit", "label", "polarity") | ~decided("unit", "label", "modality"))
    clusters = Cluster.objects.filter(project=project, unit__superseded_by=None)
    lacking = Q(Exists(unlabelled)) | ~Exists(claims.filter(position__gte=1))
    return clusters.filter(lacking | ~decided("unit", "discourse", "relation")).count()
