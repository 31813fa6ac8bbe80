"""Routes of the evaluation app, under /api/v1/."""

from django.urls import path

from .views import designs, protocols, ratings

urlpatterns = [
    path("projects/<slug:slug>/rating-design/", designs.PlannedDesignView.as_view()),
    path("rounds/<int:round_id>/rating-design/", designs.RatingDesignView.as_view()),
    path("rounds/<int:round_id>/unblind/", designs.UnblindView.as_view()),
    path("projects/<slug:slug>/ratings/", ratings.RatedRoundListView.as_view()),
    path("rounds/<int:round_id>/ratings/", ratings.RatingsView.as_view()),
    path("rounds/<int:round_id>/ratings/examples/", ratings.RatingExamplesView.as_view()),
    path("rounds/<int:round_id>/ratings/file/", ratings.RatingFileView.as_view()),
    path("projects/<slug:slug>/protocols/", protocols.ProtocolListView.as_view()),
    path("projects/<slug:slug>/protocols/templates/", protocols.ProtocolTemplatesView.as_view()),
    path("projects/<slug:slug>/protocols/check/", protocols.ProtocolCheckView.as_view()),
    path("protocols/<int:protocol_id>/", protocols.ProtocolView.as_view()),
    path("protocols/<int:protocol_id>/versions/", protocols.ProtocolVersionListView.as_view()),
    path("protocol-versions/<int:version_id>/", protocols.ProtocolVersionView.as_view()),
    path("protocol-versions/<int:version_id>/file/", protocols.ProtocolFileView.as_view()),
]
