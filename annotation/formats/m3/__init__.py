"""Import M3 (Otmakhova et al., 2022): documents (level 1), sentences (2) and propositions (3) as JSON lines."""

from ...imports.format import Format, Level
from .stream import M3Stream


class M3(Format):
    key = "m3"
    title = "M3: reviews and their evidence (JSON lines, levels 1 to 3)"
    levels = (Level("1", "document"), Level("2", "sentence"), Level("3", "proposition", ("clusters",)))
    joins = streams = True

    def stream(self, level: str, name: str = "") -> M3Stream:
        return M3Stream(level)
