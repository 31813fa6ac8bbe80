"""The task kind *studies*: which primary studies a review includes (TASKS: studies)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import sets
from measures.text_agreement import Comparison
from projects.kinds import Batch, Filter, Row, Scale, SkipReason, Value
from projects.kinds.majority import Verdict, by_part
from projects.models import Answer, Assignment, Round, Unit

from ...models import AbstractMissing, FullText, ListedStudy, Review, Study, StudyList
from ..reviews import FILTERS, SCREENED_IN, ReviewKind
from . import in_force
from .serializers import StudiesCardSerializer, StudiesValueSerializer

FIELD = in_force.FIELD
OFF = "studies_off"
EXPECTED = "expected"
#: References that are offered to pick from: more are pasted.
MOST_CITED = 1_000
#: Of the parts of a full text that are about the included studies: tables may be long.
MOST_PARTS, LONGEST_PART = 10, 20_000


class StudiesKind(ReviewKind):
    """The list of the primary studies that one review includes. In force, they are the review's studies."""

    key = "studies"
    title = "List included studies"
    order = 20
    fields: Sequence[str] = (FIELD,)
    tables = (StudyList, ListedStudy)
    assumed_seconds = 180.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("no full text", "I cannot get the full text"),
        SkipReason("not listed", "It does not say which studies it includes"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = StudiesCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = StudiesValueSerializer
    policy = (
        Parameter(
            OFF, Takes.INTEGER, "Studies that may differ", default=0, minimum=0, maximum=50,
            required=True, help="Of a list, where an answer is held against gold, as in practice.",
        ),
    )  # fmt: skip
    filters: Sequence[Filter] = (*FILTERS, SCREENED_IN)
    part = "study"
    scales: Sequence[Scale] = (Scale("abstract", (EXPECTED, *AbstractMissing.values), "abstract", missing=("",)),)
    comparisons: Sequence[Comparison] = (
        Comparison("included studies", "f1", ("included",)),
        Comparison("number of studies", "difference", ("number",)),
        Comparison("studies without a PMID", "difference", ("without_pmid",)),
    )
    columns: Sequence[str] = ("study", "abstract", "included", "number", "without_pmid")

    # What is shown, and what is said

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        reviews = {r.unit_id: r for r in Review.objects.filter(unit__in=[slot.unit_id for slot in slots])}
        texts = FullText.objects.filter(review__in=list(reviews.values())).select_related("imported")
        by_review = {text.review_id: text for text in texts}
        cited = {pmid for review in reviews.values() for pmid in review.references[:MOST_CITED]}
        cited |= {one["pmid"] for text in by_review.values() for one in text.references if not one["text"]} - {""}
        # A review may cite another of the project: an update does.
        known, reviewed = (
            of.objects.filter(project=round.project_id, pmid__in=cited)
            .exclude(title="")
            .order_by()
            .values_list("pmid", "title")
            for of in (Study, Review)
        )
        return Batch(reviews, {"texts": by_review, "titles": dict(known.union(reviewed))})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Nothing tells which of the references are the review's studies so far: people say so by themselves."""
        review: Review = batch.rows[slot.unit_id]
        text: FullText | None = batch.extra["texts"].get(review.pk)
        return {
            "pmid": review.pmid,
            "title": review.title,
            "abstract": review.abstract,
            "year": review.year,
            "full_text": _shown(text) if text else None,
            "cited": _cited(review, text, batch.extra["titles"])[:MOST_CITED],
        }

    def check(self, slot: Assignment, value: Value) -> None:
        own = Review.objects.values_list("pmid", flat=True).get(unit=slot.unit_id)
        if own in _listed(value):
            raise Refused.field(f"value.{FIELD}.listed", f"{own} is the review itself.")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        lists = StudyList.objects.bulk_create(
            StudyList(
                unit_id=answer.assignment.unit_id, answer=answer, without_pmid=value[FIELD]["without_pmid"]
            )
            for answer, value in said
        )  # fmt: skip
        ListedStudy.objects.bulk_create(
            ListedStudy(of=made, position=n, pmid=one["pmid"], missing=one["missing"])
            for made, (_, value) in zip(lists, said, strict=True)
            for n, one in enumerate(value[FIELD]["listed"])
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = StudyList.objects.filter(answer__in=list(answers)).prefetch_related("listed")
        return {
            row.answer_id: {
                FIELD: {
                    "listed": [{"pmid": one.pmid, "missing": one.missing} for one in row.listed.all()],
                    "without_pmid": row.without_pmid,
                }
            }
            for row in rows
        }

    def carry(self, value: Value, unit: Unit) -> Value:
        return value

    # What it comes to

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """The review's studies are those that it lists."""
        in_force.follow(units, by=by, reason=reason)

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        return [by_part(FIELD, answers, _parts)]

    def says_same(self, field: str, one: Value, other: Value) -> bool:
        """In whatever order."""
        return bool(_whole(one) == _whole(other))

    def matches(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        return len(_listed(said) ^ _listed(expected)) <= int(round.policy.get(OFF, 0))

    def apart(self, field: str, one: Value, other: Value) -> float:
        """How far the sets are from being the same (1 less F1); least of all where only something else differs."""
        same = sets.f1(_listed(one), _listed(other))
        if same in (None, 1.0):
            return 0.0 if self.says_same(field, one, other) else 0.1
        return max(0.1, 1 - (same or 0.0))

    def rows(self, value: Value) -> list[Row]:
        """A row for the list, then one for each study."""
        said = value[FIELD]
        whole = {
            "included": sets.as_cell(sorted(_listed(value), key=int)),
            "number": str(len(said["listed"]) + said["without_pmid"]),
            "without_pmid": str(said["without_pmid"]),
        }
        studies = [{"study": one["pmid"], "abstract": one["missing"] or EXPECTED} for one in said["listed"]]
        return [dict.fromkeys(self.columns, "") | row for row in (whole, *studies)]

    def sentence(self, field: str, value: Value) -> str:
        """ "3 studies: 1, 2 (old); without a PMID: 1"."""
        said = value[FIELD]
        number = len(said["listed"]) + said["without_pmid"]
        names = ", ".join(one["pmid"] + (f" ({one['missing']})" if one["missing"] else "") for one in said["listed"])
        words = f"{number} {'study' if number == 1 else 'studies'}{': ' if names else ''}{names}"
        return f"{words}; without a PMID: {said['without_pmid']}" if said["without_pmid"] else words


def _shown(text: FullText) -> dict[str, Any]:
    """What helps to find the studies: the rest is read where it is from."""
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


def _cited(review: Review, text: FullText | None, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The references, each id once: those of the full text, the marked ones first, then what PubMed names besides."""
    found = [
        {"pmid": one["pmid"], "text": one["text"] or titles.get(one["pmid"], ""), "marked": one["is_included"]}
        for one in (text.references if text else ())
    ]
    found += [{"pmid": pmid, "text": titles.get(pmid, ""), "marked": False} for pmid in review.references]
    found.sort(key=lambda one: not one["marked"])
    first = {one["pmid"]: n for n, one in reversed(list(enumerate(found))) if one["pmid"]}
    return [
        one for n, one in enumerate(found) if one["pmid"] != review.pmid and first.get(one["pmid"], n) == n
    ]  # fmt: skip


def _listed(value: Value) -> frozenset[str]:
    return frozenset(one["pmid"] for one in value[FIELD]["listed"])


def _whole(value: Value) -> Any:
    if FIELD not in value:
        return None
    said = value[FIELD]
    return frozenset((one["pmid"], one["missing"]) for one in said["listed"]), said["without_pmid"]


def _parts(value: Value) -> dict[str, Any]:
    """What is voted on: each study, and how many PubMed does not have. Why an abstract is missing makes no contest: the
    record that is read of it tells."""
    return {"": value[FIELD]["without_pmid"]} | dict.fromkeys(_listed(value), "listed")
