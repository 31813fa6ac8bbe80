"""Full texts of reviews: safe JATS parsing, source and licence, and detection of included studies."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.formats.jats import xml
from annotation.formats.jats.record import FullTextRecord, is_about_included
from annotation.imports.actions import check_files
from annotation.imports.sax import XmlError
from annotation.models import FullText, Review
from annotation.pubmed import actions as pubmed_actions
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.verify import findings
from projects.models import Import, Member, Project
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.uploads.files import Source
from tests.annotation.jats_files import BODY, LICENCE, article, as_file, reference
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
        "26000000",
        "PMC1234567",
        "10.1/review",
        "Nepralin for migraine",
    )
    assert found.licence_url == "https://creativecommons.org/licenses/by/4.0/"
    assert "open access" in found.licence
    assert [(one.title, one.is_included) for one in found.sections] == [
        ("Methods", False),
        ("Results / Included studies", True),
        ("Results / Included studies / Excluded studies", False),
        ("Results / Table 1. Characteristics of the included studies", True),
    ]
    assert found.sections[0].text == "We used a tool 6 (10^-3)."
    assert found.sections[-1].text == "Evans 2001 4 | adults"


def test_citations_of_included_studies_are_marked_and_ranges_expanded() -> None:
    [found] = read(as_file(article(body=BODY, references=REFERENCES)))
    assert [(one.pmid, one.is_included) for one in found.references] == [
        ("40000001", True),
        ("40000002", True),
        ("40000003", True),
        ("40000004", True),
        ("40000005", False),
        ("", False),
    ]
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
        (["Included studies"], True),
        (["3.2. Included studies"], True),
        (["Results", "Characteristics of studies"], True),
        (["Table 2. Summary of the included trials"], True),
        (["References to studies included in this review"], True),
        (["Studies included"], True),
        (["Characteristics of studies", "Characteristics of excluded studies"], False),
        (["Characteristics of ongoing studies"], False),
        (["Methods"], False),
        (["Inclusion and exclusion criteria"], False),
        (["Risk of bias in included studies"], False),
        ([], False),
    ],
)
def test_titles_say_whether_they_are_about_included_studies(titles: list[str], said: bool) -> None:
    assert is_about_included(titles) is said


@pytest.mark.row(29)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (as_file(article(body="<p>&b;</p>"), doctype=BOMB), "the file declares an entity"),
        (
            as_file(article(), doctype='<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
            "the file declares an entity",
        ),
        (as_file(article(), doctype='<!DOCTYPE a [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]>'), "an entity"),
        (as_file(article(body="<p>a &nbsp; b</p>")), "&nbsp; is not declared"),
        (as_file(article())[:-200], "the file seems truncated"),
        (b"<html><body>Too many requests</body></html>", "the root element is <html>"),
        (b"<article>" + b"<sec>" * 200, "more than 100 deep"),
        (b"<pmc-articleset></pmc-articleset>", "the file has no articles"),
        (b"PK\x03\x04 <", "found a ZIP archive"),
        (b"\x1f\x8b\x08" + b"a" * 50, "a gzip archive"),
        (as_file(article(body=f"<!-- {'x' * 1_200_000} -->")), "a tag or comment is longer than 1 MiB"),
        (as_file(article(body=f'<p id="{"x" * 1_200_000}"/>')), "a tag or comment is longer than 1 MiB"),
        (as_file(article(body='<p id="a>Text</p>')), "a quotation mark or tag before it is not closed"),
        (as_file(article(pmid="")), "the article has no PMID"),
        (as_file(article(pmid="999")), "the project has no review 999"),
        (as_file(article(), article()), "a second full text"),
    ],
)
def test_unacceptable_rows_are_faults_with_their_line(
    project: Project, review: Review, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "review.xml"
    path.write_bytes(content)
    found = check_files(project=project, format="jats", sources=[Source.of(path)])
    assert said in str([fault.message for fault in found.faults])
    with pytest.raises(CommandError):
        bring(project, tmp_path, content)
    assert not FullText.objects.exists()


def test_a_full_text_is_stored_once_with_its_source(
    project: Project, review: Review, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = as_file(article(body=BODY, references=REFERENCES, licence=""))
    bring(project, tmp_path, whole)
    text = FullText.objects.get(review=review)
    assert (text.source, text.licence, text.copyright) == (
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/",
        "",
        "(c) The authors",
    )
    imported = Import.objects.get()
    assert imported.report["totals"] == {"no licence is stated": 1}
    assert imported.counts["marked as included studies"] == 4
    bring(project, tmp_path, whole)
    bring(project, tmp_path, whole + b"\n", name="again.xml")
    assert FullText.objects.count() == 1
    create_checkpoints()
    assert list(findings()) == []


def test_another_full_text_of_a_review_changes_nothing_and_its_differences_are_listed(
    project: Project, review: Review, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(project, tmp_path, as_file(article(body=BODY, references=REFERENCES)))
    before = FullText.objects.values().get()
    other = BODY.replace("We used a tool", "We used two tools")
    bring(project, tmp_path, as_file(article(body=other, references=REFERENCES)), name="other.xml")
    assert FullText.objects.values().get() == before
    imported = Import.objects.get(file_name="other.xml")
    assert (imported.counts["new"], imported.counts["unchanged"]) == (0, 1)
    [notice] = [n for n in imported.warnings.values() if n["kind"] == "full text differs from the project's"]
    assert (notice["item"], notice["field"], notice["text"]) == (
        review.pmid,
        "sections[1]",
        "We used two tools 6 (10^-3).",
    )


def test_a_file_of_an_older_rule_changes_nothing_and_lists_different_texts(
    project: Project, review: Review, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = as_file(article(body=BODY, references=REFERENCES))
    with pytest.MonkeyPatch.context() as older:
        older.setattr("annotation.imports.markup.raised", lambda *_, **__: "\u207b\u00b3")
        bring(project, tmp_path, content)
    text = FullText.objects.get()
    assert text.sections[0]["text"] == "We used a tool 6 (10\u207b\u00b3)."
    capsys.readouterr()
    bring(project, tmp_path, content)
    out = capsys.readouterr().out
    assert "this file was already imported on" in out
    assert (
        "full text differs from the project's: 1\n"
        '  26000000, sections[1]: "We used a tool 6 (10^-3)." The project keeps its own text.' in out
    )
    assert FullText.objects.get().sections == text.sections


def test_paragraphs_outside_sections_and_articles_without_sections_are_kept() -> None:
    [found] = read(as_file(article(body="<p>One.</p><p>Two.</p><sec><title>S</title><p>In.</p></sec><p>Three.</p>")))
    assert [(one.title, one.text) for one in found.sections] == [("", "One.\nTwo."), ("S", "In."), ("", "Three.")]
    [plain] = read(as_file(article(body="<p>All <italic>of</italic> it.</p>")))
    assert [one.text for one in plain.sections] == ["All of it."]


OWN = '<mixed-citation>Own article. <pub-id pub-id-type="{}">{}</pub-id></mixed-citation>'


def test_the_articles_own_citation_is_no_reference_and_does_not_count_against_their_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(xml, "MOST_REFERENCES", 6)
    whole = as_file(article(references=REFERENCES)).decode()
    own = "<notes><p>Cite as: <mixed-citation>Own article.</mixed-citation></p></notes></front>"
    front = whole.replace("</front>", own)
    behind = whole.replace(
        "</back>", f"<notes><p>{OWN.format('pmid', '26000000')}{OWN.format('doi', '10.1/review')}</p></notes></back>"
    )
    expected = [one.text for one in read(whole.encode())[0].references]
    assert len(expected) == 6
    for content in (front, behind):
        assert [one.text for one in read(content.encode())[0].references] == expected
    with pytest.raises(XmlError, match="more than 6 references"):
        read(as_file(article(references=[*REFERENCES, reference(7, "47")])))


def test_the_licence_of_a_figure_is_not_the_articles() -> None:
    figure = f"<sec><p>x</p><fig><permissions>{LICENCE}</permissions></fig></sec>"
    [found] = read(as_file(article(licence="", body=figure)))
    assert (found.licence, found.licence_url) == ("", "")


def test_blocks_and_line_breaks_within_a_text_are_apart() -> None:
    items = "<list><list-item><p>one</p></list-item><list-item><p>more</p></list-item></list>"
    body = f"<sec><p>Two:{items}end<break/>line</p></sec>"
    [found] = read(as_file(article(body=body)))
    assert found.sections[0].text == "Two: one more end line"


def test_a_reference_without_a_known_title_is_shown_as_pubmed_cites_it(
    project: Project, review: Review, ann1: User
) -> None:
    Review.objects.update(citations={"77": "Bloom T. Falls. J Inv. 2001;1:2."})
    person = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [person], kind="studies")
    [card] = cards(round, next_assignments(user=ann1, round=round))
    assert {one["pmid"]: one["text"] for one in card["cited"]} == {
        "40000001": "",
        "77": "Bloom T. Falls. J Inv. 2001;1:2.",
    }


def test_a_full_text_without_pmid_belongs_to_the_named_review(project: Project, review: Review, tmp_path: Path) -> None:
    bring(project, tmp_path, as_file(article(pmid="", references=REFERENCES)), review=review.pmid)
    assert FullText.objects.get().review == review
    with pytest.raises(CommandError):
        bring(project, tmp_path, as_file(article(pmid="1")), review=review.pmid, name="other.xml")


def test_a_card_offers_marked_references_first_then_those_of_pubmed(
    project: Project, review: Review, tmp_path: Path, ann1: User
) -> None:
    bring(project, tmp_path, as_file(article(body=BODY, references=REFERENCES[::-1])))
    person = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [person], kind="studies")
    [card] = cards(round, next_assignments(user=ann1, round=round))
    assert [(one["pmid"], one["marked"]) for one in card["cited"]] == [
        ("40000004", True),
        ("40000003", True),
        ("40000002", True),
        ("40000001", True),
        ("", False),
        ("40000005", False),
        ("77", False),
    ]
    text = card["full_text"]
    assert (text["source"], text["licence_url"]) == (
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/",
        "https://creativecommons.org/licenses/by/4.0/",
    )
    assert [part["title"] for part in text["sections"]] == [
        "Results / Included studies",
        "Results / Table 1. Characteristics of the included studies",
    ]


def test_studies_are_found_from_the_references_of_the_full_text(
    project: Project, review: Review, tmp_path: Path, lead: User
) -> None:
    leader = Member.objects.get(project=project, user=lead)
    bring(project, tmp_path, as_file(article(body=BODY, references=REFERENCES)))
    found = pubmed_actions.start_study_search(review=review, text="", references=True, by=leader)
    assert list(found.hits.values_list("pmid", flat=True)) == ["40000001", "77", *(f"4000000{n}" for n in range(2, 6))]
    other = build_review(project, 1)
    with pytest.raises(Refused, match="No references"):
        pubmed_actions.start_study_search(review=other, text="", references=True, by=leader)
