from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"

    def ready(self) -> None:
        from annotation import imports
        from audit.row_digests import track
        from projects import workflow as workflow_registry

        from . import tasks  # noqa: F401 - registers the handler of this app's job
        from .models import Release

        imports.discover("releases.imports")
        workflow_registry.discover("releases")
        track(Release, batch=20)
