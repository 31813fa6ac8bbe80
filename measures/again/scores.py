"""Means of metrics over summaries, figures of whole corpora and probes with counterfactuals, from single scores."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from measures.again.files import Folder
from measures.again.findings import Findings, Unusable
from measures.counterfactuals import Kind
from measures.direction import f1_of_counts
from measures.means import Bounds
from measures.probe import RULE as PROBE_RULE
from measures.probe import Judged, ProbeError, paired, probe_tables
from measures.score_means import OWN, RULE, ScoreMeans

RUNS, SUMMARIES, REFERENCES = "systems/runs.jsonl", "systems/summaries.jsonl", "systems/references.csv"
SCORINGS, PROBES, LIKELIHOODS = "systems/scorings.jsonl", "systems/probes.jsonl", "systems/likelihoods.csv"
#: Columns of a file of scores that are no figure.
NAMES = frozenset({"run", "summary", "unit", "review", "against", "reference_type", "reference", "undefined"})
Json = dict[str, Any]
#: (type and key of a unit)
Reference = tuple[str, str]
#: (summary, reference, values) of a row against the summary's own target.
Row = tuple[str, Reference, dict[str, float | None]]


def repeat(folder: Folder, findings: Findings) -> None:
    """Compute every mean and every probe anew. Raises `Unusable`."""
    try:
        runs = {line["run"]: line for line in folder.lines(RUNS)}
        _summaries(folder, findings, runs)
        scorings = list(folder.lines(SCORINGS))
        for file in dict.fromkeys(line["scores"] for line in scorings):
            _scored(folder, findings, runs, [line for line in scorings if line["scores"] == file])
        _probes(folder, findings, runs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"systems: a row lacks what every release has ({error!r})") from None


def name_of(runs: Mapping[int, Json], run: int) -> str:
    of = runs[run]
    return f"{of['system']} v{of['version']} ({of['level']}), run {run}"


def _summaries(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    """That there are as many as the run says, and each is what its hash says."""
    count: Counter[int] = Counter()
    for line in folder.lines(SUMMARIES):
        count[line["run"]] += 1
        if hashlib.sha256(line["text"].encode()).hexdigest() != line["sha256"]:
            findings.find(f"{SUMMARIES}: the text of summary {line['summary']} is not that of its hash")
    for run, of in runs.items():
        if of["purpose"] == "summaries":
            findings.compare(SUMMARIES, f"{name_of(runs, run)}, summaries", of["done"], count[run])


def _scored(folder: Folder, findings: Findings, runs: Mapping[int, Json], scorings: list[Json]) -> None:
    """All scorings by one metric, which share a file."""
    file = scorings[0]["scores"]
    means = {line["run"]: ScoreMeans(bounds_in(line)) for line in scorings}
    own: dict[int, list[Row]] = defaultdict(list)
    corpora = {line["run"] for line in scorings if line["corpus"]}
    for row in folder.rows(file):
        run = int(row["run"])
        values, undefined = values_in(row, file)
        means[run].add(
            summary=row["summary"], review=row["review"], side=row["against"], values=values, undefined=undefined
        )
        if run in corpora and row["against"] == OWN:
            own[run].append((row["summary"], (row["reference_type"], row["reference"]), values))
    for line in scorings:
        name = f"{line['metric']} of {name_of(runs, line['run'])}"
        again = means[line["run"]].as_json()
        if line["means"] is None:
            findings.not_repeated.append(f"{name}: its means were not reckoned when it was released")
        elif line["means"]["rule"] != RULE:
            findings.not_repeated.append(f"{name}: its means are by another rule, {line['means']['rule']}")
        else:
            findings.compare(SCORINGS, name, _by_name(line["means"]), _by_name(again))
        if line["corpus"]:
            _corpus(folder, findings, name, line, own[line["run"]])


def values_in(row: Mapping[str, str], file: str) -> tuple[dict[str, float | None], dict[str, str]]:
    """The figures of a row of scores, and why some are undefined."""
    try:
        undefined: dict[str, str] = json.loads(row["undefined"]) if row["undefined"] else {}
        values: dict[str, float | None] = {
            name: float(cell) for name, cell in row.items() if cell and name not in NAMES
        }
        return values | dict.fromkeys(undefined), undefined
    except (ValueError, RecursionError):
        raise Unusable(f"{file}: a cell of it is no number") from None


def bounds_in(scoring: Json) -> dict[str, Bounds]:
    """By figure, what it cannot leave."""
    return {
        name: (-math.inf if low is None else low, math.inf if high is None else high)
        for name, (low, high) in scoring["bounds"].items()
    }


def _by_name(means: Json) -> Json:
    """The figures by name and side: in which order they stand says nothing."""
    figures = {f"{each['figure']}, {each['side']}": each for each in means["figures"]}
    return {"summaries": means["summaries"], **{name: figures[name] for name in sorted(figures)}}


def _corpus(folder: Folder, findings: Findings, name: str, line: Json, own: list[Row]) -> None:
    """What exists for all summaries together only."""
    if line["metric"] == "direction":
        # A summary without a target has no pair either.
        again: Json = f1_of_counts({summary: values for summary, _, values in own})
        findings.compare(SCORINGS, f"{name}, corpus", line["corpus"], again)
        return
    try:
        import sacrebleu
    except ImportError:
        findings.not_repeated.append(f"{name}, of all summaries together: sacrebleu is not installed")
        return
    if (used := line["libraries"].get("sacrebleu")) != sacrebleu.__version__:
        findings.not_repeated.append(f"{name}, of all summaries together: that needs sacrebleu {used}")
        return
    from measures import bleu

    compared = [(summary, reference) for summary, reference, _ in own if reference[1]]
    wanted = {summary for summary, _ in compared}
    outputs = {str(row["summary"]): row["text"] for row in folder.lines(SUMMARIES) if str(row["summary"]) in wanted}
    targets = {(row["unit_type"], row["unit"]): row["text"] for row in folder.rows(REFERENCES)}
    if lost := [summary for summary, reference in compared if summary not in outputs or reference not in targets]:
        findings.find(f"{SCORINGS}: {name}: the text or the reference of summary {lost[0]} is not there")
        return
    pairs = [(outputs[summary], targets[reference]) for summary, reference in compared]
    of_all = {"bleu": bleu.corpus_bleu, "chrf": bleu.corpus_chrf}[line["metric"]]
    found = of_all([output for output, _ in pairs], [target for _, target in pairs]).as_json()
    findings.compare(SCORINGS, f"{name}, of all summaries together", line["corpus"], {line["metric"]: found})


def _probes(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    judged = judged_in(folder)
    kinds = [kind.value for kind in Kind]
    for line in folder.lines(PROBES):
        name = f"probe of {name_of(runs, line['run'])}"
        if line["rows"] is None:
            findings.not_repeated.append(f"{name}: its figures were not reckoned when it was released")
            continue
        if strange := {row["method"] for row in line["rows"]} - {PROBE_RULE}:
            findings.not_repeated.append(f"{name}: its figures are by another rule, {'; '.join(sorted(strange))}")
            continue
        try:
            again = probe_tables(list(paired(judged[line["run"]]).values()), kinds)
        except (ProbeError, ValueError) as error:
            findings.find(f"{LIKELIHOODS}: {name}: {error}")
            continue
        rows = _by_kind([result.as_json() for result in again])
        findings.compare(PROBES, name, _by_kind(line["rows"]), rows)


def judged_in(folder: Folder) -> dict[int, list[Judged]]:
    """Run -> its likelihoods."""
    judged: dict[int, list[Judged]] = defaultdict(list)
    for row in folder.rows(LIKELIHOODS):
        judged[int(row["run"])].append(_judged(row))
    return judged


def _judged(row: Mapping[str, str]) -> Judged:
    try:
        numbers = [float(cell) if cell else None for cell in list(row.values())[6:]]
    except ValueError:
        raise Unusable(f"{LIKELIHOODS}: a cell of it is no number") from None
    names = (row["unit"], row["target"], row["counterfactual"] or None, row["kind"] or None, row["review"])
    return (*names, *numbers)  # type: ignore[return-value]


def _by_kind(rows: Any) -> Json:
    return {f"{row['kind']}, {row['basis']} tokens": row for row in rows}
