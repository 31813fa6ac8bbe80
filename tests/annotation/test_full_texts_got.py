"""Fetching full texts from PubMed Central in batches, with resuming."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.full_texts import actions as full_texts_actions
from annotation.models import FullText, Review
from annotation.pubmed.client import PubMedUnavailable
from api.problems import Refused
from projects.jobs.batches import silent
from projects.jobs.running import run_job
from projects.models import Import, Project
from tests.annotation.jats_files import BODY, article, reference
from tests.annotation.pubmed_stub import Stub, Wrong
from tests.annotation.test_pubmed_search import stub
from tests.annotation.test_study_lists import build_review

__all__ = ["stub"]
pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/api/v1/projects/eye/searches/full-texts/"


@pytest.fixture
def reviews(project: Project, stub: Stub) -> list[Review]:
    """Thirteen reviews: PubMed Central has the text of two, and only the front matter of one more."""
    made = [build_review(project, number) for number in range(13)]
    cited = [reference(n, str(40_000_000 + n)) for n in range(1, 6)]
    for review in (made[0], made[11]):
        stub.full_texts[review.pmid] = article(review.pmid, body=BODY, references=cited)
    stub.full_texts[made[1].pmid] = article(made[1].pmid)
    return made


def get(project: Project, lead: User) -> dict[str, int]:
    return full_texts_actions.fetch_full_texts(project=project, by=lead, progress=silent, wait=lambda seconds: None)


def test_available_full_texts_are_stored_with_licence_and_others_counted(
    project: Project, lead: User, stub: Stub, reviews: list[Review]
) -> None:
    assert get(project, lead) == {"requested": 13, "stored": 2, "withheld": 1, "not_found": 10}
    assert set(FullText.objects.values_list("review__pmid", flat=True)) == {reviews[0].pmid, reviews[11].pmid}
    text = FullText.objects.get(review=reviews[0])
    assert text.licence_url == "https://creativecommons.org/licenses/by/4.0/"
    assert text.imported.file_name == f"PubMed Central, {reviews[0].pmid}.xml"
    assert [one["is_included"] for one in text.references] == [True, True, True, True, False]
    assert [asked["db"] for _, asked in stub.asked] == ["pmc"] * 4
    # Texts that exist are not requested again.
    assert get(project, lead) == {"requested": 11, "stored": 0, "withheld": 1, "not_found": 10}
    assert Import.objects.count() == 2


def test_a_truncated_reply_stops_fetching_and_keeps_stored_texts(
    project: Project, lead: User, stub: Stub, reviews: list[Review]
) -> None:
    busy: Wrong = (429, {}, b"API rate limit exceeded")
    cut: Wrong = (200, {}, b"<pmc-articleset><article>")
    stub.wrong = [busy, None, None, None, *[cut] * 5]
    with pytest.raises(PubMedUnavailable, match="truncated"):
        get(project, lead)
    assert FullText.objects.get().review == reviews[0]
    stub.wrong = [None, (200, {}, b"<!DOCTYPE a [<!ENTITY b 'c'>]><pmc-articleset>&b;</pmc-articleset>")]
    with pytest.raises(PubMedUnavailable, match="cannot be read"):
        get(project, lead)
    assert get(project, lead)["stored"] == 1
    assert FullText.objects.count() == 2


def test_a_lead_requests_full_texts_on_the_search_page(
    project: Project, lead: User, ann1: User, stub: Stub, reviews: list[Review], client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)
    assert client_of(ann1).post(ADDRESS).status_code == 403
    assert run_job(client.post(ADDRESS).json()["id"])
    said = client.get(ADDRESS).json()
    assert [said[name] for name in ("reviews", "with_full_text", "missing", "job")] == [13, 2, 11, None]
    assert said["last_result"]["stored"] == 2
    for review in Review.objects.filter(full_text=None):
        Review.objects.filter(pk=review.pk).update(pmid=f"typed-{review.pk}")
    with pytest.raises(Refused, match="already has its full text"):
        full_texts_actions.queue_full_texts(project=project, by=lead)
