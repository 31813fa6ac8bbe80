"""Getting the full texts of reviews from PubMed Central: asked for by a lead, done by a job, a few at a time."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from api.problems import Conflict, Refused
from projects.background import jobs
from projects.background.progress import Progress, silent
from projects.models import Job, Project
from projects.uploads.source import Source

from ..corpus.items import PMID
from ..imports.jats import FullTexts, xml
from ..imports.sax import Unsound
from ..models import Review
from ..pubmed import access
from ..pubmed.client import Client, PubMedAway, Wait
from ..values.retrieved import of_data_set
from .imports import Checked, import_files

KIND = "get_full_texts"
#: Full texts that are asked for, and stored, at once: an article may have some MiB.
BATCH = 10


def lacking(project: Project) -> QuerySet[Review]:
    """The reviews of the data set without a full text, as far as PubMed knows them."""
    return of_data_set(project).filter(full_text=None, pmid__regex=f"^{PMID.pattern}$")


def ask(*, project: Project, by: User) -> Job:
    """Have a worker ask for the full texts that are lacking."""
    if not lacking(project).exists():
        raise Refused("No review of the data set lacks its full text.")
    return jobs.ask(project=project, kind=KIND, params={}, by=by)[0]


def get(*, project: Project, by: User | None, progress: Progress, wait: Wait) -> dict[str, Any]:
    """Ask PubMed Central for what is lacking, and keep what it gives out, a file of a few articles at a time. Called
    again it asks for the rest, and once more for what was not to be had."""
    client = Client(access.of(by), wait)
    pmids = list(lacking(project).order_by("pk").values_list("pmid", flat=True))
    counts: Counter[str] = Counter(asked=len(pmids))
    for start in range(0, len(pmids), BATCH):
        progress(start, len(pmids), "getting full texts")
        some = pmids[start : start + BATCH]
        ids = client.full_texts_of(some)
        kept, withheld = _store(project, some, client.fetch_full_texts(ids), by) if ids else (0, 0)
        counts.update(kept=kept, withheld=withheld, not_there=len(some) - kept - withheld)
    progress(len(pmids), len(pmids), "getting full texts")
    return {name: counts[name] for name in ("asked", "kept", "withheld", "not_there")}


def _store(project: Project, pmids: Sequence[str], body: bytes, by: User | None) -> tuple[int, int]:
    """Keep those of an answer that have a text: (how many, how many have none)."""
    try:
        found = {one.pmid: one for one in xml.articles([body]) if one.pmid in pmids}
    except Unsound as error:
        raise PubMedAway(f"PubMed Central's answer cannot be read: line {error.line}: {error.message}.") from None
    whole = {pmid: one for pmid, one in found.items() if one.sections}
    if whole:
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"PubMed Central, {', '.join(whole)}.xml"
            path.write_bytes(body)
            texts = FullTexts(Source.of(path), articles=whole)
            checked = Checked(parsed=[(texts.source, texts)])
            texts.compare(project, checked.faults, silent)
            if checked.faults:
                raise Conflict("Somebody brings full texts of the same reviews in; go on a little later.")
            import_files(project=project, format="jats", checked=checked, by=by)
    return len(whole), len(found) - len(whole)
