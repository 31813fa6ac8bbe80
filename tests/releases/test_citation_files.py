"""CITATION.cff, datacite.json and citation.bib follow their schemas whatever a lead enters."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from api.problems import Refused
from releases.citation import checking
from releases.citation.edition import Edition
from releases.citation.facts import Facts
from releases.citation.files import citation_files
from releases.models import Creator, Funder, RelatedIdentifier

NEWEST = "2026-01-02T03:04:05.000000+00:00"
ODD = 'Eye: "data" # \\ \u2028\u0085 Ä \U0001f600\n- not: a list'
LEA = Creator(family="Lead", given="Lea", orcid="0000-0002-1825-0097", affiliation="Melbourne", ror="01ej9dk98")
NOTHING: dict[str, Any] = {
    "title": "Eye",
    "description": "",
    "licence": "",
    "citation": "",
    "creators": (),
    "funders": (),
    "related": (),
    "keywords": (),
    "language": "",
    "answers": {},
}
FULL = NOTHING | {
    "description": "Eyes.",
    "licence": "CC-BY-4.0",
    "citation": "Lead 2026",
    "creators": (LEA, Creator(organisation="Eye Group", ror="03vek6s52"), Creator(family="Doe")),
    "funders": (Funder(name="ARC", identifier="10.13039/501100000923", scheme="Crossref Funder ID", award_number="1"),),
    "related": (RelatedIdentifier(relation="IsDescribedBy", type="DOI", identifier="10.1000/x1"),),
    "keywords": ("glaucoma", "AMD"),
    "language": "en",
}


def written(edition: Edition | None = None, **fields: Any) -> dict[str, Any]:
    """Return the files by name, those of YAML and JSON as read by a library."""
    files = dict(citation_files(Facts(**{**NOTHING, **fields}), edition or Edition("1.2.0", NEWEST)))
    return {
        "cff": yaml.safe_load(files["CITATION.cff"]),
        "datacite": json.loads(files["datacite.json"]),
        "bib": files["citation.bib"].decode(),
    }


def test_creators_are_the_authors_of_each_file_in_their_order() -> None:
    files = written(**FULL)
    assert [a.get("name") or a["family-names"] for a in files["cff"]["authors"]] == ["Lead", "Eye Group", "Doe"]
    assert files["cff"]["authors"][0]["orcid"] == "https://orcid.org/0000-0002-1825-0097"
    assert [c["name"] for c in files["datacite"]["creators"]] == ["Lead, Lea", "Eye Group", "Doe"]
    assert files["datacite"]["creators"][0]["affiliation"][0]["affiliationIdentifier"] == "https://ror.org/01ej9dk98"
    assert "author = {Lead, Lea and {Eye Group} and Doe}" in files["bib"]


def test_a_reserved_doi_is_part_of_each_file() -> None:
    files = written(Edition("1.0.0", NEWEST, "10.5072/zenodo.1000"), **FULL)
    assert files["cff"]["doi"] == files["datacite"]["doi"] == "10.5072/zenodo.1000"
    assert files["datacite"]["publisher"] == {"name": "Zenodo"}
    assert "digest in manifest.json" in files["cff"]["message"]
    assert "doi = {10.5072/zenodo.1000}" in files["bib"]


def test_without_a_deposit_the_publisher_is_to_be_assigned() -> None:
    files = written(**FULL)
    assert "doi" not in files["cff"]
    assert files["datacite"]["publisher"] == {"name": ":tba"}


def test_without_creators_the_project_is_the_author() -> None:
    files = written()
    assert files["cff"]["authors"] == [{"name": "The authors of Eye"}]
    assert "author = {{The authors of Eye}}" in files["bib"]


@pytest.mark.parametrize("licence", ["CC-BY-4.0", "BSD-3-Clause-Sun", "For friends only", ""])
def test_a_licence_is_stated_where_the_format_allows_it(licence: str) -> None:
    files = written(licence=licence)
    assert files["cff"].get("license") == (licence if licence == "CC-BY-4.0" else None)
    assert files["cff"].get("license-url", "").endswith("BSD-3-Clause-Sun.html") == licence.startswith("BSD")
    assert bool(files["datacite"].get("rightsList")) == bool(licence)


def test_odd_characters_come_through() -> None:
    files = written(title=ODD, description=ODD, citation=ODD)
    assert files["cff"]["title"] == files["cff"]["abstract"] == files["cff"]["preferred-citation"]["notes"] == ODD
    assert files["datacite"]["titles"] == [{"title": ODD}]


def test_bibtex_escapes_what_latex_would_read() -> None:
    bib = written(title="50% of R&D_{x}", creators=(Creator(family="O'Neil & Co #1"),))["bib"]
    assert r"title = {{50\% of R\&D\_\{x\}}}" in bib
    assert r"author = {O'Neil \& Co \#1}" in bib
    assert bib.startswith("@misc{oneilco12026v1-2-0,")


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)


@given(
    title=NAMES,
    description=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    names=st.lists(NAMES, max_size=3, unique=True),
    keywords=st.lists(NAMES, max_size=3, unique=True),
    doi=st.sampled_from(["", "10.5281/zenodo.1", "10.1000/a<b>c;d", "10.17605/OSF.IO/ABC"]),
)
def test_the_files_follow_their_schemas_and_read_back(
    title: str, description: str, names: list[str], keywords: list[str], doi: str
) -> None:
    creators = tuple(Creator(family=name) for name in names)
    files = written(
        Edition("1.0.0", NEWEST, doi), title=title, description=description, creators=creators, keywords=tuple(keywords)
    )
    assert files["cff"]["title"] == title
    assert [c["name"] for c in files["datacite"]["creators"]][: len(names)] == names
    assert checking.faults(files["cff"], checking.CFF) == []
    assert checking.faults(files["datacite"], checking.DATACITE) == []


def test_content_that_does_not_follow_its_schema_is_refused_with_the_place() -> None:
    with pytest.raises(Refused, match=r"CITATION.cff would not follow its schema .*authors"):
        checking.check("CITATION.cff", {"cff-version": "1.2.0", "message": "x", "title": "x"}, checking.CFF)
