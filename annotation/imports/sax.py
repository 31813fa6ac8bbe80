"""XML read in pieces, in the memory of one article, and safely.

No DTD is loaded and nothing is looked up: NCBI's DOCTYPE only names one. Whoever declares an entity is refused,
whatever it says.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from projects.background.progress import Progress
from projects.uploads.source import Source

#: How deep elements may lie in one another; NCBI's lie ten deep, those of full texts some twenty.
DEEPEST = 100
_PIECE = 64 * 1024
_SUPERSCRIPT = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_RAISED = re.compile("[0-9+\u2212=()n-]+")


class Unsound(Exception):
    """What is sent is no XML of that sort, or breaks off. ``line`` is where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


class Handler(ContentHandler):
    """What takes the elements, and calls this at the begin and end of each; what is whole waits in ``done``."""

    #: What the outermost element may be, and how it is said that it is another one.
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

    def taken(self) -> list[Any]:
        done, self.done = self.done, []
        return done

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's name
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unsound(self.line, f"elements lie more than {DEEPEST} deep")
        if not self.root:
            self.root = name
            if name not in self.roots:
                raise Unsound(self.line, f"the document is <{name[:60]}>; {self.expected}")

    def endElement(self, name: str) -> None:  # noqa: N802 - SAX's name
        self._depth -= 1

    def skippedEntity(self, name: str) -> None:  # noqa: N802 - SAX's name
        # The DTD that would say what it stands for is never loaded, and a text without it would be another text.
        if not name.startswith(("%", "[")):
            raise Unsound(self.line, f"the entity &{name[:40]}; is not declared")


def pieces(source: Source, progress: Progress) -> Iterator[bytes]:
    """A file, some at a time."""
    done = 0
    with source.path.open("rb") as opened:
        while piece := opened.read(_PIECE):
            done += len(piece)
            progress(done, source.size, "reading")
            yield piece


def parsed(pieces: Iterable[bytes], handler: Handler, *, whose: str) -> Iterator[Any]:
    """What a handler makes of a document that comes in pieces. Raises `Unsound` where it cannot be read on. ``whose``:
    who gives out such files."""
    # An external DTD is never loaded, for external entities are off: refusing its mere name would refuse NCBI's files.
    parser = DefusedExpatParser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    handler._parser = parser
    parser.setContentHandler(handler)
    try:
        for piece in pieces:
            parser.feed(piece)
            yield from handler.taken()
        parser.close()
        yield from handler.taken()
    except DefusedXmlException:
        message = f"an entity is declared, which {whose}'s files never do; nothing of the file is taken"
        raise Unsound(handler.line, message) from None
    except SAXParseException as error:
        cut = "no element found" in error.getMessage() or "unclosed" in error.getMessage()
        said = "the file ends in the middle: it seems cut off" if cut else f"not XML: {error.getMessage()}"
        raise Unsound(error.getLineNumber() or 1, said) from None
    except (LookupError, ValueError) as error:  # an encoding that is unknown, or of several bytes
        raise Unsound(1, f"cannot be read: {error}") from None
    if not handler.root:
        raise Unsound(1, f"the file is empty; expected XML of {whose}")


def raised(text: str) -> str:
    """Raised text: 10⁶ and I² in figures that stay figures ("106" would be another number), other text as it is."""
    bare = text.strip()
    return text.replace(bare, bare.translate(_SUPERSCRIPT)) if _RAISED.fullmatch(bare) else text


def flat(text: str) -> str:
    """Text of one line: where a file breaks and indents it, a space."""
    return re.sub(r"[ \t]*[\r\n]\s*", " ", text).strip(" \t\r\n")
