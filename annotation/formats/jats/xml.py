"""Parse JATS, the XML format of PubMed Central full texts: sections, tables and references, in a stream."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from xml.sax.xmlreader import AttributesImpl

from ...clusters.items import PMID
from ...imports.markup import Inline
from ...imports.sax import Handler, XmlError, parsed
from .record import FullTextRecord, Reference, TextSection, is_about_included

#: Limits of one article, above those of real articles.
MOST_REFERENCES, MOST_SECTIONS, LONGEST = 5_000, 5_000, 5_000_000
#: Maximum stored length of a title, of the joined titles of a section, and of a reference.
LONGEST_TITLE, LONGEST_TITLES, LONGEST_REFERENCE = 500, 1_000, 2_000
#: Elements within an article that contain another text.
_OTHER_TEXTS = ("sub-article", "response")
_CONTAINERS = ("sec", "table-wrap", "ref-list", "app")
_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
#: Elements whose text is read, at any position.
_READ = frozenset(
    (
        "article-id",
        "article-title",
        "title",
        "label",
        "p",
        "license",
        "copyright-statement",
        "ali:license_ref",
        "td",
        "th",
        "pub-id",
        *_CITATIONS,
    )
)
#: Inline formatting elements. All other elements separate their text from the adjacent text.
_FORMATTING = frozenset(
    (
        "bold",
        "italic",
        "sup",
        "sub",
        "sc",
        "underline",
        "overline",
        "monospace",
        "roman",
        "sans-serif",
        "strike",
        "styled-content",
        "named-content",
        "abbrev",
        "xref",
        "ext-link",
        "uri",
        "email",
        "inline-formula",
        "alternatives",
        "tex-math",
        "inline-graphic",
        "break",
    )
)
#: Elements that form blocks within a text.
_BLOCKS = frozenset(("p", "title", "td", "th", "list-item", "disp-quote", "disp-formula", "def", "term"))
_HREF = "xlink:href"
_DASH = re.compile(r"[\s\[\]()]*[-\u2010-\u2015][\s\[\]()]*")
#: Marks of included studies in a reference list.
_MARKS = "*\u2217\uff0a\u204e"
_LICENCE = re.compile(r"licen[cs]e|open[- ]access|creative commons|\bCC[- ]BY|public domain", re.IGNORECASE)


def articles(pieces: Iterable[bytes]) -> Iterator[FullTextRecord]:
    """Yield the articles of a document that is passed in pieces. Raise `XmlError` if the document is malformed."""
    return parsed(pieces, _Handler(), whose="PubMed Central")


@dataclass
class _Container:
    """An open section, table or reference list. If ``name`` is empty: paragraphs outside all sections."""

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
    places: list[_Container] = field(default_factory=list)
    #: Paragraphs outside all sections, since the last section.
    loose: _Container | None = None
    #: Sections by the order of their start.
    sections: dict[int, TextSection] = field(default_factory=dict)
    #: (element id, reference), in document order.
    references: list[tuple[str, Reference]] = field(default_factory=list)
    #: (first, last) reference ids cited where included studies are described; equal for a single citation.
    cited: list[tuple[str, str]] = field(default_factory=list)
    #: Number of characters and elements.
    size: int = 0
    begun: int = 0

    @property
    def titles(self) -> list[str]:
        return [place.heading for place in self.places]

    def begin(self, name: str) -> _Container:
        self.begun += 1
        return _Container(name, self.begun)

    def close(self, place: _Container) -> None:
        if place.name == "ref-list":
            return
        titles = [*self.titles, place.heading]
        between = " | " if place.name == "table-wrap" else "\n"
        title = " / ".join(filter(None, titles))[:LONGEST_TITLES]
        self.sections[place.number] = TextSection(title, between.join(place.texts), is_about_included(titles))

    def close_loose(self) -> None:
        if self.loose:
            self.close(self.loose)
            self.loose = None

    def record(self) -> FullTextRecord:
        self.close_loose()
        marked = self._marked()
        references = tuple(
            reference._replace(is_included=True) if id in marked else reference for id, reference in self.references
        )
        value_of = self.about.get
        licence, rights = value_of("licence", ""), value_of("copyright", "")
        if not licence and not value_of("licence_url") and _LICENCE.search(rights):
            licence = rights
        return FullTextRecord(
            value_of("pmid", ""),
            value_of("pmcid", ""),
            value_of("doi", ""),
            value_of("title", ""),
            licence,
            value_of("licence_url", ""),
            rights,
            tuple(section for _, section in sorted(self.sections.items()) if section.text),
            references,
            self.line,
        )

    def _marked(self) -> set[str]:
        """Return the ids of the cited references, by a sweep over the starts and ends of the cited ranges."""
        order = {id: n for n, (id, _) in enumerate(self.references)}
        steps = [0] * (len(self.references) + 1)
        for ends in self.cited:
            if all(end in order for end in ends):
                first, last = sorted(order[end] for end in ends)
                steps[first] += 1
                steps[last + 1] -= 1
        return {id for (id, _), open in zip(self.references, accumulate(steps), strict=False) if open}


class _Handler(Handler):
    """Collect articles. Texts can be nested: each consists of everything read since its start."""

    roots = ("article", "pmc-articleset", "articles", "OAI-PMH")
    expected = "expected <article>, as in JATS files from PubMed Central"

    def __init__(self) -> None:
        super().__init__()
        self._article: _Article | None = None
        #: Nesting depth within a text that does not belong to the article, or 0.
        self._outside = 0
        self._path: list[str] = []
        #: Names of the texts being read, with the position of their start.
        self._open: list[tuple[str, int]] = []
        self._inline = Inline()
        self._ref = self._id_type = self._pmid = self._doi = ""
        #: Of the current reference: its first index among the references, and whether it has a mark.
        self._ref_begin, self._is_marked = 0, False
        #: Position of the end of the last part of a citation.
        self._part_end = -1
        #: The last cited reference, and the position of the end of its citation in the text.
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
        self._grow(article, 1)
        if self._open:
            self._separate(name)
            self._inline.start(name, dict(attrs))
            if self._inline.in_formula:
                return
        self._begin(article, name, attrs)
        if name in _READ:
            self._open.append((name, len(self._inline.pieces)))

    def _separate(self, name: str) -> None:
        """Insert a space between texts that are separated only by their elements."""
        is_part = name not in _FORMATTING and self._part_end == len(self._inline.pieces) and self._in_citation
        if name in _BLOCKS or is_part:
            self._inline.characters(" ")

    @property
    def _in_citation(self) -> bool:
        return any(name in _CITATIONS for name, _ in self._open)

    def _begin(self, article: _Article, name: str, attrs: AttributesImpl) -> None:
        if name in _CONTAINERS:
            article.close_loose()
            article.places.append(article.begin(name))
            if article.begun > MOST_SECTIONS:
                raise XmlError(self.line, f"the article has more than {MOST_SECTIONS:,} sections and tables")
        elif name == "ref":
            self._ref, self._is_marked = attrs.get("id", ""), False
            self._ref_begin = len(article.references)
        elif name in ("article-id", "pub-id"):
            self._id_type = attrs.get("pub-id-type", "")
        elif name in ("license", "ext-link") and attrs.get(_HREF) and "article-meta" in self._path:
            if name == "license" or "creativecommons.org" in attrs[_HREF][:300]:
                article.about.setdefault("licence_url", attrs[_HREF][:300])
        elif name == "xref" and attrs.get("ref-type") == "bibr":
            self._cites(article, attrs.get("rid", "").split())
        elif name == "citation-alternatives":
            self._ref_begin = len(article.references)
        elif name in _CITATIONS:
            self._pmid = self._doi = ""
            self._part_end = -1

    def characters(self, content: str) -> None:
        if self._open and self._article and not self._outside:
            self._grow(self._article, len(content))
            self._inline.characters(content)

    def _grow(self, article: _Article, size: int) -> None:
        article.size += size
        if article.size > LONGEST:
            raise XmlError(self.line, f"the article has more than {LONGEST:,} characters and elements")

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
        in_formula = self._inline.in_formula
        if name in _READ and not in_formula:
            _, begin = self._open.pop()
            self._take(article, name, " ".join(self._inline.text(begin).split()), begin)
        if self._open:
            self._inline.end(name)
            if not in_formula:
                self._ended(name)
        elif name in _READ:
            self._inline, self._cited = Inline(), None
        if name in _CONTAINERS and not in_formula:
            article.close(article.places.pop())
        elif name == "ref":
            self._end_ref(article)
        elif name == "citation-alternatives":
            _merge_alternatives(article.references, self._ref_begin)

    def _ended(self, name: str) -> None:
        if name == "xref" and self._cited:
            self._cited = (self._cited[0], len(self._inline.pieces))
        if name in _BLOCKS:
            self._inline.characters(" ")
        if name not in _FORMATTING:
            self._part_end = len(self._inline.pieces)

    def _end_ref(self, article: _Article) -> None:
        if self._is_marked:
            for at in range(self._ref_begin, len(article.references)):
                id, reference = article.references[at]
                article.references[at] = id, reference._replace(is_included=True)

    def _cites(self, article: _Article, ids: list[str]) -> None:
        if not ids or not is_about_included(article.titles):
            return
        article.cited += [(id, id) for id in ids]
        if self._cited and _DASH.fullmatch(self._inline.text(self._cited[1])):
            article.cited.append((self._cited[0], ids[0]))
        self._cited = (ids[-1], len(self._inline.pieces))

    def _take(self, article: _Article, name: str, text: str, begin: int) -> None:
        """Process one complete text."""
        place = article.places[-1] if article.places else None
        if name in ("article-id", "article-title", "license", "copyright-statement", "ali:license_ref"):
            self._about(article, name, text)
        elif name == "pub-id":
            del self._inline.pieces[begin:]  # The id is stored separately, so it is removed from the reference text.
            if self._id_type == "pmid" and PMID.fullmatch(text):
                self._pmid = text
            elif self._id_type == "doi":
                self._doi = text[:200]
        elif name in _CITATIONS:
            self._cite(article, text)
        elif name in ("label", "p") and "ref" in self._path:
            is_note = name == "label" or "note" in self._path
            self._is_marked |= is_note and any(mark in text[:20] for mark in _MARKS)
        elif any(open in ("p", "td", "th") for open, _ in self._open) or not text:
            return  # Paragraphs and cells already include the text of their children.
        elif place is None:
            self._take_loose(article, name, text)
        elif name == "label" and self._path[-1] == place.name:
            place.label = place.label or text[:LONGEST_TITLE]
        elif not place.title and self._is_title(name, place):
            place.title = text[:LONGEST_TITLE]
        elif place.name != "ref-list":
            place.texts.append(text)

    def _take_loose(self, article: _Article, name: str, text: str) -> None:
        """Add a paragraph of the body that is outside all sections."""
        if name == "p" and "body" in self._path:
            article.loose = article.loose or article.begin("")
            article.loose.texts.append(text)

    def _is_title(self, name: str, place: _Container) -> bool:
        """Return whether the text is the title of the section or table.

        Many table captions are one paragraph without a title.
        """
        above = self._path[-1]
        return (name == "title" and above in (place.name, "caption")) or (
            name == "p" and above == "caption" and place.name == "table-wrap"
        )

    def _about(self, article: _Article, name: str, text: str) -> None:
        key = {
            "article-title": "title",
            "license": "licence",
            "copyright-statement": "copyright",
            "ali:license_ref": "licence_url",
        }.get(name)
        if "article-meta" not in self._path:
            return
        if name == "article-id":
            key = {"pmid": "pmid", "doi": "doi", "pmc": "pmcid", "pmcid": "pmcid"}.get(self._id_type)
            text = f"PMC{text}" if key == "pmcid" and text.isdigit() else text
        if key and text:
            article.about.setdefault(key, text[: 300 if key == "licence_url" else 5_000])

    def _cite(self, article: _Article, text: str) -> None:
        """Add a reference. The article's citation of itself is skipped."""
        own = (article.about.get("pmid"), article.about.get("doi"))
        if "front" in self._path or (self._pmid and self._pmid == own[0]) or (self._doi and self._doi == own[1]):
            return
        if len(article.references) == MOST_REFERENCES:
            raise XmlError(self.line, f"the article has more than {MOST_REFERENCES:,} references")
        unmarked = text.strip(f"{_MARKS} ")
        is_included = self._is_marked or unmarked != text.strip() or is_about_included(article.titles)
        cleaned = re.sub(" ([.,;:)])", r"\1", unmarked)[:LONGEST_REFERENCE]
        article.references.append((self._ref, Reference(cleaned, self._pmid, self._doi, is_included)))


def _merge_alternatives(references: list[tuple[str, Reference]], begin: int) -> None:
    """Merge alternative forms of one reference: keep the first text, and the first PMID and DOI of any form."""
    if len(references) - begin < 2:
        return
    alternatives = [reference for _, reference in references[begin:]]
    pmid = next((alternative.pmid for alternative in alternatives if alternative.pmid), "")
    doi = next((alternative.doi for alternative in alternatives if alternative.doi), "")
    is_included = any(alternative.is_included for alternative in alternatives)
    references[begin:] = [(references[begin][0], Reference(alternatives[0].text, pmid, doi, is_included))]
