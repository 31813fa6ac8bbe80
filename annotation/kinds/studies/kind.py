"""Task kind *studies*: which primary studies a review includes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.clusters.items import PMID
from annotation.kinds.studies import current
from annotation.kinds.units import REVIEW_FILTERS, SCREENED_IN, ReviewKind
from annotation.models import AbstractMissing, FullText, ListedStudy, Review, Study, StudyList
from api.fields import at_most
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import span_agreement
from measures.text_agreement import Comparison
from projects.kinds import Batch, Filter, Row, Scale, SkipReason, Value, groups
from projects.kinds.majority import AggregationResult, by_part
from projects.models import Answer, Assignment, Round, Unit

Plain = serializers.Serializer[Any]
#: Maximum number of included studies of a review.
MOST = 2_000


class CitedSerializer(Plain):
    """A reference of the review that can be selected."""

    pmid = serializers.CharField(allow_blank=True, help_text="Empty if the reference has none.")
    text = serializers.CharField(allow_blank=True, help_text="Title of the reference, or its citation.")
    marked = serializers.BooleanField(help_text="Whether the full text marks it as an included study.")


class TextPartSerializer(Plain):
    title = serializers.CharField()
    text = serializers.CharField()


class FullTextSerializer(Plain):
    """Source of the full text, and its sections about included studies."""

    source = serializers.CharField(help_text="URL or file name.")  # type: ignore[assignment]
    licence = serializers.CharField(allow_blank=True)
    licence_url = serializers.CharField(allow_blank=True)
    sections = TextPartSerializer(many=True)


class StudiesCardSerializer(Plain):
    """Card of a review."""

    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    year = serializers.IntegerField(allow_null=True, help_text="Year of publication.")
    full_text = FullTextSerializer(allow_null=True, help_text="Null if the review has no full text.")
    cited = CitedSerializer(
        many=True, help_text="References of the review. Those marked as included studies come first."
    )


class ListedStudySerializer(Plain):
    pmid = serializers.RegexField(f"^{PMID.pattern}$", max_length=10)
    missing = serializers.ChoiceField(
        choices=AbstractMissing.choices,
        allow_blank=True,
        default="",
        help_text="Why the abstract is unavailable; empty if it is available.",
    )


class IncludedStudiesSerializer(Plain):
    """The studies that a review includes, in the order of the list."""

    listed = ListedStudySerializer(many=True, **at_most(MOST))
    without_pmid = serializers.IntegerField(
        min_value=0,
        max_value=MOST,
        default=0,
        help_text="Number of other included studies, which PubMed does not have.",
    )

    def validate_listed(self, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        pmids = [study["pmid"] for study in listed]
        if duplicates := sorted({pmid for pmid in pmids if pmids.count(pmid) > 1}):
            raise serializers.ValidationError(f"Each study is listed once. Listed twice: {', '.join(duplicates[:5])}.")
        return listed


class StudiesValueSerializer(Plain):
    included_studies = IncludedStudiesSerializer()


FIELD = current.FIELD
OFF = "studies_off"
EXPECTED = "expected"
#: Maximum number of references to select from; others can be pasted.
MOST_CITED = 1_000
#: Limits on the sections about included studies of a full text; their tables can be long.
MOST_PARTS, LONGEST_PART = 10, 20_000


class StudiesKind(ReviewKind):
    """The primary studies that one review includes. The current list determines the review's studies."""

    key = "studies"
    material = "reviews"
    title = "List included studies"
    description = "Which studies does the review include?"
    group = groups.CORPUS
    order = 20
    fields: Sequence[str] = (FIELD,)
    assumed_seconds = 180.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("no full text", "I cannot get the full text"),
        SkipReason("not listed", "The full text does not list its studies"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = StudiesCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = StudiesValueSerializer
    policy = (
        Parameter(
            OFF,
            Takes.INTEGER,
            "Studies that may differ",
            default=0,
            minimum=0,
            maximum=50,
            required=True,
            help="Per list. Applies when answers are compared with gold, as in practice rounds.",
        ),
    )
    filters: Sequence[Filter] = (*REVIEW_FILTERS, SCREENED_IN)
    part = "study"
    scales: Sequence[Scale] = (Scale("abstract", (EXPECTED, *AbstractMissing.values), "abstract", missing=("",)),)
    comparisons: Sequence[Comparison] = (
        Comparison("included studies", "f1", ("included",)),
        Comparison("number of studies", "difference", ("number",)),
        Comparison("studies without a PMID", "difference", ("without_pmid",)),
    )
    field_values = {FIELD: AbstractMissing.choices}
    columns: Sequence[str] = ("study", "abstract", "included", "number", "without_pmid")

    # Cards and answers

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        reviews = {
            r.unit_id: r for r in Review.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])
        }
        texts = FullText.objects.filter(review__in=list(reviews.values())).select_related("imported")
        by_review = {text.review_id: text for text in texts}
        cited = {pmid for review in reviews.values() for pmid in review.references[:MOST_CITED]}
        cited |= {
            reference["pmid"] for text in by_review.values() for reference in text.references if not reference["text"]
        } - {""}
        # A review may cite another review of the project, for example an earlier version.
        study_titles, review_titles = (
            model.objects.filter(project=round.project_id, pmid__in=cited)
            .exclude(title="")
            .order_by()
            .values_list("pmid", "title")
            for model in (Study, Review)
        )
        return Batch(reviews, {"texts": by_review, "titles": dict(study_titles.union(review_titles))})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the card.

        It does not show which references are linked as studies, so that people decide independently.
        """
        review: Review = batch.rows[assignment.unit_id]
        text: FullText | None = batch.extra["texts"].get(review.pk)
        return {
            "pmid": review.pmid,
            "title": review.title,
            "abstract": review.abstract,
            "year": review.year,
            "full_text": _full_text_json(text) if text else None,
            "cited": _references(review, text, batch.extra["titles"])[:MOST_CITED],
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        own = Review.objects.values_list("pmid", flat=True).get(unit=assignment.unit_id)
        if own in _listed(value):
            raise Refused.field(
                f"value.{FIELD}.listed", f"{own} is the PMID of the review itself. Remove it from the list."
            )

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        lists = StudyList.objects.bulk_create(
            StudyList(unit_id=answer.assignment.unit_id, answer=answer, without_pmid=value[FIELD]["without_pmid"])
            for answer, value in answers
        )
        ListedStudy.objects.bulk_create(
            ListedStudy(study_list=study_list, position=n, pmid=study["pmid"], missing=study["missing"])
            for study_list, (_, value) in zip(lists, answers, strict=True)
            for n, study in enumerate(value[FIELD]["listed"])
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = StudyList.objects.filter(answer__in=list(answers)).prefetch_related("listed")
        return {
            row.answer_id: {
                FIELD: {
                    "listed": [{"pmid": study.pmid, "missing": study.missing} for study in row.listed.all()],
                    "without_pmid": row.without_pmid,
                }
            }
            for row in rows
        }

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[StudyList]:
        """Return the lists with a study whose abstract is missing for one of these reasons."""
        listed = ListedStudy.objects.filter(study_list=OuterRef("pk"), missing__in=keys)
        return StudyList.objects.filter(Exists(listed))

    def migrate(self, value: Value, unit: Unit) -> Value:
        return value

    # Decisions and agreement

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Update the review's studies from the current list."""
        current.update_links(units, by=by, reason=reason)

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        return [by_part(FIELD, answers, _parts)]

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        """Compare the lists, ignoring order."""
        return bool(_comparison_key(one) == _comparison_key(other))

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        return len(_listed(value) ^ _listed(expected)) <= int(round.policy.get(OFF, 0))

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return 1 minus the F1 of the sets of studies; at least 0.1 if anything differs."""
        same = span_agreement.f1(_listed(one), _listed(other))
        if same in (None, 1.0):
            return 0.0 if self.is_equal(field, one, other) else 0.1
        return max(0.1, 1 - (same or 0.0))

    def rows(self, value: Value) -> list[Row]:
        """Return one row for the list, then one per study."""
        listed_value = value[FIELD]
        list_cells = {
            "included": span_agreement.as_cell(sorted(_listed(value), key=int)),
            "number": str(len(listed_value["listed"]) + listed_value["without_pmid"]),
            "without_pmid": str(listed_value["without_pmid"]),
        }
        studies = [
            {"study": study["pmid"], "abstract": study["missing"] or EXPECTED} for study in listed_value["listed"]
        ]
        return [dict.fromkeys(self.columns, "") | row for row in (list_cells, *studies)]

    def sentence(self, field: str, value: Value) -> str:
        """Return the list in words, such as "3 studies: 1, 2 (old); without a PMID: 1"."""
        listed_value = value[FIELD]
        number = len(listed_value["listed"]) + listed_value["without_pmid"]
        names = ", ".join(
            study["pmid"] + (f" ({study['missing']})" if study["missing"] else "") for study in listed_value["listed"]
        )
        words = f"{number} {'study' if number == 1 else 'studies'}{': ' if names else ''}{names}"
        return f"{words}; without a PMID: {listed_value['without_pmid']}" if listed_value["without_pmid"] else words


def _full_text_json(text: FullText) -> dict[str, Any]:
    """Return the sections about included studies, with source and licence. The full text is read at its source."""
    return {
        "source": text.source,
        "licence": text.licence or text.copyright,
        "licence_url": text.licence_url,
        "sections": [
            {"title": part["title"], "text": part["text"][:LONGEST_PART]}
            for part in text.sections
            if part["is_included"]
        ][:MOST_PARTS],
    }


def _references(review: Review, text: FullText | None, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the references, each id once: marked ones first, then the others.

    References of the full text precede those that only PubMed lists. If a title is unknown, the citation in PubMed's
    record of the review is shown.
    """

    def named(pmid: str) -> str:
        return titles.get(pmid) or review.citations.get(pmid, "")

    references = [
        {
            "pmid": reference["pmid"],
            "text": reference["text"] or named(reference["pmid"]),
            "marked": reference["is_included"],
        }
        for reference in (text.references if text else ())
    ]
    references += [{"pmid": pmid, "text": named(pmid), "marked": False} for pmid in review.references]
    references.sort(key=lambda reference: not reference["marked"])
    first = {reference["pmid"]: n for n, reference in reversed(list(enumerate(references))) if reference["pmid"]}
    return [
        reference
        for n, reference in enumerate(references)
        if reference["pmid"] != review.pmid and first.get(reference["pmid"], n) == n
    ]


def _listed(value: Value) -> frozenset[str]:
    return frozenset(one["pmid"] for one in value[FIELD]["listed"])


def _comparison_key(value: Value) -> Any:
    if FIELD not in value:
        return None
    listed_value = value[FIELD]
    return frozenset((study["pmid"], study["missing"]) for study in listed_value["listed"]), listed_value[
        "without_pmid"
    ]


def _parts(value: Value) -> dict[str, Any]:
    """Return the parts that are aggregated: each study, and the number without a PMID.

    The reason for a missing abstract is not aggregated, because the record of the study shows it.
    """
    return {"": value[FIELD]["without_pmid"]} | dict.fromkeys(_listed(value), "listed")
