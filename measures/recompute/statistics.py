"""Recompute the counts of ``statistics.json`` and the tables of ``README.md`` from the M3 files.

The module also compares labels with the deciding answers, and the numbers in the methods text with other files.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .files import Findings, Folder, InvalidRelease

STATISTICS, README, ROUNDS = "statistics.json", "README.md", "rounds.jsonl"
#: Columns of README's table of rounds, as fields of rounds.jsonl.
OF_ROUND = ("round", "kind", "purpose", "status", "units", "overlap", "guideline")
OF_LEVEL = ("level", "targets", "inputs", "reviews", "studies", "inputs_per_target", "compression")
_COUNTS = {
    r"left out for want of complete gold: (\d+) cluster": "clusters_without_complete_gold",
    r"Left out for want of inputs: (\d+) target": "targets_without_inputs",
    r"comments are left out \((\d+)\)": "comments_left_out",
}


def recompute(folder: Folder, findings: Findings) -> None:
    """Recount the released rows. Raise `InvalidRelease` for invalid files."""
    if not folder.has(STATISTICS):
        return
    printed = folder.json(STATISTICS)
    try:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        levels = [_level(folder, level, counts) for level in printed["levels"]]
        findings.compare(STATISTICS, "levels", printed["levels"], levels)
        findings.compare(STATISTICS, "values", printed["values"], _distributions(printed["values"], counts))
        if unchecked := sum(1 for _ in _numbers(printed.get("project"))):
            findings.not_recomputable.append(
                f"{unchecked} counts of {STATISTICS}, project: they count rows that are not released"
            )
        _readme(folder, printed, findings)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(
            f"{STATISTICS}: not in the format of a release, or a level lacks a field ({error!r})"
        ) from None


def _level(folder: Folder, printed: Mapping[str, Any], counts: dict[str, Counter[str]]) -> dict[str, Any]:
    """Return one row of M3's Table 2, and add the values of the level's lines to ``counts``."""
    targets = inputs = with_words = 0
    reviews: set[str] = set()
    studies: set[str] = set()
    ratios = 0.0
    for line in folder.lines(printed["file"]):
        sources = [(s["source_pmid"], s["source_text"]) for s in line["input_studies"]]
        targets, inputs = targets + 1, inputs + len(sources)
        reviews.add(line["docid"].rsplit("_", 1)[0])
        studies.update(study for study, _ in sources)
        if words := len(line["target_text"].split()):
            ratios += sum(len(text.split()) for _, text in sources) / words
            with_words += 1
        if "discourse_relation" in line:
            _count(line, counts)
    return {
        "level": printed["level"],
        "file": printed["file"],
        "targets": targets,
        "inputs": inputs,
        "reviews": len(reviews),
        "studies": len(studies),
        "inputs_per_target": inputs / targets if targets else None,
        "compression": ratios / with_words if with_words else None,
        "n": {"inputs_per_target": targets, "compression": with_words},
    }


def _count(line: Mapping[str, Any], counts: dict[str, Counter[str]]) -> None:
    counts["relation"][line["discourse_relation"]] += 1
    labelled = [("target", "target", line), *(("input", "source", study) for study in line["input_studies"])]
    for role, prefix, row in labelled:
        if not row.get(f"{prefix}_direction"):
            continue
        for name, field in (("polarity", "direction"), ("modality", "modality")):
            counts[f"{role} {name}"][row[f"{prefix}_{field}"]] += 1
            counts[f"{role} {name} cue"]["given" if row[f"{prefix}_{field}_span"] else "none"] += 1


def _distributions(printed: Sequence[Mapping[str, Any]], counts: Mapping[str, Counter[str]]) -> list[dict[str, Any]]:
    """Return the counts by name, with the printed scales.

    Unprinted names and values outside a scale are differences.
    """
    scales = {row["name"]: list(row["counts"]) for row in printed}
    return [
        {
            "name": name,
            "n": counts[name].total(),
            "counts": {value: counts[name][value] for value in dict.fromkeys([*scales.get(name, []), *counts[name]])},
        }
        for name in sorted(counts)
    ]


def _readme(folder: Folder, statistics: Mapping[str, Any], findings: Findings) -> None:
    text = folder.text(README)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    tables = {
        OF_LEVEL[0]: [[_cell(level[name]) for name in OF_LEVEL] for level in statistics["levels"]],
        OF_ROUND[0]: [[_cell(round[name]) for name in OF_ROUND] for round in folder.lines(ROUNDS)],
    }
    for head, recomputed in tables.items():
        printed = [row for row in _rows_below(rows, head) if row[0] != "none"]
        _compare_rows(findings, f"table of {head}s", printed, recomputed)
    for pattern, name in _COUNTS.items():
        if match := re.search(pattern, text):
            counted = folder.manifest.get("counts", {}).get(name, 0)
            count = counted if isinstance(counted, int) else len(counted)
            findings.compare(README, name.replace("_", " "), int(match[1]), count)


def _rows_below(rows: Sequence[Sequence[str]], head: str) -> list[Sequence[str]]:
    """Return the rows of the table whose first column has this heading."""
    start = next(n for n, row in enumerate(rows) if row[0] == head)
    width = len(rows[start])
    # Dashes follow the headings of the next table. A round may have the name of a heading.
    below = rows[start + 2 :]
    end = next((n - 1 for n, row in enumerate(below) if set("".join(row)) <= {"-"}), None)
    return [row for row in below[:end] if len(row) == width]


def _compare_rows(
    findings: Findings, name: str, printed: Sequence[Sequence[str]], recomputed: Sequence[Sequence[str]]
) -> None:
    for n, (printed_row, recomputed_row) in enumerate(zip(printed, recomputed, strict=False), start=1):
        for printed_cell, cell in zip(printed_row, recomputed_row, strict=False):
            findings.compare(README, f"{name}, row {n}", _value(printed_cell), _value(cell))
    if len(printed) != len(recomputed):
        findings.add_difference(f"{README}: {name}: printed {len(printed)} rows, recomputed {len(recomputed)}")


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value).strip()


def _value(cell: str) -> Any:
    return float(cell) if re.fullmatch(r"-?\d+(\.\d+)?", cell) else cell


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


LEVEL3, VALUES = "m3/level3.jsonl", "provenance/values.csv"
#: Columns of the answers -> M3's field names.
FIELDS = {"polarity": "direction", "modality": "modality"}


def recompute_labels(folder: Folder, findings: Findings) -> None:
    """Compare every label with the answer that decided it. Raise `InvalidRelease` for invalid files."""
    adopted: dict[str, dict[str, str]] = defaultdict(dict)
    imported = 0
    try:
        for row in folder.rows(VALUES):
            if row["kind"] in ("label", "discourse") and row["answer"]:
                adopted[row["answer"]][row["field"]] = row["unit"]
            elif row["kind"] in ("label", "discourse"):
                imported += 1
        answers: dict[tuple[str, str], str] = {}
        for kind in ("label", "discourse"):
            for answer in folder.rows(f"answers/{kind}.csv"):
                for field, unit in adopted.get(answer["answer"], {}).items():
                    if field in answer:
                        answers[unit, field] = answer[field]
        for unit, field, value in _released(folder):
            if (unit, field) in answers:
                findings.compare(LEVEL3, f"{unit}, {field}", value, answers[unit, field])
                findings.equal[LEVEL3] += value == answers[unit, field]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"{VALUES}: a row lacks a required field ({error!r})") from None
    if imported:
        findings.not_recomputable.append(
            f"{imported} labels, relations and cues of {LEVEL3}: decided by an imported file"
        )


def _released(folder: Folder) -> Iterator[tuple[str, str, Any]]:
    """Yield (unit, field, value) of every label and relation.

    A proposition is identified by its cluster and position.
    """
    for line in folder.lines(LEVEL3):
        yield line["docid"], "relation", line["discourse_relation"]
        sides: list[tuple[str, Mapping[str, Any]]] = [("target", line)]
        sides += [("source", study) for study in line["input_studies"]]
        for position, (prefix, row) in enumerate(sides):
            for field, name in FIELDS.items():
                yield f"{line['docid']}/{position}", field, row.get(f"{prefix}_{name}", "")


METHODS, RATED, TEXTS = "ratings/methods.md", "ratings/rounds.jsonl", "ratings/texts.csv"
METHOD_ROUNDS, REPORTS = "rounds.jsonl", "agreement/reports.jsonl"
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
#: Names, hashes and quotations, which contain digits but are not figures.
_NO_FIGURES = re.compile(r"'[^']*'|`[^`]*`|\([^()]*SHA-256[^()]*\)|concord-design \d+|HEDS [\d.]+")


def recompute_methods(folder: Folder, findings: Findings) -> None:
    """Compare each number in the methods text that other files contain. Raise `InvalidRelease` for invalid files."""
    if not folder.has(METHODS):
        return
    rounds = {line["round"]: line for line in folder.lines(METHOD_ROUNDS)}
    reports = {line["round"]: line["report"] for line in folder.lines(REPORTS)}
    sections = re.split(r"^## (.+)$", folder.text(METHODS), flags=re.MULTILINE)
    sections_by_round = dict(zip(sections[1::2], sections[2::2], strict=True))
    unchecked = 0
    try:
        for line in folder.lines(RATED):
            name = line["round"]
            if name not in sections_by_round:
                findings.add_difference(f"{METHODS}: round {name} has no paragraph")
                continue
            text = sections_by_round[name]
            for figure, printed, recomputed in _figures(
                folder, text, line, rounds.get(name, {}), reports.get(name, {})
            ):
                findings.compare(METHODS, f"round {name}, {figure}", printed, recomputed)
                unchecked -= 1
            unchecked += len(_NUMBER.findall(_NO_FIGURES.sub("", text)))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRelease(f"{METHODS}: a file that it summarises lacks a field ({error!r})") from None
    if unchecked > 0:
        findings.not_recomputable.append(
            f"{unchecked} numbers of {METHODS}: assignments and declarations are not released"
        )


def _figures(
    folder: Folder, text: str, rated: Mapping[str, Any], round: Mapping[str, Any], report: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, printed value, recounted value) for the numbers of a paragraph that can be recounted."""
    name, plan = rated["round"], rated["plan"]
    answers = [row for row in folder.rows(f"answers/{rated['kind']}.csv") if row["round"] == name]
    raters = {row["rater"] for row in answers if row["counted"] == "true" and row["current"] == "true"}
    texts = [row for row in folder.rows(TEXTS) if row["round"] == name]
    pages = {row["page"] for row in texts if row["is_check"] != "true"}
    if match := re.search(r"(\d+) raters judged the texts of (\d+) systems .*? for (\d+) sources on (\d+) pages", text):
        recomputed = (len(raters), len(plan["entrants"]), len(plan["sources"]), len(pages))
        for figure, printed, counted in zip(
            ("raters", "systems", "sources", "pages"), match.groups(), recomputed, strict=True
        ):
            yield figure, int(printed), counted
    if match := re.search(r"(\d+) sources were left out", text):
        yield "sources left out", int(match[1]), plan["left_out"]
    if match := re.search(r"', version (\d+) \(SHA-256 .*? guideline version (\d+)", text):
        yield "version of the protocol", int(match[1]), rated["protocol"]["number"]
        yield "version of the guideline", int(match[2]), round.get("guideline")
    for criterion in rated["protocol"]["content"]["criteria"]:
        if points := len(criterion["scale"]["options"]):
            title = re.escape(criterion["name"] or criterion["key"])
            if match := re.search(rf"{title}(?:, as [^(]*)? \(\w[\w ]* of (\d+)", text):
                yield f"points of {criterion['key']}", int(match[1]), points
    for measure in report.get("measures", []):
        alpha = measure["coefficients"].get("alpha")
        title = re.escape(measure["name"])
        if alpha and (match := re.search(rf"{title} (-?\d\.\d\d) \([^()]*, n = (\d+) texts\)", text)):
            yield f"alpha of {measure['name']}", match[1], f"{alpha['value']:.2f}"
            yield f"n of {measure['name']}", int(match[2]), measure["units"]
    if match := re.search(r"(\d+) times a page was skipped", text):
        yield "skips", int(match[1]), sum(row.get("outcome") == "skipped" for row in answers)
