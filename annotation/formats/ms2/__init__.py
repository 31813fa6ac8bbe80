"""Import MS^2 (DeYoung et al., 2021): reviews with classes of sentences, tags and effects, as JSON lines."""

from ...imports.format import Format
from .stream import MS2Stream


class MS2(Format):
    key = "ms2"
    title = "MS^2: reviews, their studies and what models say of them (JSON lines)"
    licence = "Semantic Scholar API and Dataset License"
    joins = streams = True

    def stream(self, level: str, name: str = "") -> MS2Stream:
        return MS2Stream(level)
