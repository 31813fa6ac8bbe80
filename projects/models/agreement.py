"""What a worker measured of a round's answers, kept: a large round is not measured anew at every look."""

from django.db import models

from .round import Round


class KeptAgreement(models.Model):
    """The agreement report of a round as it was last measured by a job, by which rule, and of what."""

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="kept_agreement")
    method = models.CharField(max_length=60, help_text="The rule's name, which changes when its figures do.")
    basis = models.JSONField(help_text="What the report rests on, counted: it is current while this is the same.")
    # Text, not JSON: PostgreSQL would put the coefficients into another order.
    report = models.TextField()
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"agreement of round {self.round_id}"
