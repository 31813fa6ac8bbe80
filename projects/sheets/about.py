"""What a workbook says of itself: which round, which guideline, how to fill it in."""

from ..models import Round


def lines(round: Round) -> list[tuple[str, str]]:
    """(what, text) for the sheet beside the answers."""
    return [
        ("round", round.name),
        ("guideline", f"version {round.guideline.number}, below; read it before you begin"),
        ("how", "Fill in the coloured cells. Leave a row empty that you cannot do now; give a reason in 'skip' for one "
                "that cannot be done. Do not change the other columns: the answer is known by them."),
        ("back", "Save as XLSX or as 'CSV UTF-8' and give it to the lead. What is wrong is named by its cell."),
        *((f"guideline {n}", line) for n, line in enumerate(round.guideline.text.split("\n"), start=1) if line.strip()),
    ]  # fmt: skip
