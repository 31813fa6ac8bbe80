"""Recompute means of metrics, corpus figures and counterfactual probes from single scores."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from measures import former
from measures.clustered import Bounds
from measures.counterfactuals import Kind
from measures.direction import f1_of_counts
from measures.probe import FORMER_RULE as FORMER_PROBE_RULE
from measures.probe import RULE as PROBE_RULE
from measures.probe import Judged, ProbeError, paired, probe_tables
from measures.recompute.files import Folder
from measures.stated_direction import macro_f1

from ..means import FORMER_RULE, OWN, RULE, ScoreMeans
from ..references import MAXIMUM, OF_MAXIMUM, maxima
from .files import Findings, InvalidRelease

RUNS, SUMMARIES, REFERENCES = "systems/runs.jsonl", "systems/summaries.jsonl", "systems/references.csv"
SCORINGS, PROBES, LIKELIHOODS = "systems/scorings.jsonl", "systems/probes.jsonl", "systems/likelihoods.csv"
#: Columns of a file of scores that are not figures.
NAMES = frozenset({"run", "summary", "unit", "review", "against", "reference_type", "reference", "undefined"})
Json = dict[str, Any]
#: (type, key) of a unit.
Reference = tuple[str, str]
#: (summary, reference, values, review) of a row that is compared with the summary's own target.
Row = tuple[str, Reference, dict[str, float | None], str]


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every mean and every probe. Raise `InvalidRelease` for invalid files."""
    try:
        runs = {line["run"]: line for line in folder.lines(RUNS)}
        _summaries(folder, findings, runs)
        scorings = list(folder.lines(SCORINGS))
        for file in dict.fromkeys(line["scores"] for line in scorings):
            _scored(folder, findings, runs, [line for line in scorings if line["scores"] == file])
        _probes(folder, findings, runs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"systems: a row lacks a required field ({error!r})") from None


def name_of(runs: Mapping[int, Json], run: int) -> str:
    line = runs[run]
    return f"{line['system']} v{line['version']} ({line['level']}), run {run}"


def _summaries(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    """Check the number of summaries of each run and the hash of each summary."""
    count: Counter[int] = Counter()
    for line in folder.lines(SUMMARIES):
        count[line["run"]] += 1
        if hashlib.sha256(line["text"].encode()).hexdigest() != line["sha256"]:
            findings.add_difference(f"{SUMMARIES}: the text of summary {line['summary']} does not match its hash")
    for run, of in runs.items():
        if of["purpose"] == "summaries":
            findings.compare(SUMMARIES, f"{name_of(runs, run)}, summaries", of["done"], count[run])


def _scored(folder: Folder, findings: Findings, runs: Mapping[int, Json], scorings: list[Json]) -> None:
    """Recompute all scorings of one metric, which share a file."""
    file = scorings[0]["scores"]
    means = {line["run"]: ScoreMeans(bounds_in(line)) for line in scorings}
    own_rows: dict[int, list[Row]] = defaultdict(list)
    corpora = {line["run"] for line in scorings if line["corpus"]}
    for row in score_rows(folder, file, {line["run"]: line for line in scorings}):
        means[row.run].add(
            summary=row.summary, review=row.review, side=row.side, values=row.values, undefined=row.undefined
        )
        if row.run in corpora and row.side == OWN:
            own_rows[row.run].append((row.summary, row.reference, row.values, row.review))
    for line in scorings:
        name = f"{line['metric']} of {name_of(runs, line['run'])}"
        is_former = bool(line["means"]) and line["means"]["rule"] == FORMER_RULE
        with former.rule(is_former):
            recomputed = means[line["run"]].as_json()
        if line["means"] is None:
            findings.not_recomputed.append(f"{name}: its means were not computed at the time of the release")
        elif line["means"]["rule"] not in (RULE, FORMER_RULE):
            findings.not_recomputed.append(f"{name}: its means were computed by another rule: {line['means']['rule']}")
        else:
            printed, computed = _by_name(line["means"]), _by_name(recomputed)
            if is_former:
                computed = former.in_former_words(printed, computed)
            findings.compare(SCORINGS, name, printed, computed)
        if line["corpus"]:
            _corpus(folder, findings, name, line, own_rows[line["run"]])


class ScoreRow(NamedTuple):
    """A row of a file of scores. ``side``: kind or name of the reference; the reference is empty if there is none."""

    run: int
    summary: str
    unit: str
    review: str
    side: str
    reference: Reference
    values: dict[str, float | None]
    undefined: dict[str, str]


def score_rows(folder: Folder, file: str, scorings: Mapping[int, Json]) -> Iterator[ScoreRow]:
    """Yield the rows of a file of scores. Where a scoring takes the maximum over references, a summary has one row."""
    pooled = {run for run, line in scorings.items() if line["params"].get("references") == MAXIMUM}
    rows: list[ScoreRow] = []
    for line in folder.rows(file):
        reference = (line["reference_type"], line["reference"])
        names = (line["summary"], line["unit"], line["review"], line["against"])
        row = ScoreRow(int(line["run"]), *names, reference, *values_in(line, file))
        if row.run in pooled:
            rows.append(row)
        else:
            yield row
    units = {(row.run, row.summary): row.unit for row in rows}
    for one in maxima(((row.run, row.summary), row.review, row.values, row.undefined) for row in rows):
        run, summary = cast(tuple[int, str], one.summary)
        yield ScoreRow(
            run, summary, units[run, summary], str(one.review), OF_MAXIMUM, ("", ""), one.values, one.undefined
        )


def values_in(row: Mapping[str, str], file: str) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the figures of a row of scores, and the reasons of undefined ones."""
    try:
        undefined: dict[str, str] = json.loads(row["undefined"]) if row["undefined"] else {}
        values: dict[str, float | None] = {
            name: float(cell) for name, cell in row.items() if cell and name not in NAMES
        }
        return values | dict.fromkeys(undefined), undefined
    except (ValueError, RecursionError):
        raise InvalidRelease(f"{file}: a cell is not a number") from None


def bounds_in(scoring: Json) -> dict[str, Bounds]:
    """Return the bounds of each figure."""
    return {
        name: (-math.inf if low is None else low, math.inf if high is None else high)
        for name, (low, high) in scoring["bounds"].items()
    }


def _by_name(means: Json) -> Json:
    """Return the figures by name and side, because their order is not significant."""
    figures = {f"{figure['figure']}, {figure['side']}": figure for figure in means["figures"]}
    return {"summaries": means["summaries"], **{name: figures[name] for name in sorted(figures)}}


def _corpus(folder: Folder, findings: Findings, name: str, line: Json, own_rows: list[Row]) -> None:
    """Recompute figures that exist only over all summaries."""
    if line["metric"] == "direction":
        # A summary without a target has no pairs, so it needs no special case.
        recomputed: Json = f1_of_counts({summary: values for summary, _, values, _ in own_rows})
        findings.compare(SCORINGS, f"{name}, corpus", line["corpus"], recomputed)
        return
    if line["metric"] == "stated_direction":
        recomputed = macro_f1((review, values) for _, _, values, review in own_rows)
        findings.compare(SCORINGS, f"{name}, corpus", line["corpus"], recomputed)
        return
    try:
        import sacrebleu
    except ImportError:
        findings.not_recomputed.append(f"{name}, corpus figure: sacrebleu is not installed")
        return
    if (used := line["libraries"].get("sacrebleu")) != sacrebleu.__version__:
        findings.not_recomputed.append(f"{name}, corpus figure: needs sacrebleu {used}")
        return
    from measures import bleu

    summaries = [(summary, reference) for summary, reference, *_ in own_rows if reference[1]]
    wanted = {summary for summary, _ in summaries}
    outputs = {str(row["summary"]): row["text"] for row in folder.lines(SUMMARIES) if str(row["summary"]) in wanted}
    targets = {(row["unit_type"], row["unit"]): row["text"] for row in folder.rows(REFERENCES)}
    if missing := [summary for summary, reference in summaries if summary not in outputs or reference not in targets]:
        findings.add_difference(f"{SCORINGS}: {name}: the text or the reference of summary {missing[0]} is missing")
        return
    pairs = [(outputs[summary], targets[reference]) for summary, reference in summaries]
    corpus_score = {"bleu": bleu.corpus_bleu, "chrf": bleu.corpus_chrf}[line["metric"]]
    corpus = corpus_score([output for output, _ in pairs], [target for _, target in pairs]).as_json()
    findings.compare(SCORINGS, f"{name}, corpus figure", line["corpus"], {line["metric"]: corpus})


def _probes(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    judged = judged_in(folder)
    kinds = [kind.value for kind in Kind]
    for line in folder.lines(PROBES):
        name = f"probe of {name_of(runs, line['run'])}"
        if line["rows"] is None:
            findings.not_recomputed.append(f"{name}: its figures were not computed at the time of the release")
            continue
        rules = {row["method"] for row in line["rows"]}
        if unknown := rules - {PROBE_RULE, FORMER_PROBE_RULE}:
            findings.not_recomputed.append(
                f"{name}: its figures were computed by another rule: {'; '.join(sorted(unknown))}"
            )
            continue
        try:
            with former.rule(FORMER_PROBE_RULE in rules):
                recomputed = probe_tables(list(paired(judged[line["run"]]).values()), kinds)
        except (ProbeError, ValueError) as error:
            findings.add_difference(f"{LIKELIHOODS}: {name}: {error}")
            continue
        results = [result.as_json() for result in recomputed]
        rows = _by_kind(former.in_former_words(line["rows"], results) if FORMER_PROBE_RULE in rules else results)
        findings.compare(PROBES, name, _by_kind(line["rows"]), rows)


def judged_in(folder: Folder) -> dict[int, list[Judged]]:
    """Return run -> its likelihoods."""
    judged: dict[int, list[Judged]] = defaultdict(list)
    for row in folder.rows(LIKELIHOODS):
        judged[int(row["run"])].append(_judged(row))
    return judged


def _judged(row: Mapping[str, str]) -> Judged:
    try:
        numbers = [float(cell) if cell else None for cell in list(row.values())[6:]]
    except ValueError:
        raise InvalidRelease(f"{LIKELIHOODS}: a cell is not a number") from None
    names = (row["unit"], row["target"], row["counterfactual"] or None, row["kind"] or None, row["review"])
    return (*names, *numbers)  # type: ignore[return-value]


def _by_kind(rows: Any) -> Json:
    return {f"{row['kind']}, {row['basis']} tokens": row for row in rows}
