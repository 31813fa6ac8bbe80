from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from audit import triggers
        from projects import kinds

        from . import (
            strata,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
            watching,
        )
        from .kinds import discourse, label, pico_tuple

        kinds.register(label.LabelKind())
        kinds.register(discourse.DiscourseKind())
        kinds.register(pico_tuple.TupleKind())
        strata.register()
        watching.register()
        triggers.guard("annotation_label", "annotation_cue", "annotation_cuefragment", "annotation_discourselabel")
        triggers.guard("annotation_picotuple", "annotation_tupleslot", "annotation_tuplefragment")
        triggers.guard("annotation_counterfactual")
