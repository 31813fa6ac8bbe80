from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from django.db.models import Q

        from annotation import imports
        from audit import triggers
        from audit.witness import watch
        from generation.actions.runs import keep_sealed_while
        from projects import kinds, tables
        from projects.models import Round
        from projects.pages import steps

        from . import tasks  # noqa: F401 - registers the handlers of this app's jobs
        from .actions.unblinding import keeps_sealed
        from .models import (
            Entrant,
            PageText,
            PageTextOf,
            Preference,
            Protocol,
            ProtocolVersion,
            Rating,
            RatingDesign,
            RatingPage,
            RatingSource,
            RatingSpan,
            Unblinding,
        )

        kinds.discover("evaluation.kinds")
        steps.discover("evaluation.pages.steps")
        tables.discover("evaluation.tables")
        imports.discover("evaluation.imports")
        keep_sealed_while(keeps_sealed)
        watch(Protocol, but=("name",))
        watch(ProtocolVersion, batch=100)
        # What is laid out of a round that has not opened may still go.
        preparing = Round.Status.PREPARING
        for model, path in (
            (RatingDesign, ""), (Entrant, "design__"), (RatingSource, "design__"), (RatingPage, "source__design__"),
            (PageText, "page__source__design__"), (PageTextOf, "text__page__source__design__"),
        ):  # fmt: skip
            watch(model, batch=100, when=~Q(**{f"{path}round__status": preparing}))
        for said in (Unblinding, Rating, RatingSpan, Preference):
            watch(said)
        triggers.guard("evaluation_protocolversion", "evaluation_unblinding")
