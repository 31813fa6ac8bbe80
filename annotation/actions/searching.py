"""Searching PubMed: asked for by a lead, done by a job in batches, stopped, and gone on with where it ended."""

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
from audit.witness import completed
from projects.actions import rolling
from projects.background import batches, jobs
from projects.background.progress import Progress
from projects.models import Job, JobStatus, Member, Project
from sql.ready import Rows

from ..corpus.articles import Articles
from ..corpus.items import PMID
from ..imports.pubmed import xml
from ..imports.pubmed.record import Record
from ..models import FullText, Hit, RecordStatus, Review, Search, Study
from ..pubmed import access
from ..pubmed.client import MOST_FOUND, Client, PubMedAway, TooMuchAtOnce, Wait

KIND = "search_pubmed"
#: Records that are asked for, and stored, at once.
BATCH = 200
#: How often rows are made where others write what they clash with.
TRIES = 3
_ROWS = 500
State, Outcome = Search.State, Hit.Outcome
_ENDED = {JobStatus.FAILED: State.FAILED, JobStatus.CANCELLED: State.STOPPED}


def search(
    *, project: Project, query: str, topic: str, by: Member, date_from: date | None = None, date_to: date | None = None
) -> Search:
    """Have PubMed searched; what it finds become reviews of the project."""
    if date_from and date_to and date_to < date_from:
        raise Refused.field("date_to", "The last day comes before the first.")
    with transaction.atomic():
        made = Search.objects.create(
            project=project, query=query, topic=topic, date_from=date_from, date_to=date_to, created_by=by.user
        )
        _log("search PubMed", made, by, {"query": query, "topic": topic, "from": _day(date_from), "to": _day(date_to)})
        _ask(made, by)
    return made


def find_studies(*, review: Review, text: str, references: bool, by: Member) -> Search:
    """Have records read that become studies of a review: of the PubMed ids in a text, of what the review cites, or of
    its studies that were not read yet, where neither is given."""
    cited = _cited_by(review) if references else []
    pmids = ids_in(text) + cited
    if references and not cited:
        raise Refused.field("references", "No references of this review are known by a PubMed id.")
    if not text.strip() and not references:
        unread = review.studies.exclude(record=RecordStatus.READ).order_by("pk")
        pmids = [pmid for pmid in unread.values_list("pmid", flat=True) if ids_in(pmid) == [pmid]]
    pmids = list(dict.fromkeys(pmids))
    if not pmids:
        raise Refused.field("pmids", "There is no PubMed id here.")
    if len(pmids) > MOST_FOUND:
        raise Refused.field("pmids", f"{len(pmids):,} ids; at most {MOST_FOUND:,} at once.")
    with transaction.atomic():
        made = Search.objects.create(project=review.project, review=review, found=len(pmids), created_by=by.user)
        _keep_hits(made, pmids)
        _log("find studies", made, by, {"review": review.pmid, "pmids": len(pmids)})
        _ask(made, by)
    return made


def _cited_by(review: Review) -> list[str]:
    """The references of a review by their PubMed ids, as PubMed and its full text have them."""
    text = FullText.objects.filter(review=review).first()
    return [*review.references, *(one["pmid"] for one in (text.references if text else ()) if one["pmid"])]


def unread_studies(project: Project) -> QuerySet[Study]:
    """Studies that the project has by their PubMed ids alone, but for those whose records could not be taken."""
    unfit = Hit.objects.filter(search__project=project, outcome=Outcome.UNFIT).values("pmid")
    unread = Study.objects.filter(project=project, record=RecordStatus.NOT_READ, pmid__regex=f"^{PMID.pattern}$")
    return unread.exclude(pmid__in=unfit)


def read_studies(*, project: Project, by: Member) -> Search:
    """Have the records read of all studies that have none yet: of those that people listed, as a rule."""
    under_way = Search.objects.filter(project=project, review=None, query="", state__in=(State.WAITING, State.RUNNING))
    if under_way.exists():
        raise Conflict("The studies are being read.")
    pmids = list(unread_studies(project).order_by("pk").values_list("pmid", flat=True)[:MOST_FOUND])
    if not pmids:
        raise Conflict("Every study has been read.")
    with transaction.atomic():
        made = Search.objects.create(project=project, found=len(pmids), created_by=by.user)
        _keep_hits(made, pmids)
        _log("read studies", made, by, {"pmids": len(pmids)})
        _ask(made, by)
    return made


def ids_in(text: str) -> list[str]:
    """The PubMed ids in what somebody pasted: numbers apart by spaces, commas or lines, or addresses of PubMed."""
    words = re.sub(r"https?://\S*?/(\d+)/?(?=[\s,;]|$)", r" \1 ", text)
    words = re.sub(r"\bpmids?\b\s*:?", " ", words, flags=re.IGNORECASE)
    found: list[str] = []
    for word in re.split(r"[\s,;]+", words.strip()):
        if word and not PMID.fullmatch(word):
            raise Refused.field("pmids", f"{word[:60]!r} is no PubMed id.")
        found += [word] if word else []
    return found


def go_on(*, search: Search, by: Member) -> Search:
    """Go on with a search that ended early, or ask again for records that PubMed did not have."""
    with transaction.atomic():
        ended = Search.objects.filter(pk=search.pk, state__in=(State.STOPPED, State.FAILED, State.DONE))
        missing = search.hits.filter(outcome__in=(Outcome.MISSING, Outcome.UNFIT))
        if search.state == State.DONE and not missing.exists():
            raise Conflict("Nothing is left to read.")
        if not ended.update(state=State.WAITING, error="", finished_at=None):
            raise Conflict("This search is under way.")
        missing.update(outcome=Outcome.WAITING, why="")
        _log("go on with search", search, by, None)
        _ask(search, by)
    search.refresh_from_db()
    return search


def stop(*, search: Search, by: Member) -> Search:
    """Stop a search. What was read stays."""
    if search.job is None or search.state not in (State.WAITING, State.RUNNING):
        raise Conflict("This search is not under way.")
    with transaction.atomic():
        _log("stop search", search, by, None)
        jobs.cancel(search.job)
    search.refresh_from_db()
    return search


def _ask(search: Search, by: Member) -> None:
    job, _ = jobs.ask(project=search.project, kind=KIND, params={"search": search.pk}, by=by.user)
    Search.objects.filter(pk=search.pk).update(job=job)
    search.job = job


def retrieve(*, search: Search, by: User | None, progress: Progress, wait: Wait) -> dict[str, Any]:
    """What the job does: find the ids once, then read what waits, batch by batch. Called again, it reads the rest."""
    client = Client(access.of(by), wait)
    with batches.batch():
        Search.objects.filter(pk=search.pk).update(state=State.RUNNING)
    if search.found is None:
        _look_up(search, client, progress)
    total = search.hits.count()
    while waiting := list(search.hits.filter(outcome=Outcome.WAITING).order_by("position")[:BATCH]):
        done = total - search.hits.filter(outcome=Outcome.WAITING).count()
        progress(done, total, "reading records")
        records, unfit = _fetched(client, [hit.pmid for hit in waiting])
        _store(search, waiting, records, unfit, by, done + len(waiting), total)
    counts = counts_of(search)
    with batches.batch(total, total):
        Search.objects.filter(pk=search.pk).update(state=State.DONE, finished_at=timezone.now())
        record(
            actor=by, verb="end search", obj=search, project_id=search.project_id, after={"found": total, **counts}
        )  # fmt: skip
        rolling.due(Q(project=search.project_id))
    return counts


def counts_of(search: Search) -> dict[str, int]:
    """How many of its records are new, known, missing and waiting."""
    found = dict(search.hits.order_by().values_list("outcome").annotate(n=Count("pk")))
    return {name: found.get(name, 0) for name in Outcome.values}


def _look_up(search: Search, client: Client, progress: Progress) -> None:
    progress(0, None, "searching")
    found = client.find(search.query, search.date_from, search.date_to)
    if found.count > MOST_FOUND:
        raise Refused(
            f"PubMed found {found.count:,} records and gives out {MOST_FOUND:,} at most: narrow query or dates, "
            "and search in several parts."
        )
    pmids = client.ids(found)
    with batches.batch(0, len(pmids)):
        _keep_hits(search, pmids)
        search.found, search.translation = len(pmids), found.translation
        search.save(update_fields=["found", "translation"])


def _keep_hits(search: Search, pmids: Sequence[str]) -> None:
    rows = [Hit(search=search, position=n, pmid=pmid) for n, pmid in enumerate(pmids)]
    Hit.objects.bulk_create(rows, batch_size=_ROWS)


def _fetched(client: Client, pmids: Sequence[str]) -> tuple[dict[str, Record], dict[str, str]]:
    """The records of some ids, and by id why others cannot be taken. What is too much at once is asked for in halves,
    so that one record holds up no other."""
    try:
        return _read(client.fetch(pmids))
    except TooMuchAtOnce as error:
        if len(pmids) == 1:
            return {}, {pmids[0]: str(error)}
    half = len(pmids) // 2
    first, second = _fetched(client, pmids[:half]), _fetched(client, pmids[half:])
    return first[0] | second[0], first[1] | second[1]


def _read(body: bytes) -> tuple[dict[str, Record], dict[str, str]]:
    """The records of an answer by id, and why others cannot be taken. Raises `PubMedAway` for one that is none."""
    unfit: dict[str, str] = {}

    def fault(line: int, pmid: str, field: str, said: str) -> None:
        unfit.setdefault(pmid, f"{field}: {said}")

    try:
        found = {one.pmid: one for one in xml.articles([body], fault)}
    except xml.Unsound as error:
        raise PubMedAway(f"PubMed's answer cannot be read: line {error.line}: {error.message}.") from None
    return found, unfit


def _store(
    search: Search, asked: Sequence[Hit], records: dict[str, Record], unfit: dict[str, str], by: User | None,
    done: int, total: int,
) -> None:  # fmt: skip
    """Write what came of the ids that were asked for, all of it or nothing."""
    came = [records[hit.pmid] for hit in asked if hit.pmid in records]
    for _ in range(TRIES):
        articles = Articles(
            search.project, topic=search.topic, review=search.review, studies=search.finds_studies, by=by
        )  # fmt: skip
        articles.compare(came)
        rows = Rows()
        with batches.harmless():  # ids that are reserved and not used harm nobody
            articles.lay_out(rows)
        new = {article.pmid for article in articles.new}
        try:
            with batches.batch(done, total):
                articles.complete()
                rows.write()
                _settle(search, asked, new, set(records), unfit, by)
            return
        except IntegrityError:
            continue  # others brought the same article in meanwhile: it is known now
    raise Conflict("Others bring the same articles in again and again; go on a little later.")


def _settle(
    search: Search, asked: Sequence[Hit], new: set[str], came: set[str], unfit: dict[str, str], by: User | None
) -> None:
    outcomes: dict[str, list[str]] = {Outcome.NEW: [], Outcome.KNOWN: [], Outcome.MISSING: []}
    for hit in asked:
        if hit.pmid in unfit and hit.pmid not in came:
            search.hits.filter(pk=hit.pk).update(outcome=Outcome.UNFIT, why=unfit[hit.pmid])
            continue
        outcome = Outcome.NEW if hit.pmid in new else Outcome.KNOWN if hit.pmid in came else Outcome.MISSING
        outcomes[outcome].append(hit.pmid)
    for became, pmids in outcomes.items():
        search.hits.filter(pmid__in=pmids).update(outcome=became)
    model = Study if search.finds_studies else Review
    unread = model.objects.filter(project=search.project, record=RecordStatus.NOT_READ)
    gone = list(unread.filter(pmid__in=outcomes[Outcome.MISSING]).values_list("pk", flat=True))
    model.objects.filter(pk__in=gone).update(record=RecordStatus.NOT_FOUND)
    completed(model, gone, by=by, project=search.project_id)


def ended(job: Job) -> None:
    """In the transaction in which its job ends: a search that is not whole says why, and can be gone on with."""
    state = _ENDED.get(JobStatus(job.status))
    if state:
        Search.objects.filter(job=job).exclude(state=State.DONE).update(
            state=state, error=job.error, finished_at=timezone.now()
        )


def _log(verb: str, search: Search, by: Member, after: object) -> None:
    record(actor=by.user, verb=verb, obj=search, project_id=search.project_id, after=after)


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
