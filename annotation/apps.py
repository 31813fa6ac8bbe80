from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from audit import triggers
        from projects import kinds, tables, uploads
        from projects.pages import steps

        from . import (
            imports,
            rankers,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .corpus import strata, watching

        kinds.discover("annotation.kinds")
        imports.discover("annotation.imports")
        rankers.discover("annotation.rankers")
        uploads.discover("annotation.actions.uploads")
        steps.discover("annotation.pages.steps")
        tables.discover("annotation.tables")
        strata.register()
        watching.register()
        triggers.guard(
            "annotation_counterfactual", "annotation_fulltext", "annotation_sentence", "annotation_splitcluster"
        )
