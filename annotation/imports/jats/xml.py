"""JATS, the XML in which PubMed Central gives out full texts: sections, tables and references, read in pieces."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.sax.xmlreader import AttributesImpl

from ...corpus.items import PMID
from ..sax import Handler, Unsound, flat, parsed, raised
from .record import FullTextRecord, Reference, TextSection, says_included

#: Of one article: more than any has.
MOST_REFERENCES, MOST_SECTIONS, LONGEST = 5_000, 5_000, 5_000_000
#: What may stand within an article and is another text.
_OTHER_TEXTS = ("sub-article", "response")
_PLACES = ("sec", "table-wrap", "ref-list")
_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
#: Elements whose text is read, wherever they stand.
_READ = frozenset((
    "article-id", "article-title", "title", "label", "p", "license", "copyright-statement", "ali:license_ref", "td",
    "th", "pub-id", *_CITATIONS,
))  # fmt: skip
_HREF = "xlink:href"
_DASH = re.compile(r"[\s\[\]()]*[-\u2010-\u2015][\s\[\]()]*")


def articles(pieces: Iterable[bytes]) -> Iterator[FullTextRecord]:
    """The articles of a document that comes in pieces. Raises `Unsound` where it cannot be read on."""
    return parsed(pieces, _Handler(), whose="PubMed Central")


@dataclass
class _Place:
    """A section, a table or a list of references that is open."""

    name: str
    number: int
    title: str = ""
    label: str = ""
    texts: list[str] = field(default_factory=list)

    @property
    def heading(self) -> str:
        return " ".join(filter(None, (self.label, self.title))) if self.name == "table-wrap" else self.title


@dataclass
class _Article:
    line: int
    about: dict[str, str] = field(default_factory=dict)
    places: list[_Place] = field(default_factory=list)
    #: Sections by the order in which they begin.
    sections: dict[int, TextSection] = field(default_factory=dict)
    #: (id of the element, reference) in order.
    references: list[tuple[str, Reference]] = field(default_factory=list)
    #: Ids that are cited where the included studies are described; two where all between them are.
    cited: list[tuple[str, str]] = field(default_factory=list)
    size: int = 0
    begun: int = 0

    @property
    def titles(self) -> list[str]:
        return [place.heading for place in self.places]

    def record(self) -> FullTextRecord:
        order = {id: n for n, (id, _) in enumerate(self.references)}
        marked = {
            n
            for ends in self.cited
            if all(end in order for end in ends)
            for n in range(min(order[end] for end in ends), max(order[end] for end in ends) + 1)
        }
        ids = {self.references[n][0] for n in marked}
        references = tuple(
            reference._replace(is_included=True) if id in ids else reference for id, reference in self.references
        )
        said = self.about.get
        return FullTextRecord(
            said("pmid", ""), said("pmcid", ""), said("doi", ""), said("title", ""), said("licence", ""),
            said("licence_url", ""), said("copyright", ""),
            tuple(section for _, section in sorted(self.sections.items()) if section.text), references, self.line,
        )  # fmt: skip


class _Handler(Handler):
    """Collects articles. Texts that are read may lie in one another: each is what came since it began."""

    roots = ("article", "pmc-articleset", "articles")
    expected = "expected <article>, as PubMed Central gives it out (JATS)"

    def __init__(self) -> None:
        super().__init__()
        self._article: _Article | None = None
        #: How deep within a text that is none of the article's.
        self._outside = 0
        self._path: list[str] = []
        #: Names of the texts that are being read, with where each begins.
        self._open: list[tuple[str, int]] = []
        self._text: list[str] = []
        self._raised: list[int] = []
        self._ref = self._id_type = self._pmid = self._doi = ""
        self._label = ""
        #: The last reference that was cited, and where its mark ended in the text.
        self._cited: tuple[str, int] | None = None

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        super().startElement(name, attrs)
        if self._outside or name in _OTHER_TEXTS:
            self._outside += 1
            return
        if name == "article" and self._article is None:
            self._article, self._path = _Article(self.line), []
            return
        article = self._article
        if article is None:
            return
        self._path.append(name)
        if name in _PLACES:
            article.begun += 1
            article.places.append(_Place(name, article.begun))
            if article.begun > MOST_SECTIONS:
                raise Unsound(self.line, f"more than {MOST_SECTIONS:,} sections and tables")
        elif name == "ref":
            self._ref, self._label = attrs.get("id", ""), ""
        elif name in ("article-id", "pub-id"):
            self._id_type = attrs.get("pub-id-type", "")
        elif name == "license" and attrs.get(_HREF):
            article.about.setdefault("licence_url", attrs[_HREF][:300])
        elif name == "xref" and attrs.get("ref-type") == "bibr":
            self._cites(article, attrs.get("rid", "").split())
        elif name == "sup" and self._open:
            self._raised.append(len(self._text))
        if name in _CITATIONS:
            self._pmid = self._doi = ""
        if name in _READ:
            self._open.append((name, len(self._text)))

    def characters(self, content: str) -> None:
        if self._open and self._article and not self._outside:
            self._article.size += len(content)
            if self._article.size > LONGEST:
                raise Unsound(self.line, f"an article of more than {LONGEST:,} characters")
            self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802 - SAX's name
        super().endElement(name)
        if self._outside:
            self._outside -= 1
            return
        article = self._article
        if article is None:
            return
        if not self._path:
            self.done.append(article.record())
            self._article = None
            return
        self._path.pop()
        if name == "sup" and self._raised:
            at = self._raised.pop()
            self._text[at:] = [raised("".join(self._text[at:]))]
        if name in _READ:
            _, begin = self._open.pop()
            text = " ".join(flat("".join(self._text[begin:])).split())
            self._take(article, name, text, begin)
            if not self._open:
                self._text, self._cited = [], None
        elif name in _PLACES:
            self._close(article, article.places.pop())
        elif name == "xref" and self._cited:
            self._cited = (self._cited[0], len(self._text))
        # There the parts of a reference stand without anything between them.
        if self._open and "element-citation" in self._path:
            self._text.append(" ")

    def _cites(self, article: _Article, ids: list[str]) -> None:
        if not ids or not says_included(article.titles):
            return
        article.cited += [(id, id) for id in ids]
        if self._cited and _DASH.fullmatch("".join(self._text[self._cited[1] :])):
            article.cited.append((self._cited[0], ids[0]))
        self._cited = (ids[-1], len(self._text))

    def _take(self, article: _Article, name: str, text: str, begin: int) -> None:
        """One text that was read whole."""
        place = article.places[-1] if article.places else None
        if name in ("article-id", "article-title", "license", "copyright-statement", "ali:license_ref"):
            self._about(article, name, text)
        elif name == "pub-id":
            del self._text[begin:]  # it is said apart
            if self._id_type == "pmid" and PMID.fullmatch(text):
                self._pmid = text
            elif self._id_type == "doi":
                self._doi = text[:200]
        elif name in _CITATIONS:
            self._cite(article, text)
        elif name == "label" and "ref" in self._path:
            self._label = text
        elif place is None:
            return
        elif name == "label" and self._path[-1] == place.name:
            place.label = place.label or text
        elif not place.title and self._is_title(name, place):
            place.title = text
        elif not any(open in ("p", "td", "th") for open, _ in self._open) and place.name != "ref-list" and text:
            # What lies in a paragraph or a cell is part of its text.
            place.texts.append(text)

    def _is_title(self, name: str, place: _Place) -> bool:
        """Many captions of tables are one paragraph, without a title."""
        above = self._path[-1]
        return (name == "title" and above in (place.name, "caption")) or (
            name == "p" and above == "caption" and place.name == "table-wrap"
        )

    def _about(self, article: _Article, name: str, text: str) -> None:
        key = {"article-title": "title", "license": "licence", "copyright-statement": "copyright",
               "ali:license_ref": "licence_url"}.get(name)  # fmt: skip
        if "article-meta" not in self._path:
            return
        if name == "article-id":
            key = {"pmid": "pmid", "doi": "doi", "pmc": "pmcid", "pmcid": "pmcid"}.get(self._id_type)
            text = f"PMC{text}" if key == "pmcid" and text.isdigit() else text
        if key and text:
            article.about.setdefault(key, text[: 300 if key == "licence_url" else 5_000])

    def _cite(self, article: _Article, text: str) -> None:
        starred = text.startswith("*") or self._label.startswith("*")
        text = re.sub(r"\s+([.,;:)])", r"\1", text.lstrip("* "))[:2_000]
        found = Reference(text, self._pmid, self._doi, starred or says_included(article.titles))
        article.references.append((self._ref, found))
        if len(article.references) > MOST_REFERENCES:
            raise Unsound(self.line, f"more than {MOST_REFERENCES:,} references")

    @staticmethod
    def _close(article: _Article, place: _Place) -> None:
        if place.name != "ref-list":
            titles = [*article.titles, place.heading]
            between = " | " if place.name == "table-wrap" else "\n"
            title = " / ".join(filter(None, titles))
            article.sections[place.number] = TextSection(title, between.join(place.texts), says_included(titles))
