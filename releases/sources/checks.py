"""What to look at before a release is frozen: checks that pass or fail, none of which stands in the way."""

from typing import Any

from django.db import connection

from annotation.models import Cluster
from annotation.values import completeness
from audit import protection
from projects.models import Answer, Change, Decision, Project, Round
from projects.purposes import which

from . import state


def run(project: Project) -> list[dict[str, Any]]:
    """Each check with its name, whether it passes, and what it found, in words. A fixed number of queries."""
    rounds = project.rounds.filter(status=Round.Status.OPEN).counting().opened_by_people()
    still_open = list(rounds.order_by("pk").values_list("name", flat=True))
    stale = Change.objects.unsettled().filter(unit__project=project).values("unit").distinct().count()
    contested = Decision.objects.filter(unit__project=project).contested().count()
    incomplete = completeness.incomplete(Cluster.objects.current().filter(project=project)).count()
    return [
        _check("licence", bool(project.licence), project.licence or "No licence is stated in the project's settings."),
        _check("citation", bool(project.citation), project.citation or "The settings do not say how to cite it."),
        _check("description", bool(project.description), "" if project.description else "There is no description."),
        _check("rounds closed", not still_open, f"Still open: {', '.join(still_open)}." if still_open else ""),
        _check("no contests", not contested, f"{contested} fields wait for a curator." if contested else ""),
        _check(
            "gold complete",
            not incomplete,
            _left_out(incomplete),
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
    said = Answer.objects.filter(assignment__round__project=project, assignment__round__purpose__in=which("counts"))
    n = said.exclude(comment="").count()
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
    return _check("audit log intact", not faults, f"{'; '.join(faults)}." if faults else waiting)


def _left_out(clusters: int) -> str:
    lack = "lack a label whose polarity and modality go together, an input or a relation"
    return f"{clusters} clusters {lack}, and will be left out." if clusters else ""
