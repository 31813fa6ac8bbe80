"""Routes of the releases app, under /api/v1/."""

from django.urls import path

from .citation.views import CitationView
from .publishing import views as publishing_views

urlpatterns = [
    path("projects/<slug:slug>/citation/", CitationView.as_view()),
    path("projects/<slug:slug>/releases/", publishing_views.ReleaseListView.as_view()),
    path("projects/<slug:slug>/releases/pending/", publishing_views.PendingReleasesView.as_view()),
    path("projects/<slug:slug>/releases/checks/", publishing_views.ReleaseChecksView.as_view()),
    path("releases/<int:release_id>/", publishing_views.ReleaseView.as_view()),
    path("releases/<int:release_id>/verify/", publishing_views.ReleaseVerifyView.as_view()),
    path("releases/<int:release_id>/difference/", publishing_views.ReleaseDifferenceView.as_view()),
    path("releases/<int:release_id>/files/<path:path>", publishing_views.ReleaseFileView.as_view()),
    path("releases/<int:release_id>/archive/", publishing_views.ReleaseArchiveView.as_view()),
]
