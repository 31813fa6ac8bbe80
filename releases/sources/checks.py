"""Checks before a release. A failed check either warns, or prevents the release unless the lead states a reason."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import connection

from annotation import imports
from annotation.clusters.figures import lacking_now
from annotation.models import Review, Search
from annotation.splits.queries import leakage
from audit import triggers
from projects.models import Answer, Change, Decision, Import, ImportState, Project, Round
from projects.purposes import which

from ..models import Creator
from . import state
from .options import ReleaseOptions

#: Maximum number of sources and pairs of parts that a check names.
NAMED = 5


class Weight(StrEnum):
    """Whether a failed check prevents a release."""

    BLOCKS = "blocks"
    #: Only a release with a DOI: an archive publishes it under the names of its creators.
    BLOCKS_DEPOSIT = "blocks a deposit"
    WARNS = "warns"


@dataclass(frozen=True)
class About:
    """Texts of a check: title, reason, advice if it fails, and page."""

    title: str
    means: str
    advice: str
    page: str
    weight: Weight = Weight.WARNS


ABOUT = {
    "data": About("Data", "A release needs data.", "Import texts first.", "import", Weight.BLOCKS),
    "texts may be redistributed": About(
        "Texts may be redistributed",
        "Texts of others are copyrighted. Their licence decides whether you may publish them.",
        "State the licence on the page of each import or below each search, or release without texts.",
        "import",
        Weight.BLOCKS_DEPOSIT,
    ),
    "licence": About(
        "Licence",
        "Without a licence, others may not use the data.",
        "State the licence in the settings.",
        "settings",
        Weight.BLOCKS_DEPOSIT,
    ),
    "creators": About(
        "Creators",
        "Citations name the authors of the data set.",
        "Enter the creators in the settings.",
        "settings?tab=citation",
        Weight.BLOCKS_DEPOSIT,
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
        Weight.BLOCKS,
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
    "splits": About(
        "Splits free of leakage",
        "A system is tested on what it was trained on if parts share studies or texts.",
        "Split by component. Otherwise the report of the split states the leakage in the release.",
        "splits",
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
        Weight.BLOCKS,
    ),
}


def run(project: Project, options: ReleaseOptions = ReleaseOptions()) -> list[dict[str, Any]]:  # noqa: B008 - frozen
    """Return each check with its texts, result and details. A fixed number of queries."""
    return [check | {"blocks": _blocks(check, options)} for check in _checks(project, options)]


def _blocks(check: dict[str, Any], options: ReleaseOptions) -> bool:
    """Whether a failed check prevents the release without a reason."""
    weight = check.pop("weight")
    return not check["passed"] and (weight == Weight.BLOCKS or (weight == Weight.BLOCKS_DEPOSIT and bool(options.doi)))


def _checks(project: Project, options: ReleaseOptions) -> list[dict[str, Any]]:
    rounds = project.rounds.filter(status=Round.Status.OPEN).counting().opened_by_people()
    still_open = list(rounds.order_by("pk").values_list("name", flat=True))
    stale = Change.objects.unsettled().filter(unit__project=project).values("unit").distinct().count()
    contested = Decision.objects.of_project(project).contested().count()
    lacking = lacking_now(project)
    incomplete = lacking["incomplete"]
    return [
        _data(project),
        _redistribution(project, options),
        _check("licence", bool(project.licence), project.licence or "The project settings state no licence."),
        _creators(project),
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
        *_splits(project),
        _comments(project),
        _guarded(state.rows_without_checkpoint(project)),
    ]


def _check(name: str, passed: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "passed": passed, "detail": detail, **vars(ABOUT[name])}


def _data(project: Project) -> dict[str, Any]:
    has_data = project.units.exists() or Review.objects.filter(project=project).exists()
    return _check("data", has_data, "" if has_data else "The project has no reviews, questions or texts.")


def _redistribution(project: Project, options: ReleaseOptions) -> dict[str, Any]:
    """Check that every source of texts allows to redistribute them, or that the release has no texts."""
    name = "texts may be redistributed"
    if not options.has_texts:
        return _check(name, True, "The release has no texts of sources.")
    sources = Import.objects.filter(
        project=project, state=ImportState.ARRIVED, format__in=[format.key for format in imports.every()]
    ).exclude(may_redistribute=True)
    lacking = [
        f"{file} ({licence or 'unknown licence'}{', redistribution forbidden' if may is False else ''})"
        for file, licence, may in sources.order_by("pk").values_list("file_name", "licence", "may_redistribute")
    ]
    searches = Search.objects.filter(project=project, found__gt=0).exclude(may_redistribute=True)
    lacking += [
        f"PubMed search {pk} ({licence or 'unknown licence'}{', redistribution forbidden' if may is False else ''})"
        for pk, licence, may in searches.order_by("pk").values_list("pk", "licence", "may_redistribute")
    ]
    detail = f"{_listed(lacking)}." if lacking else ""
    return _check(name, not lacking, detail)


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _creators(project: Project) -> dict[str, Any]:
    names = [creator.name for creator in Creator.objects.filter(project=project)]
    return _check("creators", bool(names), f"{'; '.join(names)}." if names else "The project settings name no creator.")


def _splits(project: Project) -> list[dict[str, Any]]:
    """Check the splits of a project that has any."""
    if not project.splits.filter(discarded_at=None).exists():
        return []
    leaking = [str(found) for found in leakage(project)]
    return [_check("splits", not leaking, f"{_listed(leaking)}." if leaking else "")]


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
