from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"

    def ready(self) -> None:
        from audit import triggers

        from . import tasks  # noqa: F401 - registers the handler of this app's job

        triggers.guard("releases_release")
