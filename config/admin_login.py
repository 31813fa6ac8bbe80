"""The admin has no sign-in of its own: one door, and so one place where guessing is counted and sessions begin."""

from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from api.problems import Forbidden

from .error_pages import reply_with


@require_safe
@never_cache
def door(request: HttpRequest) -> HttpResponse:
    """Where the admin sends who may not be there: to the sign-in page and back, or away."""
    asked = request.GET.get("next", "")
    inside = asked.startswith("/admin/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    target = asked if inside else "/admin/"
    if admin.site.has_permission(request):
        return HttpResponseRedirect(target)
    if request.user.is_authenticated:
        return reply_with(request, Forbidden("These pages are for operators. Sign out to enter as somebody else."))
    return HttpResponseRedirect("/sign-in?" + urlencode({"to": target}))
