"""The agreement reports of closed rounds, from the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from measures.again.files import Folder
from measures.again.findings import Findings, Unusable
from measures.agreement import RatingsError, RoundAnswers, Said, Scale, asked_again
from measures.spans import SpanError
from measures.text_agreement import Comparison

REPORTS, UNITS, GOLD = "agreement/reports.jsonl", "agreement/units.csv", "agreement/gold.csv"
ROUNDS = "rounds.jsonl"
#: What a report says of its round; both files have it.
FACTS = ("round", "kind", "purpose", "status", "overlap", "units")


def repeat(folder: Folder, findings: Findings) -> None:
    """Compute every report anew. Raises `Unusable`."""
    rounds = {line["round"]: line for line in folder.lines(ROUNDS)}
    texts, reviews = units_of(folder, "text"), units_of(folder, "review")
    gold = gold_of(folder)
    answers: dict[str, dict[str, list[Said]]] = {}
    there = set()
    for line in folder.lines(REPORTS):
        try:
            name, file, printed = line["round"], line["answers"], line["report"]
            there.add(name)
            if file not in answers:
                answers[file] = said_of(folder, file)
            found = RoundAnswers(
                [Scale.from_json(scale) for scale in line["scales"]],
                [Comparison.from_json(comparison) for comparison in line["comparisons"]],
            )
            said = answers[file].get(name, [])
            parts = _parts(said, line.get("part", ""))
            items = {item: unit for (item, _, _), (unit, _, _) in zip(parts, said, strict=True)}
            # What is known of a unit holds of each of its parts.
            # Releases of before a kind could ask of several types named the one.
            types = line["unit_types"] if "unit_types" in line else [line["unit_type"]]
            text_of, review_of = ({k: v for type in types for k, v in each[type].items()} for each in (texts, reviews))
            found.add(
                parts,
                {item: text_of[unit] for item, unit in items.items()},
                {item: review_of[unit] for item, unit in items.items()},
            )
            found.hold_against(gold[name])
            again = _facts(printed, rounds.get(name, {})) | found.report(
                units=printed["units"],
                seed=line["seed"],
                overlap=line.get("ratings_an_item", printed["overlap"]),
                bootstrap=line["bootstrap"],
            )
            if printed.get("repeats"):
                scales = [Scale.from_json(scale) for scale in line["scales"]]
                twice = _parts(_twice(folder, file, name), line.get("part", ""))
                again["repeats"] = asked_again(scales, twice, seed=line["seed"])
        except (RatingsError, SpanError) as error:
            findings.find(f"{REPORTS}: round {name}: its answers give no report: {error}")
            continue
        except (KeyError, TypeError, ValueError) as error:
            raise Unusable(f"{REPORTS}: a line of it is no report, or its answers lack a column ({error!r})") from None
        findings.compare(REPORTS, f"round {name}", printed, again)
        if line.get("own_seed"):
            continue  # the round's says in which order people saw what they judged blindly
        findings.compare(REPORTS, f"round {name}, seed", line["seed"], rounds.get(name, {}).get("seed"))
    for name, round in rounds.items():
        if round["status"] == "closed" and _is_independent(round) and name not in there:
            findings.find(f"{REPORTS}: round {name} is closed and has no report")


def _is_independent(round: Mapping[str, Any]) -> bool:
    """Whether a round's raters labelled without seeing values in force, and what they said is released; releases
    of before it was said had no other rounds than those, and the standing ones."""
    if round.get("blind"):
        return False
    return bool(round.get("independent", round["purpose"] != "curation"))


def _facts(printed: Mapping[str, Any], round: Mapping[str, Any]) -> dict[str, Any]:
    return {"project": printed["project"]} | {name: round.get(name) for name in FACTS}


def said_of(folder: Folder, file: str) -> dict[str, list[Said]]:
    """Round -> its counted answers, in the order of the walk; what was asked again is left out."""
    found: dict[str, list[Said]] = defaultdict(list)
    for row in folder.rows(file):
        if row["counted"] == "true" and row["repeat"] == "0":
            found[row["round"]].append((row["unit"], row["rater"], row))
    return found


def _twice(folder: Folder, file: str, name: str) -> list[Said]:
    """What people were asked twice in a round: (unit and rater, which time, cells)."""
    counted = [row for row in folder.rows(file) if row["round"] == name and row["counted"] == "true"]
    again = {(row["unit"], row["rater"]) for row in counted if row["repeat"] != "0"}
    first = {(row["unit"], row["rater"]) for row in counted if row["repeat"] == "0"}
    return [
        (f"{row['unit']}/{row['rater']}", "first" if row["repeat"] == "0" else "again", row)
        for row in counted
        if (row["unit"], row["rater"]) in again & first
    ]


def _parts(said: list[Said], part: str) -> list[Said]:
    """The answers by item: a unit, or, where a column names one, a part of it."""
    return [(f"{unit} {row[part]}" if part else unit, rater, row) for unit, rater, row in said]


def units_of(folder: Folder, column: str) -> Mapping[str, Mapping[Any, str]]:
    """Type -> unit -> what a column says of it."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in folder.rows(UNITS):
        found[row["unit_type"]][row["unit"]] = row[column]
    return found


def gold_of(folder: Folder) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in folder.rows(GOLD):
        found[row["round"]][row["scale"]][row["unit"]] = row["value"]
    return found
