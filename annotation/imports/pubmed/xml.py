"""PubMed's XML, as its site saves it and E-utilities send it: read in pieces, article by article, and safely."""

from collections.abc import Callable, Iterable, Iterator
from xml.sax.xmlreader import AttributesImpl

from ...corpus.items import PMID
from ...corpus.lengths import DOCUMENT, longer
from ..sax import Handler, flat, parsed, raised
from ..sax import Unsound as Unsound
from .record import MOST_OF_ARTICLE, PIECE, Record, composed, is_retracted, year_of

#: (line, PMID or "" where it has none, field, message)
Fault = Callable[[int, str, str, str], None]
ARTICLES = ("PubmedArticle", "PubmedBookArticle")
ROOTS = ("PubmedArticleSet", "PubmedBookArticleSet", *ARTICLES)
#: References of one article that are kept.
MOST_REFERENCES = 5_000
_ARTICLE = "MedlineCitation/Article"
_BOOK = "BookDocument"
#: Elements whose text is read, by their path below the article, and what it is.
_TEXTS = {
    "MedlineCitation/PMID": "pmid", f"{_BOOK}/PMID": "pmid",
    f"{_ARTICLE}/ArticleTitle": "title", f"{_BOOK}/ArticleTitle": "title", f"{_BOOK}/Book/BookTitle": "book",
    f"{_ARTICLE}/Abstract/AbstractText": "part", f"{_BOOK}/Abstract/AbstractText": "part",
    f"{_ARTICLE}/Journal/JournalIssue/PubDate/Year": "year",
    f"{_ARTICLE}/Journal/JournalIssue/PubDate/MedlineDate": "year",
    f"{_ARTICLE}/ArticleDate/Year": "online", f"{_BOOK}/Book/PubDate/Year": "year",
    f"{_ARTICLE}/PublicationTypeList/PublicationType": "type", f"{_BOOK}/PublicationType": "type",
    "MedlineCitation/CommentsCorrectionsList/CommentsCorrections/RefSource": "source",
    "MedlineCitation/CommentsCorrectionsList/CommentsCorrections/PMID": "notice",
}  # fmt: skip


def articles(pieces: Iterable[bytes], fault: Fault) -> Iterator[Record]:
    """The articles of a document that comes in pieces. An article with something wrong is left out after ``fault``;
    raises `Unsound` where the document cannot be read on."""
    return parsed(pieces, _Handler(fault), whose="PubMed")


class _Handler(Handler):
    """Collects articles."""

    roots = ROOTS
    expected = "expected <PubmedArticleSet>, as PubMed saves it"

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self._fault = fault
        #: Names of the elements below the article, and the article.
        self._path: list[str] | None = None
        self._begin()

    def _begin(self) -> None:
        self._first_line = self.line
        self._found: dict[str, list[str]] = {}
        self._parts: list[tuple[str, str, str]] = []
        self._types: list[str] = []
        self._references: list[str] = []
        self._notices: list[str] = []
        self._reading = ""
        self._at = 0
        self._text: list[str] = []
        self._size = 0
        self._raised: list[int] = []
        self._about: dict[str, str] = {}
        self._relation = ""
        self._wrong: list[tuple[int, str, str]] = []
        self._weight = 0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        super().startElement(name, attrs)
        if self._path is None:
            if name in ARTICLES:
                self._begin()
                self._path = []
            return
        self._path.append(name)
        if self._reading:
            if name == "sup":
                self._raised.append(len(self._text))
            return
        path = "/".join(self._path)
        if name == "CommentsCorrections":
            self._relation = attrs.get("RefType", "")
        elif (reading := _TEXTS.get(path) or _reference(self._path, attrs)) is not None:
            self._reading, self._at = reading, len(self._path)
            self._text, self._size, self._raised = [], 0, []
            self._about = {key: attrs.get(key, "") for key in ("Label", "NlmCategory")}

    def characters(self, content: str) -> None:
        if self._reading:
            self._size += len(content)
            if self._size <= 2 * DOCUMENT:
                self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802 - SAX's name
        super().endElement(name)
        if self._path is None:
            return
        if not self._path:
            self._end()
            self._path = None
            return
        if self._reading and name == "sup" and self._raised and len(self._path) > self._at:
            at = self._raised.pop()
            self._text[at:] = [raised("".join(self._text[at:]))]
        elif self._reading and len(self._path) == self._at:
            self._take(self._reading, flat("".join(self._text)))
            self._reading = ""
        self._path.pop()

    def _take(self, what: str, text: str) -> None:
        if self._size > DOCUMENT:
            self._wrong.append((self.line, what, f"{self._size:,} characters; expected at most {DOCUMENT:,}"))
            text = ""
        light = self._weight <= MOST_OF_ARTICLE
        self._weight += len(text) + PIECE if what != "reference" else 0
        if self._weight > MOST_OF_ARTICLE:
            if light:
                self._wrong.append((self.line, what, f"more than {MOST_OF_ARTICLE:,} characters of one article"))
            return
        if what == "part":
            self._parts.append((self._about["Label"].strip(), self._about["NlmCategory"], text))
        elif what == "type":
            self._types.append(text)
        elif what == "reference":
            if PMID.fullmatch(text) and len(self._references) < MOST_REFERENCES:
                self._references.append(text)
        elif what in ("source", "notice"):
            if self._relation == "RetractionIn":
                self._notices.append(text if what == "source" else f"PMID {text}")
        elif text:
            self._found.setdefault(what, []).append(text)

    def _end(self) -> None:
        pmid = next(iter(self._found.get("pmid", [])), "")
        if not PMID.fullmatch(pmid):
            self._fault(self._first_line, "", "PMID", f"expected a PubMed id, found {pmid[:40]!r}")
            return
        abstract, sections = composed(self._parts)
        if wrong := longer(abstract, DOCUMENT):
            self._wrong.append((self._first_line, "Abstract", wrong))
        for line, field, message in self._wrong:
            self._fault(line, pmid, field, message)
        if self._wrong:
            return
        dates = self._found.get("year", []) + self._found.get("online", [])
        self.done.append(
            Record(
                pmid, next(iter(self._found.get("title", []) + self._found.get("book", [])), ""), abstract, sections,
                next((year for date in dates if (year := year_of(date))), None), tuple(filter(None, self._types)),
                is_retracted(self._types) or bool(self._notices), "; ".join(self._notices)[:300],
                tuple(dict.fromkeys(self._references)), self._first_line,
            )
        )  # fmt: skip


def _reference(path: list[str], attrs: AttributesImpl) -> str | None:
    inside = path[:2] == ["PubmedData", "ReferenceList"] and path[-3:] == ["Reference", "ArticleIdList", "ArticleId"]
    return "reference" if inside and attrs.get("IdType") == "pubmed" else None
