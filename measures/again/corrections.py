"""What became of values that were shown, from the files of a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from measures.again.files import Folder
from measures.again.findings import Findings, Unusable
from measures.agreement import Review, corrections
from measures.agreement.errors import RatingsError
from measures.agreement.rounds import Scale

REPORTS, REFERENCES = "agreement/corrections.jsonl", "agreement/references.csv"
Rows = Mapping[str, list[Mapping[str, str]]]


def repeat(folder: Folder, findings: Findings) -> None:
    """Compute every round's figures anew. Raises `Unusable`."""
    same: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in folder.rows(REFERENCES):
        same[row["answer"]][row["field"]] = row["same"] == "true"
    for line in folder.lines(REPORTS):
        try:
            name, printed, part = line["round"], line["report"], line["part"]
            given, shown = _given(folder, line["answers"], name), _by_answer(folder, line["shown"])
            fields = set(line["fields"])
            reviews = [
                Review(
                    answer,
                    same[answer],
                    _side_by_side(shown[answer], rows, part) if fields <= set(same[answer]) else [],
                )
                for answer, rows in given.items()
                if answer in same
            ]
            again = corrections([Scale.from_json(scale) for scale in line["scales"]], reviews)
        except RatingsError as error:
            findings.find(f"{REPORTS}: round {name}: its answers give no figures: {error}")
            continue
        except (KeyError, TypeError, ValueError) as error:
            raise Unusable(f"{REPORTS}: a line of it is no report, or its answers lack a column ({error!r})") from None
        findings.compare(REPORTS, f"round {name}", printed, again)


def _given(folder: Folder, file: str, name: str) -> Rows:
    """The rows of each counted answer of a round, in the order of the file."""
    found: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in folder.rows(file):
        if row["round"] == name and row["counted"] == "true" and row["repeat"] == "0":
            found[row["answer"]].append(row)
    return found


def _by_answer(folder: Folder, file: str) -> Rows:
    found: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in folder.rows(file):
        found[row["answer"]].append(row)
    return found


def _side_by_side(
    shown: list[Mapping[str, str]], given: list[Mapping[str, str]], part: str
) -> list[tuple[str, Mapping[str, str], Mapping[str, str]]]:
    before = {row.get(part, ""): row for row in shown}
    return [(of, before[of], row) for row in given if (of := row.get(part, "")) in before]
