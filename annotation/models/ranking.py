"""How near the sentences of a study's abstract are to a target, as a ranker says."""

from django.db import models

from .corpus import Study, Target


class Ranking(models.Model):
    """The sentences of one study as one ranker ranks them for one target. It is made anew where a text has changed."""

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="rankings")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="rankings")
    ranker = models.CharField(max_length=200, help_text="Its name, with what it was made of.")
    texts = models.CharField(max_length=64, help_text="SHA-256 of the target and the sentences that were compared.")
    order = models.JSONField(help_text="The numbers of the sentences, the nearest first.")
    similarities = models.JSONField(help_text="Of the sentences in the order of the abstract.")
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["target_id", "study_id", "ranker"]
        constraints = [models.UniqueConstraint(fields=["target", "study", "ranker"], name="one_ranking_per_ranker")]
