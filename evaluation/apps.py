from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from django.db.models import Q

        from annotation import imports
        from audit.row_digests import track
        from generation.permissions import register_endpoint_check
        from generation.runs.actions import register_embargo_check
        from projects import kinds, reports
        from projects import workflow as workflow_registry
        from projects.models import Round
        from projects.permissions import SUMMARY_TEXTS, hide_from_members
        from projects.recruitment import checks

        from . import (
            permissions,
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
        )
        from .design.systems import summaries_hidden_from
        from .models import (
            ComparedSystem,
            Judge,
            JudgeAnswer,
            JudgeFigures,
            JudgePage,
            JudgePreference,
            JudgeRating,
            JudgeRun,
            JudgeSet,
            JudgeSource,
            PageText,
            PageTextOf,
            Preference,
            Protocol,
            ProtocolVersion,
            Rating,
            RatingDesign,
            RatingFigures,
            RatingPage,
            RatingSource,
            RatingSpan,
            Unblinding,
        )
        from .results.rating_rows import checks_of
        from .unblinding.actions import blind_rating_reason

        kinds.discover("evaluation.kinds")
        checks.register(checks_of)
        workflow_registry.discover("evaluation")
        reports.discover("evaluation.results.tables", module="")
        reports.discover("evaluation.judge_figures.tables", module="")
        imports.discover("evaluation.imports")
        register_embargo_check(blind_rating_reason)
        hide_from_members(SUMMARY_TEXTS, summaries_hidden_from)
        register_endpoint_check(permissions.judges_hidden_reason)
        hide_from_members("projectendpoint", permissions.endpoints_hidden_from)
        hide_from_members("judge", permissions.judges_hidden_from)
        hide_from_members(permissions.JUDGES_OF, permissions.projects_with_judges_hidden_from)
        hide_from_members("judgeset", permissions.judge_sets_hidden_from)
        hide_from_members("judgerun", permissions.judge_runs_hidden_from)
        hide_from_members("judgefigures", permissions.judge_figures_hidden_from)
        track(Protocol, but=("name",))
        track(ProtocolVersion, batch=100)
        # The design of a round in preparation may still be deleted, so it is not tracked yet.
        preparing = Round.Status.PREPARING
        # Digests use the first name of a model and of its columns.
        for model, path, label, renamed in (
            (RatingDesign, "", "", {}),
            (ComparedSystem, "design__", "evaluation.entrant", {}),
            (RatingSource, "design__", "", {"material": "shown"}),
            (RatingPage, "source__design__", "", {}),
            (PageText, "page__source__design__", "", {"system_numbers": "entrants", "displayed_text": "shown"}),
            (PageTextOf, "text__page__source__design__", "", {"system_id": "entrant_id"}),
        ):
            track(model, batch=100, when=~Q(**{f"{path}round__status": preparing}), label=label, renamed=renamed)
        track(RatingFigures, batch=20)
        track(JudgeFigures, batch=20)
        track(Rating, renamed={"position": "place"})
        for append_only in (Unblinding, RatingSpan, Preference, Judge, JudgeSet, JudgeRating, JudgePreference):
            track(append_only)
        changing = ("job_id", "state", "error", "started_at", "finished_at")
        # Decimals have no canonical form. The audit log has the limits and prices.
        track(JudgeRun, but=(*changing, "max_cost", "price_in", "price_out"))
        for large in (JudgeSource, JudgePage, JudgeAnswer):
            track(large, batch=100)
