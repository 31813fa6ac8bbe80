"""Parse PubMed XML, as exported by its site or returned by E-utilities, as a stream of articles."""

from collections.abc import Callable, Iterable, Iterator
from xml.sax.xmlreader import AttributesImpl

from ...clusters.items import PMID
from ...clusters.strata import DOCUMENT, length_error
from ...imports.markup import Inline
from ...imports.sax import Handler, flat, parsed
from .record import (
    MOST_OF_ARTICLE,
    NOTICES,
    PIECE,
    Record,
    compose_abstract,
    is_retracted,
    notice_text,
    unread_year,
    year_of,
)

#: (line, PMID or "" if unknown, field, message)
Fault = Callable[[int, str, str, str], None]
ARTICLES = ("PubmedArticle", "PubmedBookArticle")
ROOTS = ("PubmedArticleSet", "PubmedBookArticleSet", *ARTICLES)
#: Maximum number of references per article, and maximum length of each citation text.
MOST_REFERENCES, CITATION = 5_000, 300
_ARTICLE = "MedlineCitation/Article"
_BOOK = "BookDocument"
#: Elements whose text is read, by their path below the article, and the field they fill.
_TEXTS = {
    tuple(path.split("/")): what
    for path, what in {
        "MedlineCitation/PMID": "pmid",
        f"{_BOOK}/PMID": "pmid",
        f"{_ARTICLE}/ArticleTitle": "title",
        f"{_BOOK}/ArticleTitle": "title",
        f"{_BOOK}/Book/BookTitle": "book",
        f"{_ARTICLE}/Abstract/AbstractText": "part",
        f"{_BOOK}/Abstract/AbstractText": "part",
        f"{_ARTICLE}/Journal/JournalIssue/PubDate/Year": "year",
        f"{_ARTICLE}/Journal/JournalIssue/PubDate/MedlineDate": "year",
        f"{_ARTICLE}/ArticleDate/Year": "online",
        f"{_BOOK}/Book/PubDate/Year": "year",
        f"{_ARTICLE}/PublicationTypeList/PublicationType": "type",
        f"{_BOOK}/PublicationType": "type",
        "MedlineCitation/CommentsCorrectionsList/CommentsCorrections/RefSource": "source",
        "MedlineCitation/CommentsCorrectionsList/CommentsCorrections/PMID": "notice",
    }.items()
}
_DEEPEST_TEXT = max(map(len, _TEXTS))


def articles(
    pieces: Iterable[bytes], fault: Fault, deleted: Callable[[str], None] = lambda pmid: None
) -> Iterator[Record]:
    """Yield the articles of a document that is passed in pieces.

    An article with errors is skipped after ``fault`` is called. ``deleted`` is called with each PMID that PubMed has
    deleted. Raise `XmlError` if the document is malformed.
    """
    return parsed(pieces, _Handler(fault, deleted), whose="PubMed")


class _Handler(Handler):
    roots = ROOTS
    expected = "expected <PubmedArticleSet>, as in XML files from PubMed"

    def __init__(self, fault: Fault, deleted: Callable[[str], None]) -> None:
        super().__init__()
        self._fault, self._deleted = fault, deleted
        #: Path of the current element below the article. None outside articles.
        self._path: list[str] | None = None
        self._in_deleted = False
        self._begin()

    def _begin(self) -> None:
        self._first_line = self.line
        self._found: dict[str, list[str]] = {}
        self._parts: list[tuple[str, str, str]] = []
        self._types: list[str] = []
        self._references: list[str] = []
        self._citations: dict[str, str] = {}
        self._citation = ""
        #: (type of notice, source)
        self._notices: list[tuple[str, str]] = []
        self._reading = ""
        self._at = 0
        self._inline = Inline()
        self._size = 0
        self._about: dict[str, str] = {}
        self._relation = ""
        self._version = 1
        self._wrong: list[tuple[int, str, str]] = []
        self._weight = 0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        super().startElement(name, attrs)
        if self._path is None:
            if name in ARTICLES:
                self._begin()
                self._path = []
            elif name == "DeleteCitation":
                self._in_deleted = True
            elif self._in_deleted and name == "PMID":
                self._read("deleted", 0, attrs)
            return
        self._path.append(name)
        if self._reading:
            self._inline.start(name, dict(attrs))
        elif name == "CommentsCorrections":
            self._relation = attrs.get("RefType", "")
        elif reading := _text_field(self._path) or _reference_field(self._path, attrs):
            self._read(reading, len(self._path), attrs)

    def _read(self, what: str, depth: int, attrs: AttributesImpl) -> None:
        self._reading, self._at = what, depth
        self._inline, self._size = Inline(), 0
        self._about = {key: attrs.get(key, "") for key in ("Label", "NlmCategory", "Version")}

    def characters(self, content: str) -> None:
        if self._reading:
            self._size += len(content)
            if self._size <= 2 * DOCUMENT:
                self._inline.characters(content)

    def endElement(self, name: str) -> None:  # noqa: N802 - SAX's name
        super().endElement(name)
        if self._path is None:
            self._end_outside(name)
            return
        if not self._path:
            self._end()
            self._path = None
            return
        if self._reading and len(self._path) == self._at:
            self._take(self._reading, flat(self._inline.text(0)))
            self._reading = ""
        elif self._reading:
            self._inline.end(name)
        elif name == "Reference":
            self._citation = ""
        self._path.pop()

    def _end_outside(self, name: str) -> None:
        """Process the end of an element that is outside all articles."""
        if name == "PMID" and self._reading:
            self._reading = ""
            if PMID.fullmatch(pmid := flat(self._inline.text(0))):
                self._deleted(pmid)
        elif name == "DeleteCitation":
            self._in_deleted = False

    def _take(self, what: str, text: str) -> None:
        if self._size > DOCUMENT:
            self._wrong.append((self.line, what, f"{self._size:,} characters; expected at most {DOCUMENT:,}"))
            text = ""
        if what in ("reference", "citation"):
            self._cite(what, text)
            return
        light = self._weight <= MOST_OF_ARTICLE
        self._weight += len(text) + PIECE
        if self._weight > MOST_OF_ARTICLE:
            if light:
                self._wrong.append((self.line, what, f"more than {MOST_OF_ARTICLE:,} characters in one article"))
            return
        if what == "part":
            self._parts.append((self._about["Label"].strip(), self._about["NlmCategory"], text))
        elif what == "type":
            self._types.append(text)
        elif what in ("source", "notice"):
            if self._relation in NOTICES:
                self._notices.append((self._relation, text if what == "source" else f"PMID {text}"))
        elif text:
            if what == "pmid" and self._about["Version"].isdecimal():
                self._version = int(self._about["Version"][:9])
            self._found.setdefault(what, []).append(text)

    def _cite(self, what: str, text: str) -> None:
        """Add a citation text or a PMID. The text of a reference comes before its ids."""
        if what == "citation":
            self._citation = text[:CITATION]
        elif PMID.fullmatch(text) and len(self._references) < MOST_REFERENCES:
            self._references.append(text)
            if self._citation:
                self._citations.setdefault(text, self._citation)

    def _end(self) -> None:
        pmid = next(iter(self._found.get("pmid", [])), "")
        if not PMID.fullmatch(pmid):
            self._fault(self._first_line, "", "PMID", f"expected a PMID, found {pmid[:40]!r}")
            return
        abstract, sections = compose_abstract(self._parts)
        if wrong := length_error(abstract, DOCUMENT):
            self._wrong.append((self._first_line, "Abstract", wrong))
        for line, field, message in self._wrong:
            self._fault(line, pmid, field, message)
        if self._wrong:
            return
        dates = self._found.get("year", []) + self._found.get("online", [])
        year = next((year for date in dates if (year := year_of(date))), None)
        self.done.append(
            Record(
                pmid,
                next(iter(self._found.get("title", []) + self._found.get("book", [])), ""),
                abstract,
                sections,
                year,
                tuple(filter(None, self._types)),
                is_retracted(self._types, (relation for relation, _ in self._notices)),
                notice_text(self._notices),
                tuple(dict.fromkeys(self._references)),
                self._first_line,
                self._citations,
                self._version,
                unread_year="" if year else unread_year("; ".join(dates)),
            )
        )


def _text_field(path: list[str]) -> str | None:
    return _TEXTS.get(tuple(path)) if len(path) <= _DEEPEST_TEXT else None


def _reference_field(path: list[str], attrs: AttributesImpl) -> str | None:
    if path[:2] != ["PubmedData", "ReferenceList"]:
        return None
    if path[-2:] == ["Reference", "Citation"]:
        return "citation"
    is_id = path[-3:] == ["Reference", "ArticleIdList", "ArticleId"] and attrs.get("IdType") == "pubmed"
    return "reference" if is_id else None
