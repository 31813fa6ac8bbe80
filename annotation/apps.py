from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from audit import triggers
        from projects import kinds, uploads
        from projects.pages import steps

        from . import imports
        from .corpus import strata, watching

        kinds.discover("annotation.kinds")
        imports.discover("annotation.imports")
        uploads.discover("annotation.actions.uploads")
        steps.discover("annotation.pages.steps")
        strata.register()
        watching.register()
        triggers.guard("annotation_counterfactual")
