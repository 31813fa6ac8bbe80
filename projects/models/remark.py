"""What leads and curators say to a flag, a comment or a skip: replies, and the word that it is settled."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .answer import Answer


class Remark(models.Model):
    """One word on one answer. Never changed. A newer answer to the same slot raises its own matter, unsettled."""

    class Act(models.TextChoices):
        REPLY = "reply"
        SETTLED = "settled"
        REOPENED = "reopened"

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="remarks")
    act = models.CharField(max_length=8, choices=Act)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=~Q(act="reply") | ~Q(text=""), name="a_reply_says_something"),
        ]
        indexes = [models.Index(fields=["answer", "id"], name="remark_of_answer")]

    def __str__(self) -> str:
        return f"{self.act} on answer {self.answer_id}"
