from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from projects import kinds, reports, uploads
        from projects import workflow as workflow_registry
        from projects.material import registry as material_registry
        from projects.stored_figures import registry as figures_registry

        from . import (
            imports,
            rankers,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .clusters import integrity, strata

        kinds.discover("annotation.kinds")
        imports.discover("annotation.formats")
        rankers.discover("annotation.rankers")
        uploads.discover("annotation")
        workflow_registry.discover("annotation")
        figures_registry.discover("annotation")
        material_registry.discover("annotation")
        reports.discover("annotation.kinds")
        reports.discover("annotation")
        strata.register()
        integrity.register()
