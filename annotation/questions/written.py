"""Written summaries of a project with their writers."""

from collections.abc import Iterator

from measures.writers import ALL, Written
from projects.models import Project

from ..models import WrittenSummary

#: Writer of an imported summary whose file names none.
IMPORTED = "imported"
COLUMNS = (
    "question__key",
    "passage__key",
    "form",
    "version",
    "text",
    "writer",
    "answer__author__pseudonym",
    "answer__assignment__round__name",
)


def rows(project: Project) -> Iterator[dict[str, str]]:
    """Yield the current written summaries in corpus order, with the columns of ``written/summaries.csv``."""
    summaries = WrittenSummary.objects.current().filter(question__project=project)
    summaries = summaries.order_by("question__position", "question", "passage__position", "passage", "form", "pk")
    named = {*summaries.exclude(answer=None).order_by().values_list("answer__author__pseudonym", flat=True)}
    for question, passage, form, version, text, writer, pseudonym, round in summaries.values_list(*COLUMNS).iterator(
        chunk_size=500
    ):
        yield {
            "question": question,
            "passage": passage or ALL,
            "form": form,
            "writer": pseudonym or _imported(writer, named),
            "version": str(version),
            "round": round or "",
            "status": "written" if text.strip() else "nothing relevant",
            "written_text": text,
        }


def _imported(writer: str, pseudonyms: set[str]) -> str:
    """Return the name of a writer in a file. It differs from all pseudonyms, so that two writers stay two."""
    return f"{writer} (imported)" if writer in pseudonyms else writer or IMPORTED


def newest(project: Project) -> list[Written]:
    """Return the newest text of each writer, to be compared."""
    texts = {(row["question"], row["passage"], row["form"], row["writer"]): row for row in rows(project)}
    return [Written.from_cells(row["question"], row["writer"], row) for row in texts.values()]
