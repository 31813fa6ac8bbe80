"""Routes of the releases app, under /api/v1/."""

from django.urls import path

from .citation.views import CitationView
from .methods.views import MethodsView
from .origins import views as origins_views
from .publishing import views as publishing_views

urlpatterns = [
    path("projects/<slug:slug>/citation/", CitationView.as_view()),
    path("projects/<slug:slug>/methods/", MethodsView.as_view()),
    path("projects/<slug:slug>/releases/", publishing_views.ReleaseListView.as_view()),
    path("projects/<slug:slug>/releases/pending/", publishing_views.PendingReleasesView.as_view()),
    path("projects/<slug:slug>/releases/checks/", publishing_views.ReleaseChecksView.as_view()),
    path("releases/<int:release_id>/", publishing_views.ReleaseView.as_view()),
    path("units/<int:unit_id>/origin/", origins_views.OriginView.as_view()),
    path("units/<int:unit_id>/origin/releases/", origins_views.OriginReleasesView.as_view()),
    path("releases/<int:release_id>/row/", origins_views.ReleasedRowView.as_view()),
    path("releases/<int:release_id>/verify/", publishing_views.ReleaseVerifyView.as_view()),
    path("releases/<int:release_id>/difference/", publishing_views.ReleaseDifferenceView.as_view()),
    path("releases/<int:release_id>/files/<path:path>", publishing_views.ReleaseFileView.as_view()),
    path("releases/<int:release_id>/archive/", publishing_views.ReleaseArchiveView.as_view()),
]
