"""Citation files of a release: CITATION.cff, datacite.json and citation.bib."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ..models import Creator
from . import checking
from .edition import Edition
from .facts import Facts

#: DataCite's code for a value that is assigned later.
TO_BE_ASSIGNED = ":tba"
CFF_DOI = re.compile(r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+", re.ASCII)
MESSAGE = (
    "If you use this data set, please cite it, with its version and the digest in manifest.json. "
    "README.md says how to verify a copy."
)
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
Json = dict[str, Any]


def citation_files(facts: Facts, edition: Edition) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file. Raise `Refused` if a file would not follow its schema."""
    content = cff(facts, edition)
    checking.check("CITATION.cff", content, checking.CFF)
    yield "CITATION.cff", "".join(_yaml(content)).encode()
    content = datacite(facts, edition)
    checking.check("datacite.json", content, checking.DATACITE)
    yield "datacite.json", json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"
    yield "citation.bib", bibtex(facts, edition).encode()


def _authors_of(facts: Facts) -> str:
    """Name of the author of a data set without creators."""
    return f"The authors of {facts.title}"


def cff(facts: Facts, edition: Edition) -> Json:
    """Return the content of CITATION.cff (Citation File Format 1.2.0). Without creators, the project is the author.

    The lead's own citation goes into the notes of the preferred citation.
    """
    authors = [_cff_author(creator) for creator in facts.creators] or [{"name": _authors_of(facts)}]
    content: Json = {
        "cff-version": "1.2.0",
        "message": MESSAGE,
        "type": "dataset",
        "title": facts.title,
        "version": edition.version,
        "date-released": edition.date,
        "doi": edition.doi if CFF_DOI.fullmatch(edition.doi) else "",
        "url": "" if CFF_DOI.fullmatch(edition.doi) else edition.address,
        "abstract": facts.description,
        "keywords": list(facts.keywords),
        "license": facts.spdx_id if facts.spdx_id in _cff_licences() else "",
        "license-url": facts.licence_address if facts.spdx_id not in _cff_licences() else "",
        "authors": authors,
    }
    if facts.citation:
        content["preferred-citation"] = {
            "type": "generic",
            "title": facts.title,
            "authors": authors,
            "notes": facts.citation,
        }
    return _without_empty(content)


def _cff_author(creator: Creator) -> Json:
    if creator.organisation:
        return {"name": creator.organisation}
    orcid = f"https://orcid.org/{creator.orcid}" if creator.orcid else ""
    names = {"family-names": creator.family, "given-names": creator.given}
    return _without_empty({**names, "orcid": orcid, "affiliation": creator.affiliation})


def _cff_licences() -> frozenset[str]:
    """Return the ids that Citation File Format 1.2.0 knows: SPDX's list of 2021."""
    return checking.values_of(checking.CFF, "license-enum")


def datacite(facts: Facts, edition: Edition) -> Json:
    """Return the content of datacite.json (DataCite Metadata Schema 4.6, as its REST API has it)."""
    creators = [_datacite_creator(creator) for creator in facts.creators]
    content: Json = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "doi": edition.doi,
        "creators": creators or [{"name": _authors_of(facts), "nameType": "Organizational"}],
        "titles": [{"title": facts.title}],
        "publisher": {"name": edition.archive or TO_BE_ASSIGNED},
        "publicationYear": edition.year,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Annotated corpus"},
        "version": edition.version,
        "language": facts.language,
        "dates": [{"date": edition.date, "dateType": "Updated"}],
        "subjects": [{"subject": keyword} for keyword in facts.keywords],
        "descriptions": [{"description": facts.description, "descriptionType": "Abstract"}]
        if facts.description
        else [],
        "rightsList": [_rights(facts)] if facts.licence else [],
        "relatedIdentifiers": [
            {"relatedIdentifier": row.identifier, "relatedIdentifierType": row.type, "relationType": row.relation}
            for row in facts.related
        ],
        "fundingReferences": [
            _without_empty(
                {
                    "funderName": funder.name,
                    "funderIdentifier": _address(funder.identifier, funder.scheme),
                    "funderIdentifierType": funder.scheme,
                    "awardNumber": funder.award_number,
                    "awardTitle": funder.award_title,
                }
            )
            for funder in facts.funders
        ],
    }
    return _without_empty(content)


def _datacite_creator(creator: Creator) -> Json:
    orcid = {
        "nameIdentifier": f"https://orcid.org/{creator.orcid}",
        "nameIdentifierScheme": "ORCID",
        "schemeUri": "https://orcid.org",
    }
    ror = _address(creator.ror, "ROR")
    of_organisation = {"nameIdentifier": ror, "nameIdentifierScheme": "ROR", "schemeUri": "https://ror.org"}
    affiliation = {"name": creator.affiliation}
    if ror:
        affiliation |= {
            "affiliationIdentifier": ror,
            "affiliationIdentifierScheme": "ROR",
            "schemeUri": "https://ror.org",
        }
    if creator.organisation:
        return _without_empty(
            {
                "name": creator.organisation,
                "nameType": "Organizational",
                "nameIdentifiers": [of_organisation] if ror else [],
            }
        )
    return _without_empty(
        {
            "name": creator.name,
            "nameType": "Personal",
            "givenName": creator.given,
            "familyName": creator.family,
            "nameIdentifiers": [orcid] if creator.orcid else [],
            "affiliation": [affiliation] if creator.affiliation else [],
        }
    )


def _rights(facts: Facts) -> Json:
    if not facts.spdx_id:
        return {"rights": facts.licence}
    return {
        "rights": facts.spdx_id,
        "rightsUri": facts.licence_address,
        "rightsIdentifier": facts.spdx_id.lower(),
        "rightsIdentifierScheme": "SPDX",
        "schemeUri": "https://spdx.org/licenses/",
    }


def _address(identifier: str, scheme: str) -> str:
    if not identifier:
        return ""
    return f"https://{'ror.org' if scheme == 'ROR' else 'doi.org'}/{identifier}"


def bibtex(facts: Facts, edition: Edition) -> str:
    """Return citation.bib: one entry, whose key is made of the first author, the year and the version."""
    names = [f"{{{_tex(c.organisation)}}}" if c.organisation else _tex(c.name) for c in facts.creators]
    first = facts.creators[0].organisation or facts.creators[0].family if facts.creators else facts.title
    key = "".join(filter(str.isalnum, first.casefold())) or "dataset"
    fields = {
        "author": " and ".join(names) or f"{{{_tex(_authors_of(facts))}}}",
        "title": f"{{{_tex(facts.title)}}}",
        "year": edition.year,
        "version": _tex(edition.version),
        "publisher": edition.archive,
        "doi": edition.doi,
        "url": edition.address,
        "note": _tex(f"Data set, licence {facts.licence}" if facts.licence else "Data set"),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@misc{{{key}{edition.year}v{edition.version.replace('.', '-')},\n" + ",\n".join(lines) + "\n}\n"


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {character: f"\\{character}" for character in "&%$#_{}"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in " ".join(text.split()))


def _without_empty(content: Json) -> Json:
    return {name: value for name, value in content.items() if value}


def _yaml(content: Json, indent: str = "") -> Iterator[str]:
    """Yield lines of YAML: mappings, lists and quoted strings."""
    for name, value in content.items():
        if isinstance(value, str):
            yield f"{indent}{name}: {_quoted(value)}\n"
            continue
        yield f"{indent}{name}:\n"
        if isinstance(value, dict):
            yield from _yaml(value, indent + "  ")
            continue
        for item in value:
            if isinstance(item, str):
                yield f"{indent}  - {_quoted(item)}\n"
            else:
                first, *others = _yaml(item, indent + "    ")
                yield f"{indent}  - {first.lstrip()}"
                yield from others


def _quoted(value: str) -> str:
    """Return a YAML string: JSON's form, with the characters escaped that YAML does not allow or reads as line ends."""
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
