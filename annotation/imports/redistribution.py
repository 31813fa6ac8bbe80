"""Whether the licences of a unit's texts allow to redistribute them, for example to send them to another server."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import Q

from projects.models import Import, Unit

from ..models import AbstractUnit, Cluster, Hit, Inclusion, Passage, Proposition, Question, Review, Search, Target

#: What one source of a text states: allowed, forbidden, or None if it is unknown.
Statement = bool | None
#: PubMed id and import of articles, by the id of a row that has their texts.
Articles = dict[int, set[tuple[str, int | None]]]


def redistribution_of(project: int, units: Sequence[int]) -> dict[int, Statement]:
    """Return the strictest statement about the texts of each unit. Runs a fixed number of queries.

    The texts of a unit are its own, those of its review or question, and those of all studies or passages of these. The
    unit of an abstract has the text of its article only.
    Statements come from the imports and PubMed searches that stored the texts. A text without one is unknown.
    """
    reviews = _reviews(units)
    of_review = _of_articles(project, _articles_of_reviews(set(reviews.values())))
    of_abstract = _of_articles(project, _articles_of_abstracts(units))
    own = dict(Unit.objects.filter(pk__in=units).values_list("pk", "imported"))
    of_question = _of_questions(units)
    states = dict(Import.objects.filter(project=project).values_list("pk", "may_redistribute"))
    found: dict[int, Statement] = {}
    for unit in units:
        imported = own.get(unit)
        statements: list[Statement] = [states.get(imported)] if imported else []
        if unit in reviews:
            statements += of_review.get(reviews[unit], [])
        statements += of_abstract.get(unit, [])
        statements += [states.get(each) if each else None for each in of_question.get(unit, [])]
        found[unit] = strictest(statements)
    return found


def strictest(statements: Iterable[Statement]) -> Statement:
    """Return False if any forbids, True if all allow and there is at least one, else None."""
    found = set(statements)
    if False in found:
        return False
    return True if found == {True} else None


def _reviews(units: Sequence[int]) -> dict[int, int]:
    """Return the review of each unit that has one."""
    found: dict[int, int] = dict(Review.objects.filter(unit__in=units).values_list("unit", "pk"))
    for model, path in ((Target, "review"), (Cluster, "review"), (Proposition, "cluster__review")):
        found |= dict(model._default_manager.filter(unit__in=units).values_list("unit", path))
    return found


def _articles_of_reviews(reviews: set[int]) -> Articles:
    """Return the articles of each review: itself, and its studies."""
    articles: Articles = defaultdict(set)
    for pk, pmid, imported in Review.objects.filter(pk__in=reviews).values_list("pk", "pmid", "imported"):
        articles[pk].add((pmid, imported))
    studies = Inclusion.objects.filter(review__in=reviews)
    for pk, pmid, imported in studies.values_list("review", "study__pmid", "study__imported"):
        articles[pk].add((pmid, imported))
    return articles


def _articles_of_abstracts(units: Sequence[int]) -> Articles:
    """Return the article of each unit that is an abstract."""
    articles: Articles = defaultdict(set)
    for article in ("review", "study"):
        rows = AbstractUnit.objects.filter(unit__in=units, **{f"{article}__isnull": False})
        for unit, pmid, imported in rows.values_list("unit", f"{article}__pmid", f"{article}__imported"):
            articles[unit].add((pmid, imported))
    return articles


def _of_articles(project: int, articles: Articles) -> dict[int, list[Statement]]:
    states = dict(Import.objects.filter(project=project).values_list("pk", "may_redistribute"))
    by_pmid = _of_searches(project, {pmid for of in articles.values() for pmid, _ in of})
    found: dict[int, list[Statement]] = {}
    for pk, of in articles.items():
        statements: list[Statement] = []
        for pmid, of_article in of:
            stored = [states.get(of_article)] if of_article else []
            statements.append(strictest([*stored, *by_pmid.get(pmid, [])]))
        found[pk] = statements
    return found


def _of_searches(project: int, pmids: set[str]) -> dict[str, list[Statement]]:
    """Return what the PubMed searches that stored these articles state."""
    states = dict(Search.objects.filter(project=project).values_list("pk", "may_redistribute"))
    stored = Q(outcome__in=(Hit.Outcome.NEW, Hit.Outcome.KNOWN))
    found: dict[str, list[Statement]] = defaultdict(list)
    if states:
        for pmid, search in Hit.objects.filter(stored, search__in=states, pmid__in=pmids).values_list("pmid", "search"):
            found[pmid].append(states[search])
    return found


def _of_questions(units: Sequence[int]) -> dict[int, list[int | None]]:
    """Return the imports of questions and passages, by unit."""
    found: dict[int, list[int | None]] = defaultdict(list)
    questions = Question.objects.filter(unit__in=units)
    for unit, imported in questions.values_list("unit", "imported"):
        found[unit].append(imported)
    for unit, of_passage in questions.filter(passages__isnull=False).values_list("unit", "passages__imported"):
        found[unit].append(of_passage)
    passages = Passage.objects.filter(unit__in=units)
    for unit, own, of_question in passages.values_list("unit", "imported", "question__imported"):
        found[unit] += [own, of_question]
    return found
