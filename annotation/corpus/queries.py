"""Lists of corpus objects with their related values. The number of queries does not depend on the number of rows."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import BooleanField, Case, ExpressionWrapper, F, OuterRef, Prefetch, Q, QuerySet, Subquery, When
from django.db.models.expressions import OrderBy
from django.db.models.functions import Length
from django.db.models.lookups import GreaterThan

from annotation.clusters.gold import current_label_value, current_relation, gold_json, gold_labels, gold_relations
from projects.inbox import queries as inbox_queries
from projects.models import Change, Decision, Project, Unit
from sql.expressions import InIds, fold_case
from sql.planner import count_subquery, exists_row

from ..clusters.completeness import claims_beside, has_unlabelled, lacks_inputs, unreplaced
from ..clusters.figures import lacking_clusters, lacking_now
from ..consistency.queries import doubted
from ..documents.queries import targets
from ..models import Cluster, PicoElement, Proposition, Review, Study
from .cluster import elements

Json = dict[str, Any]
#: States of a cluster or of any of its propositions, and the states visible only to curators.
STATES = ("contested", "flagged", "stale", "unlabelled", "no_inputs", "findings")
FOR_CURATORS = ("flagged", "findings")
#: States whose clusters a job finds after each change: what such a cluster lacks.
LACKING = {"unlabelled": "label", "no_inputs": "input"}
#: States by which clusters are ordered: those that everyone sees. Clusters without one come last.
ORDERED = tuple(state for state in STATES if state not in FOR_CURATORS)
#: Columns by which clusters are ordered, ascending or, with a minus, descending.
ORDERINGS = ("key", "state", "inputs", "review")
#: Approximate number of characters shown before the first match of a search. Earlier text is cut off between two words.
BEFORE_MATCH = 60


def clusters(project: Project, filters: Mapping[str, str]) -> QuerySet[Cluster]:
    """Return clusters filtered by ``search, relation, polarity, modality, role, review, state``.

    They are in the order of ``ordering``. Without it they are in corpus order, and clusters that contain the search as
    whole words come first.
    """
    return _with_related(_in_order(_matching(project, filters), project, filters))


def cluster_ids(project: Project, filters: Mapping[str, str]) -> list[int]:
    """Return the ids of `clusters`.

    A list reads them once for its count and its page. Filters and orderings look up every cluster.
    """
    return list(_in_order(_matching(project, filters), project, filters).values_list("pk", flat=True))


def clusters_of_page(ids: Sequence[int]) -> list[Cluster]:
    """Return the clusters of a page of `cluster_ids`, in its order."""
    by_id = _with_related(Cluster.objects.all()).in_bulk(ids)
    return [by_id[pk] for pk in ids if pk in by_id]


def _with_related(queryset: QuerySet[Cluster]) -> QuerySet[Cluster]:
    # Not select_related: PostgreSQL expects few clusters to match, and compares each with every review.
    return queryset.prefetch_related(
        "review", Prefetch("pico", PicoElement.objects.order_by("id").prefetch_related("fragments"))
    )


def _matching(project: Project, filters: Mapping[str, str]) -> QuerySet[Cluster]:
    # No join: with several states as conditions, PostgreSQL may compare every cluster with every unit.
    queryset = unreplaced(Cluster.objects.filter(project=project).found_by(filters.get("search", "")))
    if review := filters.get("review"):
        queryset = queryset.filter(review__pmid=review)
    if relation := filters.get("relation"):
        queryset = queryset.alias(relation=current_relation()).filter(relation=relation)
    values = {field: filters[field] for field in ("polarity", "modality") if filters.get(field)}
    if values:
        # Both values must match on the same proposition.
        claims = Proposition.with_arriving.filter(cluster=OuterRef("pk"))
        if role := filters.get("role"):
            claims = claims.filter(Q(position=0) if role == "target" else Q(position__gte=1))
        for field, value in values.items():
            claims = claims.alias(**{field: current_label_value(field)}).filter(**{field: value})
        queryset = queryset.filter(exists_row(unreplaced(claims)))
    if state := filters.get("state"):
        queryset = queryset.filter(_is(state, project))
    return queryset


def _in_order(queryset: QuerySet[Cluster], project: Project, filters: Mapping[str, str]) -> QuerySet[Cluster]:
    ordering = filters.get("ordering", "")
    columns = _columns(ordering.removeprefix("-"), project)
    if not ordering and (words := filters.get("search", "").strip()):
        columns = [Case(When(search__regex=whole_words(words), then=0), default=1)]
    return queryset.order_by(*(OrderBy(c, descending=ordering.startswith("-")) for c in columns), "position", "id")


def _columns(ordering: str, project: Project) -> list[Any]:
    """Return the expressions of an ordering. Identifiers are mostly numbers, so shorter ones come first."""
    match ordering:
        case "key" | "review":
            key = [Length("key"), F("key")] if ordering == "key" else []
            pmid = Subquery(Review.objects.filter(pk=OuterRef("review")).values("pmid")[:1])
            return [Length(pmid), pmid, *key]
        case "inputs":
            return [count_subquery(claims_beside().filter(position__gte=1))]
        case "state":
            ranks = (When(_is(state, project), then=n) for n, state in enumerate(ORDERED))
            return [Case(*ranks, default=len(ORDERED))]
    return []


def whole_words(search: str) -> str:
    """Return a regular expression for the search as whole words, in the syntax of Python and of PostgreSQL.

    It begins with the literal text, because Python finds that faster than a boundary.
    """
    words = re.escape(fold_case(search.strip()))
    return rf"{words}(?<!\w{words})(?!\w)"


def states(project: Project, filters: Mapping[str, str], *, curates: bool) -> list[Json]:
    """Count the clusters in each state under the other filters.

    The state "" counts all of them. Needs at most one query per state and one for the others. A single statement takes
    1.5 times as long, because it looks up each cluster in every table in turn.
    """
    others = {name: value for name, value in filters.items() if value and name not in ("state", "role", "ordering")}
    matches = _matching(project, {**filters, "state": ""}).order_by()
    named = [state for state in STATES if curates or state not in FOR_CURATORS]
    if not others:
        lacking = lacking_now(project)
        counted = {state: lacking[what] for state, what in LACKING.items()}
        total = matches.count()
        counted |= {
            state: matches.filter(_is(state, project)).count() if total else 0
            for state in named
            if state not in counted
        }
    else:
        # Apply the other filters only once.
        ids = set(matches.values_list("pk", flat=True))
        total, lists = len(ids), lacking_clusters(project)
        counted = {state: len(lists[what] & ids) for state, what in LACKING.items() if what in lists}
        among = Cluster.objects.filter(InIds("pk", ids)).order_by()
        for state in named:
            if state not in counted:
                counted[state] = among.filter(_is(state, project)).count() if ids else 0
    return [{"state": "", "clusters": total}, *({"state": state, "clusters": counted[state]} for state in named)]


def _is(state: str, project: Project) -> Q:
    """Return a condition: the cluster or one of its propositions is in the state.

    Looked up by unit, like current values.
    """
    if state == "unlabelled":
        return has_unlabelled()
    if state == "no_inputs":
        return lacks_inputs()
    if state == "contested":
        # Contested decisions are few, so they are read first, by their index, and not per cluster.
        waits = Decision.objects.contested().values("unit")
        return Q(unit__in=waits) | Q(pk__in=Proposition.objects.current().filter(unit__in=waits).values("cluster"))
    flags = (
        inbox_queries.raised(project)
        .filter(inbox_queries.FLAGGED, assignment__unit=OuterRef("unit"))
        .exclude(inbox_queries.SETTLED)
    )
    rows = {
        "flagged": flags,
        "stale": Change.objects.unsettled().filter(unit=OuterRef("unit")),
        "findings": doubted(project).filter(unit=OuterRef("unit")),
    }[state]
    among = (
        Proposition.with_arriving.filter(cluster=OuterRef("pk"))
        .alias(row_count=count_subquery(rows))
        .filter(row_count__gt=0)
    )
    return Q(GreaterThan(count_subquery(rows), 0)) | exists_row(unreplaced(among))


def neighbours(cluster: Cluster, filters: Mapping[str, str]) -> Json:
    """Return the previous and the next cluster in a filtered list, and the position of the cluster in it.

    The position is None if the cluster no longer matches the filters, for example after a new decision. Needs one or
    two queries.
    """
    matches = _matching(cluster.project, filters)
    ids = _ids_in_order(matches, cluster, filters)
    total, is_in_list = len(ids), cluster.pk in ids
    if not is_in_list:
        # By id: the filters would be applied a second time.
        beside = Cluster.objects.filter(pk__in=[*ids, cluster.pk])
        ids = _ids_in_order(beside, cluster, filters)
    at = ids.index(cluster.pk)
    return {
        "previous": ids[at - 1] if at else None,
        "next": ids[at + 1] if at + 1 < len(ids) else None,
        "number": at + 1 if is_in_list else None,
        "of": total,
    }


def _ids_in_order(clusters: QuerySet[Cluster], cluster: Cluster, filters: Mapping[str, str]) -> list[int]:
    return list(_in_order(clusters, cluster.project, filters).values_list("pk", flat=True))


def _hits(page: Sequence[Cluster], search: str) -> dict[int, Json]:
    """Return the first proposition of each cluster that contains the search, with the highlights in its text.

    One with whole words is preferred. Needs one query.
    """
    whole: dict[int, Json] = {}
    partial: dict[int, Json] = {}
    if search.strip():
        pattern = re.compile(whole_words(search))
        rows = Proposition.objects.current().filter(cluster__in=page).order_by("position")
        for cluster, position, text in rows.values_list("cluster", "position", "text"):
            matches = whole if pattern.search(fold_case(text)) else partial
            if cluster not in matches and (highlights := highlight(text, search)):
                matches[cluster] = {"position": position, "pieces": highlights}
    return partial | whole


def _states_of(page: Sequence[Cluster], project: Project, *, curates: bool) -> dict[int, list[str]]:
    """Return the states of each cluster. Needs one query."""
    named = [state for state in STATES if curates or state not in FOR_CURATORS]
    conditions = {state: ExpressionWrapper(_is(state, project), output_field=BooleanField()) for state in named}
    rows = Cluster.objects.filter(pk__in=[c.pk for c in page]).order_by().annotate(**conditions).values("pk", *named)
    return {row["pk"]: [state for state in named if row[state]] for row in rows}


def cluster_rows(page: Sequence[Cluster], project: Project, search: str = "", *, curates: bool = False) -> list[Json]:
    """Return list rows for clusters: target, polarities of the inputs, current values, states and highlights."""
    claims = Proposition.objects.current().filter(cluster__in=page)
    targets = {p.cluster_id: p for p in claims.filter(position=0)}
    polarities: dict[int, list[str | None]] = {c.pk: [] for c in page}
    inputs = claims.filter(position__gte=1).order_by("position")
    for pk, polarity in inputs.values_list("cluster", current_label_value("polarity")):
        polarities[pk].append(polarity)
    states_of = _states_of(page, project, curates=curates)
    labels = gold_labels([p.unit_id for p in targets.values()])
    relations = gold_relations([c.unit_id for c in page])
    hits = _hits(page, search)
    rows = []
    for cluster in page:
        target = targets[cluster.pk]
        fields = labels.get(target.unit_id, {})
        rows.append(
            {
                "id": cluster.pk,
                "key": cluster.key,
                "review": {"id": cluster.review_id, "pmid": cluster.review.pmid},
                "text": target.text,
                "hit": hits.get(cluster.pk),
                "inputs": len(polarities[cluster.pk]),
                "input_polarities": polarities[cluster.pk],
                "states": states_of[cluster.pk],
                "pico": elements(cluster),
                "polarity": gold_json(fields.get("polarity")),
                "modality": gold_json(fields.get("modality")),
                "relation": gold_json(relations.get(cluster.unit_id)),
            }
        )
    return rows


def review_page(review: Review) -> Json:
    """Return one review with its studies, targets and clusters."""
    mine = clusters(review.project, {}).filter(review=review)
    return {
        "id": review.pk,
        "pmid": review.pmid,
        "title": review.title,
        "abstract": review.abstract,
        "studies": review.studies(),
        "targets": targets(review),
        "clusters": cluster_rows(list(mine), review.project),
    }


#: Types of units of a corpus of questions.
OF_QUESTIONS = ("question", "passage", "written summary")


def place_of(unit: Unit) -> Json:
    """Return the page that shows a unit: its cluster, or else the review whose curation page contains it.

    Both are None for a question, passage or written summary, which its page *Origin* shows, and for a unit that exists
    only in a round.
    """
    cluster = Cluster.objects.filter(Q(unit=unit) | Q(propositions__unit=unit)).values_list("pk", flat=True).first()
    of = Q(unit=unit) | Q(targets__unit=unit) | Q(targets__evidence_pairs__unit=unit)
    review = None if cluster else Review.objects.filter(of).values_list("pk", flat=True).first()
    return {"cluster": cluster, "review": review, "is_of_questions": unit.type in OF_QUESTIONS}


def study_page(study: Study) -> Json:
    """Return one study with the reviews that include it and the propositions taken from it."""
    propositions = list(Proposition.objects.current().filter(study=study).select_related("cluster").in_corpus_order())
    labels = gold_labels([p.unit_id for p in propositions])
    return {
        "id": study.pk,
        "pmid": study.pmid,
        "title": study.title,
        "abstract": study.abstract,
        "reviews": study.reviews(),
        "propositions": [
            {
                "id": p.pk,
                "cluster": p.cluster_id,
                "cluster_key": p.cluster.key,
                "position": p.position,
                "text": p.text,
                "polarity": gold_json(labels.get(p.unit_id, {}).get("polarity")),
                "modality": gold_json(labels.get(p.unit_id, {}).get("modality")),
            }
            for p in propositions
        ],
    }


def highlight(text: str, words: str) -> list[dict[str, Any]]:
    """Return the text in pieces, those that match a search marked, from shortly before the first match.

    Matching is case-folded, as in the search. Empty if there is no match.
    """
    needle = fold_case(words.strip())
    matches = list(_ranges_of_matches(text, needle)) if needle else []
    if not matches:
        return []
    begin = _beginning(text, matches[0][0])
    out = [{"text": "\u2026 ", "hit": False}] if begin else []
    for start, end in matches:
        out += [{"text": text[begin:start], "hit": False}, {"text": text[start:end], "hit": True}]
        begin = end
    return [piece for piece in [*out, {"text": text[begin:], "hit": False}] if piece["text"]]


def _ranges_of_matches(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the matches. Folding can change the length of a letter, so offsets are mapped back."""
    letters = list(_letters(text))
    ranges = [(start, end) for start, end, folded_letter in letters for _ in folded_letter]
    folded_text = "".join(folded_letter for _, _, folded_letter in letters)
    start_at = folded_text.find(needle)
    while start_at >= 0:
        yield ranges[start_at][0], ranges[start_at + len(needle) - 1][1]
        start_at = folded_text.find(needle, start_at + len(needle))


def _letters(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, folded text) of each letter with its combining accents."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, at, fold_case(text[start:at])
            start = at


def _beginning(text: str, hit: int) -> int:
    return text.rfind(" ", 0, hit - BEFORE_MATCH) + 1 if hit > BEFORE_MATCH + 20 else 0
