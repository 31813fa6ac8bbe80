"""Create a large project with answers, findings, flags and stale values, for `benchmarks.lists`.

The functions run in a process with Concord set up. Each cluster has five propositions, five label answers (all flagged
and from an earlier guideline), six findings (five waiting), five stale labels, and five log entries. Therefore 20,000
clusters have 100,000 of each.
"""

import random
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

from benchmarks.inside_ratings import summarised

#: Number of clusters built at a time, clusters per review, and propositions per cluster (the target and its inputs).
PART, REVIEW, CLUSTER = 500, 5, 5
#: One in this number of clusters lacks a label, has a contested label, or has settled flags.
ONE_IN = 10
SUBJECTS = ["mortality", "pain", "relapse", "bleeding", "fatigue", "infection", "nausea", "falls", "delirium", "stroke"]
VALUES = [("positive", "strong"), ("no effect", "moderate"), ("negative", "weak")]
LABELLED = ("polarity", "modality")


def large_project(slug: str, clusters: int) -> dict[str, Any]:
    """Create the project and return the ids that routes need, by URL parameter."""
    built = Builder(slug)
    for first in range(0, clusters, PART):
        built.add(range(first, min(first + PART, clusters)))
    return built.finish()


class Builder:
    """Creates the rows of one project, part by part."""

    def __init__(self, slug: str) -> None:
        from django.utils import timezone

        from accounts.models import User
        from annotation.models import Search
        from projects.models import Import, Member, Project

        self.now, self.rng = timezone.now(), random.Random(1)
        self.project = Project.objects.create(slug=slug, name=slug, licence="CC0-1.0")
        self.lead = User.objects.create_user(email=f"{slug}-lead@example.org", name="Lead")
        Member.objects.create(project=self.project, user=self.lead, role="lead", pseudonym="L1")
        self.people = [
            Member.objects.create(
                project=self.project,
                role="annotator",
                pseudonym=f"A{n}",
                user=User.objects.create_user(email=f"{slug}-{n}@example.org", name=f"Annotator {n}"),
            )
            for n in range(4)
        ]
        self.file = Import.objects.create(
            project=self.project,
            format="m3",
            level="3",
            file_name="level3.jsonl",
            sha256="0" * 64,
            size=1,
            counts={},
            report={"totals": {}, "values": {}, "notices": []},
            created_by=self.lead,
            created_at=self.now,
        )
        self.search = Search.objects.create(project=self.project, query="relapse", topic="Relapse", state="done")
        self.guidelines = {kind: self._guideline(kind, 1) for kind in ("label", "discourse")}
        self.gold = self._round("gold", "label", "closed", 2)
        self.open = self._round("open", "label", "open", 2)
        self.relations = self._round("relations", "discourse", "closed", 1)
        self.position = count()

    def _guideline(self, kind: str, number: int) -> Any:
        from projects.models import Guideline

        return Guideline.objects.create(
            project=self.project, kind=kind, number=number, text=f"Version {number}.", digest="0" * 64
        )

    def _round(self, name: str, kind: str, status: str, overlap: int) -> Any:
        from projects.models import Participant, Round

        round = Round.objects.create(
            project=self.project,
            name=name,
            kind=kind,
            purpose="gold",
            overlap=overlap,
            seed=1,
            allocation="pool",
            guideline=self.guidelines[kind],
            sampling={},
            policy={"cues": "ignore"},
            status=status,
            opened_at=self.now,
            closed_at=self.now if status == "closed" else None,
        )
        Participant.objects.bulk_create(Participant(round=round, member=one) for one in self.people)
        return round

    def add(self, numbers: range) -> None:
        """Add clusters with all dependent rows."""
        from django.db import transaction

        with transaction.atomic():
            clusters = self._corpus(numbers)
            claims = self._claims(clusters)
            self._imported(clusters, claims)
            self._answers(clusters, claims)
            self._findings(clusters, claims)
            self._changes(clusters, claims)
            self._log(clusters)

    def _units(self, type: str, keys: list[str], contexts: list[int] | None = None) -> list[Any]:
        from projects.models import Unit

        return Unit.objects.bulk_create(
            Unit(project=self.project, type=type, key=key, context=contexts[n] if contexts else 0, position=n % CLUSTER)
            for n, key in enumerate(keys)
        )

    def _corpus(self, numbers: range) -> list[Any]:
        """Create reviews with abstracts and studies, target sentences with inputs and evidence pairs, and clusters."""
        from annotation import models
        from projects.models import Decision

        ids = sorted({n // REVIEW for n in numbers})
        abstract = "Background. The treatment may help. More trials are needed."
        reviews = models.Review.objects.bulk_create(
            models.Review(
                project=self.project,
                pmid=f"{10_000_000 + n}",
                title=f"Review {n} of {SUBJECTS[n % 10]}",
                unit=unit,
                abstract=abstract,
                topic="Relapse",
                year=2020,
                record="read",
            )
            for n, unit in zip(ids, self._units("review", [f"{10_000_000 + n}" for n in ids]), strict=True)
        )
        studies = models.Study.objects.bulk_create(
            models.Study(
                project=self.project,
                pmid=f"{20_000_000 + n * 4 + k}",
                title=f"Study {n} {k}",
                abstract=abstract,
                record="read",
            )
            for n in ids
            for k in range(4)
        )
        self.studies = studies
        models.Inclusion.objects.bulk_create(
            models.Inclusion(study=s, review=reviews[n // 4], position=n % 4) for n, s in enumerate(studies)
        )
        for of, articles in (("review", reviews), ("study", studies)):
            models.Sentence.objects.bulk_create(
                models.Sentence(number=n, start=12 * n, end=12 * n + 10, text="It may help.", splitter="-", **{of: a})
                for a in articles
                for n in (1, 2, 3)
            )
        models.Hit.objects.bulk_create(
            models.Hit(search=self.search, position=n, pmid=r.pmid, outcome="new")
            for n, r in zip(ids, reviews, strict=True)
        )
        models.Screening.objects.bulk_create(
            models.Screening(unit_id=r.unit_id, imported=self.file, screening="include") for r in reviews
        )
        self._decide(Decision, [(r.unit_id, "screen", "screening") for r in reviews], imported=self.file)
        keys = [f"{10_000_000 + n // REVIEW}_{n % REVIEW}" for n in numbers]
        of_cluster = [reviews[n // REVIEW - ids[0]] for n in numbers]
        targets = models.Target.objects.bulk_create(
            models.Target(
                project=self.project,
                review=r,
                level=models.Level.SENTENCE,
                key=key,
                position=n,
                unit=unit,
                text=f"Treatment {n} reduced {SUBJECTS[n % 10]}.",
            )
            for n, key, r, unit in zip(numbers, keys, of_cluster, self._units("target sentence", keys), strict=True)
        )
        pairs = [
            (t, studies[4 * (n // REVIEW - ids[0]) + k]) for n, t in zip(numbers, targets, strict=True) for k in (0, 1)
        ]
        models.Input.objects.bulk_create(
            models.Input(target=t, study=s, position=1 + n % 2, text="It may help.", numbers=[1])
            for n, (t, s) in enumerate(pairs)
        )
        named = self._units("target and study", [f"{t.key} {s.pmid}" for t, s in pairs])
        models.EvidencePair.objects.bulk_create(
            models.EvidencePair(target=t, study=s, unit=unit) for (t, s), unit in zip(pairs, named, strict=True)
        )
        clusters = models.Cluster.objects.bulk_create(
            models.Cluster(
                project=self.project,
                review=r,
                key=key,
                position=n,
                unit=unit,
                sentence=t,
                imported=self.file,
                search=f"{key} treatment {n} {SUBJECTS[n % 10]}",
            )
            for n, key, r, t, unit in zip(numbers, keys, of_cluster, targets, self._units("cluster", keys), strict=True)
        )
        models.PicoElement.objects.bulk_create(
            models.PicoElement(cluster=c, element=element, form=form, text=text)
            for c in clusters
            for element, form, text in (
                ("p", "implied", "[patients]"),
                ("i", "explicit", f"treatment {c.position}"),
                ("c", "blank", ""),
                ("o", "explicit", SUBJECTS[c.position % 10]),
            )
        )
        return clusters

    def _claims(self, clusters: list[Any]) -> list[Any]:
        from annotation.models import Counterfactual, Proposition

        places = [(c, k) for c in clusters for k in range(CLUSTER)]
        units = self._units("proposition", [f"{c.key}/{k}" for c, k in places], [c.unit_id for c, _ in places])
        first = clusters[0].position // REVIEW
        claims = Proposition.objects.bulk_create(
            Proposition(
                cluster=c,
                position=k,
                unit=unit,
                study=self.studies[4 * (c.position // REVIEW - first) + k - 1] if k else None,
                text=f"In trial {c.position}-{k} treatment {c.position} changed {SUBJECTS[c.position % 10]} by "
                f"{self.rng.randrange(10**6)} points in {self.rng.randrange(10**6)} patients.",
            )
            for (c, k), unit in zip(places, units, strict=True)
        )
        Counterfactual.objects.bulk_create(
            Counterfactual(target=claim, kind="negation", text=f"No: {claim.text}", imported=self.file)
            for claim in claims[::CLUSTER]
        )
        return claims

    def _decide(self, model: Any, fields: list[tuple[int, str, str]], **how: Any) -> None:
        origin = how.pop("origin", "imported")
        model.objects.bulk_create(
            model(unit_id=unit, kind=kind, field=field, origin=origin, digest="", decided_at=self.now, **how)
            for unit, kind, field in fields
        )

    def _imported(self, clusters: list[Any], claims: list[Any]) -> None:
        """Create imported labels and relations. The last text of one in `ONE_IN` clusters has no label."""
        from annotation.models import DiscourseLabel, Label
        from projects.models import Decision

        labelled = [p for p in claims if p.position < CLUSTER - 1 or p.cluster.position % ONE_IN]
        Label.objects.bulk_create(
            Label(unit_id=p.unit_id, imported=self.file, polarity=polarity, modality=modality)
            for p in labelled
            for polarity, modality in (self.rng.choice(VALUES),)
        )
        self._decide(Decision, [(p.unit_id, "label", f) for p in labelled for f in LABELLED], imported=self.file)
        DiscourseLabel.objects.bulk_create(
            DiscourseLabel(unit_id=c.unit_id, imported=self.file, relation="agreement") for c in clusters
        )
        self._decide(Decision, [(c.unit_id, "discourse", "relation") for c in clusters], imported=self.file)

    def _answered(self, round: Any, units: list[Any], k: int, store: Callable[[list[Any]], None]) -> list[Any]:
        """Create ``k`` answers to each unit, oldest first."""
        from projects.models import Answer, Assignment

        slots = Assignment.objects.bulk_create(
            Assignment(
                round=round, unit_id=unit, number=n + 1, position=next(self.position), person=self.people[n], revision=1
            )
            for unit in units
            for n in range(k)
        )
        answers = Answer.objects.bulk_create(
            Answer(
                assignment=slot,
                author=slot.person,
                revision=1,
                outcome="answered",
                guideline=round.guideline,
                shown=1,
                body_digest="",
                digest="",
                active_ms=9_000,
                flag=True,
                comment="" if n % 5 else "Please look again.",
                received_at=self.now - timedelta(minutes=self.rng.randrange(60 * 24 * 30)),
            )
            for n, slot in enumerate(slots)
        )
        store(answers)
        for slot, answer in zip(slots, answers, strict=True):
            slot.current_answer = answer
        Assignment.objects.bulk_update(slots, ["current_answer"], batch_size=400)
        return answers

    def _answers(self, clusters: list[Any], claims: list[Any]) -> None:
        """Create answers of three rounds.

        A closed gold round has two answers to the target and the first input. An open round has one of two answers to
        the second input. A closed round has the relations.
        """
        from annotation.models import DiscourseLabel, Label
        from projects.models import Assignment, Decision, Remark

        def labels(answers: list[Any]) -> None:
            Label.objects.bulk_create(
                Label(unit_id=a.assignment.unit_id, answer=a, polarity="positive", modality="strong") for a in answers
            )

        def relations(answers: list[Any]) -> None:
            DiscourseLabel.objects.bulk_create(
                DiscourseLabel(unit_id=a.assignment.unit_id, answer=a, relation="agreement") for a in answers
            )

        of_gold = [p.unit_id for p in claims if p.position < 2]
        given = self._answered(self.gold, of_gold, 2, labels)
        contested = {p.unit_id for p in claims if p.position == 0 and p.cluster.position % ONE_IN == 1}
        waits = [(unit, "label", "polarity") for unit in sorted(contested)]
        self._decide(Decision, waits, origin="contested", round=self.gold)
        adopted = {a.assignment.unit_id: a for a in given}
        Decision.objects.bulk_create(
            Decision(
                unit_id=unit,
                kind="label",
                field=field,
                origin="unanimous",
                digest="",
                decided_at=self.now,
                answer=a,
                round=self.gold,
            )
            for unit, a in adopted.items()
            for field in LABELLED
            if (unit, field) not in {(u, "polarity") for u in contested}
        )
        of_open = [p.unit_id for p in claims if p.position == 2]
        given += self._answered(self.open, of_open, 1, labels)
        Assignment.objects.bulk_create(
            Assignment(round=self.open, unit_id=unit, number=2, position=next(self.position)) for unit in of_open
        )
        Remark.objects.bulk_create(
            Remark(answer=a, act="settled", author=self.lead, at=self.now) for a in given[::ONE_IN]
        )
        found = self._answered(self.relations, [c.unit_id for c in clusters], 1, relations)
        Decision.objects.bulk_create(
            Decision(
                unit_id=a.assignment.unit_id,
                kind="discourse",
                field="relation",
                origin="single",
                digest="",
                decided_at=self.now,
                answer=a,
                round=self.relations,
            )
            for a in found
        )

    def _findings(self, clusters: list[Any], claims: list[Any]) -> None:
        from annotation.models import Finding, FindingUnit
        from measures.consistency import RULES

        by_cluster: dict[int, list[int]] = defaultdict(list)
        for p in claims:
            by_cluster[p.cluster_id].append(p.unit_id)
        rows, named = [], []
        for c in clusters:
            for k in range(CLUSTER + 1):
                answered: dict[str, Any] = {}
                if k == CLUSTER:
                    answered = {
                        "decision": "dismissed",
                        "decision_reason": "Meant so.",
                        "decided_by": self.lead,
                        "decided_at": self.now,
                    }
                position = c.position * (CLUSTER + 1) + k
                rows.append(
                    Finding(
                        project=self.project,
                        rule=RULES[position % len(RULES)].key,
                        identity=f"bench {position}",
                        reason="Two labels differ.",
                        position=position,
                        found_at=self.now,
                        **answered,
                    )
                )
                mine = by_cluster[c.pk]
                named.append((mine[k % CLUSTER], mine[(k + 1) % CLUSTER]))
        Finding.objects.bulk_create(rows)
        FindingUnit.objects.bulk_create(
            FindingUnit(finding=row, unit_id=unit, position=n)
            for row, units in zip(rows, named, strict=True)
            for n, unit in enumerate(units)
        )

    def _changes(self, clusters: list[Any], claims: list[Any]) -> None:
        """Create a stale label for every text, and a changed relation that was decided again."""
        from django.db.models import Max

        from projects.models import Change, Decision

        newest = Decision.objects.aggregate(newest=Max("pk"))["newest"]
        places = [(p.unit_id, "label", "text" if p.position % 2 else "tuple") for p in claims]
        places += [(c.unit_id, "discourse", "label") for c in clusters]
        Change.objects.bulk_create(
            Change(
                unit_id=unit,
                kind=kind,
                revision=2,
                what=what,
                before="a",
                after="b",
                reason="A typing error.",
                decisions_up_to=newest,
                changed_by=self.lead,
                changed_at=self.now,
            )
            for unit, kind, what in places
        )
        self._decide(Decision, [(c.unit_id, "discourse", "relation") for c in clusters], imported=self.file)

    def _scored(self, number: int) -> Any:
        """Create a run over all clusters, with a score of each summary."""
        from generation.models import Score, Scoring, Summary

        run = summarised(self.project, number)
        scoring = Scoring.objects.create(run=run, metric="length", hash="0" * 64, finished_at=self.now)
        summaries = Summary.objects.filter(item__run=run)
        Score.objects.bulk_create(Score(scoring=scoring, summary=s, values={"words": 3.0}) for s in summaries)
        return run

    def _log(self, clusters: list[Any]) -> None:
        from audit.models import Entry
        from projects.models import Notification

        Entry.objects.bulk_create(
            Entry(
                at=self.now,
                actor=self.lead,
                project=self.project.pk,
                verb="confirm",
                object_type="unit",
                digest="",
                object_id=str(c.unit_id),
                after={"value": "positive"},
                reason="Checked.",
            )
            for c in clusters
            for _ in range(CLUSTER)
        )
        Notification.objects.bulk_create(
            Notification(
                user=self.lead,
                what="finished",
                project=self.project,
                subject="Release",
                at=self.now,
                read_at=None if c.position % ONE_IN == 0 else self.now,
            )
            for c in clusters
        )

    def finish(self) -> dict[str, Any]:
        """Add the rows that a project has few of, set the counters, and return ids by URL parameter."""
        from django.db import connection

        from annotation.models import Cluster, ConsistencyCheck
        from projects.models import Assignment, Job, JobStatus
        from projects.models import Round as Rounds

        self.guidelines |= {"label": self._guideline("label", 2)}
        ConsistencyCheck.objects.create(project=self.project, at=self.now)
        Job.objects.bulk_create(
            Job(project=self.project, kind="consistency", status=JobStatus.DONE, finished_at=self.now, result={})
            for _ in range(200)
        )
        for round in (self.gold, self.open, self.relations):
            units = Assignment.objects.filter(round=round).values("unit").distinct().count()
            Rounds.objects.filter(pk=round.pk).update(units_count=units)
        clusters = Cluster.objects.filter(project=self.project).order_by("position")
        run, _ = [self._scored(n) for n in range(2)]
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("ANALYZE")  # as autovacuum would within minutes
        middle = clusters[clusters.count() // 2]
        claim = middle.propositions.order_by("position")[0]
        return {
            "slug": self.project.slug,
            "lead": self.lead.pk,
            "annotator": self.people[0].user_id,
            "cluster_id": middle.pk,
            "review_id": middle.review_id,
            "pmid": middle.review.pmid,
            "unit_id": claim.unit_id,
            "cluster_unit": middle.unit_id,
            "contested_unit": clusters[1].propositions.get(position=0).unit_id,
            "study_id": middle.review.studies()[0].pk,
            "search_id": self.search.pk,
            "import_id": self.file.pk,
            "guideline_id": self.guidelines["label"].pk,
            "rounds": [self.gold.pk, self.open.pk, self.relations.pk],
            "job_id": Job.objects.order_by("-pk")[0].pk,
            "system_id": run.version.system_id,
            "version_id": run.version_id,
            "run_id": run.pk,
            "member_id": self.people[0].pk,
        }
