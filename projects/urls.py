"""Routes of the projects app, under /api/v1/."""

from django.urls import path

from .views import audit, corrections, guidelines, jobs, my_work, people, project, rounds, session, staleness, work

urlpatterns = [
    path("session/", session.SessionView.as_view()),
    path("session/link/", session.SessionLinkView.as_view()),
    path("projects/", project.ProjectsView.as_view()),
    path("projects/<slug:slug>/", project.ProjectView.as_view()),
    path("projects/<slug:slug>/members/", people.MembersView.as_view()),
    path("projects/<slug:slug>/members/<int:member_id>/", people.MemberView.as_view()),
    path("projects/<slug:slug>/invitations/", people.InvitationsView.as_view()),
    path("projects/<slug:slug>/invitations/<int:invitation_id>/", people.InvitationView.as_view()),
    path("projects/<slug:slug>/guidelines/", guidelines.GuidelinesView.as_view()),
    path("projects/<slug:slug>/guidelines/<int:guideline_id>/", guidelines.GuidelineView.as_view()),
    path("guideline-preview/", guidelines.PreviewView.as_view()),
    path("projects/<slug:slug>/audit/", audit.AuditView.as_view()),
    path("invitations/look/", people.InvitationLookView.as_view()),
    path("invitations/accept/", people.InvitationAcceptView.as_view()),
    path("my-work/", my_work.MyWorkView.as_view()),
    path("rounds/<int:round_id>/next/", work.NextView.as_view()),
    path("rounds/<int:round_id>/recent/", work.RecentView.as_view()),
    path("answers/<uuid:answer_uuid>/", work.AnswerView.as_view()),
    path("projects/<slug:slug>/rounds/", rounds.RoundListView.as_view()),
    path("projects/<slug:slug>/rounds/totals/", rounds.RoundTotalsView.as_view()),
    path("rounds/<int:round_id>/", rounds.RoundView.as_view()),
    path("rounds/<int:round_id>/progress/", rounds.RoundProgressView.as_view()),
    path("rounds/<int:round_id>/close/", rounds.RoundCloseView.as_view()),
    path("rounds/<int:round_id>/people/", rounds.RoundPeopleView.as_view()),
    path("rounds/<int:round_id>/people/<int:member_id>/", rounds.RoundPersonView.as_view()),
    path("rounds/<int:round_id>/agreement/", rounds.RoundAgreementView.as_view()),
    path("units/<int:unit_id>/corrections/", corrections.CorrectionView.as_view()),
    path("units/<int:unit_id>/confirmations/", staleness.ConfirmationView.as_view()),
    path("projects/<slug:slug>/stale/", staleness.StaleView.as_view()),
    path("projects/<slug:slug>/stale/totals/", staleness.StaleTotalsView.as_view()),
    path("projects/<slug:slug>/outdated-answers/", staleness.OutdatedView.as_view()),
    path("jobs/<int:job_id>/", jobs.JobView.as_view()),
    path("jobs/<int:job_id>/cancel/", jobs.JobCancelView.as_view()),
]
