"""Accounts in Django's admin, for repairs by operators. The audit log is not registered."""

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest

from audit.log import record

from .models import User


@admin.register(User)
class UserAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Close or reopen an account. Users set their own passwords; `sign_in_link` helps if one is lost."""

    list_display = ["email", "name", "is_active", "is_staff", "joined_at", "last_login"]
    search_fields = ["email", "name"]
    fields = ["email", "name", "is_active", "is_staff", "joined_at", "last_login"]
    readonly_fields = ["email", "is_staff", "joined_at", "last_login"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save the changed fields and log the change."""
        with transaction.atomic():
            obj.save(update_fields=form.changed_data)  # do not overwrite concurrent changes
            assert isinstance(request.user, User)
            after = {name: getattr(obj, name) for name in form.changed_data}
            before = {name: form.initial.get(name) for name in form.changed_data}
            record(actor=request.user, verb="repair account", obj=obj, before=before, after=after)
