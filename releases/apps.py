from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"

    def ready(self) -> None:
        from audit import triggers
        from audit.witness import watch
        from projects.pages import steps

        from . import tasks  # noqa: F401 - registers the handler of this app's job
        from .models import Release

        steps.discover("releases.steps")
        watch(Release, batch=20)
        triggers.guard("releases_release")
