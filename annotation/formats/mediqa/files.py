"""The nine files of MEDIQA-AnS, as data: what each file contains, and where."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...models import Part, SummaryForm

Json = dict[str, Any]
#: Keys and indices that lead to a value of a file.
Path = tuple[str | int, ...]

SECTION, PAGE = "section", "page"
SINGLE, MULTI = "single", "multi"


class Value(NamedTuple):
    """What a value of a file is. ``passage`` is "" for a question, and for a summary of all its passages.

    ``kind``: "question" (its text), "rating", "id" (of the question of a passage), "text" (``name`` is a `Part`) or
    "summary" (``name`` is a `SummaryForm`).
    """

    kind: str
    question: str
    passage: str = ""
    name: str = ""


class File(NamedTuple):
    """One of the files: by passage (``single``) or by question, with the passages or their pages."""

    key: str
    title: str
    part: Part
    scope: str
    form: SummaryForm | None = None

    @property
    def is_primary(self) -> bool:
        return self.form is None

    @property
    def inside(self) -> str:
        """Return the key of the passages of a question."""
        return "answers" if self.is_primary else "articles"

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of an entry in the published order."""
        if self.is_primary:
            return ("question", "multi_abs_summ", "multi_ext_summ", "answers")
        more = ("question_id", "rating") if self.scope == SINGLE else ()
        return ("summary", "articles", "question", *more)

    def values(self, content: Mapping[str, Any]) -> Iterator[tuple[Path, Value]]:
        """Yield the path and the meaning of each known value of a file, or of its skeleton, in order."""
        for key, entry in content.items():
            yield from self._of_entry(key, entry)

    def _of_entry(self, key: str, entry: Json) -> Iterator[tuple[Path, Value]]:
        if self.is_primary:
            yield (key, "question"), Value("question", key)
            for name, form in (("multi_abs_summ", SummaryForm.ABSTRACTIVE), ("multi_ext_summ", SummaryForm.EXTRACTIVE)):
                yield (key, name), Value("summary", key, name=str(form))
            for passage in entry["answers"]:
                for name, kind, of in ANSWER:
                    yield (key, "answers", passage, name), Value(kind, key, passage, str(of))
            return
        assert self.form
        if self.scope == MULTI:
            yield (key, "question"), Value("question", key)
            for passage in entry["articles"]:
                yield (key, "articles", passage, 0), Value("text", key, passage, str(self.part))
                yield (key, "articles", passage, 1), Value("rating", key, passage)
            yield (key, "summary"), Value("summary", key, name=str(self.form))
            return
        question = str(entry["question_id"])
        yield (key, "question"), Value("question", question)
        yield (key, "question_id"), Value("id", question, key)
        yield (key, "articles"), Value("text", question, key, str(self.part))
        yield (key, "rating"), Value("rating", question, key)
        yield (key, "summary"), Value("summary", question, key, str(self.form))


#: Keys of an answer of the primary file, in the published order, and what they are.
ANSWER = (
    ("answer_abs_summ", "summary", SummaryForm.ABSTRACTIVE),
    ("answer_ext_summ", "summary", SummaryForm.EXTRACTIVE),
    ("section", "text", Part.PASSAGE),
    ("article", "text", Part.PAGE),
    ("url", "text", Part.URL),
    ("rating", "rating", ""),
)
PRIMARY = File("question_driven_answer_summarization_primary_dataset", "primary data set", Part.PASSAGE, MULTI)
FILES = (
    PRIMARY,
    *(
        File(
            f"{name}2answer_{scope}_{form}_summ",
            f"{'passages' if name == SECTION else 'pages'}, {form} summaries of {'all' if scope == MULTI else 'each'}",
            part,
            scope,
            form,
        )
        for name, part in ((SECTION, Part.PASSAGE), (PAGE, Part.PAGE))
        for scope in (SINGLE, MULTI)
        for form in SummaryForm
    ),
)
BY_KEY = {file.key: file for file in FILES}


def get(content: Any, path: Path) -> Any:
    for step in path:
        content = content[step]
    return content


def put(content: Any, path: Path, value: Any) -> None:
    get(content, path[:-1])[path[-1]] = value


def path_text(path: Path) -> str:
    """Return a path as messages show it, such as ``1.articles.1_Answer4[0]``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
