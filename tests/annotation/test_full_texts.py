"""Full texts of reviews: read safely from JATS, kept with source and licence, and searched for the included studies."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.actions import searching
from annotation.actions.imports import check_files
from annotation.imports.jats import xml
from annotation.imports.jats.record import FullTextRecord, says_included
from annotation.models import FullText, Review
from api.problems import Refused
from audit.actions import seal_pending
from audit.verify import findings
from projects.actions.answers import next_hand
from projects.models import Import, Member, Project
from projects.rounds.cards import cards
from projects.uploads.source import Source
from tests.annotation.jats_files import BODY, article, as_file, reference
from tests.annotation.test_study_lists import build_review
from tests.builders import build_round

pytestmark = pytest.mark.django_db
REFERENCES = [reference(n, str(40_000_000 + n)) for n in range(1, 6)] + [reference(6)]
STARRED = (
    '<ref id="B5"><mixed-citation>*Clark C. <article-title>A trial.</article-title> J Inv 2009;1:2. '
    '<pub-id pub-id-type="pmid">15</pub-id></mixed-citation></ref>'
)
BOMB = '<!DOCTYPE article [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>'


def read(content: bytes, size: int = 100) -> list[FullTextRecord]:
    return list(xml.articles(content[at : at + size] for at in range(0, len(content), size)))


@pytest.fixture
def review(project: Project) -> Review:
    return build_review(project, references=["40000001", "77"])


def bring(project: Project, folder: Path, content: bytes, *, name: str = "review.xml", **about: Any) -> None:
    path = folder / name
    path.write_bytes(content)
    call_command("import_data", "jats", str(path), project=project.slug, **about)


def test_an_article_is_read_in_pieces_with_its_source_its_licence_and_its_sections() -> None:
    whole = as_file(article(body=BODY, references=REFERENCES))
    [found] = read(whole)
    assert read(whole, 1) == [found]
    assert (found.pmid, found.pmcid, found.doi, found.title) == (
        "26000000", "PMC1234567", "10.1/review", "Nepralin for migraine",
    )  # fmt: skip
    assert found.licence_url == "https://creativecommons.org/licenses/by/4.0/"
    assert "open access" in found.licence
    assert [(one.title, one.is_included) for one in found.sections] == [
        ("Methods", False), ("Results / Included studies", True),
        ("Results / Included studies / Excluded studies", False),
        ("Results / Table 1. Characteristics of the included studies", True),
    ]  # fmt: skip
    assert found.sections[0].text == "We used a tool 6 (10⁻³)."
    assert found.sections[-1].text == "Evans 2001 4 | adults"


def test_what_the_section_and_the_table_of_included_studies_cite_is_marked_and_ranges_are_filled() -> None:
    [found] = read(as_file(article(body=BODY, references=REFERENCES)))
    assert [(one.pmid, one.is_included) for one in found.references] == [
        ("40000001", True), ("40000002", True), ("40000003", True), ("40000004", True), ("40000005", False),
        ("", False),
    ]  # fmt: skip
    assert found.references[0].text == "Adams A Trial 1 2010"
    assert found.references[-1].doi == "10.1/x"


def test_lists_of_references_and_asterisks_mark_included_studies() -> None:
    included = f"<ref-list><title>Brown 2012</title>{reference(2, '12')}</ref-list>"
    lists = (
        "<ref-list><title>References to studies included in this review</title>"
        f"{reference(1, '11')}{included}</ref-list>"
        f"<ref-list><title>References to studies excluded from this review</title>{reference(3, '13')}</ref-list>"
        f"<ref-list><title>Additional references</title>{reference(4, '14')}{STARRED}"
        f"{reference(6, '16', label='*6')}</ref-list>"
    )
    [found] = read(as_file(article(lists=lists)))
    assert [one.pmid for one in found.references if one.is_included] == ["11", "12", "15", "16"]
    assert found.references[4].text == "Clark C. A trial. J Inv 2009;1:2."


@pytest.mark.parametrize(
    ("titles", "said"),
    [
        (["Included studies"], True), (["3.2. Included studies"], True),
        (["Results", "Characteristics of studies"], True),
        (["Table 2. Summary of the included trials"], True), (["References to studies included in this review"], True),
        (["Studies included"], True), (["Characteristics of studies", "Characteristics of excluded studies"], False),
        (["Characteristics of ongoing studies"], False), (["Methods"], False),
        (["Inclusion and exclusion criteria"], False),
        (["Risk of bias in included studies"], False), ([], False),
    ],
)  # fmt: skip
def test_titles_say_whether_they_are_about_included_studies(titles: list[str], said: bool) -> None:
    assert says_included(titles) is said


@pytest.mark.row(29)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (as_file(article(body="<p>&b;</p>"), doctype=BOMB), "an entity is declared"),
        (as_file(article(), doctype='<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "an entity is declared"),
        (as_file(article(), doctype='<!DOCTYPE a [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]>'), "an entity"),
        (as_file(article(body="<p>a &nbsp; b</p>")), "&nbsp; is not declared"),
        (as_file(article())[:-200], "the file ends in the middle"),
        (b"<html><body>Too many requests</body></html>", "the document is <html>"),
        (b"<article>" + b"<sec>" * 200, "more than 100 deep"),
        (b"<pmc-articleset></pmc-articleset>", "the file has no article"),
        (b"PK\x03\x04 <", "not XML"),
        (b"\x1f\x8b\x08" + b"a" * 50, "a gzip archive"),
        (as_file(article(pmid="")), "does not say its PMID"),
        (as_file(article(pmid="999")), "the project has no review 999"),
        (as_file(article(), article()), "a second time"),
    ],
)
def test_what_cannot_be_taken_is_a_fault_with_its_line(
    project: Project, review: Review, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "review.xml"
    path.write_bytes(content)
    found = check_files(project=project, format="jats", sources=[Source.of(path)])
    assert said in str([fault.message for fault in found.faults])
    with pytest.raises(CommandError):
        bring(project, tmp_path, content)
    assert not FullText.objects.exists()


def test_a_full_text_is_kept_once_with_where_it_is_from(
    project: Project, review: Review, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = as_file(article(body=BODY, references=REFERENCES, licence=""))
    bring(project, tmp_path, whole)
    text = FullText.objects.get(review=review)
    assert (text.source, text.licence, text.copyright) == (
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/", "", "(c) The authors",
    )  # fmt: skip
    imported = Import.objects.get()
    assert imported.report["totals"] == {"no licence is stated": 1}
    assert imported.counts["marked as included studies"] == 4
    bring(project, tmp_path, whole)
    bring(project, tmp_path, whole + b"\n", name="again.xml")
    assert FullText.objects.count() == 1
    with pytest.raises(CommandError):
        bring(project, tmp_path, as_file(article(body=BODY)), name="other.xml")
    seal_pending()
    assert list(findings()) == []


def test_a_file_that_does_not_say_its_pmid_is_of_the_review_that_is_named(
    project: Project, review: Review, tmp_path: Path
) -> None:
    bring(project, tmp_path, as_file(article(pmid="", references=REFERENCES)), review=review.pmid)
    assert FullText.objects.get().review == review
    with pytest.raises(CommandError):
        bring(project, tmp_path, as_file(article(pmid="1")), review=review.pmid, name="other.xml")


def test_the_card_offers_the_marked_references_first_and_what_pubmed_names_besides(
    project: Project, review: Review, tmp_path: Path, ann1: User
) -> None:
    bring(project, tmp_path, as_file(article(body=BODY, references=REFERENCES[::-1])))
    person = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [person], kind="studies")
    [card] = cards(round, next_hand(user=ann1, round=round))
    assert [(one["pmid"], one["marked"]) for one in card["cited"]] == [
        ("40000004", True), ("40000003", True), ("40000002", True), ("40000001", True), ("", False),
        ("40000005", False), ("77", False),
    ]  # fmt: skip
    text = card["full_text"]
    assert (text["source"], text["licence_url"]) == (
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/", "https://creativecommons.org/licenses/by/4.0/",
    )  # fmt: skip
    assert [part["title"] for part in text["sections"]] == [
        "Results / Included studies", "Results / Table 1. Characteristics of the included studies",
    ]  # fmt: skip


def test_studies_are_found_from_the_references_of_the_full_text(
    project: Project, review: Review, tmp_path: Path, lead: User
) -> None:
    leader = Member.objects.get(project=project, user=lead)
    bring(project, tmp_path, as_file(article(body=BODY, references=REFERENCES)))
    found = searching.find_studies(review=review, text="", references=True, by=leader)
    assert list(found.hits.values_list("pmid", flat=True)) == ["40000001", "77", *(f"4000000{n}" for n in range(2, 6))]
    other = build_review(project, 1)
    with pytest.raises(Refused, match="No references"):
        searching.find_studies(review=other, text="", references=True, by=leader)
