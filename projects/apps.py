from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from audit import leaves, triggers

        from . import tasks  # noqa: F401 - registers the handlers of this app's jobs
        from .leaves import answer_contents, decision_contents
        from .models import Answer, Decision

        leaves.register(Answer, order=("received_at", "uuid"), contents=answer_contents)
        leaves.register(Decision, order=("id",), contents=decision_contents)
        triggers.guard("projects_guideline", "projects_change", "projects_consent", "projects_remark")
