"""PubMed's XML, as its site saves it and E-utilities send it: read in pieces, article by article, and safely.

No DTD is loaded and nothing is looked up: NCBI's DOCTYPE only names one. Whoever declares an entity is refused,
whatever it says. Memory holds one article at a time.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from ...corpus.items import PMID
from ...corpus.lengths import DOCUMENT
from .record import Record, composed, is_retracted, year_of

#: (line, field, message)
Fault = Callable[[int, str, str], None]
ARTICLES = ("PubmedArticle", "PubmedBookArticle")
ROOTS = ("PubmedArticleSet", "PubmedBookArticleSet", *ARTICLES)
#: How deep elements may lie in one another; NCBI's lie ten deep.
DEEPEST = 100
#: References of one article that are kept.
MOST_REFERENCES = 5_000
_SUPERSCRIPT = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_RAISED = re.compile("[0-9+\u2212=()n-]+")
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


class Unsound(Exception):
    """What is sent is no XML of PubMed, or breaks off. ``line`` is where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def articles(pieces: Iterable[bytes], fault: Fault) -> Iterator[Record]:
    """The articles of a document that comes in pieces. An article with something wrong is left out after ``fault``;
    raises `Unsound` where the document cannot be read on."""
    # An external DTD is never loaded, for external entities are off: refusing its mere name would refuse NCBI's files.
    parser = DefusedExpatParser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    handler = _Handler(parser, fault)
    parser.setContentHandler(handler)
    try:
        for piece in pieces:
            parser.feed(piece)
            yield from handler.taken()
        parser.close()
        yield from handler.taken()
    except DefusedXmlException:
        message = "an entity is declared, which PubMed's files never do; nothing of the file is taken"
        raise Unsound(handler.line, message) from None
    except SAXParseException as error:
        cut = "no element found" in error.getMessage() or "unclosed" in error.getMessage()
        said = "the file ends in the middle: it seems cut off" if cut else f"not XML: {error.getMessage()}"
        raise Unsound(error.getLineNumber() or 1, said) from None
    except (LookupError, ValueError) as error:  # an encoding that is unknown, or of several bytes
        raise Unsound(1, f"cannot be read: {error}") from None
    if not handler.root:
        raise Unsound(1, "the file is empty; expected XML of PubMed")


class _Handler(ContentHandler):
    """Collects articles; those that are whole wait in ``_done`` until they are taken."""

    def __init__(self, parser: DefusedExpatParser, fault: Fault) -> None:
        super().__init__()
        self._parser = parser
        self._fault = fault
        self._done: list[Record] = []
        self.root = ""
        self._depth = 0
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

    @property
    def line(self) -> int:
        return self._parser.getLineNumber() or 1

    def taken(self) -> list[Record]:
        done, self._done = self._done, []
        return done

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unsound(self.line, f"elements lie more than {DEEPEST} deep")
        if not self.root:
            self.root = name
            if name not in ROOTS:
                expected = "expected <PubmedArticleSet>"
                raise Unsound(self.line, f"the document is <{name[:60]}>; {expected}, as PubMed saves it")
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

    def skippedEntity(self, name: str) -> None:  # noqa: N802 - SAX's name
        # The DTD that would say what it stands for is never loaded, and a text without it would be another text.
        if not name.startswith(("%", "[")):
            raise Unsound(self.line, f"the entity &{name[:40]}; is not declared")

    def endElement(self, name: str) -> None:  # noqa: N802 - SAX's name
        self._depth -= 1
        if self._path is None:
            return
        if not self._path:
            self._end()
            self._path = None
            return
        if self._reading and name == "sup" and self._raised and len(self._path) > self._at:
            at = self._raised.pop()
            self._text[at:] = [_raised("".join(self._text[at:]))]
        elif self._reading and len(self._path) == self._at:
            self._take(self._reading, _flat("".join(self._text)))
            self._reading = ""
        self._path.pop()

    def _take(self, what: str, text: str) -> None:
        if self._size > DOCUMENT:
            self._fault(self.line, what, f"{self._size:,} characters; expected at most {DOCUMENT:,}")
            text = ""
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
            self._fault(self._first_line, "PMID", f"expected a PubMed id, found {pmid[:40]!r}")
            return
        abstract, sections = composed(self._parts)
        if len(abstract) > DOCUMENT:
            self._fault(self._first_line, "Abstract", f"{len(abstract):,} characters; expected at most {DOCUMENT:,}")
            return
        dates = self._found.get("year", []) + self._found.get("online", [])
        self._done.append(
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


def _raised(text: str) -> str:
    """Raised text: 10⁶ and I² in figures that stay figures ("106" would be another number), other text as it is."""
    bare = text.strip()
    return text.replace(bare, bare.translate(_SUPERSCRIPT)) if _RAISED.fullmatch(bare) else text


def _flat(text: str) -> str:
    """Text of one line: where a file breaks and indents it, a space."""
    return re.sub(r"[ \t]*[\r\n]\s*", " ", text).strip(" \t\r\n")
