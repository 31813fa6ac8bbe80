"""Systems on what they have in common: two by two, and their probes on the pairs that all have judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

from measures.again.files import Folder
from measures.again.findings import Findings, Unusable
from measures.again.scores import PROBES, RUNS, SCORINGS, bounds_in, judged_in, name_of, values_in
from measures.comparison import RULE, holm
from measures.counterfactuals import Kind
from measures.probe import RULE as PROBE_RULE
from measures.probe import Pair, ProbeError, paired, probe_tables
from measures.two_systems import ScoredUnits, probes_compared, scores_compared

PAIRS, PROBE_PAIRS, COMMON = "systems/pairs.jsonl", "systems/probe_pairs.jsonl", "systems/common.jsonl"
KINDS = [kind.value for kind in Kind]
Json = dict[str, Any]
Judged = dict[tuple[Hashable, Hashable], Pair]
#: Numbers of two runs, in the order in which tables name them.
Two = tuple[int, int]


def repeat(folder: Folder, findings: Findings) -> None:
    """Compute every comparison anew. Raises `Unusable`."""
    try:
        runs = {line["run"]: line for line in folder.lines(RUNS)}
        _scored(folder, findings, runs)
        _probed(folder, findings, runs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"systems: a row lacks what every release has ({error!r})") from None


def _scored(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    metrics: dict[str, dict[int, Json]] = defaultdict(dict)
    for line in folder.lines(SCORINGS):
        if line["compared"] and line["means"] is not None:
            metrics[line["metric"]][line["run"]] = line
    printed: dict[str, dict[Two, Json]] = defaultdict(dict)
    for line in folder.lines(PAIRS):
        printed[line["metric"]][line["first"], line["second"]] = line
    for metric in sorted(metrics.keys() | printed.keys()):
        scorings = metrics[metric]
        wanted = [
            (one, other) for one, other in _by_twos(runs, scorings)
            if _made_like(scorings[one]) == _made_like(scorings[other])
        ]  # fmt: skip
        lines = _to_repeat(findings, PAIRS, f"{metric} of ", runs, wanted, printed[metric])
        if not lines:
            continue
        units = _units(folder, scorings)
        again = {
            two: scores_compared(units[two[0]], units[two[1]], bounds_in(scorings[two[0]])) for two in lines
        }  # fmt: skip
        _held(findings, PAIRS, f"{metric} of ", runs, lines, again, "side")


def _made_like(scoring: Json) -> tuple[Json, Json]:
    return scoring["params"], scoring["libraries"]


def _units(folder: Folder, scorings: Mapping[int, Json]) -> dict[int, ScoredUnits]:
    """By run what is compared, of a metric's single scores."""
    found = {run: ScoredUnits(line["compared"]) for run, line in scorings.items()}
    for file in {line["scores"] for line in scorings.values()}:
        for row in folder.rows(file):
            if units := found.get(int(row["run"])):
                key = (row["unit"], row["reference_type"], row["reference"])
                units.add(key, row["review"], row["against"], values_in(row, file)[0])
    return found


def _probed(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    reckoned = [line["run"] for line in folder.lines(PROBES) if line["rows"] is not None]
    printed = {(line["first"], line["second"]): line for line in folder.lines(PROBE_PAIRS)}
    wanted = _by_twos(runs, reckoned)
    lines = _to_repeat(findings, PROBE_PAIRS, "probes of ", runs, wanted, printed)
    common = list(folder.lines(COMMON))
    judged = _judged(folder) if lines or common else {}
    again = {
        two: probes_compared(judged[two[0]], judged[two[1]], KINDS) for two in lines
        if two[0] in judged and two[1] in judged
    }  # fmt: skip
    _held(findings, PROBE_PAIRS, "probes of ", runs, lines, again, "kind")
    _common(findings, runs, {run for two in wanted for run in two}, common, judged)


def _judged(folder: Folder) -> dict[int, Judged]:
    """By run; without those whose likelihoods cannot be: that is found where their own figures are repeated."""
    found = {}
    for run, rows in judged_in(folder).items():
        with suppress(ProbeError, ValueError):
            found[run] = paired(rows)
    return found


def _common(
    findings: Findings, runs: Mapping[int, Json], wanted: set[int], lines: Sequence[Json], judged: Mapping[int, Judged]
) -> None:
    """Table 7 on the pairs that all have judged. ``wanted``: the runs that are reckoned and not the only one."""
    for run in sorted(wanted - {line["run"] for line in lines}):
        findings.find(f"{COMMON}: {name_of(runs, run)} is not there")
    for line in lines:
        name = f"{name_of(runs, line['run'])} on common pairs"
        if line["rows"] is None:
            findings.not_repeated.append(f"{name}: a probe of its level had done more when it was released")
            continue
        if _by_another_rule(findings, name, {row["method"] for row in line["rows"]}, PROBE_RULE):
            continue
        of = sorted(run for run in wanted if runs[run]["level"] == runs[line["run"]]["level"])
        findings.compare(COMMON, f"{name}, of", sorted(line["of"]), of)
        if not set(of) <= judged.keys():
            continue
        keys = set.intersection(*(set(judged[run]) for run in of))
        pairs = [pair for key, pair in judged[line["run"]].items() if key in keys]
        again = [row.as_json() for row in probe_tables(pairs, KINDS)]
        findings.compare(COMMON, name, _by(line["rows"], "kind", "basis"), _by(again, "kind", "basis"))


def _by_twos(runs: Mapping[int, Json], there: Iterable[int]) -> list[Two]:
    """The runs of one level two by two, in the order of the runs."""
    chosen = set(there)
    return [
        (one, other) for one, other in combinations([run for run in runs if run in chosen], 2)
        if runs[one]["level"] == runs[other]["level"]
    ]  # fmt: skip


def _to_repeat(
    findings: Findings,
    file: str,
    what: str,
    runs: Mapping[int, Json],
    wanted: Iterable[Two],
    printed: Mapping[Two, Json],
) -> dict[Two, Json]:
    """The lines that can be repeated; of the others it is said why not."""
    for two in wanted:
        if two not in printed:
            findings.find(f"{file}: {what}{_both(runs, two)} are not compared")
    found = {}
    for two, line in printed.items():
        name = f"{what}{_both(runs, two)}"
        if line["rows"] is None:
            findings.not_repeated.append(f"{name}: they were not compared when it was released")
        elif two not in wanted:
            findings.find(f"{file}: {name} are compared, and are not alike")
        elif not _by_another_rule(findings, name, {line["rule"]}, RULE):
            found[two] = line
    return found


def _by_another_rule(findings: Findings, name: str, rules: set[str], rule: str) -> bool:
    strange = sorted(rules - {rule})
    if strange:
        findings.not_repeated.append(f"{name}: by another rule, {'; '.join(strange)}")
    return bool(strange)


def _held(
    findings: Findings, file: str, what: str, runs: Mapping[int, Json], lines: Mapping[Two, Json],
    again: Mapping[Two, list[Json]], against: str,
) -> None:  # fmt: skip
    """Hold what was printed against what was computed, once p is adjusted over all pairs of a figure."""
    families: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
    for two, rows in again.items():
        for row in rows:
            families[runs[two[0]]["level"], row["figure"], row[against]].append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
    for two, rows in again.items():
        name = f"{what}{_both(runs, two)}"
        findings.compare(file, name, _by(lines[two]["rows"], "figure", against), _by(rows, "figure", against))


def _by(rows: Iterable[Json], *names: str) -> Json:
    return {", ".join(row[name] for name in names): row for row in rows}


def _both(runs: Mapping[int, Json], two: Two) -> str:
    return f"{name_of(runs, two[0])} and {name_of(runs, two[1])}"
