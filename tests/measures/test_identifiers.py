"""Identifiers of people, organisations, funders, publications and languages."""

from collections.abc import Callable

import pytest

from measures import identifiers, spdx


@pytest.mark.parametrize(
    "text", ["0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097", " orcid.org/0000-0002-1825-0097 "]
)
def test_an_orcid_is_accepted_bare_and_as_address(text: str) -> None:
    assert identifiers.orcid(text) == "0000-0002-1825-0097"


def test_the_check_digit_of_an_orcid_may_be_x() -> None:
    assert identifiers.orcid("0000-0002-1694-233x") == "0000-0002-1694-233X"


@pytest.mark.parametrize("position", [0, 2, 3, 6, 8, 12, 18])
def test_one_wrong_digit_of_an_orcid_is_refused_wherever_it_is(position: int) -> None:
    right = "0000-0002-1825-0097"
    wrong = right[:position] + str((int(right[position]) + 1) % 10) + right[position + 1 :]
    with pytest.raises(ValueError, match="last digit"):
        identifiers.orcid(wrong)


@pytest.mark.parametrize("known", ["01ej9dk98", "03vek6s52", "05gq02987", "042nb2s44", "052gg0110"])
def test_ror_ids_of_known_universities_have_the_right_check_digits(known: str) -> None:
    assert identifiers.ror(f"https://ror.org/{known}") == known


@pytest.mark.parametrize(
    ("form", "text", "bare"),
    [
        (identifiers.doi, "https://doi.org/10.5281/zenodo.1234567", "10.5281/zenodo.1234567"),
        (identifiers.doi, "doi:10.18653/v1/2022.findings-emnlp.1", "10.18653/v1/2022.findings-emnlp.1"),
        (identifiers.funder, "10.13039/501100000923", ("10.13039/501100000923", "Crossref Funder ID")),
        (identifiers.funder, "https://ror.org/021nxhr62", ("021nxhr62", "ROR")),
        (identifiers.language, "PT-br", "pt-BR"),
        (identifiers.language, "zh-hant-tw", "zh-Hant-TW"),
    ],
)
def test_an_identifier_is_returned_in_its_bare_form(form: Callable[[str], object], text: str, bare: object) -> None:
    assert form(text) == bare


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (identifiers.orcid, "0000-0002-1825-009"),
        (identifiers.ror, "01ej9dk99"),
        (identifiers.ror, "University of Melbourne"),
        (identifiers.doi, "11.5281/zenodo.1"),
        (identifiers.doi, "10.5281"),
        (identifiers.doi, "10.5281/zenodo 1"),
        (identifiers.doi, "https://example.org/10.5281/zenodo.1"),
        (identifiers.funder, "10.5281/zenodo.1"),
        (identifiers.language, "English"),
    ],
)
def test_another_form_is_refused_with_a_sentence(form: Callable[[str], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        form(text)


def test_spdx_ids_are_found_regardless_of_capitals() -> None:
    assert spdx.spdx_id("cc-by-4.0") == "CC-BY-4.0"
    assert spdx.spdx_id("CC BY 4.0") is None
    assert spdx.address("BSD-3-Clause") == "https://spdx.org/licenses/BSD-3-Clause.html"
    assert all(spdx.spdx_id(known) == known for known in spdx.ADDRESSES)
