"""Which decisions an answer was given of, or held against. Insert-only."""

from django.db import models

from .answer import Answer
from .decision import Decision


class Reference(models.Model):
    """One decision that was shown with an answer's unit (review) or held against the answer (practice).

    ``same``: whether the answer says the same in the decision's field, as it was when the answer was stored. A decision
    that is made later changes neither.
    """

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="references", db_index=False)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+", db_index=False)
    same = models.BooleanField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["answer", "decision"], name="one_reference_per_decision")]

    def __str__(self) -> str:
        return f"decision {self.decision_id} of answer {self.answer_id}"
