"""Searches of PubMed as the page lists them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from projects.models import Member, Project
from projects.pages.plans import fresh_job
from projects.pages.tables import table_page
from projects.tables import Tables, get

from ..models import Hit, Search

Json = dict[str, Any]
#: How many records that could not be taken a page of searches names.
MOST_UNFIT = 100


def searches(project: Project) -> QuerySet[Search]:
    """Newest first, with how many records became what."""
    counts = {name: Count("hits", filter=Q(hits__outcome=name)) for name in Hit.Outcome.values}
    found = Search.objects.filter(project=project).select_related("review", "job", "created_by").order_by("-pk")
    return found.annotate(**{f"hits_{name}": count for name, count in counts.items()})


def rows(page: Sequence[Search]) -> list[Json]:
    unfit = _unfit(page)
    return [
        {
            "id": each.pk, "review": each.review, "topic": each.topic, "query": each.query,
            "date_from": each.date_from, "date_to": each.date_to, "translation": each.translation,
            "found": each.found, "state": each.state, "error": each.error,
            "counts": {name: getattr(each, f"hits_{name}") for name in Hit.Outcome.values},
            "unfit": unfit[each.pk],
            "job": fresh_job(each.job) if each.job and each.state in ("waiting", "running") else None,
            "by": each.created_by.name if each.created_by else "", "created_at": each.created_at,
        }
        for each in page
    ]  # fmt: skip


def _unfit(page: Sequence[Search]) -> dict[int, list[Json]]:
    """The first records that could not be taken, of each search. One query."""
    found: dict[int, list[Json]] = defaultdict(list)
    hits = Hit.objects.filter(search__in=page, outcome=Hit.Outcome.UNFIT).order_by("search", "position")
    for search, pmid, why in hits.values_list("search", "pmid", "why")[:MOST_UNFIT]:
        found[search].append({"pmid": pmid, "why": why})
    return found


def row(search: Search) -> Json:
    return rows([searches(search.project).get(pk=search.pk)])[0]


def topics(member: Member) -> Json:
    """The table of what was retrieved, by topic."""
    return table_page(Tables(member.project, member).build(get("m3-1")))
