"""Offering and answering units costs the same in every kind, for small and large rounds and projects.

`SCALE` sets the larger size; `make soak` uses 200,000.
"""

import os
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.models import (
    Cluster,
    EvidencePair,
    Inclusion,
    Input,
    Label,
    Level,
    Proposition,
    Ranking,
    Review,
    Sentence,
    Study,
    Target,
)
from projects.models import Assignment, Decision, Import, Origin, Project, Round, Unit
from sql.planner import analyze_tables
from tests.annotation.pubmed_stub import Stub
from tests.operations import test_query_to_release as way
from tests.operations.test_query_to_release import Lab, Reader, Says, stub
from tests.projects.test_scale import plans, rows_read

__all__ = ["stub"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
LARGE = int(os.environ.get("SCALE", "20000"))
BATCH = 5_000
#: The most rows that PostgreSQL may read for one statement of the loop, at any size.
MOST = 400


class Measured(Lab):
    """Measures the rounds of a lab as they are, and again with many free units added."""

    def __init__(self, project: Project, lead: User, readers: tuple[User, User]) -> None:
        super().__init__(project, lead, readers)
        self.costs: dict[str, list[tuple[int, int]]] = {}
        self.dearest: dict[str, tuple[int, str]] = {}

    def work(self, round: int, says: Says, *others: Says) -> int:
        plan = Round.objects.get(pk=round)
        name = f"{plan.kind} ({plan.name})"
        reader = Reader(self.readers[0], round, says, 1)
        self._cost(reader)  # the first call fills caches
        few = self._cost(reader)
        grow(plan, LARGE)
        many = self._cost(reader, name)
        self.costs[name] = [few, many]
        Assignment.objects.filter(round=plan, unit__type="filler").delete()
        return super().work(round, says, *others)

    def _cost(self, reader: Reader, name: str = "") -> tuple[int, int]:
        with CaptureQueriesContext(connection) as of_next:
            reply = reader._fetch_held()
        card = next(one for one in reply["fetched"] if one["assignment"] == reply["held"][0])
        with CaptureQueriesContext(connection) as of_answer:
            reader.answer(card, have=reply["held"])
        seen = [[q["sql"] for q in queries] for queries in (of_next.captured_queries, of_answer.captured_queries)]
        if name and connection.vendor == "postgresql":
            read = [(rows_read(sql), sql) for sql, _ in plans(seen[0] + seen[1], of="") if "COUNT(*)" not in sql]
            self.dearest[name] = max(read)
        # A person's position is stored once in several answers.
        walked = 'UPDATE "projects_participant"'
        first, second = (len([sql for sql in queries if not sql.startswith(walked)]) for queries in seen)
        return first, second


def grow(round: Round, units: int) -> None:
    """Add free units after those of a round."""
    for start in range(0, units, BATCH):
        made = Unit.objects.bulk_create(
            Unit(project_id=round.project_id, type="filler", key=f"f{round.pk}/{n}", context=n // 5, position=n % 5)
            for n in range(start, min(start + BATCH, units))
        )
        Assignment.objects.bulk_create(
            Assignment(round=round, unit=unit, number=1, position=1_000 + start + n) for n, unit in enumerate(made)
        )
    analyze_tables(Assignment, Unit)  # as when a round is opened


def other_lab(units: int) -> None:
    """Create another project with a labelled and mapped corpus."""
    project = Project.objects.create(slug="other-lab", name="Other lab")
    file = Import.objects.create(project=project, format="m3", level="3", size=1, report={}, created_at=timezone.now())
    for start in range(0, units // 10, 500):
        _corpus(project, file, range(start, start + 500))


def _corpus(project: Project, file: Import, numbers: range) -> None:
    def made(type: str) -> list[Unit]:
        return Unit.objects.bulk_create(Unit(project=project, type=type, key=f"{type} {n}") for n in numbers)

    reviews = Review.objects.bulk_create(
        Review(project=project, pmid=str(n), unit=unit, abstract="A. B.")
        for n, unit in zip(numbers, made("review"), strict=True)
    )
    studies = Study.objects.bulk_create(Study(project=project, pmid=str(n), abstract="A. B.") for n in numbers)
    Inclusion.objects.bulk_create(
        Inclusion(study=s, review=r, position=0) for s, r in zip(studies, reviews, strict=True)
    )
    places: Any = {"start": 0, "end": 2, "text": "A.", "splitter": "filler"}
    Sentence.objects.bulk_create(Sentence(review=r, number=n, **places) for r in reviews for n in (1, 2, 3))
    Sentence.objects.bulk_create(Sentence(study=s, number=n, **places) for s in studies for n in (1, 2, 3))
    targets = Target.objects.bulk_create(
        Target(project=project, review=r, level=Level.SENTENCE, key=f"{r.pmid}_0", position=1, text="A.", unit=unit)
        for r, unit in zip(reviews, made("target sentence"), strict=True)
    )
    pairs = list(zip(targets, studies, strict=True))
    Input.objects.bulk_create(Input(target=t, study=s, position=1, text="A.", numbers=[1]) for t, s in pairs)
    EvidencePair.objects.bulk_create(
        EvidencePair(target=t, study=s, unit=unit) for (t, s), unit in zip(pairs, made("target and study"), strict=True)
    )
    Ranking.objects.bulk_create(
        Ranking(target=t, study=s, ranker="words: BM25, 1", texts="-", order=[1, 2, 3], similarities=[1, 1, 1])
        for t, s in pairs
    )
    clusters = Cluster.objects.bulk_create(
        Cluster(project=project, review=t.review, key=t.key, position=1, unit=unit, sentence=t, imported=file)
        for t, unit in zip(targets, made("cluster"), strict=True)
    )
    for position in (0, 1):
        units = made(f"proposition {position}")
        Proposition.objects.bulk_create(
            Proposition(cluster=c, position=position, text="A.", unit=unit, study=s if position else None)
            for c, s, unit in zip(clusters, studies, units, strict=True)
        )
        Label.objects.bulk_create(
            Label(unit=unit, imported=file, polarity="positive", modality="moderate") for unit in units
        )
        Decision.objects.bulk_create(
            Decision(
                unit=unit, kind="label", field=field, origin=Origin.IMPORTED, imported=file, decided_at=file.created_at
            )
            for unit in units
            for field in ("polarity", "modality")
        )


def test_next_and_answer_cost_the_same_in_every_kind(
    project: Project, lead: User, ann1: User, ann2: User, stub: Stub
) -> None:
    other_lab(LARGE)
    lab = Measured(project, lead, (ann1, ann2))
    way.test_a_data_set_is_built_from_a_query_to_a_release(lab, stub)
    for name, (few, _) in lab.costs.items():
        print(f"{name:<40} next {few[0]:>3}, answer {few[1]:>3} queries; {lab.dearest.get(name, (0,))[0]} rows")
    assert all(few == many for few, many in lab.costs.values()), lab.costs
    assert len(lab.costs) == 11
    for name, (most, sql) in lab.dearest.items():
        assert most < MOST, f"{name} reads {most} rows: {sql}"
