"""Queries of the page of PubMed searches."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from projects.jobs.queries import fresh_job
from projects.models import Member, Project
from projects.reports.registry import Tables, get
from projects.reports.serializers import table_page

from ..imports.licences import redistribution_of
from ..models import Hit, Search

Json = dict[str, Any]
#: Maximum number of unreadable records that a page of searches names.
MOST_UNFIT = 100


def searches(project: Project) -> QuerySet[Search]:
    """Return searches, newest first, with the number of records by outcome."""
    counts = {name: Count("hits", filter=Q(hits__outcome=name)) for name in Hit.Outcome.values}
    queryset = Search.objects.filter(project=project).select_related("review", "job", "created_by").order_by("-pk")
    return queryset.annotate(**{f"hits_{name}": count for name, count in counts.items()})


def rows(page: Sequence[Search]) -> list[Json]:
    unfit = _unfit(page)
    return [
        {
            "id": each.pk,
            "review": each.review,
            "topic": each.topic,
            "query": each.query,
            "date_from": each.date_from,
            "date_to": each.date_to,
            "translation": each.translation,
            "found": each.found,
            "licence": each.licence,
            "redistribution": redistribution_of(each),
            "state": each.state,
            "error": each.error,
            "counts": {name: getattr(each, f"hits_{name}") for name in Hit.Outcome.values},
            "unfit": unfit[each.pk],
            "job": fresh_job(each.job) if each.job and each.state in ("waiting", "running") else None,
            "by": each.created_by.name if each.created_by else "",
            "created_at": each.created_at,
        }
        for each in page
    ]


def _unfit(page: Sequence[Search]) -> dict[int, list[Json]]:
    """Return the first records of each search that could not be imported. One query."""
    by_search: dict[int, list[Json]] = defaultdict(list)
    hits = Hit.objects.filter(search__in=page, outcome=Hit.Outcome.UNFIT).order_by("search", "position")
    for search, pmid, why in hits.values_list("search", "pmid", "why")[:MOST_UNFIT]:
        by_search[search].append({"pmid": pmid, "why": why})
    return by_search


def row(search: Search) -> Json:
    return rows([searches(search.project).get(pk=search.pk)])[0]


def topics(member: Member) -> Json:
    """Return the table of retrieved reviews by topic."""
    return table_page(Tables(member.project, member).build(get("m3-1")))
