"""Texts of the writers whose summaries differ most, for the agreement page."""

from collections.abc import Mapping
from typing import Any

from .. import kinds
from ..answers.queries import opinions
from ..models import Round

Json = dict[str, Any]


def with_texts(round: Round, writing: Mapping[str, Any], *, reads_texts: bool) -> Json:
    """Return the agreement of writers with the texts of the most different pairs.

    They are null without ``reads_texts``. Use a fixed number of queries.
    """
    texts = _texts(round, {row["question"] for row in writing["lowest"]}) if reads_texts else None
    lowest = []
    for row in writing["lowest"]:
        of = (row["question"], row["passage"], row["form"])
        lowest.append(row | {"texts": texts and [texts.get((*of, writer), "") for writer in row["writers"]]})
    return {**writing, "lowest": lowest}


def _texts(round: Round, questions: set[str]) -> dict[tuple[str, str, str, str], str]:
    """Return the texts of questions (keys of units), by question, passage, form and pseudonym."""
    kind = kinds.get(round.kind)
    answers = opinions(round).filter(assignment__unit__key__in=questions)
    who = {pk: of for pk, *of in answers.values_list("pk", "assignment__unit__key", "author__pseudonym")}
    return {
        (who[pk][0], cells["passage"], cells["form"], who[pk][1]): cells["written_text"]
        for pk, value in kind.values(who).items()
        for cells in kind.rows(value)
    }
