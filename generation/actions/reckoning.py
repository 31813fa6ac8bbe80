"""Storing what scores and likelihoods come to, so that no request has to reckon it."""

from measures.probe import RULE as PROBE_RULE
from projects.background import batches, jobs

from ..models import ItemStatus, ProbeFigures, Run, RunPurpose, Scoring
from ..scoring.reckoning import is_reckoned, means_of, probe_results
from .comparing import compare_probe

KIND = "reckon_probe"


def reckon_scoring(scoring: Scoring) -> None:
    """Store the means of a scoring whose rows are whole, unless they are there by the rule of today."""
    if not is_reckoned(scoring):
        scoring.means = means_of(scoring)
        with batches.batch():
            scoring.save(update_fields=["means"])


def reckon_probe(run: Run) -> ProbeFigures:
    """Store the figures of what a probe has by now, and return them; those that are there stay, also where they were
    taken by another rule. Then compare it with the others."""
    items = run.items.filter(status=ItemStatus.DONE).count()
    with batches.batch():
        found = ProbeFigures.objects.filter(run=run, items=items, rule=PROBE_RULE).first()
        if found is None:
            rows = [result.as_json() for result in probe_results(run)]
            found, _ = ProbeFigures.objects.get_or_create(
                run=run, items=items, rule=PROBE_RULE, defaults={"rows": rows}
            )  # fmt: skip
    compare_probe(found)
    return found


def ask_for_reckoning(run: Run) -> None:
    """Have the figures of a probe that has ended reckoned in the background."""
    if run.purpose == RunPurpose.PROBE:
        jobs.enqueue(
            project=run.version.system.project, kind=KIND, params={"run": run.pk}, by=run.started_by, note=""
        )  # fmt: skip
