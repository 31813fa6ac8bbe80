"""PubMed records from files: reviews by topic, studies of a review, safe parsing, no duplicates."""

import socket
import tracemalloc
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from accounts.models import User
from annotation.formats.pubmed import medline, xml
from annotation.formats.pubmed.record import Record, category_of, sections_of
from annotation.imports.actions import check_files, import_files
from annotation.imports.sax import XmlError
from annotation.models import Inclusion, RecordStatus, Review, Study
from measures.abstracts import background_of
from projects.models import Import, Project, Unit
from projects.uploads.files import Source
from tests.annotation.pubmed_files import DOCTYPE, NBIB, STRUCTURED, article, as_xml


def found(content: bytes, piece: int = 50) -> list[Record]:
    faults: list[Any] = []
    pieces = (content[at : at + piece] for at in range(0, len(content), piece))
    records = list(xml.articles(pieces, lambda *fault: faults.append(fault)))
    assert not faults
    return records


def read(project: Project | None, path: Path, content: bytes, level: str = "reviews", **about: str) -> Any:
    path.write_bytes(content)
    return check_files(project=project, format="pubmed", sources=[Source.of(path)], level=level, about=about)


def bring(project: Project, path: Path, content: bytes, level: str = "reviews", **about: str) -> list[Import]:
    checked = read(project, path, content, level, **about)
    return import_files(project=project, format="pubmed", checked=checked, by=None)


def faults(path: Path, content: bytes) -> list[tuple[int, str]]:
    return [(fault.line, fault.message) for fault in read(None, path, content).faults]


def test_a_structured_abstract_keeps_its_labels_and_its_markup_becomes_text() -> None:
    [record] = found(as_xml([article(retracted_in="J Inv. 2021", references=["11", "12", "11", "x"])]))
    assert record.abstract == (
        "BACKGROUND: Nepralin is given for relapse.\n"
        "METHODS: We searched two data bases up to May.\n"
        "MAIN RESULTS: Relapse was rarer (I^2 = 12%, 10^-3 mol CO2).\n"
        "AUTHORS' CONCLUSIONS: Nepralin reduces relapse & pain."
    )
    assert [(s.label, s.category) for s in record.sections] == [(label, category) for label, category, _ in STRUCTURED]
    assert record.conclusions == "Nepralin reduces relapse & pain."
    assert background_of(record.abstract) == "BACKGROUND: Nepralin is given for relapse."
    assert (record.year, record.publication_types) == (2019, ("Journal Article", "Systematic Review"))
    assert (record.is_retracted, record.retraction_notice) == (True, "J Inv. 2021; PMID 31000000")
    assert record.references == ("11", "12")
    assert record.line == 4


def test_a_text_that_the_file_breaks_is_one_line_and_a_plain_abstract_has_no_section() -> None:
    [record] = found(as_xml([article(title="A <b>bold</b>\n      claim", parts=[("", "", "One.\n     Two.")])]))
    assert (record.title, record.abstract, record.sections) == ("A bold claim", "One. Two.", ())


def test_a_chapter_of_a_book_and_a_year_in_words_are_read() -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>5</PMID><Book><BookTitle>Book</BookTitle>"
        "<PubDate><Year>2020</Year></PubDate></Book><ArticleTitle>Chapter</ArticleTitle>"
        "<Abstract><AbstractText>Text.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"
    )
    late = article("6", year="<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", types=["Retracted Publication"])
    first, second = found(as_xml([book, late]))
    assert (first.pmid, first.title, first.year, first.abstract) == ("5", "Chapter", 2020, "Text.")
    assert (second.year, second.is_retracted, second.retraction_notice) == (1998, True, "")


BOMB = (
    "<!DOCTYPE PubmedArticleSet ["
    + "".join(
        f'<!ENTITY a{n} "{"&a" + str(n - 1) + ";" if n else "lol"}{"&a" + str(max(n - 1, 0)) + ";" if n else ""}">'
        for n in range(30)
    )
    + "]>"
)


@pytest.mark.row(29)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (as_xml([article(title="&a29;")], BOMB), "the file declares an entity"),
        (as_xml([article(title="&x;")], '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "an entity"),
        (as_xml([article(title="&x;")], '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]>'), "an entity"),
        (as_xml([article(title="a &nbsp; b")]), "the entity &nbsp; is not declared"),
        (as_xml([article()])[:-200], "the file seems truncated"),
        (as_xml([article()])[:900], "the file seems truncated"),
        (as_xml([article(title="<a>")]), "not valid XML: mismatched tag"),
        (b"<html><body>Too many requests</body></html>", "the root element is <html>"),
        (b"<PubmedArticleSet>" + b"<a>" * 200, "more than 100 deep"),
        (b"<?xml version='1.0' encoding='klingon'?><PubmedArticleSet/>", "unknown encoding"),
        (b"<PubmedArticleSet></PubmedArticleSet>", "the file has no records"),
        (as_xml([article("0")]), "expected a PMID"),
        (b"\x1f\x8b\x08" + b"a" * 50, "a gzip archive"),
    ],
)
def test_truncated_hostile_and_foreign_pubmed_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    [(line, message)] = faults(tmp_path / "a.xml", content)
    assert said in message
    assert line >= 1


@pytest.mark.row(29)
def test_the_dtd_that_a_file_names_is_never_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.dtd"
        assert found(as_xml([article()], f'<!DOCTYPE PubmedArticleSet SYSTEM "{address}">'))[0].pmid == "30000001"
        with pytest.raises(TimeoutError):
            server.accept()
    secret = tmp_path / "a.dtd"
    secret.write_text('<!ENTITY x "secret">')
    with pytest.raises(XmlError, match="is not declared"):
        found(as_xml([article(title="&x;")], f'<!DOCTYPE PubmedArticleSet SYSTEM "{secret.as_uri()}">'))


def test_a_large_file_is_read_in_the_memory_of_one_article() -> None:
    one = article().encode()

    def pieces() -> Iterator[bytes]:
        yield b"<PubmedArticleSet>"
        for _ in range(2_000):
            yield one
        yield b"</PubmedArticleSet>"

    tracemalloc.start()
    try:
        assert sum(1 for _ in xml.articles(pieces(), lambda *_: None)) == 2_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_an_article_of_too_many_pieces_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    [(_, said)] = faults(tmp_path / "types.xml", as_xml([article("30000001", types=["x"] * 60_000)]))
    assert said == "more than 1,000,000 characters in one article"
    for more in ("PT  - Review\n", "      and so on\n"):
        nbib = f"PMID- 1\nTI  - x\n{more * 60_000}SO  - x\n".encode()
        assert [wrong for _, wrong in faults(tmp_path / "a.nbib", nbib)].count(said) == 1


def test_nbib_says_the_same_in_its_own_form(project: Project, tmp_path: Path) -> None:
    [made] = bring(project, tmp_path / "a.nbib", NBIB.encode(), topic="relapse")
    first, second = Review.objects.order_by("pmid")
    assert first.title == "Nepralin for relapse: a systematic review."
    assert [s["label"] for s in first.sections] == ["BACKGROUND", "METHODS", "CONCLUSIONS"]
    conclusions = first.sections[-1]
    assert first.abstract[conclusions["start"] : conclusions["end"]] == "Nepralin reduces relapse."
    assert (first.year, second.year, first.topic, first.unit.key) == (2019, 1998, "relapse", "30000001")
    assert (first.is_retracted, first.retraction_notice) == (True, "J Inv. 2021;3(1):2. PMID: 31000000")
    assert (first.record, second.record) == (RecordStatus.READ, RecordStatus.NO_ABSTRACT)
    assert made.counts == {
        "items": 2,
        "new": 2,
        "unchanged": 0,
        "reviews": 2,
        "known records completed": 0,
        "with conclusions": 1,
        "without an abstract": 1,
        "retracted": 1,
    }
    assert made.report["totals"] == {"retracted": 1, "record without an abstract": 1}


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (NBIB + "PMID- 7\nTI  - The file en", 18, "seems truncated"),
        (NBIB + "PMID- abc\nSO  - a\n", 18, "expected a PMID"),
        (NBIB + "PMID- 7\n   odd\nSO  - a\n", 19, "expected a tag"),
        ("PMID- 7\nTI  - a\0b\n", 2, "a NUL character"),
    ],
)
def test_nbib_with_something_wrong_is_refused_by_its_line(tmp_path: Path, content: str, line: int, said: str) -> None:
    [(found_line, message)] = faults(tmp_path / "a.nbib", content.encode())
    assert (found_line, said in message) == (line, True)
    assert medline.is_medline(content)


def test_pubmeds_own_table_brings_ids_and_leaves_the_abstracts_open(project: Project, tmp_path: Path) -> None:
    content = b'PMID,Title,Authors,Publication Year,DOI\n30000001,"A, b",Somebody,2019,10.1/x\n7,C,D,,\n'
    [made] = bring(project, tmp_path / "a.csv", content)
    assert [(r.pmid, r.title, r.year, r.record) for r in Review.objects.order_by("id")] == [
        ("30000001", "A, b", 2019, RecordStatus.NOT_READ),
        ("7", "C", None, RecordStatus.NOT_READ),
    ]
    assert made.counts["without an abstract"] == 0
    assert faults(tmp_path / "b.csv", b"pmid,title\nx,y\n") == [(2, 'expected a PMID, found "x"')]
    assert "this column is missing" in faults(tmp_path / "c.csv", b"title,year\nx,1\n")[0][1]


def test_known_records_are_completed_without_changing_texts(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path / "a.csv", b"pmid,title\n30000001,Own title\n8,Else\n")
    Review.objects.filter(pmid="8").update(abstract="As labelled.")
    again = as_xml([article(retracted_in="J Inv. 2021", references=["11"]), article("8"), article("9"), article("9")])
    [made] = bring(project, tmp_path / "a.xml", again, topic="relapse")
    assert (made.counts["items"], made.counts["new"], made.counts["known records completed"]) == (3, 1, 2)
    first, labelled, new = Review.objects.order_by("id")
    assert (first.title, first.topic, first.is_retracted, first.record) == ("Own title", "relapse", True, "read")
    assert (first.references, len(first.sections)) == (["11"], 4)
    assert (labelled.abstract, labelled.sections, labelled.year) == ("As labelled.", [], 2019)
    assert made.report["totals"] == {
        "record repeated in the file": 1,
        "title differs from the project's": 2,
        "abstract differs from the project's": 1,
        "retracted": 1,
    }
    assert Unit.objects.filter(type="review").count() == 3
    [later] = bring(project, tmp_path / "b.xml", as_xml([article("9")]), topic="another")
    assert (later.counts["new"], later.counts["unchanged"]) == (0, 1)
    new.refresh_from_db()
    assert new.topic == "relapse"


def test_a_file_of_an_older_rule_changes_nothing_and_lists_different_texts(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    content = as_xml([article(), article("9", parts=[("AIM", "", "Falls."), ("SUMMARY", "", "Fewer falls.")])])
    bring(project, path, content)
    old = Review.objects.get(pmid="30000001")
    old.abstract = old.abstract.replace("I^2", "I\u00b2").replace("10^-3", "10\u207b\u00b3")
    Review.objects.filter(pk=old.pk).update(abstract=old.abstract)
    other = Review.objects.get(pmid="9")
    Review.objects.filter(pk=other.pk).update(sections=[part | {"category": ""} for part in other.sections])
    before = list(Review.objects.order_by("pk").values())
    out = StringIO()
    call_command("import_data", "pubmed", path, project=project.slug, stdout=out)
    assert "this file was already imported on" in out.getvalue()
    assert "abstract differs from the project's: 1\n  30000001, abstract: " in out.getvalue()
    assert "10^-3 mol CO2" in out.getvalue()
    assert 'conclusions differ from the project\'s: 1\n  9, conclusions: "Fewer falls."' in out.getvalue()
    assert list(Review.objects.order_by("pk").values()) == before
    assert Import.objects.count() == 1
    found = read(project, path, content)
    assert [notice.field for notice in found.known[0].differing] == ["abstract", "conclusions"]


def test_the_texts_of_references_are_kept_until_their_titles_are_known(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path / "a.xml", as_xml([article(references=["11", "12"])]))
    assert Review.objects.get().citations == {"11": "Somebody.", "12": "Somebody."}


def test_records_come_in_as_studies_of_a_review_and_the_same_file_for_another(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path / "r.xml", as_xml([article("1"), article("2")]))
    content = as_xml([article("30000001"), article("30000002", parts=())])
    [made] = bring(project, tmp_path / "s.xml", content, "studies", review="1")
    assert (made.level, made.counts["studies"], made.counts["without an abstract"]) == ("studies of 1", 2, 1)
    assert bring(project, tmp_path / "s.xml", content, "studies", review="1") == []
    [other] = bring(project, tmp_path / "s.xml", content, "studies", review="2")
    assert other.counts["new"] == 0
    assert Study.objects.count() == 2
    assert {review.studies().count() for review in Review.objects.all()} == {2}
    assert {s.pmid: s.record for s in Study.objects.all()} == {"30000001": "read", "30000002": "no abstract"}
    for about, said in (({}, "the review of this study is missing"), ({"review": "3"}, "no review 3")):
        [fault] = read(project, tmp_path / "s.xml", content, "studies", **about).faults
        assert said in fault.message


def links() -> set[tuple[str, str]]:
    return set(Inclusion.objects.values_list("review__pmid", "study__pmid"))


def test_a_column_names_the_review_of_each_study(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path / "r.xml", as_xml([article("1"), article("2"), article("3")]))
    table = b"review,pmid\n1,11\n1,12\n2,11\n2 3,13\n2,1\n3,3\n1,11\n"
    [made] = bring(project, tmp_path / "s.csv", table, "studies")
    assert links() == {("1", "11"), ("1", "12"), ("2", "11"), ("2", "13"), ("3", "13"), ("2", "1"), ("3", "3")}
    assert (made.level, made.counts["studies"], made.counts["reviews with studies"]) == ("studies", 5, 3)
    assert made.report["totals"] == {"record repeated in the file": 1, "study that is also a review": 2}
    found = {n["item"]: n["message"] for n in made.warnings.values() if n["kind"] == "study that is also a review"}
    assert found == {"1": "It is also a review of the project.", "3": "It is listed as a study of itself."}
    # More reviews of known studies are added; existing ones are kept.
    [more] = bring(project, tmp_path / "t.csv", b"pmid,review\n12,2\n11,1\n", "studies")
    assert ("2", "12") in links()
    assert (more.counts["new"], more.counts["unchanged"]) == (0, 1)


@pytest.mark.parametrize(
    ("table", "about", "line", "said"),
    [
        (b"review,pmid\n1,11\n9,12\n", {}, 3, "the project has no review 9"),
        (b"review,pmid\n1,11\n,12\n", {}, 3, "the review of this study is missing"),
        (b"review,pmid\n1,11\n2,12\n", {"review": "1"}, 3, "this is a study of review 2; expected 1"),
    ],
)
def test_a_study_without_a_known_review_is_a_fault_of_its_line(
    project: Project, tmp_path: Path, table: bytes, about: dict[str, str], line: int, said: str
) -> None:
    bring(project, tmp_path / "r.xml", as_xml([article("1"), article("2")]))
    [fault] = read(project, tmp_path / "s.csv", table, "studies", **about).faults
    assert (fault.line, fault.field, said in fault.message) == (line, "review", True)


def test_subfolders_name_the_reviews_of_the_files_in_them(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path / "r.xml", as_xml([article("1"), article("2")]))
    folder = tmp_path / "studies"
    for review, name, content in (
        ("1", "a.xml", as_xml([article("11")])),
        ("1", "b.txt", b"12\n13\n"),
        ("2", "a.xml", as_xml([article("11")])),
    ):
        (folder / review).mkdir(parents=True, exist_ok=True)
        (folder / review / name).write_bytes(content)
    out = StringIO()
    given = {"project": project.slug, "level": "studies", "stdout": out}
    call_command("import_data", "pubmed", folder, **given)
    assert links() == {("1", "11"), ("1", "12"), ("1", "13"), ("2", "11")}
    assert {made.level for made in Import.objects.exclude(level="reviews")} == {"studies of 1", "studies of 2"}
    call_command("import_data", "pubmed", folder, **given)
    assert out.getvalue().count("this file was already imported on") == 3
    (folder / "9").mkdir()
    (folder / "9" / "a.txt").write_bytes(b"14\n")
    with pytest.raises(CommandError):
        call_command("import_data", "pubmed", folder, **given)


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("BACKGROUND AND AIMS", "BACKGROUND"),
        ("MAIN RESULTS", "RESULTS"),
        ("AUTHORS' CONCLUSIONS", "CONCLUSIONS"),
        ("WIDER IMPLICATIONS OF THE FINDINGS", "CONCLUSIONS"),
        ("DATA SOURCES", "METHODS"),
        ("Interpretation", "CONCLUSIONS"),
        ("FUNDING", ""),
    ],
)
def test_a_label_means_one_of_nlms_categories(label: str, category: str) -> None:
    assert category_of(label) == category


def test_capitals_before_a_colon_are_a_heading_only_where_a_sentence_ended() -> None:
    text = "AIM: To see. RESULTS: We saw (OR: 2). CI: none."
    assert [s.label for s in sections_of(text)] == ["AIM", "RESULTS"]
    assert sections_of("We did. RESULTS: Something.") == ()
    text = (
        "Objective: To see. Main outcome measures: Falls. Results: We saw. The data show this: none. Discussion: Few."
    )
    assert [(s.label, s.category) for s in sections_of(text)] == [
        ("Objective", "OBJECTIVE"),
        ("Main outcome measures", "METHODS"),
        ("Results", "RESULTS"),
        ("Discussion", "CONCLUSIONS"),
    ]


def test_a_discussion_beside_conclusions_or_before_results_concludes_nothing() -> None:
    text = "SUMMARY: Falls. RESULTS: Few. DISCUSSION: Many words. CONCLUSIONS: It helps. FUNDING: None."
    found = {s.label: s.category for s in sections_of(text)}
    assert (found["SUMMARY"], found["DISCUSSION"], found["CONCLUSIONS"]) == ("", "", "CONCLUSIONS")
    assert [s.category for s in sections_of("SUMMARY: Falls. RESULTS: Few. FUNDING: None.")] == ["", "RESULTS", ""]


def test_the_command_and_the_page_ask_for_a_topic(
    project: Project, client_of: Callable[[User], APIClient], lead: User, tmp_path: Path
) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(as_xml([article()], DOCTYPE))
    out = StringIO()
    call_command("import_data", "pubmed", path, project=project.slug, topic="relapse", stdout=out)
    assert "1 reviews" in out.getvalue()
    assert Review.objects.get().topic == "relapse"
    with pytest.raises(CommandError, match="does not use 'topic'"):
        call_command("import_data", "m3", path, project=project.slug, topic="relapse")
    client = client_of(lead)
    [shape] = [f for f in client.get("/api/v1/import-formats/").json() if f["key"] == "pubmed"]
    assert (shape["recognises"], [ask["key"] for ask in shape["asks"]]) == (False, ["topic", "review"])
    assert (shape["folders"], any(ask["is_needed"] for ask in shape["asks"])) == (True, False)
    sent = {"format": "pubmed", "level": "studies", "review": "30000001", "file": SimpleUploadedFile("s.xml", b"<a/>")}
    reply = client.post(f"/api/v1/projects/{project.slug}/imports/", sent, format="multipart")
    assert reply.status_code == 202
    assert reply.json()["id"]
