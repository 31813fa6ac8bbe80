"""Background work of annotation."""

from typing import Any

from projects.background import jobs

from .actions import consistency, documents, full_texts, ranking, searching
from .models import Search


@jobs.handler(consistency.KIND, told=("Consistency check", "consistency"))
def check_consistency(job: jobs.RunningJob) -> dict[str, Any]:
    """Check the corpus, and keep what was found. A second attempt finds the same."""
    assert job.project
    found, units = consistency.find(job.project, job.paced())
    return consistency.keep(project=job.project, found=found, units=units)


@jobs.handler(searching.KIND, ended=searching.ended, told=("PubMed search", "search"))
def search_pubmed(job: jobs.RunningJob) -> dict[str, Any]:
    """Find and read records of PubMed. A second attempt reads what is left."""
    search = Search.objects.select_related("project", "review").get(pk=job.params["search"])
    return searching.retrieve(search=search, by=job.by, progress=job.progress, wait=job.pause)


@jobs.handler(ranking.KIND, told=("Ranking of evidence", "evidence"))
def rank_evidence(job: jobs.RunningJob) -> dict[str, Any]:
    """Rank sentences for targets. A second attempt ranks what is left."""
    assert job.project
    ranker, model = job.params["ranker"], job.params["model"]
    return ranking.rank(project=job.project, ranker=ranker, model=model, progress=job.progress)


@jobs.handler(documents.KIND, told=("Making of documents", "evidence"))
def make_documents(job: jobs.RunningJob) -> dict[str, Any]:
    """Make the document level. A second attempt makes what is left."""
    assert job.project
    return documents.make(project=job.project, by=job.by, progress=job.progress)


@jobs.handler(full_texts.KIND, told=("Full texts", "search"))
def get_full_texts(job: jobs.RunningJob) -> dict[str, Any]:
    """Get full texts from PubMed Central. A second attempt gets what is left."""
    assert job.project
    return full_texts.get(project=job.project, by=job.by, progress=job.progress, wait=job.pause)
