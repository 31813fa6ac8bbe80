"""Routes of the projects app, under /api/v1/."""

from django.urls import path

from .adjudication import views as adjudication_views
from .agreement.views import RoundAgreementView
from .curation import views as curation_views
from .curation.views import ConfirmationView
from .drift import views as drift_views
from .external_ratings.views import ExternalRatingsCheckView, ExternalRatingsConfirmView
from .gates.views import PilotView
from .guideline_changes import views as guideline_changes_views
from .guidelines import views as guidelines_views
from .inbox import views as inbox_views
from .jobs import views as jobs_views
from .material import views as material_views
from .notifications import views as notifications_views
from .overview import views as overview_views
from .overview.views import OverviewView, WayView
from .participation import views as participation_views
from .people import views as people_views
from .practice import views as practice_views
from .queue import views as queue_views
from .recruitment import views as recruitment_views
from .rounds import views as rounds_views
from .sheets import views as sheets_views
from .staleness import views as staleness_views
from .suggestion_sets import views as suggestions_views

urlpatterns = [
    path("session/", people_views.SessionView.as_view()),
    path("session/link/", people_views.SessionLinkView.as_view()),
    path("projects/", overview_views.ProjectsView.as_view()),
    path("projects/<slug:slug>/", overview_views.ProjectView.as_view()),
    path("projects/<slug:slug>/members/", people_views.MembersView.as_view()),
    path("projects/<slug:slug>/members/<int:member_id>/", people_views.MemberView.as_view()),
    path("projects/<slug:slug>/invitations/", people_views.InvitationsView.as_view()),
    path("projects/<slug:slug>/invitations/<int:invitation_id>/", people_views.InvitationView.as_view()),
    path("projects/<slug:slug>/invitations/<int:invitation_id>/link/", people_views.InvitationLinkView.as_view()),
    path("projects/<slug:slug>/guidelines/", guidelines_views.GuidelinesView.as_view()),
    path("projects/<slug:slug>/guidelines/<int:guideline_id>/", guidelines_views.GuidelineView.as_view()),
    path(
        "projects/<slug:slug>/guidelines/<int:guideline_id>/change/",
        guideline_changes_views.GuidelineChangeView.as_view(),
    ),
    path(
        "projects/<slug:slug>/guidelines/<int:guideline_id>/correction/",
        guideline_changes_views.GuidelineCorrectionView.as_view(),
    ),
    path("projects/<slug:slug>/guideline-changes/planned/", guidelines_views.PlannedChangeView.as_view()),
    path("guideline-preview/", guidelines_views.PreviewView.as_view()),
    path("projects/<slug:slug>/audit/", overview_views.AuditView.as_view()),
    path("invitations/look/", people_views.InvitationLookView.as_view()),
    path("invitations/accept/", people_views.InvitationAcceptView.as_view()),
    path("my-work/", overview_views.MyWorkView.as_view()),
    path("my-work/adjudication/", overview_views.ToAdjudicateView.as_view()),
    path("notifications/", notifications_views.NotificationsView.as_view()),
    path("notifications/read/", notifications_views.NotificationsReadView.as_view()),
    path("rounds/<int:round_id>/next/", queue_views.NextView.as_view()),
    path("rounds/<int:round_id>/recent/", queue_views.RecentView.as_view()),
    path("answers/<uuid:answer_uuid>/", queue_views.AnswerView.as_view()),
    path("projects/<slug:slug>/rounds/", rounds_views.RoundListView.as_view()),
    path("projects/<slug:slug>/rounds/totals/", rounds_views.RoundTotalsView.as_view()),
    path("projects/<slug:slug>/rounds/choices/", rounds_views.RoundChoicesView.as_view()),
    path("projects/<slug:slug>/rounds/preview/", rounds_views.RoundPreviewView.as_view()),
    path("projects/<slug:slug>/suggestions/", suggestions_views.SuggestionSetsView.as_view()),
    path("projects/<slug:slug>/suggestions/files/", suggestions_views.SuggestionFilesView.as_view()),
    path("projects/<slug:slug>/materials/", material_views.MaterialsView.as_view()),
    path("projects/<slug:slug>/materials/<slug:key>/", material_views.MaterialListView.as_view()),
    path("projects/<slug:slug>/search/", material_views.MaterialSearchView.as_view()),
    path("projects/<slug:slug>/overview/", OverviewView.as_view()),
    path("projects/<slug:slug>/way/", WayView.as_view()),
    path("projects/<slug:slug>/inbox/", inbox_views.InboxView.as_view()),
    path("projects/<slug:slug>/inbox/totals/", inbox_views.InboxTotalsView.as_view()),
    path("answers/<uuid:answer_uuid>/remarks/", inbox_views.RemarksView.as_view()),
    path("rounds/<int:round_id>/replies/", inbox_views.RepliesView.as_view()),
    path("rounds/<int:round_id>/", rounds_views.RoundView.as_view()),
    path("rounds/<int:round_id>/progress/", rounds_views.RoundProgressView.as_view()),
    path("rounds/<int:round_id>/close/", rounds_views.RoundCloseView.as_view()),
    path("rounds/<int:round_id>/gate/", rounds_views.RoundGateView.as_view()),
    path("rounds/<int:round_id>/as-pilot/", PilotView.as_view()),
    path("rounds/<int:round_id>/intake/", rounds_views.RoundIntakeView.as_view()),
    path("rounds/<int:round_id>/preparation/", rounds_views.RoundPreparationView.as_view()),
    path("rounds/<int:round_id>/people/", rounds_views.RoundPeopleView.as_view()),
    path("rounds/<int:round_id>/people/<int:member_id>/", rounds_views.RoundPersonView.as_view()),
    path("rounds/<int:round_id>/practice/", practice_views.PracticeView.as_view()),
    path("rounds/<int:round_id>/practice/people/", practice_views.PracticePeopleView.as_view()),
    path("rounds/<int:round_id>/questions/", practice_views.QuestionsView.as_view()),
    path("rounds/<int:round_id>/admissions/", practice_views.AdmissionsView.as_view()),
    path("rounds/<int:round_id>/accuracy/", drift_views.AccuracyView.as_view()),
    path("rounds/<int:round_id>/accuracy/<int:member_id>/practice/", drift_views.AccuracyPracticeView.as_view()),
    path("rounds/<int:round_id>/adjudication/", adjudication_views.QueueView.as_view()),
    path("rounds/<int:round_id>/adjudication/at-once/", adjudication_views.BulkView.as_view()),
    path("rounds/<int:round_id>/adjudication/gold/", adjudication_views.GoldView.as_view()),
    path("rounds/<int:round_id>/adjudication/undo/", adjudication_views.UndoView.as_view()),
    path("rounds/<int:round_id>/adjudication/<int:unit_id>/", adjudication_views.UnitView.as_view()),
    path("rounds/<int:round_id>/adjudication/<int:unit_id>/reopen/", adjudication_views.ReopenView.as_view()),
    path("rounds/<int:round_id>/outcomes/", adjudication_views.OutcomesView.as_view()),
    path("rounds/<int:round_id>/agreement/", RoundAgreementView.as_view()),
    path("projects/<slug:slug>/elsewhere/check/", ExternalRatingsCheckView.as_view()),
    path("projects/<slug:slug>/elsewhere/import/", ExternalRatingsConfirmView.as_view()),
    path("rounds/<int:round_id>/sheet/", sheets_views.SheetView.as_view()),
    path("rounds/<int:round_id>/sheet/check/", sheets_views.SheetCheckView.as_view()),
    path("rounds/<int:round_id>/sheet/import/", sheets_views.SheetConfirmView.as_view()),
    path("rounds/<int:round_id>/participant-links/", participation_views.ParticipantLinksView.as_view()),
    path("rounds/<int:round_id>/participant-links/<int:link_id>/", participation_views.ParticipantLinkView.as_view()),
    path("rounds/<int:round_id>/recruitments/", recruitment_views.RecruitmentsView.as_view()),
    path("rounds/<int:round_id>/recruitments/<int:link_id>/people/", recruitment_views.RecruitsView.as_view()),
    path("rounds/<int:round_id>/recruitments/<int:link_id>/people/file/", recruitment_views.RecruitsFileView.as_view()),
    path(
        "rounds/<int:round_id>/recruitments/<int:link_id>/people/<int:recruit_id>/external-ids/",
        recruitment_views.ExternalIdView.as_view(),
    ),
    path("rounds/<int:round_id>/consent-text/", participation_views.ConsentTextView.as_view()),
    path("take/look/", participation_views.TakeLookView.as_view()),
    path("take/accept/", participation_views.TakeAcceptView.as_view()),
    path("participation/place/", recruitment_views.PlaceView.as_view()),
    path("participation/", participation_views.ParticipationView.as_view()),
    path("units/<int:unit_id>/cards/<slug:kind>/", curation_views.UnitCardView.as_view()),
    path("units/<int:unit_id>/corrections/", curation_views.CorrectionView.as_view()),
    path("units/<int:unit_id>/confirmations/", ConfirmationView.as_view()),
    path("rounds/<int:round_id>/upheld-answers/", staleness_views.UpheldView.as_view()),
    path("projects/<slug:slug>/stale/", staleness_views.StaleView.as_view()),
    path("projects/<slug:slug>/stale/totals/", staleness_views.StaleTotalsView.as_view()),
    path("projects/<slug:slug>/outdated-answers/", staleness_views.OutdatedView.as_view()),
    path("jobs/<int:job_id>/", jobs_views.JobView.as_view()),
    path("jobs/<int:job_id>/cancel/", jobs_views.JobCancelView.as_view()),
    path("jobs/<int:job_id>/dismissal/", jobs_views.JobDismissalView.as_view()),
]
