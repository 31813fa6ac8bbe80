from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "generation"

    def ready(self) -> None:
        from annotation import rankers
        from audit import triggers
        from audit.witness import watch
        from projects import tables, uploads
        from projects.pages import steps
        from projects.permissions import keep_from

        from . import (
            permissions,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .models import ProbeFigures, ProbeScore, Run, RunItem, Score, Summary, System, Version

        tables.discover("generation.tables")
        uploads.discover("generation.actions.uploads")
        steps.discover("generation.pages.steps")
        rankers.discover("generation.rankers")
        keep_from("run", permissions.runs_sealed_from)
        watch(Run, but=("status", "error", "finished_at", "lanes", "units_count", "laid_to", "items_cut", "tokens_cut",
                        "tokens_out"))  # fmt: skip
        watch(RunItem, but=("status", "job_id", "attempts", "error", "finished_at", "units_up_to"))
        for model in (System, Version, Summary, ProbeFigures, Score):
            watch(model)
        watch(ProbeScore, batch=100)
        triggers.guard("generation_version", "generation_summary", "generation_probescore")
