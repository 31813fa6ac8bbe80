"""What to look at before a release is frozen: checks that pass or fail, none of which stands in the way."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from annotation.models import Cluster
from annotation.values import completeness
from audit import protection
from projects.models import Answer, Change, Decision, Project, Round
from projects.purposes import which

from . import state


@dataclass(frozen=True)
class About:
    """A check in words: what it looks at, why that matters, what to do where it fails, on which page."""

    title: str
    means: str
    advice: str
    page: str


ABOUT = {
    "licence": About(
        "Licence", "Without one nobody may use the data.", "State the licence in the settings.", "settings",
    ),
    "citation": About(
        "Citation", "Others cite the data as it says.", "Say in the settings how to cite it.", "settings",
    ),
    "description": About(
        "Description", "It begins the data sheet.", "Describe the data set in the settings.", "settings",
    ),
    "rounds closed": About(
        "Rounds closed", "Gold forms when a round closes: what is answered in an open one is not in it.",
        "Close the rounds that belong to this release.", "rounds",
    ),
    "no contests": About(
        "Nothing contested", "A field on which people differ has no value until a curator decides.",
        "Decide each: Adjudicate on its round's page, or Correct on its cluster's.", "corpus?state=contested",
    ),
    "gold complete": About(
        "Clusters complete", "Only clusters with a label of every text, an input and a relation are released.",
        "Label what is missing, in a round or on the curate page.", "corpus?state=unlabelled",
    ),
    "nothing stale": About(
        "Nothing stale", "A text or a tuple was changed after its value was decided.",
        "Confirm or relabel each under Needs review.", "look-again",
    ),
    "comments": About(
        "Comments of annotators", "They are left out unless the settings publish them.",
        "Choose in the settings whether they are published.", "settings",
    ),
    "audit log intact": About(
        "Audit log intact", "The data base refuses changes to what was answered and decided.",
        "Ask whoever runs this installation.", "",
    ),
}  # fmt: skip


def run(project: Project) -> list[dict[str, Any]]:
    """Each check in words, whether it passes, and what it found. A fixed number of queries."""
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
        _check(
            "no contests", not contested,
            f"{_counted(contested, 'field waits', 'fields wait')} for a curator." if contested else "",
        ),
        _check("gold complete", not incomplete, _left_out(incomplete)),
        _check(
            "nothing stale", not stale,
            f"{_counted(stale, 'unit has', 'units have')} values from before a change." if stale else "",
        ),
        _comments(project),
        _guarded(state.unsealed(project)),
    ]  # fmt: skip


def _check(name: str, passed: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "passed": passed, "detail": detail, **vars(ABOUT[name])}


def _counted(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"


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
    lack = "a label whose polarity and modality go together, an input or a relation"
    return f"{_counted(clusters, 'cluster lacks', 'clusters lack')} {lack}, and will be left out." if clusters else ""
