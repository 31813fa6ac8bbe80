"""Routes of the evaluation app, under /api/v1/."""

from django.urls import path

from .judge_figures import views as judge_figures_views
from .judging import views as judging_views
from .protocols import views as protocols_views
from .results import views as results_views
from .unblinding import views as unblinding_views

urlpatterns = [
    path("projects/<slug:slug>/rating-design/", unblinding_views.PlannedDesignView.as_view()),
    path("rounds/<int:round_id>/rating-design/", unblinding_views.RatingDesignView.as_view()),
    path("rounds/<int:round_id>/unblind/", unblinding_views.UnblindView.as_view()),
    path("projects/<slug:slug>/judges/", judging_views.JudgeListView.as_view()),
    path("projects/<slug:slug>/judges/choices/", judging_views.JudgeChoicesView.as_view()),
    path("projects/<slug:slug>/judge-runs/", judging_views.JudgeRunListView.as_view()),
    path("judges/<int:judge_id>/", judging_views.JudgeView.as_view()),
    path("judges/<int:judge_id>/rounds/<int:round_id>/preview/", judging_views.JudgePreviewView.as_view()),
    path("judges/<int:judge_id>/rounds/<int:round_id>/estimate/", judging_views.JudgeEstimateView.as_view()),
    path("rounds/<int:round_id>/judge-sets/", judging_views.JudgeSetListView.as_view()),
    path("rounds/<int:round_id>/judge-runs/", judging_views.JudgeRunStartView.as_view()),
    path("judge-runs/<int:run_id>/", judging_views.JudgeRunView.as_view()),
    path("judge-runs/<int:run_id>/stop/", judging_views.JudgeRunStopView.as_view()),
    path("judge-runs/<int:run_id>/resume/", judging_views.JudgeRunResumeView.as_view()),
    path("judge-runs/<int:run_id>/failures/", judging_views.JudgeFailureListView.as_view()),
    path("projects/<slug:slug>/ratings/", results_views.RatedRoundListView.as_view()),
    path("rounds/<int:round_id>/ratings/", results_views.RatingsView.as_view()),
    path("rounds/<int:round_id>/ratings/examples/", results_views.RatingExamplesView.as_view()),
    path("rounds/<int:round_id>/ratings/file/", results_views.RatingFileView.as_view()),
    path("rounds/<int:round_id>/judge-figures/", judge_figures_views.JudgeFiguresView.as_view()),
    path("projects/<slug:slug>/protocols/", protocols_views.ProtocolListView.as_view()),
    path("projects/<slug:slug>/protocols/templates/", protocols_views.ProtocolTemplatesView.as_view()),
    path("projects/<slug:slug>/protocols/check/", protocols_views.ProtocolCheckView.as_view()),
    path("protocols/<int:protocol_id>/", protocols_views.ProtocolView.as_view()),
    path("protocols/<int:protocol_id>/versions/", protocols_views.ProtocolVersionListView.as_view()),
    path("protocol-versions/<int:version_id>/", protocols_views.ProtocolVersionView.as_view()),
    path("protocol-versions/<int:version_id>/file/", protocols_views.ProtocolFileView.as_view()),
]
