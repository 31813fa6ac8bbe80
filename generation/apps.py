from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "generation"

    def ready(self) -> None:
        from audit import triggers

        from . import tasks  # noqa: F401 - registers the handlers of this app's jobs

        triggers.guard("generation_version", "generation_summary", "generation_probescore")
