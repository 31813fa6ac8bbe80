"""Recompute the figures of a corpus of questions from its texts."""

from __future__ import annotations

from ..question_texts import parts_of, question_figures
from ..tokens import tokenizer_name
from ..writers import Written
from .files import Findings, Folder, InvalidRelease
from .written import SUMMARIES

TEXTS, FIGURES = "questions/texts.csv", "questions/figures.json"


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every figure. Raise `InvalidRelease` for invalid files."""
    if not folder.has(FIGURES):
        return
    printed = folder.json(FIGURES)
    if printed.get("tokenizer") != tokenizer_name():
        needs = f"needs the tokenizer {printed.get('tokenizer')}"
        findings.not_recomputed.append(f"{FIGURES}: {needs}, this machine has {tokenizer_name()}")
        return
    try:
        rows = {(row["question"], row["passage"], row["form"], row["writer"]): row for row in folder.rows(SUMMARIES)}
        summaries = [Written.from_cells(row["question"], row["writer"], row) for row in rows.values()]
        figures = question_figures(parts_of(folder.rows(TEXTS)), summaries)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRelease(f"{TEXTS}: a row lacks a column ({error!r})") from None
    findings.compare(FIGURES, "figures of questions", printed, figures)
