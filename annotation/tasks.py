"""Background jobs of the annotation app."""

from typing import Any

from projects.jobs import jobs
from projects.jobs.running import RunningJob
from projects.models import Import

from .consistency import actions as consistency_actions
from .documents import actions as documents_actions
from .documents.queries import MAKE_DOCUMENTS
from .evidence import actions as evidence_actions
from .full_texts import actions as full_texts_actions
from .imports import withdrawal
from .models import Search
from .pubmed import actions as pubmed_actions
from .splits import actions as splits_actions
from .splits import queries as splits_queries
from .splits.parameters import SplitParameters


@jobs.handler(consistency_actions.KIND, notification=("Consistency check", "needs-review?tab=labels"))
def check_consistency(job: RunningJob) -> dict[str, Any]:
    """Check the corpus and store the findings. A second attempt gives the same result."""
    assert job.project
    findings, units = consistency_actions.find_inconsistencies(job.project, job.paced())
    return consistency_actions.store_findings(project=job.project, sorted_findings=findings, units=units)


@jobs.handler(pubmed_actions.KIND, ended=pubmed_actions.finish_failed_search, notification=("PubMed search", "pubmed"))
def search_pubmed(job: RunningJob) -> dict[str, Any]:
    """Find and read records of PubMed. A second attempt reads the remaining records."""
    search = Search.objects.select_related("project", "review").get(pk=job.params["search"])
    return pubmed_actions.retrieve(search=search, by=job.by, progress=job.progress, wait=job.pause)


@jobs.handler(evidence_actions.KIND, notification=("Sentence ranking", "ranking"))
def rank_evidence(job: RunningJob) -> dict[str, Any]:
    """Rank sentences for targets. A second attempt ranks the remaining ones."""
    assert job.project
    ranker, model = job.params["ranker"], job.params["model"]
    return evidence_actions.rank(project=job.project, ranker=ranker, model=model, progress=job.progress)


@jobs.handler(MAKE_DOCUMENTS, notification=("Document targets", "ranking"))
def make_documents(job: RunningJob) -> dict[str, Any]:
    """Create the document level. A second attempt continues after the last batch."""
    assert job.project
    return documents_actions.make_documents(
        project=job.project, by=job.by, progress=job.progress, stored=job.job.result, store=job.store
    )


@jobs.handler(full_texts_actions.KIND, notification=("Full texts", "pubmed"))
def get_full_texts(job: RunningJob) -> dict[str, Any]:
    """Retrieve full texts from PubMed Central. A second attempt retrieves the remaining ones."""
    assert job.project
    return full_texts_actions.fetch_full_texts(project=job.project, by=job.by, progress=job.progress, wait=job.pause)


@jobs.handler(withdrawal.KIND, page=("Withdrawal", "import"))
def withdraw_import(job: RunningJob) -> None:
    """Remove the rows of an import that is arriving. A second attempt removes the rest."""
    if imported := Import.objects.filter(pk=job.params["withdraw"]).first():
        withdrawal.withdraw(imported, by=job.by, reason=job.params["reason"], progress=job.paced())


@jobs.handler(splits_queries.KIND, notification=("Split", "splits"))
def split(job: RunningJob) -> dict[str, Any]:
    """Create a split. A second attempt finds the split of the first, or creates it."""
    assert job.project
    made = splits_actions.create_split(
        project=job.project, asked=SplitParameters.of_json(job.params), by=job.by, progress=job.paced()
    )
    return {"split": made.name}
