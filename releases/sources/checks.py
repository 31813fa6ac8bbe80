"""Checks before a release. They pass or fail, but none prevents the release."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from annotation.clusters.figures import lacking_now
from audit import triggers
from projects.models import Answer, Change, Decision, Project, Round
from projects.purposes import which

from . import state


@dataclass(frozen=True)
class About:
    """Texts of a check: title, reason, advice if it fails, and page."""

    title: str
    means: str
    advice: str
    page: str


ABOUT = {
    "licence": About(
        "Licence", "Without a licence nobody may use the data.", "State the licence in the settings.", "settings"
    ),
    "citation": About(
        "Citation", "Users cite the data as stated there.", "State in the settings how to cite it.", "settings"
    ),
    "description": About(
        "Description",
        "The data sheet begins with the description.",
        "Describe the data set in the settings.",
        "settings",
    ),
    "rounds closed": About(
        "Rounds closed",
        "Gold is formed when a round closes. Answers in open rounds are not in gold.",
        "Close the rounds that belong to this release.",
        "rounds",
    ),
    "no contests": About(
        "Nothing contested",
        "A contested field has no value until a curator decides.",
        "Decide each field: use Adjudicate on the page of its round, or correct the value on the page of its unit.",
        "corpus?state=contested",
    ),
    "gold complete": About(
        "Clusters complete",
        "Only clusters with labels of all texts, at least one input and a relation are released.",
        "Label the missing texts in a round or on the curate page.",
        "corpus?state=unlabelled",
    ),
    "nothing stale": About(
        "Nothing stale",
        "Some texts or tuples were changed after their values were decided.",
        "Confirm or relabel each under Needs review.",
        "needs-review",
    ),
    "comments": About(
        "Comments of annotators",
        "Comments are omitted unless the settings publish them.",
        "Choose in the settings whether to publish them.",
        "settings",
    ),
    "audit log intact": About(
        "Audit log intact",
        "The database rejects changes to answers and decisions.",
        "Contact the administrator of this installation.",
        "",
    ),
}


def run(project: Project) -> list[dict[str, Any]]:
    """Return each check with its texts, result and details. A fixed number of queries."""
    rounds = project.rounds.filter(status=Round.Status.OPEN).counting().opened_by_people()
    still_open = list(rounds.order_by("pk").values_list("name", flat=True))
    stale = Change.objects.unsettled().filter(unit__project=project).values("unit").distinct().count()
    contested = Decision.objects.of_project(project).contested().count()
    lacking = lacking_now(project)
    incomplete = lacking["incomplete"]
    return [
        _check("licence", bool(project.licence), project.licence or "The project settings state no licence."),
        _check(
            "citation",
            bool(project.citation),
            project.citation or "The project settings do not state how to cite the data.",
        ),
        _check(
            "description", bool(project.description), "" if project.description else "The project has no description."
        ),
        _check("rounds closed", not still_open, f"Open rounds: {', '.join(still_open)}." if still_open else ""),
        _check(
            "no contests",
            not contested,
            f"{_counted(contested, 'field waits', 'fields wait')} for a curator." if contested else "",
        ),
        *([_check("gold complete", not incomplete, _left_out(incomplete))] if lacking["all"] else []),
        _check(
            "nothing stale",
            not stale,
            f"{_counted(stale, 'unit has', 'units have')} values from before a change of their text." if stale else "",
        ),
        _comments(project),
        _guarded(state.rows_without_checkpoint(project)),
    ]


def _check(name: str, passed: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "passed": passed, "detail": detail, **vars(ABOUT[name])}


def _counted(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"


def _comments(project: Project) -> dict[str, Any]:
    """Report how the release treats comments. The check always passes."""
    answers = Answer.objects.filter(assignment__round__project=project, assignment__round__purpose__in=which("counts"))
    n = answers.exclude(comment="").count()
    if not n:
        return _check("comments", True, "")
    written = f"{n} comment{'s' * (n != 1)} of annotators {'is' if n == 1 else 'are'}"
    if project.publish_comments:
        return _check("comments", True, f"{written} published, according to the project settings.")
    return _check("comments", True, f"{written} omitted, according to the project settings.")


def _guarded(uncovered: int) -> dict[str, Any]:
    """Check that the database refuses changes to answers and decisions.

    Rows without a checkpoint do not fail the check, because a release creates a checkpoint first.
    """
    faults = triggers.trigger_faults(connection)
    waiting = (
        f"{uncovered} rows are not covered by an audit checkpoint yet; creating the release covers them first."
        if uncovered
        else ""
    )
    return _check("audit log intact", not faults, f"{'; '.join(faults)}." if faults else waiting)


def _left_out(clusters: int) -> str:
    lack = "a label whose polarity and modality go together, an input or a relation"
    return f"{_counted(clusters, 'cluster lacks', 'clusters lack')} {lack} and will be omitted." if clusters else ""
