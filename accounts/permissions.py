"""Who may reach a view at all: people with an account, or guests too where the view says so."""

from typing import Any

from django.http import Http404
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request

from .models import User

#: For the few views that guests may reach: signed in, in whatever way.
GUESTS_TOO = [IsAuthenticated]


class NotForGuests(BasePermission):
    """The rule for every view that does not say otherwise: to a guest it does not exist."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.user, User) and request.user.is_guest:
            raise Http404
        return True
