"""Who made a data set, who paid for it, and what it relates to. Leads enter these; nothing is taken from annotators."""

from django.db import models
from django.db.models import Q

from projects.models import Project


class CreditRole(models.TextChoices):
    """Contributor roles of CRediT, the taxonomy of NISO (Z39.104)."""

    CONCEPTUALIZATION = "conceptualization", "Conceptualization"
    DATA_CURATION = "data curation", "Data curation"
    FORMAL_ANALYSIS = "formal analysis", "Formal analysis"
    FUNDING_ACQUISITION = "funding acquisition", "Funding acquisition"
    INVESTIGATION = "investigation", "Investigation"
    METHODOLOGY = "methodology", "Methodology"
    PROJECT_ADMINISTRATION = "project administration", "Project administration"
    RESOURCES = "resources", "Resources"
    SOFTWARE = "software", "Software"
    SUPERVISION = "supervision", "Supervision"
    VALIDATION = "validation", "Validation"
    VISUALIZATION = "visualization", "Visualization"
    WRITING = "writing - original draft", "Writing: original draft"
    REVIEWING = "writing - review & editing", "Writing: review and editing"


class DataCiteRelation(models.TextChoices):
    """Relations of a data set to something else, in DataCite's words: "this data set IsDescribedBy that paper"."""

    IS_DESCRIBED_BY = "IsDescribedBy", "is described by"
    IS_SUPPLEMENT_TO = "IsSupplementTo", "is a supplement to"
    IS_DERIVED_FROM = "IsDerivedFrom", "is derived from"
    IS_SOURCE_OF = "IsSourceOf", "is the source of"
    IS_VERSION_OF = "IsVersionOf", "is a version of"
    HAS_VERSION = "HasVersion", "has the version"
    IS_NEW_VERSION_OF = "IsNewVersionOf", "is a new version of"
    IS_PREVIOUS_VERSION_OF = "IsPreviousVersionOf", "is a previous version of"
    IS_PART_OF = "IsPartOf", "is part of"
    HAS_PART = "HasPart", "has the part"
    REFERENCES = "References", "refers to"
    IS_REFERENCED_BY = "IsReferencedBy", "is referred to by"
    CITES = "Cites", "cites"
    IS_CITED_BY = "IsCitedBy", "is cited by"
    IS_DOCUMENTED_BY = "IsDocumentedBy", "is documented by"
    IS_COMPILED_BY = "IsCompiledBy", "is compiled by"
    REQUIRES = "Requires", "requires"
    IS_REQUIRED_BY = "IsRequiredBy", "is required by"
    REVIEWS = "Reviews", "reviews"
    IS_REVIEWED_BY = "IsReviewedBy", "is reviewed by"
    CONTINUES = "Continues", "continues"
    IS_CONTINUED_BY = "IsContinuedBy", "is continued by"
    OBSOLETES = "Obsoletes", "replaces"
    IS_OBSOLETED_BY = "IsObsoletedBy", "is replaced by"
    IS_IDENTICAL_TO = "IsIdenticalTo", "is identical to"
    IS_VARIANT_FORM_OF = "IsVariantFormOf", "is a variant form of"


class IdentifierType(models.TextChoices):
    """Types of related identifiers that can be checked, in DataCite's words."""

    DOI = "DOI", "DOI"
    URL = "URL", "Web address"
    PMID = "PMID", "PubMed id"
    ARXIV = "arXiv", "arXiv id"


class Creator(models.Model):
    """An author of the data set: a person or an organisation."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="creators")
    position = models.PositiveSmallIntegerField(help_text="Position in the citation, from 1.")
    family = models.CharField(max_length=120, blank=True, help_text="Family name of a person.")
    given = models.CharField(max_length=120, blank=True, help_text="Given names of a person.")
    organisation = models.CharField(max_length=200, blank=True, help_text="Name of an organisation; then no person.")
    orcid = models.CharField(max_length=19, blank=True)
    affiliation = models.CharField(max_length=200, blank=True)
    ror = models.CharField(max_length=9, blank=True, help_text="ROR id of the affiliation, or of the organisation.")
    roles = models.JSONField(default=list, help_text="CRediT roles.")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["project", "position"], name="one_creator_per_position"),
            models.UniqueConstraint(
                fields=["project", "orcid"], condition=~Q(orcid=""), name="one_creator_per_orcid_of_a_project"
            ),
            models.CheckConstraint(
                condition=Q(organisation="", family__gt="") | Q(organisation__gt="", family="", given="", orcid=""),
                name="a_creator_is_a_person_or_an_organisation",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Name with the family name first: "Lead, Lea"."""
        return self.organisation or ", ".join(filter(None, (self.family, self.given)))


class Funder(models.Model):
    """An organisation that paid for the data set, and its award."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="funders")
    position = models.PositiveSmallIntegerField(help_text="Position in the list, from 1.")
    name = models.CharField(max_length=200)
    identifier = models.CharField(max_length=60, blank=True, help_text="ROR id or Crossref funder id.")
    scheme = models.CharField(max_length=20, blank=True, help_text="Scheme of the identifier, in DataCite's words.")
    award_number = models.CharField(max_length=100, blank=True)
    award_title = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["project", "position"], name="one_funder_per_position")]

    def __str__(self) -> str:
        return self.name


class RelatedIdentifier(models.Model):
    """Something that the data set relates to, such as the paper that describes it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="related_identifiers")
    position = models.PositiveSmallIntegerField(help_text="Position in the list, from 1.")
    relation = models.CharField(max_length=24, choices=DataCiteRelation)
    type = models.CharField(max_length=8, choices=IdentifierType)
    identifier = models.CharField(max_length=300)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["project", "position"], name="one_related_identifier_per_position"),
            models.UniqueConstraint(
                fields=["project", "relation", "type", "identifier"], name="one_related_identifier_per_relation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.relation} {self.identifier}"


class DataSheet(models.Model):
    """Keywords and language of a data set, and the lead's answers to questions that no row answers."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="data_sheet")
    keywords = models.JSONField(default=list)
    language = models.CharField(max_length=35, blank=True, help_text="Language of the texts: a BCP 47 tag.")
    answers = models.JSONField(
        default=dict, help_text="Answers by the id of the question in datasheet.md or heds3.md (datasheet.X, heds.X)."
    )
