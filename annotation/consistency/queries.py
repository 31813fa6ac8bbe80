"""Findings of the newest consistency check: totals by rule, and single findings."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet

from measures.consistency import RULES
from projects.jobs.queries import fresh_job
from projects.models import Decision, Job, JobStatus, Project
from sql.planner import count_subquery

from ..models import Cluster, ConsistencyCheck, Finding, FindingUnit, PicoElement, Proposition
from ..models.finding import STATES
from . import reading
from .actions import KIND

Json = dict[str, Any]


def totals(project: Project) -> Json:
    """Return the number of findings by rule, in the order of the rules, and the time of the check.

    A fixed number of queries.
    """
    counted = {
        row["rule"]: row
        for row in Finding.objects.of(project)
        .order_by()
        .values("rule")
        .annotate(
            waiting=Count("pk", filter=STATES["waiting"] & Q(is_information=False)),
            information=Count("pk", filter=STATES["waiting"] & Q(is_information=True)),
            dismissed=Count("pk", filter=STATES["dismissed"]),
            sent=Count("pk", filter=STATES["sent"]),
        )
    }
    has_clusters = Cluster.objects.current().filter(project=project).exists()
    nothing = {"waiting": 0, "information": 0, "dismissed": 0, "sent": 0}
    jobs = Job.objects.filter(project=project, kind=KIND).order_by("-pk")
    newest = jobs.first()
    check = ConsistencyCheck.objects.filter(project=project).first()
    return {
        "checked_at": check.at if check else None,
        "job": fresh_job(newest) if newest and newest.status != JobStatus.DONE else None,
        "rules": [
            {"rule": rule.key, "title": rule.title, "why": rule.why, "kind": rule.kind, **nothing}
            | counted.get(rule.key, {})
            for rule in RULES
            if rule.key in counted or has_clusters
        ],
    }


def findings(project: Project, *, rule: str = "", state: str = "") -> QuerySet[Finding]:
    """Return findings in the order of the rules, the strongest finding of each rule first."""
    queryset = Finding.objects.of(project).select_related("decided_by")
    queryset = queryset.filter(rule=rule) if rule else queryset
    return queryset.filter(STATES[state]) if state else queryset


def doubted(project: Project) -> QuerySet[FindingUnit]:
    """Return the units named by findings that wait for a curator, unordered."""
    # Look up each finding by its key: with a list, SQLite reads all findings of the project for each unit.
    waits = Finding.objects.of(project).waiting().filter(pk=OuterRef("finding"))
    return FindingUnit.objects.alias(waits=count_subquery(waits)).filter(waits__gt=0).order_by()


def about(project: Project, units: Collection[int]) -> list[Json]:
    """Return the waiting findings that name one of these units. Needs one query."""
    titles = {rule.key: rule.title for rule in RULES}
    naming = FindingUnit.objects.filter(unit__in=units).order_by().values("finding")
    waiting = Finding.objects.of(project).waiting().filter(pk__in=naming)
    return [
        {"id": pk, "rule": rule, "title": titles.get(rule, rule), "reason": reason}
        for pk, rule, reason in waiting.values_list("pk", "rule", "reason")
    ]


def rows(page: Sequence[Finding]) -> list[Json]:
    """Return the findings of a page with their units and texts, in a fixed number of queries.

    Findings sent to review include the rounds in whose queue they wait.
    """
    named: dict[int, list[tuple[int, str]]] = defaultdict(list)
    naming = FindingUnit.objects.filter(finding__in=[f.pk for f in page]).order_by("finding", "position")
    for finding, unit, key in naming.values_list("finding", "unit", "unit__key"):
        named[finding].append((unit, key))
    units = {unit for some in named.values() for unit, _ in some}
    texts = dict(Proposition.objects.filter(unit__in=units).values_list("unit", "text"))
    # A cluster is shown by the text of its target.
    targets = Proposition.objects.current().filter(position=0, cluster__unit__in=units)
    texts |= dict(targets.values_list("cluster__unit", "text"))
    kinds = {rule.key: rule.kind for rule in RULES}
    in_doubt = {rule.key: rule.in_doubt for rule in RULES}
    queues = _queues(units)
    claims = reading.claims(units)
    tuples = _tuples(units)

    def marked(rule: str, unit: int) -> list[Json]:
        words = in_doubt[rule](claims[unit]) if rule in in_doubt and unit in claims else ()
        return [{"start": start, "end": end} for start, end in words]

    return [
        {
            "id": f.pk,
            "rule": f.rule,
            "reason": f.reason,
            "is_information": f.is_information,
            "weight": f.weight,
            "units": [
                {
                    "unit": unit,
                    "key": key,
                    "text": texts.get(unit, ""),
                    "marked": marked(f.rule, unit),
                    "pico": tuples[unit],
                    "polarity": claims[unit].polarity if unit in claims else "",
                    "modality": claims[unit].modality if unit in claims else "",
                }
                for unit, key in named[f.pk]
            ],
            "decision": f.decision,
            "decision_reason": f.decision_reason,
            "decided_by": f.decided_by.name if f.decided_by else "",
            "decided_at": f.decided_at,
            "can_be_sent": bool(kinds.get(f.rule)),
            "queues": [
                {"round": round, "name": name}
                for round, name in sorted({q for unit, _ in named[f.pk] for q in queues[unit, kinds.get(f.rule, "")]})
                if f.decision == Finding.Decision.SENT
            ],
        }
        for f in page
    ]


def _tuples(units: Collection[int]) -> dict[int, list[Json]]:
    """Return the PICO elements of the clusters that contain these propositions, by unit. Needs one query."""
    tuples: dict[int, list[Json]] = defaultdict(list)
    rows = PicoElement.objects.filter(cluster__propositions__unit__in=units).order_by("pk")
    for unit, element, form, text in rows.values_list("cluster__propositions__unit", "element", "form", "text"):
        tuples[unit].append({"element": element, "form": form, "text": text})
    return tuples


def _queues(units: Collection[int]) -> dict[tuple[int, str], set[tuple[int, str]]]:
    """Return the rounds (id, name) in whose queue a contested decision waits, by unit and kind. Needs one query."""
    rounds: dict[tuple[int, str], set[tuple[int, str]]] = defaultdict(set)
    waits = Decision.objects.filter(unit__in=units, unit__superseded_by=None, round__isnull=False).contested()
    for unit, kind, round, name in waits.values_list("unit", "kind", "round", "round__name"):
        rounds[unit, kind].add((round, name))
    return rounds
