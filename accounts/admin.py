"""Accounts in Django's admin: for operators who repair, not for daily work. The audit log is not here at all."""

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest

from audit.log import record

from .models import User


@admin.register(User)
class UserAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Close or reopen an account. Passwords are set by their owners; a lost one is mended by `sign_in_link`."""

    list_display = ["email", "name", "is_active", "is_staff", "joined_at", "last_login"]
    search_fields = ["email", "name"]
    fields = ["email", "name", "is_active", "is_staff", "joined_at", "last_login"]
    readonly_fields = ["email", "is_staff", "joined_at", "last_login"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save, and write down what was changed by whom."""
        with transaction.atomic():
            obj.save(update_fields=form.changed_data)  # and nothing that was changed elsewhere meanwhile
            assert isinstance(request.user, User)
            after = {name: getattr(obj, name) for name in form.changed_data}
            before = {name: form.initial.get(name) for name in form.changed_data}
            record(actor=request.user, verb="repair account", obj=obj, before=before, after=after)
