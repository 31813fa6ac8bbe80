"""Written summaries of a project with their writers."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Q

from measures.writers import ALL, Written
from projects.models import Project

from ..models import WrittenSummary

Json = dict[str, Any]
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


def rows(project: Project, where: Q | None = None) -> Iterator[dict[str, str]]:
    """Yield the current written summaries in corpus order, with the columns of ``written/summaries.csv``."""
    summaries = WrittenSummary.objects.current().filter(where or Q(), question__project=project)
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
    return [Written.from_cells(row["question"], row["writer"], row) for row in _newest(rows(project)).values()]


def _newest(found: Iterable[dict[str, str]]) -> dict[tuple[str, ...], dict[str, str]]:
    return {(row["question"], row["passage"], row["form"], row["writer"]): row for row in found}


def with_texts(project: Project, figures: Json, hidden: Q | None) -> Json:
    """Return figures of writers with the current texts of the most different pairs.

    ``hidden`` matches written summaries that the person may not read; their pairs have no texts.
    """
    where = Q(question__key__in={pair["question"] for pair in figures["lowest"]})
    found = _newest(rows(project, where if hidden is None else where & ~Q(hidden)))
    lowest = []
    for pair in figures["lowest"]:
        both = [found.get((pair["question"], pair["passage"], pair["form"], writer)) for writer in pair["writers"]]
        lowest.append(pair | {"texts": [row["written_text"] for row in both if row] if all(both) else None})
    return figures | {"lowest": lowest}
