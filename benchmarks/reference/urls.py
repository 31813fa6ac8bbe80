"""URLs of the reference app."""

from django.urls import path

from . import views

urlpatterns = [
    path("readyz", views.ready),
    path("next/<int:round>/", views.following),
    path("annotations/<uuid:uuid>/", views.submit),
]
