"""Permission checks for the corpus and imports. Annotators and evaluators see only the units assigned to them."""

from collections.abc import Iterable

from django.db.models import F, QuerySet

from accounts.models import User
from api.problems import NotFound, Refused
from projects.models import Import, Member, Unit
from projects.permissions import member_in, member_of, permit, unit_of

from .models import (
    Cluster,
    EffectPair,
    Finding,
    Passage,
    Proposition,
    Question,
    Review,
    Search,
    Study,
    Target,
    WrittenSummary,
)


def corpus_reader(user: User, slug: str) -> Member:
    """Return the user's membership. The role must permit reading the corpus."""
    member = member_of(user, slug)
    permit(member, "read the corpus")
    return member


def import_lead(user: User, slug: str) -> Member:
    """Return the user's membership. The role must permit importing data."""
    member = member_of(user, slug)
    permit(member, "import data")
    return member


def import_of(user: User, import_id: int) -> Import:
    """Return an import of a project in which the user may import data."""
    row = without_notices(Import.objects.filter(pk=import_id)).first()
    if row is None:
        raise _not_found()
    permit(member_in(user, row.project_id), "import data")
    return row


def without_notices(imports: QuerySet[Import]) -> QuerySet[Import]:
    """Annotate imports with ``report_totals`` and ``report_values``, and defer the large report."""
    return (
        imports.select_related("created_by", "job")
        .prefetch_related("files")
        .defer("report")
        .annotate(report_totals=F("report__totals"), report_values=F("report__values"))
    )


def cluster_of(user: User, cluster_id: int) -> tuple[Cluster, Member]:
    """Return a cluster that the user may read, and the user's membership."""
    clusters = Cluster.objects.select_related("project", "review", "imported").defer("imported__report")
    cluster = clusters.filter(pk=cluster_id).first()
    return cluster, _check_reader(user, cluster)  # type: ignore[return-value]


def review_of(user: User, review_id: int) -> Review:
    review = Review.objects.filter(pk=review_id).first()
    _check_reader(user, review)
    return review  # type: ignore[return-value]


def study_of(user: User, study_id: int) -> Study:
    study = Study.objects.filter(pk=study_id).first()
    _check_reader(user, study)
    return study  # type: ignore[return-value]


def pair_of(user: User, pair_id: int) -> EffectPair:
    """Return a pair of an intervention and an outcome with its review, which the user may read."""
    pair = EffectPair.objects.select_related("review").filter(pk=pair_id).first()
    _check_reader(user, pair.review if pair else None)
    return pair  # type: ignore[return-value]


def unit_to_read(user: User, unit_id: int) -> Unit:
    unit, member = unit_of(user, unit_id)
    permit(member, "read the corpus")
    return unit


def proposition_to_curate(user: User, unit_id: int) -> tuple[Proposition, Member]:
    """Return the proposition of a unit, which the user may correct, and the user's membership."""
    proposition, member = text_to_curate(user, unit_id)
    if not isinstance(proposition, Proposition):
        raise _not_found()
    return proposition, member


#: Rows whose text can be corrected.
WithText = Proposition | Target | WrittenSummary | Question | Passage


def text_to_curate(user: User, unit_id: int) -> tuple[WithText, Member]:
    """Return the row of a unit whose text the user may correct, and the user's membership."""
    claims = Proposition.objects.select_related("unit", "study", "cluster__unit").filter(unit__pk=unit_id)
    text: WithText | None = (
        claims.first()
        or Target.objects.select_related("unit").filter(unit__pk=unit_id).first()
        or WrittenSummary.objects.select_related("unit").filter(unit__pk=unit_id).first()
        or Question.objects.select_related("unit").filter(unit__pk=unit_id).first()
        or Passage.objects.select_related("unit", "question__unit").filter(unit__pk=unit_id).first()
    )
    if text is None:
        raise _not_found()
    member = member_in(user, text.unit.project_id)
    permit(member, "curate")
    if isinstance(text, WrittenSummary) and text.author_id is not None:
        permit(member, "read texts of other writers")
    return text, member


def project_to_curate(user: User, slug: str) -> Member:
    """Return the user's membership. The role must permit curation."""
    member = member_of(user, slug)
    permit(member, "curate")
    return member


def review_to_curate(user: User, review_id: int) -> tuple[Review, Member]:
    review = Review.objects.select_related("project").filter(pk=review_id).first()
    return review, _check_curator(user, review)  # type: ignore[return-value]


def cluster_to_curate(user: User, cluster_id: int) -> tuple[Cluster, Member]:
    clusters = Cluster.objects.select_related("review__unit", "unit", "project")
    cluster = clusters.filter(pk=cluster_id).first()
    return cluster, _check_curator(user, cluster)  # type: ignore[return-value]


def search_of(user: User, search_id: int) -> tuple[Search, Member]:
    """Return a search of a project in which the user may import data, and the user's membership."""
    search = Search.objects.select_related("project", "review", "job").filter(pk=search_id).first()
    if search is None:
        raise _not_found()
    member = member_in(user, search.project_id)
    permit(member, "import data")
    return search, member


def review_by_pmid(member: Member, pmid: str) -> Review:
    """Return the review of the member's project with this PMID. Raise `Refused` if there is none."""
    review = Review.objects.select_related("project").filter(project=member.project_id, pmid=pmid.strip()).first()
    if review is None:
        raise Refused.field("review", f"The project has no review with PMID {pmid.strip()}. Import or add it first.")
    return review


def finding_to_resolve(user: User, finding_id: int) -> tuple[Finding, Member]:
    """Return a consistency finding of a project that the user may curate, and the user's membership."""
    finding = Finding.objects.select_related("project").filter(pk=finding_id).first()
    if finding is None:
        raise _not_found()
    member = member_in(user, finding.project_id)
    permit(member, "curate")
    return finding, member


def findings_to_resolve(user: User, slug: str, ids: Iterable[int]) -> tuple[list[Finding], Member]:
    """Return findings of a project that the user may curate, by id, and the user's membership."""
    member, wanted = project_to_curate(user, slug), set(ids)
    found = list(Finding.objects.filter(project=member.project_id, pk__in=wanted).order_by("pk"))
    if len(found) < len(wanted):
        raise _not_found()
    return found, member


def _check_curator(user: User, row: Cluster | Review | None) -> Member:
    if row is None:
        raise _not_found()
    member = member_in(user, row.project_id)
    permit(member, "curate")
    return member


def _check_reader(user: User, row: Cluster | Review | Study | None) -> Member:
    if row is None:
        raise _not_found()
    member = member_in(user, row.project_id)
    permit(member, "read the corpus")
    return member


def _not_found() -> NotFound:
    return NotFound("Not found, or no access.")
