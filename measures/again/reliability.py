"""The tables of reliability studies, from the answers, what was right, and the ranks of what people picked from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from measures.again.agreement import GOLD, REPORTS, UNITS, gold_of, said_of, units_of
from measures.again.files import Folder
from measures.again.findings import Findings, Unusable
from measures.agreement import Said, Scale
from measures.reliability import clusters, field

STUDIES, CANDIDATES = "agreement/studies.jsonl", "agreement/candidates.csv"


def repeat(folder: Folder, findings: Findings) -> None:
    """Compute the figures of every study anew, and hold what is marked as gold against what people were held against.
    Raises `Unusable`."""
    marked, gold = _marked(folder), gold_of(folder)
    for name, items in marked.items():
        _held_against(name, items, gold[name], findings)
    if not folder.has(STUDIES):
        return
    reports = {line["round"]: line for line in folder.lines(REPORTS)}
    reviews = units_of(folder, "review")
    said: dict[str, Mapping[str, list[Said]]] = {}
    for line in folder.lines(STUDIES):
        try:
            name, file = line["round"], line["answers"]
            if file not in said:
                said[file] = said_of(folder, file)
            review_of = {k: v for type in reports[name]["unit_types"] for k, v in reviews[type].items()}
            measures = {measure["name"]: measure for measure in reports[name]["report"]["measures"]}
            answers = said[file].get(name, [])
            cluster_of = clusters({unit: review_of[unit] for unit, _, _ in answers})
            again = [
                field(
                    scale, measures[scale.name], [(unit, row[scale.column]) for unit, _, row in answers],
                    gold[name][scale.name], cluster_of,
                    {unit: rank for unit, (_, rank) in marked[name].items()} if name in marked else None,
                ).as_json()
                for scale in map(Scale.from_json, line["scales"])
            ]  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            what = f"{STUDIES}: a line of it is no study, or {REPORTS}, {UNITS} or its answers lack a part"
            raise Unusable(f"{what} ({error!r})") from None
        findings.compare(STUDIES, f"round {name}", line["fields"], again)


def _marked(folder: Folder) -> dict[str, dict[str, tuple[str, int]]]:
    """Round -> item -> the number of the sentence that is marked as gold, and its place by the ranker."""
    found: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
    try:
        for row in folder.rows(CANDIDATES):
            if row["gold"] == "true":
                found[row["round"]][row["unit"]] = row["number"], int(row["rank"])
    except (KeyError, ValueError) as error:
        raise Unusable(f"{CANDIDATES}: a row of it is no candidate ({error!r})") from None
    return found


def _held_against(
    name: str, marked: Mapping[str, tuple[str, int]], gold: Mapping[str, Mapping[str, str]], findings: Findings
) -> None:
    """Every scale of such a round has the marked sentence as its value."""
    for scale, values in gold.items():
        different = [unit for unit, value in values.items() if unit not in marked or marked[unit][0] != value]
        if different:
            findings.find(f"{GOLD}: round {name}, {scale}: {CANDIDATES} marks another sentence of {different[0]}")
