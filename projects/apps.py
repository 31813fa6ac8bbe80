from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from django.db.models import Q

        from audit import registry, rules
        from audit.row_digests import track
        from projects import workflow as workflow_registry
        from projects.answers.integrity import answer_contents, decision_contents

        from . import (
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
            uploads,
        )
        from .answers.integrity import SETTLED, inconsistent_assignments, reopened_rounds
        from .guideline_changes.figures import ChangeFigures
        from .material.figures import StateFigures
        from .models import (
            AccuracyEvent,
            Admission,
            Answer,
            Assignment,
            Change,
            Consent,
            Decision,
            GateReading,
            Guideline,
            Import,
            Member,
            ParticipantLink,
            PilotGate,
            Project,
            QuestionTry,
            Reference,
            Remark,
            Round,
            StoredAgreement,
            Suggestion,
            SuggestionOutcome,
            SuggestionSet,
            Unit,
        )
        from .participation.queries import broken_consents
        from .people.actions import SETTINGS
        from .stored_figures import registry as figures_registry

        uploads.discover("projects")
        workflow_registry.discover("projects")
        figures_registry.register(StateFigures())
        figures_registry.register(ChangeFigures())
        registry.register(Answer, order=("received_at", "uuid"), contents=answer_contents)
        registry.register(Decision, order=("id",), contents=decision_contents)
        track(Project, but=SETTINGS)
        track(Member, but=("role", "left_at"))
        # An arriving import changes with every batch, and can be withdrawn.
        # A lead can state the licence later, which is logged.
        track(Import, but=("job_id", "progress", "licence", "may_redistribute"), when=~Q(state="arriving"), batch=20)
        track(Unit, but=("revision", "superseded_by_id"))
        # A round in preparation and its assignments can still be deleted, so they are not covered yet.
        track(
            Round,
            but=("guideline_id", "status", "closed_at"),
            when=~Q(status=Round.Status.PREPARING),
            renamed={"held_limit": "hand_size", "allocation": "dealing"},
        )
        track(
            Assignment,
            but=("number", "person_id", "leased_until", "revision", "current_answer_id"),
            when=~Q(round__status=Round.Status.PREPARING),
        )
        track(Assignment, only=("number", "person_id", "revision", "current_answer_id"), label=SETTLED)
        for model in (
            AccuracyEvent, Admission, Change, Consent, GateReading, Guideline, PilotGate,
            QuestionTry, Reference, Remark, Suggestion, SuggestionOutcome,
        ):  # fmt: skip
            track(model)
        track(SuggestionSet, but=("job_id", "report"))
        # The label is the first name of the model, because digests contain it.
        track(StoredAgreement, batch=20, label="projects.keptagreement")
        track(
            ParticipantLink,
            but=("used", "agreed", "member_id", "expires_at", "opened_at", "revoked_at"),
            renamed={"capacity": "places"},
        )
        rules.register(inconsistent_assignments)
        rules.register(broken_consents)
        rules.register(reopened_rounds)
