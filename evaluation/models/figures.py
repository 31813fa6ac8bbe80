"""What the ratings of a round came to, as a worker reckoned it last."""

from django.db import models

from .pages import RatingDesign


class RatingFigures(models.Model):
    """The figures of one unblinded round, by which rule, and of what: pages and tables read nothing else."""

    design = models.OneToOneField(RatingDesign, on_delete=models.PROTECT, related_name="figures")
    rule = models.TextField(help_text="How figures were taken; what another rule gave is out of date.")
    basis = models.JSONField(help_text="What they rest on, counted: they are current while this is the same.")
    # Text, not JSON: PostgreSQL would put the keys into another order.
    figures = models.TextField()
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"figures of {self.design_id}"
