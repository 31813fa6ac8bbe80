"""What the newest consistency check found, rule by rule and one by one."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from measures.consistency import RULES
from projects.models import Decision, Job, JobStatus, Project
from projects.pages.plans import fresh_job

from ..actions.consistency import KIND
from ..models import ConsistencyCheck, Finding, FindingUnit, Proposition
from ..models.finding import STATES
from ..values import consistency as reading

Json = dict[str, Any]


def totals(project: Project) -> Json:
    """By rule what was found, in the order of the rules, and when. A fixed number of queries."""
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
        ],
    }


def findings(project: Project, *, rule: str = "", state: str = "") -> QuerySet[Finding]:
    """In the order of the rules, the most telling of a rule first."""
    found = Finding.objects.of(project).select_related("said_by")
    found = found.filter(rule=rule) if rule else found
    return found.filter(STATES[state]) if state else found


def doubted(project: Project) -> QuerySet[FindingUnit]:
    """The units that a finding names to which nobody has said anything yet, in no order."""
    return FindingUnit.objects.filter(finding__in=Finding.objects.of(project).waiting().order_by()).order_by()


def about(project: Project, units: Collection[int]) -> list[Json]:
    """The findings that wait and name one of these units, a line each. One query."""
    titles = {rule.key: rule.title for rule in RULES}
    naming = FindingUnit.objects.filter(unit__in=units).order_by().values("finding")
    waiting = Finding.objects.of(project).waiting().filter(pk__in=naming)
    return [
        {"id": pk, "rule": rule, "title": titles.get(rule, rule), "reason": reason}
        for pk, rule, reason in waiting.values_list("pk", "rule", "reason")
    ]


def rows(page: Sequence[Finding]) -> list[Json]:
    """The findings of one page with the units and texts they name, and of those that were sent to review the rounds
    in whose queue they wait. A fixed number of queries."""
    named: dict[int, list[tuple[int, str]]] = defaultdict(list)
    naming = FindingUnit.objects.filter(finding__in=[f.pk for f in page]).order_by("finding", "position")
    for finding, unit, key in naming.values_list("finding", "unit", "unit__key"):
        named[finding].append((unit, key))
    units = {unit for some in named.values() for unit, _ in some}
    texts = dict(Proposition.objects.filter(unit__in=units).values_list("unit", "text"))
    # Of a cluster as a whole the target is what people know it by.
    targets = Proposition.objects.current().filter(position=0, cluster__unit__in=units)
    texts |= dict(targets.values_list("cluster__unit", "text"))
    kinds = {rule.key: rule.kind for rule in RULES}
    in_doubt = {rule.key: rule.in_doubt for rule in RULES}
    queues = _queues(units)
    claims = reading.claims(units)

    def marked(rule: str, unit: int) -> list[Json]:
        words = in_doubt[rule](claims[unit]) if rule in in_doubt and unit in claims else ()
        return [{"start": start, "end": end} for start, end in words]

    return [
        {
            "id": f.pk, "rule": f.rule, "reason": f.reason, "is_information": f.is_information, "weight": f.weight,
            "units": [
                {
                    "unit": unit, "key": key, "text": texts.get(unit, ""),
                    "marked": marked(f.rule, unit),
                }
                for unit, key in named[f.pk]
            ],
            "said": f.said, "because": f.because, "said_by": f.said_by.name if f.said_by else "", "said_at": f.said_at,
            "can_be_sent": bool(kinds.get(f.rule)),
            "queues": [
                {"round": round, "name": name}
                for round, name in sorted({q for unit, _ in named[f.pk] for q in queues[unit, kinds.get(f.rule, "")]})
                if f.said == Finding.Said.SENT
            ],
        }
        for f in page
    ]  # fmt: skip


def _queues(units: Collection[int]) -> dict[tuple[int, str], set[tuple[int, str]]]:
    """By unit and kind the rounds (id, name) in whose queue a contest of it waits. One query."""
    found: dict[tuple[int, str], set[tuple[int, str]]] = defaultdict(set)
    waits = Decision.objects.filter(unit__in=units, unit__superseded_by=None, round__isnull=False).contested()
    for unit, kind, round, name in waits.values_list("unit", "kind", "round", "round__name"):
        found[unit, kind].add((round, name))
    return found
