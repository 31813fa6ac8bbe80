"""Searches of PubMed as the page lists them."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from projects.models import Member, Project
from projects.pages.plans import fresh_job
from projects.pages.tables import table_page
from projects.tables import Tables, get

from ..models import Hit, Search

Json = dict[str, Any]


def searches(project: Project) -> QuerySet[Search]:
    """Newest first, with how many records became what."""
    counts = {name: Count("hits", filter=Q(hits__outcome=name)) for name in Hit.Outcome.values}
    found = Search.objects.filter(project=project).select_related("review", "job", "created_by").order_by("-pk")
    return found.annotate(**{f"hits_{name}": count for name, count in counts.items()})


def rows(page: Sequence[Search]) -> list[Json]:
    return [
        {
            "id": each.pk, "review": each.review, "topic": each.topic, "query": each.query,
            "date_from": each.date_from, "date_to": each.date_to, "translation": each.translation,
            "found": each.found, "state": each.state, "error": each.error,
            "counts": {name: getattr(each, f"hits_{name}") for name in Hit.Outcome.values},
            "job": fresh_job(each.job) if each.job and each.state in ("waiting", "running") else None,
            "by": each.created_by.name if each.created_by else "", "created_at": each.created_at,
        }
        for each in page
    ]  # fmt: skip


def row(search: Search) -> Json:
    return rows([searches(search.project).get(pk=search.pk)])[0]


def topics(member: Member) -> Json:
    """The table of what was retrieved, by topic."""
    return table_page(Tables(member.project, member).build(get("m3-1")))
