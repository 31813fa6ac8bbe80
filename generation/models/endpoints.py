"""Endpoints that leads add to a project."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from projects.models import Project


class ProjectEndpointQuerySet(models.QuerySet["ProjectEndpoint"]):
    def current(self) -> Self:
        return self.filter(removed_at=None)


class ProjectEndpoint(models.Model):
    """An OpenAI-compatible endpoint of one project.

    The key is encrypted with the installation's secret key. It is never shown, and deleted when the endpoint is
    removed. Prices are per million tokens.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="endpoints")
    name = models.CharField(max_length=40)
    url = models.CharField(max_length=300)
    encrypted_key = models.TextField(blank=True)
    model_names = models.JSONField(default=list, blank=True, help_text="Names of models that the form offers.")
    price_in = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, help_text="ISO 4217 code of the prices.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    removed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    removed_at = models.DateTimeField(null=True, blank=True)

    objects = ProjectEndpointQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=Q(removed_at=None), name="one_endpoint_per_name"
            ),
            models.CheckConstraint(
                condition=Q(removed_at=None) | Q(encrypted_key=""), name="a_removed_endpoint_has_no_key"
            ),
        ]

    def __str__(self) -> str:
        return self.name
