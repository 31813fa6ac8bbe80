"""Routes of the releases app, under /api/v1/."""

from django.urls import path

from . import views

urlpatterns = [
    path("projects/<slug:slug>/releases/", views.ReleaseListView.as_view()),
    path("projects/<slug:slug>/releases/checks/", views.ReleaseChecksView.as_view()),
    path("releases/<int:release_id>/", views.ReleaseView.as_view()),
    path("releases/<int:release_id>/verify/", views.ReleaseVerifyView.as_view()),
    path("releases/<int:release_id>/difference/", views.ReleaseDifferenceView.as_view()),
    path("releases/<int:release_id>/files/<path:path>", views.ReleaseFileView.as_view()),
    path("releases/<int:release_id>/archive/", views.ReleaseArchiveView.as_view()),
]
