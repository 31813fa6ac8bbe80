"""Read XML incrementally and safely, with memory for one article at a time.

No DTD is loaded and no external entity is resolved; NCBI's DOCTYPE only names a DTD. A document that declares an entity
is rejected.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from projects.jobs.batches import Progress
from projects.uploads.files import Source

#: Maximum nesting depth; NCBI's records nest about 10 deep, full texts about 20.
DEEPEST = 100
#: Maximum length of a tag with its attributes, or of a comment, in bytes.
LONGEST_TAG = 2**20
_PIECE = 64 * 1024


class XmlError(Exception):
    """The document is not the expected XML, or is cut off. ``line`` is the position."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


class Handler(ContentHandler):
    """Base SAX handler.

    Subclasses call its methods at the start and end of each element and add complete items to ``done``.
    """

    #: Allowed root elements, and the message for another one.
    roots: Sequence[str]
    expected: str

    def __init__(self) -> None:
        super().__init__()
        self._parser: DefusedExpatParser | None = None
        self.done: list[Any] = []
        self.root = ""
        self._depth = 0

    @property
    def line(self) -> int:
        return (self._parser.getLineNumber() if self._parser else 1) or 1

    def pop_done(self) -> list[Any]:
        """Return the finished items and forget them."""
        done, self.done = self.done, []
        return done

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        self._depth += 1
        if self._depth > DEEPEST:
            raise XmlError(self.line, f"elements are nested more than {DEEPEST} deep")
        if not self.root:
            self.root = name
            if name not in self.roots:
                raise XmlError(self.line, f"the root element is <{name[:60]}>; {self.expected}")

    def endElement(self, name: str) -> None:  # noqa: N802 - SAX's name
        self._depth -= 1

    def skippedEntity(self, name: str) -> None:  # noqa: N802 - SAX's name
        # The entity's replacement is in the DTD, which is never loaded. Omitting it would change the text.
        if not name.startswith(("%", "[")):
            raise XmlError(self.line, f"the entity &{name[:40]}; is not declared")


def is_xml(head: bytes) -> bool:
    """Return whether a file that starts with ``head`` is XML, also in UTF-16."""
    start = head.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    return start.startswith("<") or (head[:2] in (b"\xff\xfe", b"\xfe\xff") and b"<" in head)


def pieces(source: Source, progress: Progress) -> Iterator[bytes]:
    """Yield a file in pieces."""
    done = 0
    with source.path.open("rb") as opened:
        while piece := opened.read(_PIECE):
            done += len(piece)
            progress(done, source.size, "reading")
            yield piece


def parsed(pieces: Iterable[bytes], handler: Handler, *, whose: str) -> Iterator[Any]:
    """Yield the items that a handler builds from a document given in pieces. Raise `XmlError` if it cannot be parsed.

    ``whose`` names the publisher of such files in messages.
    """
    # No external DTD is loaded, because external entities are off. Forbidding the DOCTYPE would reject NCBI's files.
    parser = DefusedExpatParser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    handler._parser = parser
    parser.setContentHandler(handler)
    try:
        for _ in _feed(parser, handler, pieces):
            yield from handler.pop_done()
    except DefusedXmlException:
        message = f"the file declares an entity, which files of {whose} never do; it was not imported"
        raise XmlError(handler.line, message) from None
    except SAXParseException as error:
        cut = "no element found" in error.getMessage() or "unclosed" in error.getMessage()
        message = (
            ("the file seems truncated: it ends within an element") if cut else f"not valid XML: {error.getMessage()}"
        )
        if "invalid token" in message:
            column = (error.getColumnNumber() or 0) + 1
            message += (
                f" at column {column}; the character is not allowed here, a quotation mark or tag before it is not "
                "closed, or the encoding is not the declared one"
            )
        raise XmlError(error.getLineNumber() or 1, message) from None
    except (LookupError, ValueError) as error:  # an unknown or multi-byte encoding, or a formula over the size limit
        raise XmlError(handler.line, f"the file cannot be read: {error}") from None
    if not handler.root:
        raise XmlError(1, f"the file is empty; expected XML of {whose}")


def _feed(parser: DefusedExpatParser, handler: Handler, pieces: Iterable[bytes]) -> Iterator[None]:
    """Feed a document to the parser. Expat reads an incomplete tag or comment again from its start with every piece."""
    fed = 0
    for piece in pieces:
        parser.feed(piece)
        fed += len(piece)
        if fed - max(parser._parser.CurrentByteIndex, 0) > LONGEST_TAG:
            raise XmlError(handler.line, f"a tag or comment is longer than {LONGEST_TAG // 2**20} MiB, the maximum")
        yield
    parser.close()
    yield


def flat(text: str) -> str:
    """Return text as one line: a line break and its indentation become one space."""
    return re.sub(r"\s+", _join_blanks, text).strip(" \t\r\n")


def _join_blanks(blanks: re.Match[str]) -> str:
    before = re.split("[\r\n]", blanks[0], maxsplit=1)[0]
    return blanks[0] if before == blanks[0] else before.rstrip(" \t") + " "
