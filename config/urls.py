"""URL configuration: the API, the admin, and the frontend page."""

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from config import error_pages, metrics, views
from config.spa import no_such_endpoint, page

handler400 = handler403 = handler404 = error_pages.refused
handler500 = error_pages.server_error

api: list[URLPattern | URLResolver] = [
    path("schema/", views.DescriptionView.as_view(), name="schema"),
    path("guides/", views.GuideView.as_view()),
    path("guides/picture/", views.GuidePictureView.as_view()),
    path("", include("accounts.urls")),
    path("", include("projects.urls")),
    path("", include("annotation.urls")),
    path("", include("generation.urls")),
    path("", include("evaluation.urls")),
    path("", include("releases.urls")),
]
sign_in: list[URLPattern] = []
if settings.OIDC_ISSUER:
    from config import oidc

    sign_in = [
        path("sign-in/oidc/", oidc.begin),
        path("sign-in/oidc/back/", oidc.come_back, {"provider_id": oidc.PROVIDER}, "openid_connect_callback"),
    ]
urlpatterns = [
    path("api/v1/", include(api)),
    re_path(r"^api/(?P<rest>.*)$", no_such_endpoint),
    path("healthz", error_pages.healthz),
    path("readyz", error_pages.readyz),
    path("metrics", metrics.metrics),
    *sign_in,
    path("admin/login/", views.admin_login),
    path("admin/", admin.site.urls),
    re_path(r"^(?!api/|static/|admin/).*$", page),
]
