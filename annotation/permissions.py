"""Who may see the corpus and bring files in. Annotators and evaluators see only what they are handed."""

from django.db.models import F, QuerySet

from accounts.models import User
from api.problems import NotFound, Refused
from projects.models import Import, Member, Unit
from projects.permissions import member_in, member_of, permit, unit_of

from .models import Cluster, Finding, Proposition, Review, Search, Study, Target


def corpus_reader(user: User, slug: str) -> Member:
    """The membership of someone who may read the corpus of a project."""
    member = member_of(user, slug)
    permit(member, "read the corpus")
    return member


def import_lead(user: User, slug: str) -> Member:
    """The membership of someone who may bring files in."""
    member = member_of(user, slug)
    permit(member, "bring data in")
    return member


def import_of(user: User, import_id: int) -> Import:
    """An import of a project that the user leads."""
    found = without_notices(Import.objects.filter(pk=import_id)).first()
    if found is None:
        raise _nothing()
    permit(member_in(user, found.project_id), "bring data in")
    return found


def without_notices(imports: QuerySet[Import]) -> QuerySet[Import]:
    """Imports with ``report_totals`` and ``report_values``; the notices, often thousands, stay in the data base."""
    return (
        imports.select_related("created_by")
        .defer("report")
        .annotate(report_totals=F("report__totals"), report_values=F("report__values"))
    )


def cluster_of(user: User, cluster_id: int) -> tuple[Cluster, Member]:
    """A cluster that the user may read, and the membership by which."""
    known = Cluster.objects.select_related("project", "review", "imported").defer("imported__report")
    found = known.filter(pk=cluster_id).first()
    return found, _reading(user, found)  # type: ignore[return-value]


def review_of(user: User, review_id: int) -> Review:
    found = Review.objects.filter(pk=review_id).first()
    _reading(user, found)
    return found  # type: ignore[return-value]


def study_of(user: User, study_id: int) -> Study:
    found = Study.objects.filter(pk=study_id).first()
    _reading(user, found)
    return found  # type: ignore[return-value]


def unit_to_read(user: User, unit_id: int) -> Unit:
    unit, member = unit_of(user, unit_id)
    permit(member, "read the corpus")
    return unit


def proposition_to_curate(user: User, unit_id: int) -> tuple[Proposition, Member]:
    """A proposition, by its unit, that the user may correct."""
    found, member = text_to_curate(user, unit_id)
    if not isinstance(found, Proposition):
        raise _nothing()
    return found, member


def text_to_curate(user: User, unit_id: int) -> tuple[Proposition | Target, Member]:
    """A proposition or a target, by its unit, whose text the user may correct."""
    claims = Proposition.objects.select_related("unit", "study", "cluster__unit").filter(unit__pk=unit_id)
    found = claims.first() or Target.objects.select_related("unit").filter(unit__pk=unit_id).first()
    if found is None:
        raise _nothing()
    member = member_in(user, found.unit.project_id)
    permit(member, "curate")
    return found, member


def project_to_curate(user: User, slug: str) -> Member:
    """The membership of someone who may add to a project by hand."""
    member = member_of(user, slug)
    permit(member, "curate")
    return member


def review_to_curate(user: User, review_id: int) -> tuple[Review, Member]:
    found = Review.objects.select_related("project").filter(pk=review_id).first()
    return found, _curating(user, found)  # type: ignore[return-value]


def cluster_to_curate(user: User, cluster_id: int) -> tuple[Cluster, Member]:
    clusters = Cluster.objects.select_related("review__unit", "unit", "project")
    found = clusters.filter(pk=cluster_id).first()
    return found, _curating(user, found)  # type: ignore[return-value]


def search_of(user: User, search_id: int) -> tuple[Search, Member]:
    """A search of a project that the user leads."""
    found = Search.objects.select_related("project", "review", "job").filter(pk=search_id).first()
    if found is None:
        raise _nothing()
    member = member_in(user, found.project_id)
    permit(member, "bring data in")
    return found, member


def review_named(member: Member, pmid: str) -> Review:
    """A review of the member's project by its id."""
    found = Review.objects.select_related("project").filter(project=member.project_id, pmid=pmid.strip()).first()
    if found is None:
        raise Refused.field("review", f"The project has no review {pmid.strip()}.")
    return found


def finding_to_answer(user: User, finding_id: int) -> tuple[Finding, Member]:
    """What a consistency check found in a project that the user curates."""
    found = Finding.objects.select_related("project").filter(pk=finding_id).first()
    if found is None:
        raise _nothing()
    member = member_in(user, found.project_id)
    permit(member, "curate")
    return found, member


def _curating(user: User, row: Cluster | Review | None) -> Member:
    if row is None:
        raise _nothing()
    member = member_in(user, row.project_id)
    permit(member, "curate")
    return member


def _reading(user: User, row: Cluster | Review | Study | None) -> Member:
    if row is None:
        raise _nothing()
    member = member_in(user, row.project_id)
    permit(member, "read the corpus")
    return member


def _nothing() -> NotFound:
    return NotFound("There is nothing here that you may see.")
