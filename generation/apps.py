from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "generation"

    def ready(self) -> None:
        from annotation import rankers
        from audit import rules
        from audit.row_digests import track
        from projects import reports, uploads
        from projects import workflow as workflow_registry
        from projects.permissions import hide_from_members

        from . import (
            permissions,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .models import Embargo, ProbeFigures, ProbeScore, Run, RunItem, Score, Summary, System, Version
        from .scoring import checking

        reports.discover("generation.results.tables", module="")
        uploads.discover("generation")
        workflow_registry.discover("generation")
        rankers.discover("generation.rankers")
        hide_from_members("run", permissions.runs_embargoed_for)
        track(
            Run,
            but=(
                "status",
                "error",
                "finished_at",
                "concurrency",
                "units_count",
                "skipped",
                "item_offset",
                "items_cut",
                "tokens_cut",
                "tokens_out",
            ),
        )
        track(RunItem, but=("status", "job_id", "attempts", "error", "finished_at", "units_up_to"))
        for model in (System, Version, Summary, ProbeFigures, Score):
            track(model)
        track(ProbeScore, batch=100)
        track(Embargo, but=("lifted_at",), label="generation.seal")
        for rule in (checking.broken_counters, checking.lifted_without_entry, checking.wrong_means):
            rules.register(rule)
