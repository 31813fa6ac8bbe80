"""PubMed searches. A lead starts one, a job reads the records in batches, and it can be stopped and resumed."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from audit.row_digests import record_completed
from projects.jobs import batches, jobs
from projects.jobs.arriving import ensure_none_arrives
from projects.jobs.batches import Progress
from projects.models import Job, JobStatus, Member, Project
from projects.stored_figures.actions import content_changed, enqueue_figures
from sql.bulk import BulkWriter

from ..clusters.articles import Articles
from ..clusters.items import PMID
from ..formats.pubmed import xml
from ..formats.pubmed.record import Record
from ..imports.sax import XmlError
from ..models import FullText, Hit, RecordStatus, Review, Search, Study
from . import client as pubmed_client
from .client import MOST_FOUND, Client, PubMedUnavailable, ResponseTooLarge, Wait

KIND = "search_pubmed"
#: Number of records requested and stored together.
BATCH = 200
#: Number of attempts to create the rows if they conflict with concurrent writes.
TRIES = 3
_ROWS = 500
State, Outcome = Search.State, Hit.Outcome
_ENDED = {JobStatus.FAILED: State.FAILED, JobStatus.CANCELLED: State.STOPPED}


def start_search(
    *, project: Project, query: str, topic: str, by: Member, date_from: date | None = None, date_to: date | None = None
) -> Search:
    """Start a search of PubMed; the records become reviews of the project."""
    if date_from and date_to and date_to < date_from:
        raise Refused.field("date_to", "The end date is before the start date.")
    with transaction.atomic():
        search_ = Search.objects.create(
            project=project, query=query, topic=topic, date_from=date_from, date_to=date_to, created_by=by.user
        )
        _log(
            "search PubMed", search_, by, {"query": query, "topic": topic, "from": _day(date_from), "to": _day(date_to)}
        )
        _queue_job(search_, by)
    return search_


def start_study_search(*, review: Review, text: str, references: bool, by: Member) -> Search:
    """Start reading records that become studies of a review.

    The records are those of the PubMed ids in a text, of the review's references, or of both. If neither is given, they
    are those of its studies that were not read yet.
    """
    cited = _cited_pmids(review) if references else []
    pmids = ids_in(text) + cited
    if references and not cited:
        raise Refused.field("references", "No references of this review have a PMID. Paste the PMIDs instead.")
    if not text.strip() and not references:
        unread = review.studies().exclude(record=RecordStatus.READ)
        pmids = [pmid for pmid in unread.values_list("pmid", flat=True) if ids_in(pmid) == [pmid]]
    pmids = list(dict.fromkeys(pmids))
    if not pmids:
        raise Refused.field("pmids", "Enter at least one PMID.")
    if len(pmids) > MOST_FOUND:
        raise Refused.field(
            "pmids", f"{len(pmids):,} PMIDs; expected at most {MOST_FOUND:,}. Add them in several steps."
        )
    with transaction.atomic():
        search_ = Search.objects.create(project=review.project, review=review, found=len(pmids), created_by=by.user)
        _store_hits(search_, pmids)
        _log("find studies", search_, by, {"review": review.pmid, "pmids": len(pmids)})
        _queue_job(search_, by)
    return search_


def _cited_pmids(review: Review) -> list[str]:
    """Return the PubMed ids of a review's references, from PubMed and from its full text."""
    text = FullText.objects.filter(review=review).first()
    return [
        *review.references,
        *(reference["pmid"] for reference in (text.references if text else ()) if reference["pmid"]),
    ]


def unread_studies(project: Project) -> QuerySet[Study]:
    """Return the studies known only by their PubMed id, without those whose records could not be imported."""
    unfit = Hit.objects.filter(search__project=project, outcome=Outcome.UNFIT).values("pmid")
    unread = Study.objects.filter(project=project, record=RecordStatus.NOT_READ, pmid__regex=f"^{PMID.pattern}$")
    return unread.exclude(pmid__in=unfit)


def start_reading_studies(*, project: Project, by: Member) -> Search:
    """Start reading the records of all studies that have none yet, normally those listed by raters."""
    unfinished = Search.objects.filter(project=project, review=None, query="", state__in=(State.WAITING, State.RUNNING))
    if unfinished.exists():
        raise Conflict("The records of the studies are already being fetched. Wait for this search to end.")
    pmids = list(unread_studies(project).order_by("pk").values_list("pmid", flat=True)[:MOST_FOUND])
    if not pmids:
        raise Conflict("The records of all studies are already fetched.")
    with transaction.atomic():
        search_ = Search.objects.create(project=project, found=len(pmids), created_by=by.user)
        _store_hits(search_, pmids)
        _log("read studies", search_, by, {"pmids": len(pmids)})
        _queue_job(search_, by)
    return search_


def ids_in(text: str) -> list[str]:
    """Return the PubMed ids in a pasted text: numbers or URLs, separated by spaces, commas or line breaks."""
    ids: list[str] = []
    for part in re.split(r"[\s,;]+", text):
        word = part.rstrip("/").rpartition("/")[2] if part.startswith(("http://", "https://")) else part
        # The number may follow "PMID:" with or without a space.
        word = re.sub(r"^pmids?(?::|$)", "", word, flags=re.IGNORECASE).lstrip(":")
        if word and not PMID.fullmatch(word):
            raise Refused.field("pmids", f"Expected PMIDs such as 12038941, found {word[:60]!r}.")
        ids += [word] if word else []
    return ids


def resume(*, search: Search, by: Member) -> Search:
    """Resume a search that ended early, or request again the records that were missing or could not be imported."""
    with transaction.atomic():
        ended = Search.objects.filter(pk=search.pk, state__in=(State.STOPPED, State.FAILED, State.DONE))
        missing = search.hits.filter(outcome__in=(Outcome.MISSING, Outcome.UNFIT))
        if search.state == State.DONE and not missing.exists():
            raise Conflict("All records of this search are fetched.")
        if not ended.update(state=State.WAITING, error="", finished_at=None):
            raise Conflict("This search is already in progress.")
        missing.update(outcome=Outcome.WAITING, why="")
        _log("go on with search", search, by, None)
        _queue_job(search, by)
    search.refresh_from_db()
    return search


def stop(*, search: Search, by: Member) -> Search:
    """Stop a search. Records that were read are kept."""
    if search.job is None or search.state not in (State.WAITING, State.RUNNING):
        raise Conflict("This search is not in progress, so it cannot be stopped.")
    with transaction.atomic():
        _log("stop search", search, by, None)
        jobs.cancel(search.job)
    search.refresh_from_db()
    return search


def _queue_job(search: Search, by: Member) -> None:
    job, _ = jobs.request_job(project=search.project, kind=KIND, params={"search": search.pk}, by=by.user)
    Search.objects.filter(pk=search.pk).update(job=job)
    search.job = job


def retrieve(*, search: Search, by: User | None, progress: Progress, wait: Wait) -> dict[str, Any]:
    """Run the job: find the ids once, then read the waiting records in batches. Called again, it reads the rest."""
    client = Client(pubmed_client.access_of(by), wait)
    with batches.batch():
        Search.objects.filter(pk=search.pk).update(state=State.RUNNING)
    if search.found is None:
        _find_ids(search, client, progress)
    total = search.hits.count()
    while waiting := list(search.hits.filter(outcome=Outcome.WAITING).order_by("position")[:BATCH]):
        ensure_none_arrives(search.project_id)
        done = total - search.hits.filter(outcome=Outcome.WAITING).count()
        progress(done, total, "fetching records")
        records, unfit = _fetch(client, [hit.pmid for hit in waiting])
        _store(search, waiting, records, unfit, by, done + len(waiting), total)
    counts = counts_of(search)
    with batches.batch(total, total):
        Search.objects.filter(pk=search.pk).update(state=State.DONE, finished_at=timezone.now())
        record(actor=by, verb="end search", obj=search, project_id=search.project_id, after={"found": total, **counts})
        content_changed(Q(pk=search.project_id))
    return counts


def counts_of(search: Search) -> dict[str, int]:
    """Return the number of records of a search by outcome."""
    counts = dict(search.hits.order_by().values_list("outcome").annotate(n=Count("pk")))
    return {name: counts.get(name, 0) for name in Outcome.values}


def _find_ids(search: Search, client: Client, progress: Progress) -> None:
    progress(0, None, "searching")
    result = client.find(search.query, search.date_from, search.date_to)
    if result.count > MOST_FOUND:
        raise Refused(
            f"PubMed found {result.count:,} records, but returns at most {MOST_FOUND:,}. Narrow the "
            "query or the dates, "
            "or search in several parts."
        )
    pmids = client.ids(result)
    with batches.batch(0, len(pmids)):
        _store_hits(search, pmids)
        search.found, search.translation = len(pmids), result.translation
        search.save(update_fields=["found", "translation"])


def _store_hits(search: Search, pmids: Sequence[str]) -> None:
    rows = [Hit(search=search, position=n, pmid=pmid) for n, pmid in enumerate(pmids)]
    Hit.objects.bulk_create(rows, batch_size=_ROWS)


def _fetch(client: Client, pmids: Sequence[str]) -> tuple[dict[str, Record], dict[str, str]]:
    """Return the records of some ids, and the reasons why others cannot be imported.

    If the answer is too large, the ids are requested in halves, so that one record does not block the others.
    """
    try:
        return _parse(client.fetch(pmids))
    except ResponseTooLarge as error:
        if len(pmids) == 1:
            return {}, {pmids[0]: str(error)}
    half = len(pmids) // 2
    first, second = _fetch(client, pmids[:half]), _fetch(client, pmids[half:])
    return first[0] | second[0], first[1] | second[1]


def _parse(body: bytes) -> tuple[dict[str, Record], dict[str, str]]:
    """Return the records of an answer by id, and the reasons why others cannot be imported.

    Raise `PubMedUnavailable` if the answer is not valid XML.
    """
    unfit: dict[str, str] = {}

    def fault(line: int, pmid: str, field: str, message: str) -> None:
        unfit.setdefault(pmid, f"{field}: {message}")

    try:
        records = {article.pmid: article for article in xml.articles([body], fault)}
    except XmlError as error:
        raise PubMedUnavailable(f"The response of PubMed cannot be read: line {error.line}: {error.message}.") from None
    return records, unfit


def _store(
    search: Search,
    hits: Sequence[Hit],
    records: dict[str, Record],
    unfit: dict[str, str],
    by: User | None,
    done: int,
    total: int,
) -> None:
    """Write the results of the requested ids in one transaction."""
    received = [records[hit.pmid] for hit in hits if hit.pmid in records]
    for _ in range(TRIES):
        articles = Articles(
            search.project, topic=search.topic, review=search.review, studies=search.finds_studies, by=by
        )
        articles.compare(received)
        rows = BulkWriter()
        with batches.idempotent():  # reserved ids that are not used do no harm
            articles.create_items(rows)
        new = {article.pmid for article in articles.new}
        try:
            with batches.batch(done, total):
                articles.complete()
                rows.write()
                _set_outcomes(search, hits, new, set(records), unfit, by)
            return
        except IntegrityError:
            continue  # a concurrent import created the same article; it is known now
    raise Conflict("Other imports keep storing the same articles. Resume the search in a few minutes.")


def _set_outcomes(
    search: Search, hits: Sequence[Hit], new: set[str], received: set[str], unfit: dict[str, str], by: User | None
) -> None:
    outcomes: dict[str, list[str]] = {Outcome.NEW: [], Outcome.KNOWN: [], Outcome.MISSING: []}
    for hit in hits:
        if hit.pmid in unfit and hit.pmid not in received:
            search.hits.filter(pk=hit.pk).update(outcome=Outcome.UNFIT, why=unfit[hit.pmid])
            continue
        outcome = Outcome.NEW if hit.pmid in new else Outcome.KNOWN if hit.pmid in received else Outcome.MISSING
        outcomes[outcome].append(hit.pmid)
    for outcome_, pmids in outcomes.items():
        search.hits.filter(pmid__in=pmids).update(outcome=outcome_)
    model = Study if search.finds_studies else Review
    unread = model.objects.filter(project=search.project, record=RecordStatus.NOT_READ)
    missing_rows = list(unread.filter(pmid__in=outcomes[Outcome.MISSING]).values_list("pk", flat=True))
    model.objects.filter(pk__in=missing_rows).update(record=RecordStatus.NOT_FOUND)
    record_completed(model, missing_rows, by=by, project=search.project_id)


def finish_failed_search(job: Job) -> None:
    """Set the state and error of an unfinished search, in the transaction that ends its job. It can be resumed."""
    state = _ENDED.get(JobStatus(job.status))
    if state:
        Search.objects.filter(job=job).exclude(state=State.DONE).update(
            state=state, error=job.error, finished_at=timezone.now()
        )
        # It may have stored some records.
        enqueue_figures(Q(pk=job.project_id))


def _log(verb: str, search: Search, by: Member, after: object) -> None:
    record(actor=by.user, verb=verb, obj=search, project_id=search.project_id, after=after)


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
