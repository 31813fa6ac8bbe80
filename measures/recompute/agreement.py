"""Recompute agreement reports, correction reports and reliability studies from the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from typing import Any

from .. import former
from ..agreement import RatingRow, RatingsError, Review, RoundAnswers, Scale, corrections, self_consistency
from ..clustered import METHOD
from ..reliability import clusters, field
from ..spans import SpanError
from ..text_agreement import Comparison
from ..writers import Written
from ..writers import agreement as agreement_of_writers
from .files import Findings, Folder, InvalidRelease

REPORTS, UNITS, GOLD = "agreement/reports.jsonl", "agreement/units.csv", "agreement/gold.csv"
ROUNDS = "rounds.jsonl"
#: Fields of a round that both files contain.
FACTS = ("round", "kind", "purpose", "status", "overlap", "units")


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every report. Raise `InvalidRelease` for invalid files."""
    rounds = {line["round"]: line for line in folder.lines(ROUNDS)}
    texts, reviews = units_of(folder, "text"), units_of(folder, "review")
    gold = gold_of(folder)
    answers: dict[str, dict[str, list[RatingRow]]] = {}
    reported = set()
    for line in folder.lines(REPORTS):
        try:
            name, file, printed = line["round"], line["answers"], line["report"]
            reported.add(name)
            if unknown := unknown_rules(printed):
                findings.not_recomputed.append(f"agreement of {name}: computed by another rule: {'; '.join(unknown)}")
                continue
            if file not in answers:
                answers[file] = answers_of(folder, file)
            round_answers = RoundAnswers(
                [Scale.from_json(scale) for scale in line["scales"]],
                [Comparison.from_json(comparison) for comparison in line["comparisons"]],
            )
            part, checks = line.get("part", ""), set(line.get("checks", ()))
            # Older releases do not list attention checks and include them in the figures.
            counted = answers[file].get(name, [])
            rows = [row for row in counted if not _is_check(row[0], row[2], part, checks)]
            parts = _parts(rows, part)
            items = {item: unit for (item, _, _), (unit, _, _) in zip(parts, rows, strict=True)}
            # Attributes of a unit apply to each of its parts. Older releases name a single unit type.
            types = line["unit_types"] if "unit_types" in line else [line["unit_type"]]
            text_of, review_of = (
                {k: v for type in types for k, v in table[type].items()} for table in (texts, reviews)
            )
            round_answers.add(
                parts,
                {item: text_of[unit] for item, unit in items.items()},
                {item: review_of[unit] for item, unit in items.items()},
            )
            round_answers.add_gold(gold[name])
            with former.rule(is_former(printed)):
                figures = round_answers.report(
                    units=line.get("units_to_measure", printed["units"]),
                    seed=line["seed"],
                    overlap=line.get("ratings_an_item", printed["overlap"]),
                    bootstrap=line["bootstrap"],
                )
            recomputed = _facts(printed, rounds.get(name, {})) | figures
            if checks:
                recomputed["attention_checks"] = len({u for u, _, row in counted if _is_check(u, row, part, checks)})
            if is_former(printed):
                recomputed = former.in_former_words(printed, recomputed)
            if "writing" in printed:
                recomputed["writing"] = agreement_of_writers(Written.from_cells(*row) for row in rows)
            if printed.get("repeats"):
                scales = [Scale.from_json(scale) for scale in line["scales"]]
                repeated = _repeated_answers(folder, file, name)
                pairs = _parts([row for row in repeated if not _is_check(row[2]["unit"], row[2], part, checks)], part)
                recomputed["repeats"] = self_consistency(scales, pairs, seed=line["seed"])
        except (RatingsError, SpanError) as error:
            findings.add_difference(f"{REPORTS}: round {name}: its answers do not allow a report: {error}")
            continue
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidRelease(
                f"{REPORTS}: a line is not a report, or its answers lack a column ({error!r})"
            ) from None
        findings.compare(REPORTS, f"round {name}", printed, recomputed)
        if line.get("own_seed"):
            continue  # for blind judgements the round's seed determines the order of presentation
        findings.compare(REPORTS, f"round {name}, seed", line["seed"], rounds.get(name, {}).get("seed"))
    for name, round in rounds.items():
        if round["status"] == "closed" and _is_independent(round) and name not in reported:
            findings.add_difference(f"{REPORTS}: round {name} is closed but has no report")


def is_former(report: Mapping[str, Any]) -> bool:
    """Whether the intervals of a report use the former rule, recognised by the name of its method."""
    return any("reviews_method" in measure for measure in report["measures"])


def unknown_rules(report: Mapping[str, Any]) -> list[str]:
    """Return names of interval rules that are neither the current nor the former one."""
    return sorted({measure.get("interval_method", METHOD) for measure in report["measures"]} - {METHOD})


def _is_independent(round: Mapping[str, Any]) -> bool:
    """Whether a round's raters labelled independently, without seeing current values, and the answers are released.

    In older releases all rounds are independent except curation rounds.
    """
    if round.get("blind"):
        return False
    return bool(round.get("independent", round["purpose"] != "curation"))


def _facts(printed: Mapping[str, Any], round: Mapping[str, Any]) -> dict[str, Any]:
    return {"project": printed["project"]} | {name: round.get(name) for name in FACTS}


def answers_of(folder: Folder, file: str) -> dict[str, list[RatingRow]]:
    """Return round -> counted answers, in file order, without repeats."""
    answers: dict[str, list[RatingRow]] = defaultdict(list)
    for row in folder.rows(file):
        if row["counted"] == "true" and row["repeat"] == "0":
            answers[row["round"]].append((row["unit"], row["rater"], row))
    return answers


def _repeated_answers(folder: Folder, file: str, name: str) -> list[RatingRow]:
    """Return the answers that raters gave twice in a round: (unit and rater, first or second time, cells)."""
    rows = [row for row in folder.rows(file) if row["round"] == name and row["counted"] == "true"]
    recomputed = {(row["unit"], row["rater"]) for row in rows if row["repeat"] != "0"}
    first = {(row["unit"], row["rater"]) for row in rows if row["repeat"] == "0"}
    return [
        (f"{row['unit']}/{row['rater']}", "first" if row["repeat"] == "0" else "again", row)
        for row in rows
        if (row["unit"], row["rater"]) in recomputed & first
    ]


def _parts(rows: list[RatingRow], part: str) -> list[RatingRow]:
    """Return the answers by item: the unit, or its part if a column names one."""
    return [(_item(unit, row, part), rater, row) for unit, rater, row in rows]


def _is_check(unit: str, row: Mapping[str, str], part: str, checks: Set[str]) -> bool:
    return bool(checks) and not checks.isdisjoint((unit, _item(unit, row, part)))


def _item(unit: str, row: Mapping[str, str], part: str) -> str:
    return f"{unit} {row[part]}" if part else unit


def units_of(folder: Folder, column: str) -> Mapping[str, Mapping[Any, str]]:
    """Return type -> unit -> value of a column."""
    units: dict[str, dict[str, str]] = defaultdict(dict)
    for row in folder.rows(UNITS):
        units[row["unit_type"]][row["unit"]] = row[column]
    return units


def gold_of(folder: Folder) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    gold: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in folder.rows(GOLD):
        gold[row["round"]][row["scale"]][row["unit"]] = row["value"]
    return gold


CORRECTION_REPORTS, REFERENCES = "agreement/corrections.jsonl", "agreement/references.csv"
Rows = Mapping[str, list[Mapping[str, str]]]


def recompute_corrections(folder: Folder, findings: Findings) -> None:
    """Recompute the correction figures of every round. Raise `InvalidRelease` for invalid files."""
    same: dict[str, dict[str, bool]] = defaultdict(dict)
    review_of: dict[str, str] = {}
    for row in folder.rows(REFERENCES):
        same[row["answer"]][row["field"]] = row["same"] == "true"
        review_of[row["answer"]] = row.get("review", "")
    for line in folder.lines(CORRECTION_REPORTS):
        try:
            name, printed, part = line["round"], line["report"], line["part"]
            corrected, shown_rows = (
                _rows_by_answer(folder, line["answers"], name),
                _shown_by_answer(folder, line["shown"]),
            )
            fields = set(line["fields"])
            reviews = [
                Review(
                    answer,
                    same[answer],
                    _pair_parts(shown_rows[answer], rows, part) if fields <= set(same[answer]) else [],
                    review_of[answer],
                )
                for answer, rows in corrected.items()
                if answer in same
            ]
            is_former = any("ci_reason" not in measure for measure in printed["measures"])
            with former.rule(is_former):
                recomputed = corrections([Scale.from_json(scale) for scale in line["scales"]], reviews)
            if is_former:
                recomputed = former.in_former_words(printed, recomputed)
        except RatingsError as error:
            findings.add_difference(f"{CORRECTION_REPORTS}: round {name}: its answers do not allow figures: {error}")
            continue
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidRelease(
                f"{CORRECTION_REPORTS}: a line is not a report, or its answers lack a column ({error!r})"
            ) from None
        findings.compare(CORRECTION_REPORTS, f"round {name}", printed, recomputed)


def _rows_by_answer(folder: Folder, file: str, name: str) -> Rows:
    """Return the rows of each counted answer of a round, in file order."""
    rows: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in folder.rows(file):
        if row["round"] == name and row["counted"] == "true" and row["repeat"] == "0":
            rows[row["answer"]].append(row)
    return rows


def _shown_by_answer(folder: Folder, file: str) -> Rows:
    rows: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in folder.rows(file):
        rows[row["answer"]].append(row)
    return rows


def _pair_parts(
    shown_rows: list[Mapping[str, str]], corrected: list[Mapping[str, str]], part: str
) -> list[tuple[str, Mapping[str, str], Mapping[str, str]]]:
    shown_parts = {row.get(part, ""): row for row in shown_rows}
    return [(name, shown_parts[name], row) for row in corrected if (name := row.get(part, "")) in shown_parts]


STUDIES, CANDIDATES = "agreement/studies.jsonl", "agreement/candidates.csv"


def recompute_reliability(folder: Folder, findings: Findings) -> None:
    """Recompute the figures of every study and compare the marked gold with the gold of the answers.

    Raise `InvalidRelease` for invalid files.
    """
    marked, gold = _marked_gold(folder), gold_of(folder)
    for name, items in marked.items():
        _check_marked_gold(name, items, gold[name], findings)
    if not folder.has(STUDIES):
        return
    reports = {line["round"]: line for line in folder.lines(REPORTS)}
    reviews = units_of(folder, "review")
    answers_by_file: dict[str, Mapping[str, list[RatingRow]]] = {}
    for line in folder.lines(STUDIES):
        try:
            name, file = line["round"], line["answers"]
            if unknown := unknown_rules(reports[name]["report"]):
                findings.not_recomputed.append(f"reliability of {name}: computed by another rule: {'; '.join(unknown)}")
                continue
            if file not in answers_by_file:
                answers_by_file[file] = answers_of(folder, file)
            review_of = {k: v for type in reports[name]["unit_types"] for k, v in reviews[type].items()}
            measures = {measure["name"]: measure for measure in reports[name]["report"]["measures"]}
            answers = answers_by_file[file].get(name, [])
            cluster_of = clusters({unit: review_of[unit] for unit, _, _ in answers})
            by_former_rule = is_former(reports[name]["report"])
            with former.rule(by_former_rule):
                recomputed = [
                    field(
                        scale,
                        measures[scale.name],
                        [(unit, row[scale.column]) for unit, _, row in answers],
                        gold[name][scale.name],
                        cluster_of,
                        {unit: rank for unit, (_, rank) in marked[name].items()} if name in marked else None,
                    ).as_json()
                    for scale in map(Scale.from_json, line["scales"])
                ]
        except (KeyError, TypeError, ValueError) as error:
            message = f"{STUDIES}: a line is not a study, or {REPORTS}, {UNITS} or its answers lack a column"
            raise InvalidRelease(f"{message} ({error!r})") from None
        if by_former_rule:
            recomputed = former.in_former_words(line["fields"], recomputed)
        findings.compare(STUDIES, f"round {name}", line["fields"], recomputed)


def _marked_gold(folder: Folder) -> dict[str, dict[str, tuple[str, int]]]:
    """Return round -> item -> the number of the gold sentence and its rank by the ranker."""
    gold: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
    try:
        for row in folder.rows(CANDIDATES):
            if row["gold"] == "true":
                gold[row["round"]][row["unit"]] = row["number"], int(row["rank"])
    except (KeyError, ValueError) as error:
        raise InvalidRelease(f"{CANDIDATES}: a row is not a candidate ({error!r})") from None
    return gold


def _check_marked_gold(
    name: str, marked: Mapping[str, tuple[str, int]], gold: Mapping[str, Mapping[str, str]], findings: Findings
) -> None:
    """Check that the gold value of every scale is the marked sentence."""
    for scale, values in gold.items():
        different = [unit for unit, value in values.items() if unit not in marked or marked[unit][0] != value]
        if different:
            findings.add_difference(
                f"{GOLD}: round {name}, {scale}: {CANDIDATES} marks another sentence for {different[0]}"
            )
