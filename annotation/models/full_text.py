"""Full texts of reviews, as far as they may be kept."""

from django.db import models

from projects.models import Import

from .corpus import Review


class FullText(models.Model):
    """The full text of a review from a file (JATS, as PubMed Central gives it out), with where it is from and what may
    be done with it. It is never released."""

    review = models.OneToOneField(Review, on_delete=models.PROTECT, related_name="full_text")
    imported = models.ForeignKey(Import, on_delete=models.PROTECT, related_name="full_texts")
    pmcid = models.CharField(max_length=20, blank=True, help_text="Its id in PubMed Central.")
    doi = models.CharField(max_length=200, blank=True)
    licence = models.TextField(blank=True, help_text="In the words of the file.")
    licence_url = models.CharField(max_length=300, blank=True)
    copyright = models.TextField(blank=True)
    sections = models.JSONField(
        help_text="In order: title, text, and whether its title says that it is about the included studies."
    )
    references = models.JSONField(
        help_text="In order: text, PMID and DOI as far as given, and whether the review marks it as an included study."
    )

    class Meta:
        ordering = ["review_id"]

    @property
    def source(self) -> str:
        """An address where there is one, else the name of the file."""
        if self.pmcid:
            return f"https://pmc.ncbi.nlm.nih.gov/articles/{self.pmcid}/"
        return f"https://doi.org/{self.doi}" if self.doi else self.imported.file_name
