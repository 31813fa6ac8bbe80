"""Recompute the figures of rounds with suggestions from the outcomes of their answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from ..suggestions import SuggestedAnswer, report
from .files import Findings, Folder, InvalidRelease
from .statistics import ROUNDS

REPORTS, OUTCOMES, SETS = "suggestions/reports.jsonl", "suggestions/outcomes.csv", "suggestions/sets.jsonl"
#: Fields of a report that its rows do not determine.
DECLARED = ("note", "gold", "blind_share")
Row = Mapping[str, str]


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every report. Raise `InvalidRelease` for invalid files."""
    if not folder.has(REPORTS):
        return
    outcomes: dict[str, list[Row]] = defaultdict(list)
    try:
        for row in folder.rows(OUTCOMES):
            outcomes[row["answer"]].append(row)
        sets = {line["set"]: line for line in folder.lines(SETS)}
        seeds = {line["round"]: line["seed"] for line in folder.lines(ROUNDS)}
        for line in folder.lines(REPORTS):
            name, printed = line["round"], line["report"]
            answers, skipped = _answers(folder, line["answers"], name, outcomes)
            model = sets[printed["set"]["name"]]
            recomputed = {
                **{field: printed[field] for field in DECLARED},
                "set": {"id": printed["set"]["id"]}
                | {"name": model["set"]}
                | {field: model[field] for field in ("model", "version")},
                "skipped": {"shown": skipped["true"], "blind": skipped["false"]},
                **report(answers, line["fields"], seed=seeds[name]),
            }
            findings.compare(REPORTS, f"round {name}", printed, recomputed)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRelease(f"suggestions: a row lacks a required field ({error!r})") from None


def _answers(
    folder: Folder, file: str, name: str, outcomes: Mapping[str, list[Row]]
) -> tuple[list[SuggestedAnswer], Counter[str]]:
    """Return the counted answers of a round to units with a suggestion, and the skips by whether it was shown."""
    # Values of several parts have several rows.
    rows = {row["answer"]: row for row in folder.rows(file) if row["round"] == name}
    time: Counter[tuple[str, ...]] = Counter()
    for row in rows.values():
        time[_assignment(row)] += int(row["active_ms"])
    skipped: Counter[str] = Counter()
    answers = []
    for answer, row in rows.items():
        if answer not in outcomes:
            continue
        if row["counted"] == "true" and row["repeat"] == "0":
            answers.append(_answer(outcomes[answer], time[_assignment(row)] / 1000))
        elif row["outcome"] == "skipped":
            skipped[outcomes[answer][0]["shown"]] += 1
    return answers, skipped


def _assignment(row: Row) -> tuple[str, ...]:
    return row["unit"], row["rater"], row["repeat"], "returned" if row["slot"] == "returned" else ""


def _answer(rows: list[Row], seconds: float) -> SuggestedAnswer:
    gold: list[dict[str, bool]] = [
        {row["field"]: row[column] == "true" for row in rows if row[column]} for column in ("right", "suggestion_right")
    ]
    return SuggestedAnswer(
        review=rows[0]["review"],
        shown=rows[0]["shown"] == "true",
        rejected=rows[0]["rejected"] == "true",
        same={row["field"]: row["same"] == "true" for row in rows},
        seconds=seconds or None,
        right=gold[0],
        model_right=gold[1],
    )
