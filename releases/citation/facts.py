"""What files of a release state about its making. All of them read it here, so that they agree."""

from dataclasses import dataclass
from typing import Any

from measures import spdx
from projects.models import Project

from ..models import Creator, DataSheet, Funder, RelatedIdentifier

#: Printed where neither rows nor settings have an answer.
NOT_PROVIDED = "NOT PROVIDED"
CREATOR = ("family", "given", "organisation", "orcid", "affiliation", "ror", "roles")
FUNDER = ("name", "identifier", "scheme", "award_number", "award_title")
RELATED = ("relation", "type", "identifier")


@dataclass(frozen=True)
class Facts:
    """Creators and funding in their order. A missing value is empty."""

    title: str
    description: str
    #: SPDX id, or free text of a project that stated its licence in an earlier version.
    licence: str
    #: The lead's own citation, as free text.
    citation: str
    creators: tuple[Creator, ...]
    funders: tuple[Funder, ...]
    related: tuple[RelatedIdentifier, ...]
    keywords: tuple[str, ...]
    #: BCP 47 tag.
    language: str
    #: Answers of the lead by the id of the question.
    answers: dict[str, str]

    @property
    def spdx_id(self) -> str:
        """SPDX id of the licence; empty if it is none."""
        return spdx.spdx_id(self.licence) or ""

    @property
    def licence_address(self) -> str:
        """Web address of the licence; empty if it has no SPDX id."""
        return spdx.address(self.spdx_id) if self.spdx_id else ""


def facts(project: Project) -> Facts:
    """Return what the leads of a project state about it. Four queries."""
    sheet = DataSheet.objects.filter(project=project).first() or DataSheet()
    return Facts(
        title=project.name,
        description=project.description,
        licence=project.licence,
        citation=project.citation,
        creators=tuple(Creator.objects.filter(project=project)),
        funders=tuple(Funder.objects.filter(project=project)),
        related=tuple(RelatedIdentifier.objects.filter(project=project)),
        keywords=tuple(sheet.keywords),
        language=sheet.language,
        answers=dict(sheet.answers),
    )


def citation_of(project: Project) -> dict[str, Any]:
    """Return the citation as plain values, as the API and the audit log have it. Four queries."""
    sheet = DataSheet.objects.filter(project=project).first() or DataSheet()
    return {
        "creators": list(Creator.objects.filter(project=project).values(*CREATOR)),
        "funders": list(Funder.objects.filter(project=project).values(*FUNDER)),
        "related": list(RelatedIdentifier.objects.filter(project=project).values(*RELATED)),
        "keywords": sheet.keywords,
        "language": sheet.language,
        "answers": sheet.answers,
    }
