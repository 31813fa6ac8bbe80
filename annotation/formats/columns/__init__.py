"""Import tables of a lab's own corpus. A mapping gives each column a role."""

from collections.abc import Mapping

from ...imports.format import Format
from .documents import FORMAT, DocumentStream
from .mapping import PAGES, QUESTIONS, ColumnMapping, parsed
from .questions import PageStream, QuestionStream
from .stream import TableStream

STREAMS: Mapping[str, type[TableStream]] = {QUESTIONS: QuestionStream, PAGES: PageStream}


class Table(Format):
    key = FORMAT
    title = "Own corpus: a table of documents or questions (CSV, TSV, JSON, JSON lines, Parquet)"
    joins = streams = True
    needs_columns = True

    def __init__(self, mapping: ColumnMapping | None = None) -> None:
        self.mapping = mapping

    def with_answers(self, about: Mapping[str, str]) -> Format:
        others = {key: value for key, value in about.items() if key != "columns"}
        super().with_answers(others)
        text = about.get("columns", "").strip()
        return Table(parsed(text)) if text else self

    def level_of(self, level: str, name: str = "") -> str:
        return self.mapping.shape if self.mapping else ""

    def stream(self, level: str, name: str = "") -> TableStream:
        shape = self.level_of(level)
        return STREAMS.get(shape, DocumentStream)(shape, self.mapping)
