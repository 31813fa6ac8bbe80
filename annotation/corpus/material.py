"""Kinds of material of a corpus: clusters, reviews, studies, target texts and counterfactuals."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from api.pagination import CappedRows
from measures.unit_names import unit_name
from projects.material.registry import Choice, Column, Match, Matches, Material, Row, Rows
from projects.models import Member, Project
from projects.permissions import may
from sql.expressions import fold_case
from sql.searching import contains

from ..clusters.completeness import unreplaced
from ..models import (
    Cluster,
    Counterfactual,
    Inclusion,
    Input,
    Level,
    Proposition,
    RecordStatus,
    Review,
    Role,
    Study,
    Target,
)
from . import queries as corpus_lists
from . import states as review_states
from .figures import SUMMARY
from .statistics import has_reviews

Levels = Mapping[str, Mapping[str, Any]]
#: Longest text in a list or a search.
LONGEST = 300


def shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest].rpartition(' ')[0]} …"


def _counts(rows: QuerySet[Any], field: str, page: Sequence[int]) -> dict[int, int]:
    """Return the number of rows by ``field``, for the ids of one page. One query."""
    counted = rows.filter(**{f"{field}__in": page}).order_by().values_list(field)
    return dict(counted.annotate(n=Count("pk", distinct=True)))


def _curation_page(member: Member, review: int) -> str:
    return f"reviews/{review}/curate" if may(member, "curate") else ""


def _first(rows: Rows, all_rows: Rows, limit: int, name: Any, page: Any) -> Matches:
    """Return the number of rows that match, and the first ones. ``all_rows``: those of the list. Two queries."""
    found = CappedRows(rows, all_rows)
    first = [Match(shortened(name(row)), page(row)) for row in found[:limit]]
    return Matches(found.count(), first, found.is_capped)


class Clusters(Material):
    """The frontend has a list of its own (`frontend/src/pages/Corpus/`), which reads ``clusters/``."""

    key, order, figures = "clusters", 10, SUMMARY
    singular, plural = "cluster", "clusters"
    is_searched = True

    def all(self, project: Project) -> Rows:
        return Cluster.objects.current().filter(project=project).order_by("position", "id")

    def search(self, member: Member, words: str, limit: int) -> Matches:
        rows = corpus_lists.clusters(member.project, {"search": words}).prefetch_related(None)
        page = list(rows[:limit])
        targets = Proposition.objects.current().filter(cluster__in=page, position=0).values_list("cluster", "text")
        texts = dict(targets)
        names = [(f"{unit_name(row.key)}: {texts.get(row.pk, '')}", row.pk) for row in page]
        total = rows.count() if len(page) == limit else len(page)
        return Matches(total, [Match(shortened(name), f"corpus/{pk}") for name, pk in names])

    def release_note(self, levels: Levels, paths: Sequence[str]) -> str:
        if (row := levels.get("proposition")) is None:
            return ""
        return (
            f"{_counted(row['targets'], self)}, each a target proposition and the input propositions with the same "
            f"PICO tuple; {row['inputs']:,} input propositions.\n\n"
            "Polarity is the benefit or harm of the intervention for the outcome; M3's files name the field "
            "*direction*. It is `n/a` if and only if the modality is `no evidence`. Imported cues keep their published "
            "text. Cues marked by annotators are given as the text that spans them; `answers/` has the exact ranges."
        )


def _counted(n: int, kind: Material) -> str:
    return f"{n:,} {kind.singular if n == 1 else kind.plural}"


class Propositions(Material):
    """The texts of clusters. *Corpus* shows them with their cluster."""

    key, order, figures = "propositions", 20, SUMMARY
    singular, plural = "proposition", "propositions"
    is_listed = False

    def all(self, project: Project) -> Rows:
        return Proposition.objects.current().filter(cluster__project=project)


def _has_studies(count: int) -> Q:
    """Return a condition for reviews with at least this number of included studies."""
    included = Inclusion.objects.included().filter(review=OuterRef("pk")).order_by()
    return Q(Exists(included[count - 1 : count]))


YEARS = Choice(
    "year",
    "Year",
    {
        "2020": ("2020 and later", Q(year__gte=2020)),
        "2015-2019": ("2015 to 2019", Q(year__range=(2015, 2019))),
        "2010-2014": ("2010 to 2014", Q(year__range=(2010, 2014))),
        "2000-2009": ("2000 to 2009", Q(year__range=(2000, 2009))),
        "1999": ("1999 and earlier", Q(year__lte=1999)),
        "unknown": ("Unknown", Q(year=None)),
    },
)
STUDIES = Choice(
    "studies",
    "Studies",
    {
        "0": ("None", ~_has_studies(1)),
        "1-5": ("1 to 5", _has_studies(1) & ~_has_studies(6)),
        "6-10": ("6 to 10", _has_studies(6) & ~_has_studies(11)),
        "11-25": ("11 to 25", _has_studies(11) & ~_has_studies(26)),
        "26": ("26 and more", _has_studies(26)),
    },
)


class Reviews(Material):
    key, order, figures = "reviews", 30, SUMMARY
    singular, plural = "review", "reviews"
    is_searched = True
    columns = (
        Column("title", "Review", fields=("title",)),
        Column("pmid", "PMID"),
        Column("year", "Year", "year", fields=("year",)),
        Column("studies", "Studies", "count"),
        Column("targets", "Target sentences", "count"),
    )
    states: Mapping[str, tuple[str, Q]] = {
        "no_studies": (
            "Without studies",
            ~Q(Exists(Inclusion.objects.included().filter(review=OuterRef("pk")).order_by())),
        ),
        "no_targets": (
            "Without target sentences",
            ~Q(Exists(Target.objects.current().filter(review=OuterRef("pk")).order_by())),
        ),
        "retracted": ("Retracted", Q(is_retracted=True)),
    }
    stored_states = ("no_studies", "no_targets")
    choices = (YEARS, STUDIES)
    pages = ("pubmed", "ranking")
    sources = ("pubmed",)
    grows = True

    def columns_of(self, project: Project) -> Sequence[Column]:
        return READ_REVIEWS if review_states.has_read_reviews(project) else self.columns

    def states_of(self, project: Project) -> Mapping[str, tuple[str, Q]]:
        if not review_states.has_read_reviews(project):
            return self.states
        read = {state: (title, review_states.is_in(state, project)) for state, title in review_states.TITLES.items()}
        return {**read, **self.states}

    def all(self, project: Project) -> Rows:
        return Review.objects.filter(project=project).order_by("id")

    def exists(self, project: Project) -> Q | Exists:
        return has_reviews(project)

    def is_counted(self, figures: Any) -> bool:
        return bool(figures["has_reviews"])

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(contains("pmid", fold_case(words)) | contains("title", words))

    def rows(self, page: Sequence[Review], member: Member) -> list[Row]:
        ids = [review.pk for review in page]
        studies = _counts(Inclusion.objects.filter(role=Role.INCLUDED), "review", ids)
        if review_states.has_read_reviews(member.project):
            return _read_reviews(page, studies, member.project)
        # No join: SQLite would read all current units.
        targets = _counts(unreplaced(Target.objects.all()), "review", ids)
        return [
            Row(
                review.pk,
                (review.title, review.pmid, review.year, studies.get(review.pk, 0), targets.get(review.pk, 0)),
                _curation_page(member, review.pk) or f"origin/{review.unit_id}",
            )
            for review in page
        ]

    def search(self, member: Member, words: str, limit: int) -> Matches:
        all_rows = self.all(member.project).only("pmid", "title")
        rows = self.matching(all_rows, words)
        has_pages = review_states.has_read_reviews(member.project)
        return _first(
            rows if has_pages or may(member, "curate") else rows.none(),
            all_rows,
            limit,
            lambda row: f"{row.pmid}: {row.title}" if row.title else row.pmid,
            lambda row: f"reviews/{row.pk}" if has_pages else _curation_page(member, row.pk),
        )


#: Columns of the reviews of MS^2 and MSLR.
READ_REVIEWS = (*Reviews.columns[:-1], Column("target", "Target"), Column("state", "State", "state"))


def _read_reviews(page: Sequence[Review], studies: Mapping[int, int], project: Project) -> list[Row]:
    """Return the rows of reviews of MS^2 and MSLR. Needs four queries."""
    targets = Target.objects.filter(review__in=page, level=Level.DOCUMENT)
    withheld = dict(unreplaced(targets).values_list("review", "is_withheld"))
    states = review_states.states_of(page, project)
    words = {None: "none", False: "stated", True: "withheld"}
    return [
        Row(
            review.pk,
            (
                review.title,
                review.pmid,
                review.year,
                studies.get(review.pk, 0),
                words[withheld.get(review.pk)],
                states.get(review.pk, ""),
            ),
            f"reviews/{review.pk}",
        )
        for review in page
    ]


class Studies(Material):
    """The columns cannot be sorted, because that would read the whole table, with its abstracts, for one page."""

    key, order, figures = "studies", 40, SUMMARY
    singular, plural = "study", "studies"
    columns = (
        Column("title", "Study"),
        Column("pmid", "PMID"),
        Column("year", "Year", "year"),
        Column("reviews", "Reviews", "count"),
        Column("inputs", "Inputs", "count"),
    )
    states: Mapping[str, tuple[str, Q]] = {
        "not_read": ("PMID only", Q(record=RecordStatus.NOT_READ, abstract="")),
        "no_abstract": ("Without abstract", Q(abstract="")),
        "retracted": ("Retracted", Q(is_retracted=True)),
    }

    def all(self, project: Project) -> Rows:
        return Study.objects.filter(project=project).order_by("id")

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(contains("pmid", fold_case(words)) | contains("title", words))

    def rows(self, page: Sequence[Study], member: Member) -> list[Row]:
        ids = [study.pk for study in page]
        reviews = _counts(Inclusion.objects.filter(role=Role.INCLUDED), "study", ids)
        inputs = _counts(Input.objects.current(), "study", ids)
        propositions = _counts(Proposition.objects.current(), "study", ids)
        has_pages = review_states.has_read_reviews(member.project)
        return [
            Row(
                study.pk,
                (
                    study.title,
                    study.pmid,
                    study.year,
                    reviews.get(study.pk, 0),
                    inputs.get(study.pk, 0) + propositions.get(study.pk, 0),
                ),
                f"studies/{study.pk}" if has_pages else "",
            )
            for study in page
        ]


class Targets(Material):
    """Target texts of one level."""

    figures = SUMMARY
    is_searched = True
    stored_states = ("no_inputs",)
    level: Level
    columns: Sequence[Column] = (Column("text", "Text"), Column("key", "ID"), Column("inputs", "Inputs", "count"))
    states: Mapping[str, tuple[str, Q]] = {
        "no_inputs": ("Without inputs", ~Q(Exists(Input.objects.current().filter(target=OuterRef("pk")).order_by())))
    }

    def all(self, project: Project) -> Rows:
        return Target.objects.current().filter(project=project, level=self.level).order_by("position", "id")

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(contains("key", words) | contains("text", words))

    def rows(self, page: Sequence[Target], member: Member) -> list[Row]:
        inputs = _counts(Input.objects.current(), "target", [target.pk for target in page])
        return [
            Row(
                target.pk,
                ("withheld" if target.is_withheld else shortened(target.text), target.key, inputs.get(target.pk, 0)),
                _curation_page(member, target.review_id) or f"origin/{target.unit_id}",
            )
            for target in page
        ]

    def search(self, member: Member, words: str, limit: int) -> Matches:
        all_rows = self.all(member.project)
        rows = self.matching(all_rows, words)
        return _first(
            rows if may(member, "curate") else rows.none(),
            all_rows,
            limit,
            lambda row: f"{row.key}: {row.text}",
            lambda row: _curation_page(member, row.review_id),
        )

    def release_note(self, levels: Levels, paths: Sequence[str]) -> str:
        if (row := levels.get(self.level)) is None:
            return ""
        return f"{_counted(row['targets'], self)} with {row['inputs']:,} inputs."


class Documents(Targets):
    key, order, level = "documents", 50, Level.DOCUMENT
    singular, plural = "target document", "target documents"


class Sentences(Targets):
    key, order, level = "sentences", 60, Level.SENTENCE
    singular, plural = "target sentence", "target sentences"


class Counterfactuals(Material):
    key, order, figures = "counterfactuals", 70, SUMMARY
    singular, plural = "counterfactual", "counterfactuals"
    columns = (Column("text", "Text"), Column("kind", "Kind"), Column("cluster", "Cluster"))

    def all(self, project: Project) -> Rows:
        return Counterfactual.objects.of(project).current().in_corpus_order().select_related("target__cluster")

    def count(self, figures: Any) -> int:
        return sum(row["count"] for row in figures["counterfactuals"])

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(text__icontains=words)

    def rows(self, page: Sequence[Counterfactual], member: Member) -> list[Row]:
        return [
            Row(row.pk, (row.text, row.kind, unit_name(row.target.cluster.key)), f"corpus/{row.target.cluster_id}")
            for row in page
        ]
