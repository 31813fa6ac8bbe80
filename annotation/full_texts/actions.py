"""Fetch full texts of reviews from PubMed Central, in a job that a lead starts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from annotation.pubmed.records import data_set_reviews
from api.problems import Conflict, Refused
from projects.jobs import jobs
from projects.jobs.batches import Progress, silent
from projects.models import Job, Project
from projects.uploads.files import Source

from ..clusters.items import PMID
from ..formats.jats import FullTexts, xml
from ..imports.actions import Checked, import_files
from ..imports.sax import XmlError
from ..models import Review
from ..pubmed import client as pubmed_client
from ..pubmed.client import Client, PubMedUnavailable, Wait

KIND = "get_full_texts"
#: Number of full texts fetched and stored at once. A single article can have several MiB.
BATCH = 10


def reviews_without_full_text(project: Project) -> QuerySet[Review]:
    """Return the reviews of the data set that have a valid PMID and no full text."""
    return data_set_reviews(project).filter(full_text=None, pmid__regex=f"^{PMID.pattern}$")


def queue_full_texts(*, project: Project, by: User) -> Job:
    """Queue a job that fetches the missing full texts."""
    if not reviews_without_full_text(project).exists():
        raise Refused("Every review with a valid PMID already has its full text.")
    return jobs.request_job(project=project, kind=KIND, params={}, by=by)[0]


def fetch_full_texts(*, project: Project, by: User | None, progress: Progress, wait: Wait) -> dict[str, Any]:
    """Fetch the missing full texts from PubMed Central and store them, a few articles per file.

    Calling it again fetches the rest, and retries full texts that were unavailable.
    """
    client = Client(pubmed_client.access_of(by), wait)
    pmids = list(reviews_without_full_text(project).order_by("pk").values_list("pmid", flat=True))
    counts: Counter[str] = Counter(requested=len(pmids))
    for start in range(0, len(pmids), BATCH):
        progress(start, len(pmids), "fetching full texts")
        batch = pmids[start : start + BATCH]
        ids = client.full_texts_of(batch)
        stored, withheld = _store(project, batch, client.fetch_full_texts(ids), by) if ids else (0, 0)
        counts.update(stored=stored, withheld=withheld, not_found=len(batch) - stored - withheld)
    progress(len(pmids), len(pmids), "fetching full texts")
    return {name: counts[name] for name in ("requested", "stored", "withheld", "not_found")}


def _store(project: Project, pmids: Sequence[str], body: bytes, by: User | None) -> tuple[int, int]:
    """Store the articles of a response that contain text.

    Return the number of stored articles and of articles without text.
    """
    try:
        articles = {article.pmid: article for article in xml.articles([body]) if article.pmid in pmids}
    except XmlError as error:
        raise PubMedUnavailable(
            f"The response of PubMed Central cannot be read: line {error.line}: {error.message}."
        ) from None
    with_text = {pmid: article for pmid, article in articles.items() if article.sections}
    if with_text:
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"PubMed Central, {', '.join(with_text)}.xml"
            path.write_bytes(body)
            texts = FullTexts(Source.of(path), articles=with_text)
            checked = Checked(parsed=[(texts.source, texts)])
            texts.compare(project, checked.faults, silent)
            if checked.faults:
                raise Conflict("Another import is storing full texts of the same reviews. Try again in a few minutes.")
            import_files(project=project, format="jats", checked=checked, by=by)
    return len(with_text), len(articles) - len(with_text)
