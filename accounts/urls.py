"""Routes for the account of the signed-in user."""

from django.urls import path

from . import views

urlpatterns = [
    path("me/", views.MeView.as_view(), name="me"),
    path("me/password/", views.PasswordView.as_view(), name="me-password"),
    path("me/sessions/", views.SessionsView.as_view(), name="me-sessions"),
    path("me/tokens/", views.TokensView.as_view(), name="me-tokens"),
    path("me/tokens/<int:token_id>/", views.TokenView.as_view(), name="me-token"),
]
