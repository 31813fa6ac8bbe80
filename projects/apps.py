from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from django.db.models import Q

        from audit import leaves, rules, triggers
        from audit.witness import watch

        from . import (
            tasks,  # noqa: F401 - registers the handlers of this app's jobs
            uploads,
        )
        from .actions.people import SETTINGS
        from .models import (
            Admission,
            Answer,
            Assignment,
            Change,
            Consent,
            Decision,
            Guideline,
            Import,
            Member,
            Project,
            QuestionTry,
            Reference,
            Remark,
            Round,
            Unit,
        )
        from .pages import steps
        from .rounds.pointers import SETTLED, broken_slots, reopened_rounds
        from .values.leaves import answer_contents, decision_contents

        uploads.discover("projects.actions.uploads")
        steps.discover("projects.pages.steps")
        leaves.register(Answer, order=("received_at", "uuid"), contents=answer_contents)
        leaves.register(Decision, order=("id",), contents=decision_contents)
        watch(Project, but=SETTINGS)
        watch(Member, but=("role", "left_at"))
        watch(Import, batch=20)
        watch(Unit, but=("revision", "superseded_by_id"))
        # What is laid out of a round that has not opened may still go.
        watch(Round, but=("guideline_id", "status", "closed_at"), when=~Q(status=Round.Status.PREPARING))
        watch(
            Assignment, but=("number", "person_id", "leased_until", "revision", "current_answer_id"),
            when=~Q(round__status=Round.Status.PREPARING),
        )  # fmt: skip
        watch(Assignment, only=("number", "person_id", "revision", "current_answer_id"), label=SETTLED)
        for model in (Admission, Change, Consent, Guideline, QuestionTry, Reference, Remark):
            watch(model)
        rules.register(broken_slots)
        rules.register(reopened_rounds)
        triggers.guard(
            "projects_guideline", "projects_change", "projects_consent", "projects_remark", "projects_reference",
            "projects_questiontry", "projects_admission",
        )  # fmt: skip
