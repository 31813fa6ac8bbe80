"""Sessions and their users as Django keeps them, looked up by statements compiled once: each request does both."""

from datetime import datetime
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from sql.compiled import CompiledSelect

from .models import User

_SESSION = CompiledSelect(
    lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now)[:1], key=str, now=datetime
)
_USER = CompiledSelect(lambda pk: User.objects.filter(pk=pk), pk=int)


class SessionStore(db.SessionStore):
    """Sessions in the data base, uncached: a cache would have to be reached at each request, and one in each process
    would keep a signed-out session alive in the others."""

    def _get_session_from_db(self) -> Session | None:
        key = self.session_key or ""
        # Else PostgreSQL would refuse what no cookie of ours says.
        found = None if "\0" in key else _SESSION.first(key=key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found


class Backend(ModelBackend):
    """Django's own, with that look-up."""

    def get_user(self, user_id: Any) -> User | None:
        user = _USER.first(pk=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
