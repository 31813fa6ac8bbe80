"""Small files of PubMed and PubMed Central from former bugs."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from annotation.formats.jats import xml as jats
from annotation.formats.jats.record import FullTextRecord
from annotation.formats.pubmed import PubMed
from annotation.formats.pubmed.record import Record
from annotation.imports.format import Notice
from annotation.imports.stream import START
from projects.uploads.faults import Faults
from projects.uploads.files import Source


@dataclass
class Read:
    """The records of a file by PMID, and the notices of the file."""

    records: dict[str, Record]
    notices: list[Notice]
    faults: list[str]


def read(path: Path) -> Read:
    faults, stream = Faults(), PubMed().stream("reviews")
    items = [found.item for found in stream.records(Source.of(path), START, faults)]
    notices = [*(notice for item in items for notice in stream.notices(item)), *stream.final_notices(())]
    return Read({item.record.pmid: item.record for item in items}, notices, [str(fault) for fault in faults])


def full_text(path: Path) -> FullTextRecord:
    [found] = jats.articles([path.read_bytes()])
    return found


@pytest.mark.parametrize(
    ("name", "conclusions"),
    [
        ("30-inline-bold-headings.xml", ["Exercise prevents falls."]),
        ("31-discussion-summary-labels.xml", ["Exercise prevents falls."] * 4 + ["Exercise."]),
        ("52-lowercase-labels.nbib", ["It helps."]),
    ],
)
def test_conclusions_are_found_under_other_labels(cases: Path, name: str, conclusions: list[str]) -> None:
    assert [record.conclusions for record in read(cases / name).records.values()] == conclusions


def test_powers_and_fractions_keep_their_meaning(cases: Path) -> None:
    assert [r.abstract for r in read(cases / "32-mathml-power.xml").records.values()] == [
        "A dose of 10^6 units was given to 1/12 of patients."
    ]
    assert [r.abstract for r in read(cases / "33-sub-sup.xml").records.values()] == [
        "1.2 x 10^6 cells, I^2 = 0%, H2O, kg m^-2, 2nd, x^0.5, 10^5.2, ratioa,b"
    ]


def test_a_date_in_words_has_its_first_year(cases: Path) -> None:
    found = read(cases / "34-medlinedate.xml")
    assert [record.year for record in found.records.values()] == [1998, 2012, 1998, 2005, 2000, 1976]


def test_a_year_that_cannot_be_read_is_noticed(tmp_path: Path) -> None:
    table, nbib, xml = (tmp_path / name for name in ("a.csv", "a.nbib", "a.xml"))
    table.write_text("pmid,title,year\n1,a,2019\n2,b,20l9\n3,c,\n")
    nbib.write_text("PMID- 2\nTI  - b\nDP  - 20l9\nSO  - x\n\nPMID- 3\nTI  - b\nSO  - x\n")
    xml.write_text(
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>2</PMID><Article><Journal><JournalIssue><PubDate>"
        "<Year>20l9</Year></PubDate></JournalIssue></Journal></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )
    for path in (table, nbib, xml):
        found = [notice for notice in read(path).notices if notice.kind == "year that cannot be read"]
        assert [(notice.item, notice.field, notice.text) for notice in found] == [("2", "year", "20l9")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"TY  - JOUR\nTI  - A\nER  - \n", "found RIS; save it as 'PubMed' (nbib) or CSV"),
        (b"%0 Journal Article\n%T A\n", "found EndNote"),
        (b"@article{a, title={A}}", "found BibTeX"),
        (b'[{"pmid": "1"}]', "found a JSON array"),
        (b"PMID- 1\rTI  - A\rSO  - x\r", "the lines end in CR only"),
        ("<PubmedArticleSet>\u00e9</PubmedArticleSet>".encode("latin-1"), "the encoding is not the declared one"),
    ],
)
def test_files_of_other_formats_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    [fault] = read(path).faults
    assert message in fault


def test_the_newest_version_of_a_record_is_used_and_deleted_ones_are_named(cases: Path) -> None:
    found = read(cases / "36-versions-and-deleted.xml")
    assert [record.abstract for record in found.records.values()] == ["Version two, corrected."]
    assert [(n.kind, n.item, n.message) for n in found.notices] == [
        ("older version of a record", "90000009", "Version 2 on line 3 is imported."),
        ("record that PubMed deleted", "90000010", "It is not imported."),
    ]


def test_concerns_and_partial_retractions_are_shown_like_retractions(cases: Path) -> None:
    found = read(cases / "38-retracted.xml")
    assert [(r.is_retracted, r.retraction_notice) for r in found.records.values()] == [
        (True, "J. 2021;1:2; PMID 90000013"),
        (False, "Expression of concern: J. 2021;1:3"),
        (True, "Partial retraction: J. 2021;1:3; Retracted and republished: J. 2022"),
    ]
    kinds = [notice.kind for notice in found.notices]
    assert kinds == ["retracted", "expression of concern or partial retraction", "retracted"]


def test_concerns_are_read_from_nbib(tmp_path: Path) -> None:
    path = tmp_path / "a.nbib"
    path.write_text("PMID- 7\nTI  - T.\nPRIN- J. 2021;1:2\nECI - J. 2022;1:2\nSO  - J\n")
    [record] = read(path).records.values()
    assert (record.is_retracted, record.retraction_notice) == (
        False,
        "Partial retraction: J. 2021;1:2; Expression of concern: J. 2022;1:2",
    )


def test_a_bare_list_of_pmids_is_read(cases: Path, tmp_path: Path) -> None:
    found = read(cases / "62-only-pmids.txt")
    assert [(r.pmid, r.abstract, r.line) for r in found.records.values()] == [
        ("90000045", None, 1),
        ("90000046", None, 2),
    ]
    path = tmp_path / "pmids.txt"
    path.write_text("PMID: 7, 8;9\n\n10\nx\n")
    assert read(path).faults == ['pmids.txt:4: pmid: expected a PMID, found "x"']


def test_parts_of_a_citation_are_apart_in_every_kind_of_citation(cases: Path) -> None:
    texts = {one.text for one in full_text(cases / "70-mixed-citation-glued.nxml").references}
    assert texts == {"Avery SV Bloom T Falls in old age J Old 2006 4 577 587"}


@pytest.mark.parametrize(
    ("name", "included"), [("73-asterisk-in-note.nxml", [True] * 5), ("74-groups.nxml", [True, False])]
)
def test_marks_and_lists_of_included_studies_are_known(cases: Path, name: str, included: list[bool]) -> None:
    references = full_text(cases / name).references
    assert [one.is_included for one in references] == included
    assert not any("*" in one.text.strip("*")[-1:] for one in references)


def test_alternatives_of_a_citation_are_one_reference(cases: Path) -> None:
    first, second = full_text(cases / "74-groups.nxml").references
    assert (first.text, first.pmid, second.text) == ("Avery 2001 a", "90000061", "Bloom 2002")


def test_a_licence_within_the_copyright_statement_is_found(cases: Path) -> None:
    assert "Creative Commons Attribution License" in full_text(cases / "76-license-in-copyright.nxml").licence


def test_the_wrapper_of_an_archive_is_read(cases: Path) -> None:
    found = full_text(cases / "77-oai-wrapper.xml")
    assert (found.pmid, [one.text for one in found.sections]) == ("90000060", ["x"])
