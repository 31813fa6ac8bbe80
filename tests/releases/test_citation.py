"""Creators, funding and description of a data set."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects.models import Project
from projects.people import actions as people_actions
from releases.citation.facts import facts

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/projects/eye/citation/"
LEA = {
    "family": "Lead",
    "given": "Lea",
    "orcid": "https://orcid.org/0000-0002-1825-0097",
    "affiliation": "University of Melbourne",
    "ror": "https://ror.org/01ej9dk98",
    "roles": ["methodology", "conceptualization"],
}
ClientOf = Callable[[User], APIClient]


def errors_of(lead: User, client_of: ClientOf, body: dict[str, Any]) -> dict[str, str]:
    reply = client_of(lead).patch(ADDRESS, body, format="json")
    assert reply.status_code == 422, reply.content
    return {error["field"]: error["message"] for error in reply.json()["errors"]}


def test_a_lead_states_creators_in_their_order_with_bare_identifiers(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    body = {
        "creators": [LEA, {"organisation": "Eye Group"}, {"family": "Doe", "given": "Jo"}],
        "funders": [{"name": "ARC", "identifier": "10.13039/501100000923", "award_number": "DP1"}],
        "related": [{"relation": "IsDescribedBy", "type": "DOI", "identifier": "https://doi.org/10.1000/x1"}],
        "keywords": ["glaucoma", "AMD", "Glaucoma"],
        "language": "EN",
    }
    assert client_of(lead).patch(ADDRESS, body, format="json").status_code == 200
    stated = facts(project)
    assert [creator.name for creator in stated.creators] == ["Lead, Lea", "Eye Group", "Doe, Jo"]
    lea = stated.creators[0]
    assert (lea.orcid, lea.ror) == ("0000-0002-1825-0097", "01ej9dk98")
    assert lea.roles == ["conceptualization", "methodology"]
    assert (stated.funders[0].identifier, stated.funders[0].scheme) == ("10.13039/501100000923", "Crossref Funder ID")
    assert stated.related[0].identifier == "10.1000/x1"
    assert (stated.keywords, stated.language) == (("glaucoma", "AMD"), "en")


def test_what_a_request_omits_stays_and_each_change_is_logged(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    client.patch(ADDRESS, {"creators": [LEA], "language": "en"}, format="json")
    client.patch(ADDRESS, {"keywords": ["AMD"]}, format="json")
    client.patch(ADDRESS, {"keywords": ["AMD"]}, format="json")
    stated = facts(project)
    assert (len(stated.creators), stated.language, stated.keywords) == (1, "en", ("AMD",))
    entries = Entry.objects.filter(project=project.pk, verb="change project").order_by("pk")
    assert [sorted(entry.after or ()) for entry in entries] == [["creators", "language"], ["keywords"]]
    assert entries[0].before == {"creators": [], "language": ""}


def test_an_orcid_with_a_wrong_digit_is_refused_at_its_field(project: Project, lead: User, client_of: ClientOf) -> None:
    wrong = {"family": "Doe", "orcid": "0000-0002-1825-0098"}
    found = errors_of(lead, client_of, {"creators": [LEA, wrong]})
    assert list(found) == ["creators.1.orcid"]
    assert "last digit" in found["creators.1.orcid"]


def test_one_orcid_twice_is_refused_at_the_second_creator(project: Project, lead: User, client_of: ClientOf) -> None:
    again = {"family": "Leader", "orcid": "0000-0002-1825-0097"}
    assert list(errors_of(lead, client_of, {"creators": [LEA, {"family": "Doe"}, again]})) == ["creators.2.orcid"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"related": [{"relation": "Cites", "type": "DOI", "identifier": "zenodo.1"}]}, "related.0.identifier"),
        ({"related": [{"relation": "Cites", "type": "PMID", "identifier": "PMC12"}]}, "related.0.identifier"),
        ({"related": [{"relation": "Likes", "type": "PMID", "identifier": "12"}]}, "related.0.relation"),
        ({"creators": [{"given": "Lea"}]}, "creators.0.family"),
        ({"creators": [{"organisation": "Eye Group", "family": "Lead"}]}, "creators.0.family"),
        ({"creators": [{"family": "Lead", "roles": ["boss"]}]}, "creators.0.roles.0"),
        ({"creators": [{"family": "Lead", "ror": "01ej9dk99"}]}, "creators.0.ror"),
        ({"funders": [{"name": "ARC", "identifier": "10.5281/zenodo.1"}]}, "funders.0.identifier"),
        ({"language": "English"}, "language"),
        ({"creators": [{"family": "Wang"}, {"family": "Wang"}]}, "creators.1.family"),
        ({"creators": [{"organisation": "Eye Group"}] * 2}, "creators.1.organisation"),
        ({"funders": [{"name": "ARC"}] * 2}, "funders.1.name"),
        ({"annotators": []}, "annotators"),
    ],
)
def test_other_forms_are_refused_at_their_field(
    project: Project, lead: User, client_of: ClientOf, body: dict[str, Any], field: str
) -> None:
    assert list(errors_of(lead, client_of, body)) == [field]
    assert not facts(project).creators


def test_only_leads_change_a_citation_and_annotators_do_not_read_it(
    project: Project, lead: User, ann1: User, stranger: User, client_of: ClientOf
) -> None:
    people_actions.add_member(project=project, user=stranger, role="viewer", by=lead)
    viewer = stranger
    for person, read in ((lead, 200), (viewer, 200), (ann1, 403)):
        assert client_of(person).get(ADDRESS).status_code == read
    for person in (viewer, ann1):
        assert client_of(person).patch(ADDRESS, {"language": "en"}, format="json").status_code == 403


def test_people_who_work_in_a_project_do_not_become_creators(project: Project, ann1: User, ann2: User) -> None:
    assert facts(project).creators == ()
