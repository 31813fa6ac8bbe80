"""Routes of the evaluation app, under /api/v1/."""

from django.urls import path

from .protocols import views as protocols_views
from .results import views as results_views
from .unblinding import views as unblinding_views

urlpatterns = [
    path("projects/<slug:slug>/rating-design/", unblinding_views.PlannedDesignView.as_view()),
    path("rounds/<int:round_id>/rating-design/", unblinding_views.RatingDesignView.as_view()),
    path("rounds/<int:round_id>/unblind/", unblinding_views.UnblindView.as_view()),
    path("projects/<slug:slug>/ratings/", results_views.RatedRoundListView.as_view()),
    path("rounds/<int:round_id>/ratings/", results_views.RatingsView.as_view()),
    path("rounds/<int:round_id>/ratings/examples/", results_views.RatingExamplesView.as_view()),
    path("rounds/<int:round_id>/ratings/file/", results_views.RatingFileView.as_view()),
    path("projects/<slug:slug>/protocols/", protocols_views.ProtocolListView.as_view()),
    path("projects/<slug:slug>/protocols/templates/", protocols_views.ProtocolTemplatesView.as_view()),
    path("projects/<slug:slug>/protocols/check/", protocols_views.ProtocolCheckView.as_view()),
    path("protocols/<int:protocol_id>/", protocols_views.ProtocolView.as_view()),
    path("protocols/<int:protocol_id>/versions/", protocols_views.ProtocolVersionListView.as_view()),
    path("protocol-versions/<int:version_id>/", protocols_views.ProtocolVersionView.as_view()),
    path("protocol-versions/<int:version_id>/file/", protocols_views.ProtocolFileView.as_view()),
]
