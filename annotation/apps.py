from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from audit import triggers
        from projects import kinds

        from . import (
            imports,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .corpus import strata, watching

        kinds.discover("annotation.kinds")
        imports.discover("annotation.imports")
        strata.register()
        watching.register()
        triggers.guard("annotation_counterfactual")
