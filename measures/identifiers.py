"""Identifiers in citations: form and check digits of ORCID iDs, ROR ids, DOIs, funder ids and language tags.

Each function accepts the bare identifier or its web address and returns the bare identifier. Raise `ValueError` with a
sentence for the user.
"""

import re

ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", re.ASCII)
ROR = re.compile(r"0[0-9a-hjkmnp-tv-z]{6}\d{2}", re.ASCII)
#: Alphabet of ROR ids: Crockford's base 32.
BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz"
DOI = re.compile(r"10\.\d{4,9}/[!-~]*[!-+\--~]", re.ASCII)
#: Prefix of the ids in Crossref's list of funders. They are DOIs.
FUNDERS = "10.13039/"
LANGUAGE = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|\d{3}))?"
    r"(?P<variants>(?:-(?:[a-z0-9]{5,8}|\d[a-z0-9]{3}))*)",
    re.ASCII | re.IGNORECASE,
)


def orcid(text: str) -> str:
    """Return an ORCID iD in its form 0000-0002-1825-0097."""
    value = _without(text, "orcid.org/").upper()
    if not ORCID.fullmatch(value):
        raise ValueError("Not an ORCID iD. Expected 16 digits in groups of four, such as 0000-0002-1825-0097.")
    if value[-1] != orcid_check_digit(value[:-1]):
        raise ValueError("The last digit does not match the others. Compare the ORCID iD with its source.")
    return value


def orcid_check_digit(digits: str) -> str:
    """Return the check digit of the first 15 digits (ISO 7064, MOD 11-2). Hyphens are ignored."""
    total = 0
    for digit in digits.replace("-", ""):
        total = (total + int(digit)) * 2
    rest = (12 - total % 11) % 11
    return "X" if rest == 10 else str(rest)


def ror(text: str) -> str:
    """Return the ROR id of an organisation, such as 01ej9dk98."""
    value = _without(text, "ror.org/").lower()
    if not ROR.fullmatch(value):
        raise ValueError("Not a ROR id. Expected an address such as https://ror.org/01ej9dk98.")
    number = 0
    for letter in value[1:7]:
        number = number * 32 + BASE_32.index(letter)
    if int(value[7:]) != 98 - number * 100 % 97:
        raise ValueError("The last two digits do not match the others. Compare the ROR id with its source.")
    return value


def doi(text: str) -> str:
    """Return a DOI without its web address, such as 10.5281/zenodo.1234567."""
    value = re.sub(r"^doi:\s*", "", _without(text, "doi.org/", "dx.doi.org/"), flags=re.IGNORECASE)
    if not DOI.fullmatch(value):
        raise ValueError("Not a DOI. Expected 10., a registrant, a slash and a suffix, such as 10.5281/zenodo.1234567.")
    return value


def funder(text: str) -> tuple[str, str]:
    """Return the id of a funder and its scheme: ROR, or a DOI of Crossref's list of funders."""
    if "10." in text:
        value = doi(text)
        if not value.startswith(FUNDERS):
            raise ValueError(f"Not a Crossref funder id. Expected {FUNDERS} and digits, or a ROR id.")
        return value, "Crossref Funder ID"
    return ror(text), "ROR"


def language(text: str) -> str:
    """Return a language tag (BCP 47) with the usual capitals, such as en or pt-BR."""
    match = LANGUAGE.fullmatch(text.strip())
    if match is None:
        raise ValueError("Not a language tag. Expected a code such as en, de or pt-BR.")
    script, region = match["script"], match["region"]
    parts = [match["language"].lower(), script and script.title(), region and region.upper()]
    return "-".join(part for part in parts if part) + match["variants"].lower()


def _without(text: str, *hosts: str) -> str:
    """Return an identifier without scheme and host of its web address."""
    value = text.strip()
    for host in hosts:
        value = re.sub(rf"^(?:https?://)?(?:www\.)?{re.escape(host)}", "", value, flags=re.IGNORECASE)
    return value
